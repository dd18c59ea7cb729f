//! Pages, samples and sorting of concordances.

use super::{Deadline, Hit, Limits, Order, Result, Search};
use crate::question::{Exactness, Line, SortKey};
use std::cmp::Ordering;
use tidings_index::Segment;
use tidings_index::lexicon::Layer;

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
        let (hits, _) = self.sample(size, view.seed, limits);
        let of_hits = self.count(limits).hits;
        let number = hits.len() as u64;
        let exactness = match number < of_hits && limits.cut_off().is_none() {
            true => Exactness::Sample { hits: number, of_hits, seed: view.seed },
            false => Exactness::Exact,
        };
        (hits, exactness)
    }

    /// Sorts hits by the words and fields of their lines, without making the lines; none if a limit is reached.
    fn sorted(&self, hits: &[Hit], keys: &[SortKey], context: u32, limits: &Limits) -> Result<Vec<Hit>> {
        let mut deadline = Deadline::new(limits);
        let mut sortable = Vec::with_capacity(hits.len());
        for hit in hits {
            if !deadline.tick_by(KEY_STEPS) {
                return Ok(Vec::new());
            }
            sortable.push(SortableHit::new(self, *hit, keys, context)?);
        }
        let folded = self.engine().folded();
        let compare = |a: u32, b: u32| {
            let (a, b) = (&sortable[a as usize], &sortable[b as usize]);
            let orders = keys.iter().enumerate().map(|(index, key)| self.compare(a, b, (index, key), folded));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let order = sorted_order(hits.len(), limits, compare).unwrap_or_default();
        Ok(order.into_iter().map(|index| hits[index as usize]).collect())
    }

    fn compare(&self, a: &SortableHit<'_>, b: &SortableHit<'_>, key: (usize, &SortKey), folded: &[u32]) -> Ordering {
        let lexicon = self.engine().lexicon();
        let word = |hit: &SortableHit<'_>, position: u32| lexicon.of(hit.segment.lexeme_at(position), Layer::Word);
        let fold = |word: u32| folded.get(word as usize).copied().unwrap_or(word);
        let lower = |word: u32| lexicon.string(Layer::Word, word).to_lowercase();
        let order = |(one, other): (u32, u32)| match fold(one) == fold(other) {
            true => Ordering::Equal,
            false => lower(one).cmp(&lower(other)),
        };
        let words = |one: &mut dyn Iterator<Item = u32>, other: &mut dyn Iterator<Item = u32>| loop {
            match (one.next(), other.next()) {
                (Some(one), Some(other)) => match order((word(a, one), word(b, other))) {
                    Ordering::Equal => {}
                    order => return order,
                },
                (one, other) => return one.is_some().cmp(&other.is_some()),
            }
        };
        match key {
            (_, SortKey::Left) => words(&mut (a.left..a.hit.start).rev(), &mut (b.left..b.hit.start).rev()),
            (_, SortKey::Node) => words(&mut (a.hit.start..a.hit.end), &mut (b.hit.start..b.hit.end)),
            (_, SortKey::Right) => words(&mut (a.hit.end..a.right), &mut (b.hit.end..b.right)),
            (index, SortKey::Field(_)) => a.fields.get(index).cmp(&b.fields.get(index)),
        }
    }
}

/// The steps that the key of a hit counts for.
const KEY_STEPS: u32 = 32;

/// A hit with what it is sorted by.
struct SortableHit<'s> {
    hit: Hit,
    segment: &'s Segment,
    /// The first token of its line, and the position after the last.
    left: u32,
    right: u32,
    /// The fields among the sort keys, at the indexes of these.
    fields: Vec<Option<String>>,
}

impl<'s> SortableHit<'s> {
    fn new(search: &'s Search<'_>, hit: Hit, keys: &[SortKey], context: u32) -> Result<SortableHit<'s>> {
        let segment = search.segment(hit.segment as usize);
        let tokens = segment.tokens_of(segment.document_at(hit.start));
        let mut fields = Vec::new();
        if keys.iter().any(|key| !key.is_of_text()) {
            for key in keys {
                fields.push(match key {
                    SortKey::Field(name) => search.engine().field_of(&hit, name)?,
                    _ => None,
                });
            }
        }
        Ok(SortableHit {
            hit,
            segment,
            left: hit.start.saturating_sub(context).max(tokens.start),
            right: hit.end.saturating_add(context).min(tokens.end),
            fields,
        })
    }
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
