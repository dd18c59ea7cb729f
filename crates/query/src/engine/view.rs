//! Pages, samples and sorting of concordances.
//!
//! Lines are sorted by keys: numbers in the order of the texts, one for each of the nearest tokens that a sort key compares.
//! Lines themselves are made for the page that is shown only.

use super::count::Values;
use super::set::layer_of;
use super::{Deadline, Hit, Limits, Order, Result, Search};
use crate::cql::Attribute;
use crate::question::{Exactness, Line, LinePlace, SortKey};
use hashbrown::HashMap;
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::ops::Range;

/// The maximum number of hits to sort; of more hits a sample is sorted, and the answer says so.
pub const MOST_SORTED: usize = 200_000;

/// The selection and order of the lines of a concordance.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The order by date, if lines are not sorted.
    pub order: Order,
    /// The sort keys.
    pub sort: Vec<SortKey>,
    /// The size of a random sample instead of a page.
    pub sample: Option<usize>,
    /// The seed of the sample.
    pub seed: u64,
    /// The first line of the page.
    pub first: usize,
    /// The number of lines of the page.
    pub size: usize,
}

impl Search<'_> {
    /// The lines of a view, and whether they are a sample. Check [`Limits::cut_off`]: lines may be missing.
    pub fn view(&self, view: &View, context: u32, fields: &[&str], limits: &Limits) -> Result<(Vec<Line>, Exactness)> {
        let (hits, exactness) = self.hits_of_view(view, context, limits)?;
        Ok((self.engine().lines(&hits, context, fields)?, exactness))
    }

    /// The hits of a view in the order of its lines, and whether they are a sample. `context` is the number of words that
    /// are compared on either side of the hit.
    pub fn hits_of_view(&self, view: &View, context: u32, limits: &Limits) -> Result<(Vec<Hit>, Exactness)> {
        let (mut hits, exactness) = self.selected(view, limits);
        if !view.sort.is_empty() {
            hits = self.sorted(&hits, &view.sort, context, limits)?;
            if view.sample.is_none() {
                hits = hits.into_iter().skip(view.first).take(view.size).collect();
            }
        }
        Ok((hits, exactness))
    }

    fn selected(&self, view: &View, limits: &Limits) -> (Vec<Hit>, Exactness) {
        let size = match view.sample {
            Some(size) => size.min(MOST_SORTED),
            None if !view.sort.is_empty() => MOST_SORTED,
            None => return (self.page(view.order, view.first, view.size, limits).0, Exactness::Exact),
        };
        if let Some(mut all) = self.all_up_to(size, limits) {
            self.sort_in_time(&mut all);
            return (all, Exactness::Exact);
        }
        let (hits, _) = self.sample(size, view.seed, limits);
        let of_hits = self.count(limits).hits;
        let number = hits.len() as u64;
        let exactness = match number < of_hits && limits.cut_off().is_none() {
            true => Exactness::Sample { hits: number, of_hits, seed: view.seed },
            false => Exactness::Exact,
        };
        (hits, exactness)
    }

    /// All hits in the order of segments; nothing if there are more than `size`.
    fn all_up_to(&self, size: usize, limits: &Limits) -> Option<Vec<Hit>> {
        self.begin_pass(limits);
        let mut hits = Vec::new();
        for index in 0..self.segments() {
            self.each_in(index, limits, &mut |start, end| {
                hits.push(Hit { segment: index as u32, start, end });
                if hits.len() > size { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if hits.len() > size {
                return None;
            }
        }
        Some(hits)
    }

    /// The texts that sort keys compare of hits: a line whose list is a part of another's comes before it.
    pub(crate) fn key_texts(&self, hits: &[Hit], keys: &[SortKey], context: u32) -> Result<Vec<Vec<Vec<String>>>> {
        let mut quality = match keys.contains(&SortKey::Good) {
            true => Some(self.sentence_quality()?),
            false => None,
        };
        let mut of_hit = |hit: &Hit, key: &SortKey| match (key, &mut quality) {
            // Numbers of as many digits are in the order of their texts.
            (SortKey::Good, Some(quality)) => Ok(vec![format!("{:010}", quality.key(self, hit))]),
            _ => self.texts_of_key(hit, key, context),
        };
        hits.iter().map(|hit| keys.iter().map(|key| of_hit(hit, key)).collect()).collect()
    }

    fn texts_of_key(&self, hit: &Hit, key: &SortKey, context: u32) -> Result<Vec<String>> {
        let (run, attribute) = match key {
            SortKey::Left => (TokenRun::Left, Attribute::Lc),
            SortKey::Node => (TokenRun::Node, Attribute::Lc),
            SortKey::Right => (TokenRun::Right, Attribute::Lc),
            SortKey::Token(LinePlace::Node, attribute) => (TokenRun::Node, *attribute),
            SortKey::Token(place, attribute) => (TokenRun::One(*place), *attribute),
            SortKey::Field(name) => return Ok(vec![self.engine().field_of(hit, name)?.unwrap_or_default()]),
            SortKey::Good => return Ok(Vec::new()),
        };
        let (lexicon, segment) = (self.engine().lexicon(), self.segment(hit.segment as usize));
        let layer = layer_of(attribute, lexicon);
        let (positions, is_reversed) = self.run_of(hit, run, context);
        let text =
            |at: u32| attribute.value(lexicon.string(layer, lexicon.of(segment.lexeme_at(at), layer))).into_owned();
        let mut texts: Vec<String> = positions.map(text).collect();
        if is_reversed {
            texts.reverse();
        }
        Ok(texts)
    }

    /// Sorts hits by the words and fields of their lines, without making the lines; none if a limit is reached.
    fn sorted(&self, hits: &[Hit], keys: &[SortKey], context: u32, limits: &Limits) -> Result<Vec<Hit>> {
        let mut deadline = Deadline::new(limits);
        let mut columns = Vec::with_capacity(keys.len());
        for key in keys {
            if !deadline.tick_by(KEY_STEPS.saturating_mul(hits.len() as u32)) {
                return Ok(Vec::new());
            }
            columns.push(self.key_column(hits, key, context)?);
        }
        let compare = |a: u32, b: u32| {
            let orders = columns.iter().map(|column| self.compare(column, hits, (a, b), context));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let order = sorted_order(hits.len(), limits, compare).unwrap_or_default();
        Ok(order.into_iter().map(|index| hits[index as usize]).collect())
    }

    /// The keys of all hits for one sort key.
    fn key_column(&self, hits: &[Hit], key: &SortKey, context: u32) -> Result<KeyColumn> {
        Ok(match key {
            SortKey::Left => self.token_column(hits, TokenRun::Left, Attribute::Lc, context),
            SortKey::Node => self.token_column(hits, TokenRun::Node, Attribute::Lc, context),
            SortKey::Right => self.token_column(hits, TokenRun::Right, Attribute::Lc, context),
            SortKey::Token(LinePlace::Node, attribute) => self.token_column(hits, TokenRun::Node, *attribute, context),
            SortKey::Token(place, attribute) => self.token_column(hits, TokenRun::One(*place), *attribute, context),
            SortKey::Good => {
                let mut quality = self.sentence_quality()?;
                let keys = hits.iter().map(|hit| quality.key(self, hit)).collect();
                KeyColumn { depth: 1, keys, run: None }
            }
            SortKey::Field(name) => self.field_column(hits, name),
        })
    }

    /// The tokens of a hit that a sort key compares, the first first.
    fn run_of(&self, hit: &Hit, run: TokenRun, context: u32) -> (Range<u32>, bool) {
        let segment = self.segment(hit.segment as usize);
        let tokens = || segment.tokens_of(segment.document_at(hit.start));
        match run {
            TokenRun::Node => (hit.start..hit.end, false),
            TokenRun::Left => (hit.start.saturating_sub(context).max(tokens().start)..hit.start, true),
            TokenRun::Right => (hit.end..hit.end.saturating_add(context).min(tokens().end), false),
            TokenRun::One(LinePlace::Left(n)) => {
                let at = hit.start.checked_sub(n).filter(|at| *at >= tokens().start);
                (at.map_or(0..0, |at| at..at + 1), false)
            }
            TokenRun::One(LinePlace::Right(n)) => {
                let at = hit.end.saturating_add(n - 1);
                (if at < tokens().end { at..at + 1 } else { 0..0 }, false)
            }
            TokenRun::One(LinePlace::Node) => (hit.start..hit.start + 1, false),
        }
    }

    fn token_column(&self, hits: &[Hit], run: TokenRun, attribute: Attribute, context: u32) -> KeyColumn {
        let lexicon = self.engine().lexicon();
        let layer = layer_of(attribute, lexicon);
        let shared = self.engine().shared(attribute);
        let depth = if matches!(run, TokenRun::One(_)) { 1 } else { DEPTH };
        let mut keys = vec![0u32; hits.len() * depth];
        // First the numbers of strings plus one, then their ranks among the strings that occur.
        let mut ranks = vec![0u32; lexicon.count(layer) as usize];
        for (hit, keys) in hits.iter().zip(keys.chunks_mut(depth)) {
            let segment = self.segment(hit.segment as usize);
            let (positions, is_reversed) = self.run_of(hit, run, context);
            for (index, key) in keys.iter_mut().enumerate().take(positions.len()) {
                let index = index as u32;
                let at = if is_reversed { positions.end - 1 - index } else { positions.start + index };
                let string = lexicon.of(segment.lexeme_at(at), layer);
                let string = shared.as_ref().map_or(string, |s| s.get(string as usize).copied().unwrap_or(string));
                if let Some(rank) = ranks.get_mut(string as usize) {
                    *rank = 1;
                    *key = string + 1;
                }
            }
        }
        let mut occurring: Vec<u32> = (0..).zip(&ranks).filter(|(_, rank)| **rank > 0).map(|(id, _)| id).collect();
        occurring.sort_by_cached_key(|id| attribute.value(lexicon.string(layer, *id)).into_owned());
        (1..).zip(&occurring).for_each(|(rank, id)| ranks[*id as usize] = rank);
        keys.iter_mut().filter(|key| **key > 0).for_each(|key| *key = ranks[*key as usize - 1]);
        let run = (depth > 1).then_some((run, attribute));
        KeyColumn { depth, keys, run }
    }

    fn field_column(&self, hits: &[Hit], name: &str) -> KeyColumn {
        let values: Vec<Values<'_>> =
            (0..self.segments()).map(|index| Values::new(self.segment(index), name)).collect();
        let mut codes: Vec<HashMap<usize, u32>> = vec![HashMap::new(); self.segments()];
        let mut texts: Vec<(String, usize, usize)> = Vec::new();
        let code_of = |hit: &Hit| {
            let segment = self.segment(hit.segment as usize);
            values[hit.segment as usize].code(segment, segment.document_at(hit.start))
        };
        for hit in hits {
            let (index, code) = (hit.segment as usize, code_of(hit));
            if codes[index].insert(code, 0).is_none() {
                texts.push((values[index].value(self.segment(index), code), index, code));
            }
        }
        texts.sort_unstable();
        let mut rank = 0;
        for number in 0..texts.len() {
            if number == 0 || texts[number].0 != texts[number - 1].0 {
                rank += 1;
            }
            codes[texts[number].1].insert(texts[number].2, rank);
        }
        let keys =
            hits.iter().map(|hit| codes[hit.segment as usize].get(&code_of(hit)).copied().unwrap_or(0)).collect();
        KeyColumn { depth: 1, keys, run: None }
    }

    fn compare(&self, column: &KeyColumn, hits: &[Hit], (a, b): (u32, u32), context: u32) -> Ordering {
        let keys = |index: u32| &column.keys[index as usize * column.depth..(index as usize + 1) * column.depth];
        let order = keys(a).cmp(keys(b));
        match (order, column.run) {
            (Ordering::Equal, Some((run, attribute))) if keys(a).last() != Some(&0) => {
                self.compare_rest((&hits[a as usize], &hits[b as usize]), run, attribute, context)
            }
            _ => order,
        }
    }

    /// Compares the tokens of two hits behind those that have keys.
    fn compare_rest(&self, (a, b): (&Hit, &Hit), run: TokenRun, attribute: Attribute, context: u32) -> Ordering {
        let lexicon = self.engine().lexicon();
        let layer = layer_of(attribute, lexicon);
        let texts = |hit: &Hit| {
            let segment = self.segment(hit.segment as usize);
            let (positions, is_reversed) = self.run_of(hit, run, context);
            let at = move |index: u32| if is_reversed { positions.end - 1 - index } else { positions.start + index };
            let length = self.run_of(hit, run, context).0.len() as u32;
            (DEPTH as u32..length).map(move |index| lexicon.of(segment.lexeme_at(at(index)), layer))
        };
        let (mut one, mut other) = (texts(a), texts(b));
        loop {
            match (one.next(), other.next()) {
                (Some(one), Some(other)) if one == other => {}
                (Some(one), Some(other)) => {
                    let value = |id: u32| attribute.value(lexicon.string(layer, id));
                    match value(one).cmp(&value(other)) {
                        Ordering::Equal => {}
                        order => return order,
                    }
                }
                (one, other) => return one.is_some().cmp(&other.is_some()),
            }
        }
    }
}

/// The number of tokens of a run that have keys; further ones are compared by their texts.
const DEPTH: usize = 4;
/// The steps that the key of a hit counts for.
const KEY_STEPS: u32 = 4;

/// The keys of all hits for one sort key: `depth` of each hit, 0 for a token that is not there.
struct KeyColumn {
    depth: usize,
    keys: Vec<u32>,
    /// The tokens behind the keys, if there may be some.
    run: Option<(TokenRun, Attribute)>,
}

/// The tokens that a sort key compares.
#[derive(Debug, Clone, Copy)]
enum TokenRun {
    /// Those before the hit, the nearest first.
    Left,
    /// Those of the hit.
    Node,
    /// Those behind the hit.
    Right,
    /// One of them.
    One(LinePlace),
}

/// The number of items that are sorted between two checks of the limits.
const RUN: usize = 512;

/// The order of items by a stable merge sort; nothing if a limit is reached.
fn sorted_order(count: usize, limits: &Limits, compare: impl Fn(u32, u32) -> Ordering) -> Option<Vec<u32>> {
    let mut deadline = Deadline::new(limits);
    let mut order: Vec<u32> = (0..count as u32).collect();
    for run in order.chunks_mut(RUN) {
        run.sort_by(|a, b| compare(*a, *b));
        if !deadline.tick_by(RUN as u32 * 8) {
            return None;
        }
    }
    let (mut width, mut merged) = (RUN, Vec::with_capacity(count));
    while width < count {
        for pair in order.chunks(width * 2) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some((a, after_a)), Some((b, after_b))) = (left.split_first(), right.split_first()) {
                if !deadline.tick_by(8) {
                    return None;
                }
                if compare(*b, *a).is_lt() {
                    merged.push(*b);
                    right = after_b;
                } else {
                    merged.push(*a);
                    left = after_a;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut order, &mut merged);
        merged.clear();
        width *= 2;
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sort_is_stable_and_stops_at_a_limit() {
        let keys: Vec<u32> = (0..5000u32).map(|number| number.wrapping_mul(2_654_435_761) % 97).collect();
        let compare = |a: u32, b: u32| keys[a as usize].cmp(&keys[b as usize]);
        let order = sorted_order(keys.len(), &Limits::default(), compare).unwrap();
        let mut expected: Vec<u32> = (0..5000).collect();
        expected.sort_by_key(|index| keys[*index as usize]);
        assert_eq!(order, expected);
        let compared = std::cell::Cell::new(0);
        let counted = |a: u32, b: u32| {
            compared.set(compared.get() + 1);
            compare(a, b)
        };
        assert_eq!(sorted_order(keys.len(), &Limits::steps(0), counted), None);
        assert!(compared.get() < 50_000, "{}", compared.get());
    }
}
