//! The distribution of hits over the corpus, in the order of time.

use super::count::tokens_in;
use super::{Limit, Limits, Order, Search};
use crate::measure::dispersion::Dispersion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tidings_index::Day;

/// A part of the corpus with its hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorpusPart {
    /// The day of its first token.
    pub first: Option<Day>,
    /// Hits that start in it.
    pub hits: u64,
}

/// The distribution of hits.
#[derive(Debug, Clone, PartialEq)]
pub struct HitDispersion {
    /// Hits.
    pub hits: u64,
    /// Documents with a hit.
    pub documents: u64,
    /// The measures; `None` if the search was cut off.
    pub measures: Option<Dispersion>,
    /// Equal parts of the corpus, the oldest first.
    pub parts: Vec<CorpusPart>,
}

impl Search<'_> {
    /// The distribution of hits over equal parts of the selected documents. Needs two passes: the first counts.
    pub fn dispersion(&self, parts: usize, limits: &Limits) -> HitDispersion {
        let counted = self.count(limits);
        let tokens = self.tokens();
        let offsets = self.token_offsets();
        let part_of = |position: u64| (u128::from(position) * parts as u128 / u128::from(tokens.max(1))) as usize;
        let mut found = vec![CorpusPart { first: None, hits: 0 }; parts];
        self.name_parts(&offsets, &part_of, &mut found);
        let mut measures = Dispersion::new(counted.hits, tokens);
        let (mut documents, mut last, mut hits) = (0, None, 0);
        let complete = self.in_order(Order::Oldest, limits, &mut |hit| {
            let segment = self.segment(hit.segment as usize);
            let document = segment.document_at(hit.start);
            if last != Some((hit.segment, document)) {
                last = Some((hit.segment, document));
                documents += 1;
            }
            let offset = offsets[hit.segment as usize].get(document as usize).copied().unwrap_or(0);
            let position = offset + u64::from(hit.start - segment.tokens_of(document).start);
            measures.add(position);
            hits += 1;
            if let Some(part) = found.get_mut(part_of(position)) {
                part.hits += 1;
            }
            ControlFlow::Continue(())
        });
        let measures = (complete && counted.complete).then(|| measures.complete());
        HitDispersion { hits, documents, measures, parts: found }
    }

    /// For each segment and document the number of selected tokens before it in the order of time.
    fn token_offsets(&self) -> Vec<Vec<u64>> {
        let mut days: Vec<(Day, usize, usize)> = Vec::new();
        for index in 0..self.segments() {
            let segment = self.segment(index);
            if tokens_in(segment, self.scope(index)) > 0 {
                days.extend((0..segment.days()).map(|day| (segment.day(day), index, day)));
            }
        }
        days.sort_unstable();
        let mut offsets: Vec<Vec<u64>> =
            (0..self.segments()).map(|index| vec![0; self.segment(index).meta().documents as usize]).collect();
        let mut next = 0;
        for (_, index, day) in days {
            let (segment, scope) = (self.segment(index), self.scope(index));
            for document in segment.documents_of_day(day) {
                if let Some(offset) = offsets[index].get_mut(document as usize) {
                    *offset = next;
                }
                if scope.documents().contains(&document) && scope.contains(document) {
                    next += segment.tokens_of(document).len() as u64;
                }
            }
        }
        offsets
    }

    /// Sets the first day of each part.
    fn name_parts(&self, offsets: &[Vec<u64>], part_of: &impl Fn(u64) -> usize, parts: &mut [CorpusPart]) {
        for (index, offsets) in offsets.iter().enumerate() {
            let (segment, scope) = (self.segment(index), self.scope(index));
            for document in scope.documents().filter(|document| scope.contains(*document)) {
                let Some(offset) = offsets.get(document as usize) else { continue };
                let tokens = segment.tokens_of(document).len() as u64;
                if tokens == 0 {
                    continue;
                }
                let day = segment.day_of(document);
                let last = part_of(offset + tokens.saturating_sub(1));
                for part in parts.iter_mut().take(last + 1).skip(part_of(*offset)) {
                    part.first = Some(part.first.map_or(day, |known| known.min(day)));
                }
            }
        }
    }
}

/// The hits of one shard as places in the text of their days, from which the distribution over all shards follows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HitPlaces {
    /// Documents with a hit.
    pub documents: u64,
    /// For each day with text its tokens, and the tokens of the day before each hit.
    pub days: BTreeMap<i32, (u64, Vec<u32>)>,
}

/// The memory of a hit as a place.
const PLACE_BYTES: u64 = 16;

impl Search<'_> {
    /// The places of all hits. Check [`Limits::cut_off`]: some may be missing.
    pub(crate) fn hit_places(&self, limits: &Limits) -> HitPlaces {
        let offsets = self.token_offsets();
        let mut found = HitPlaces::default();
        // The tokens before each day, in the order of days.
        let mut before: BTreeMap<i32, u64> = BTreeMap::new();
        for (index, offsets) in offsets.iter().enumerate() {
            let (segment, scope) = (self.segment(index), self.scope(index));
            for document in scope.documents().filter(|document| scope.contains(*document)) {
                let tokens = segment.tokens_of(document).len() as u64;
                let Some(offset) = offsets.get(document as usize).filter(|_| tokens > 0) else { continue };
                let day = segment.day_of(document).0;
                before.entry(day).and_modify(|first| *first = (*first).min(*offset)).or_insert(*offset);
                found.days.entry(day).or_default().0 += tokens;
            }
        }
        let (mut last, mut memory) = (None, limits.memory());
        self.in_order(Order::Oldest, limits, &mut |hit| {
            let segment = self.segment(hit.segment as usize);
            let document = segment.document_at(hit.start);
            if last != Some((hit.segment, document)) {
                last = Some((hit.segment, document));
                found.documents += 1;
            }
            if !memory.grow(PLACE_BYTES) {
                limits.strike(Limit::Memory);
                return ControlFlow::Break(());
            }
            let day = segment.day_of(document).0;
            let offset = offsets[hit.segment as usize].get(document as usize).copied().unwrap_or(0);
            let position = offset + u64::from(hit.start - segment.tokens_of(document).start);
            if let Some((_, places)) = found.days.get_mut(&day) {
                let place = position.saturating_sub(before.get(&day).copied().unwrap_or(0));
                places.push(u32::try_from(place).unwrap_or(u32::MAX));
            }
            ControlFlow::Continue(())
        });
        found
    }
}

impl HitDispersion {
    /// The distribution over shards, of which the first has the first documents of a day.
    pub(crate) fn of_shards(shards: &[HitPlaces], parts: usize, is_complete: bool) -> HitDispersion {
        let mut days: Vec<(i32, u64, &[u32])> = Vec::new();
        for places in shards {
            days.extend(places.days.iter().map(|(day, (tokens, hits))| (*day, *tokens, hits.as_slice())));
        }
        // Sorting is stable: on one day the shards stay in their order.
        days.sort_by_key(|(day, ..)| *day);
        let tokens: u64 = days.iter().fold(0u64, |sum, (_, tokens, _)| sum.saturating_add(*tokens));
        let hits = days.iter().map(|(.., hits)| hits.len() as u64).sum();
        let part_of = |position: u64| (u128::from(position) * parts as u128 / u128::from(tokens.max(1))) as usize;
        let mut found = vec![CorpusPart { first: None, hits: 0 }; parts];
        let mut measures = Dispersion::new(hits, tokens);
        let mut offset = 0u64;
        for (day, of_day, places) in days.into_iter().filter(|(_, of_day, _)| *of_day > 0) {
            let (first, last) = (part_of(offset), part_of(offset.saturating_add(of_day - 1)));
            for part in found.iter_mut().take(last.saturating_add(1)).skip(first).filter(|part| part.first.is_none()) {
                part.first = Some(Day(day));
            }
            for place in places {
                // What a shard says of places outside of the day is not believed.
                let position = offset.saturating_add(u64::from(*place).min(of_day - 1));
                measures.add(position);
                if let Some(part) = found.get_mut(part_of(position)) {
                    part.hits += 1;
                }
            }
            offset = offset.saturating_add(of_day);
        }
        let documents = shards.iter().map(|places| places.documents).fold(0u64, u64::saturating_add);
        let measures = is_complete.then(|| measures.complete());
        HitDispersion { hits, documents, measures, parts: found }
    }
}
