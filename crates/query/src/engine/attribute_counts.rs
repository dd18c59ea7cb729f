//! Hits by the values of their tokens.

use super::memory::Reserved;
use super::set::layer_of;
use super::{Deadline, Limit, Limits, Search};
use crate::cql::Attribute;
use crate::measure::per_million;
use crate::question::{Frequencies, FrequencyRow};
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// The maximum number of distinct values in memory.
const MAX_VALUES: usize = 2_000_000;
/// The memory of a value besides the numbers of its tokens: an entry of a table that may be half empty, and an allocation.
const VALUE_BYTES: u64 = 80;
/// The steps that the text of a value counts for.
const TEXT_STEPS: u32 = 32;

/// Hits by the numbers of the strings of their tokens. Strings with the same value have the number of the first.
struct ValueCounts {
    counts: HashMap<Box<[u32]>, u64>,
    complete: bool,
    _memory: Reserved,
}

impl Search<'_> {
    /// Counts hits by the values of their tokens. A limit, or too many distinct values, ends the count.
    fn value_counts(&self, attribute: Attribute, limits: &Limits) -> ValueCounts {
        self.begin_pass(limits);
        let (layer, lexicon) = (layer_of(attribute, self.engine.lexicon()), self.engine.lexicon());
        let shared = self.engine.shared(attribute);
        let number = |lexeme: u32| {
            let string = lexicon.of(lexeme, layer);
            shared.as_ref().map_or(string, |shared| shared.get(string as usize).copied().unwrap_or(string))
        };
        let mut counts: HashMap<Box<[u32]>, u64> = HashMap::new();
        let (mut complete, mut memory) = (true, limits.memory());
        let mut key = Vec::new();
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let column = segment.column();
            let mut local_ids: Vec<u64> = vec![0; segment.lexemes().len()];
            complete &= self.each_in(index, limits, &mut |start, end| {
                if end - start == 1 {
                    if let Some(count) = local_ids.get_mut(column.get(start) as usize) {
                        *count += 1;
                    }
                    return ControlFlow::Continue(());
                }
                key.clear();
                key.extend((start..end).map(|position| number(segment.lexeme_at(position))));
                if let Some(count) = counts.get_mut(&key[..]) {
                    *count += 1;
                    return ControlFlow::Continue(());
                }
                if counts.len() >= MAX_VALUES || !memory.grow(VALUE_BYTES + key.len() as u64 * 4) {
                    limits.strike(Limit::Values);
                    return ControlFlow::Break(());
                }
                counts.insert(key.as_slice().into(), 1);
                ControlFlow::Continue(())
            });
            for (local_id, count) in (0..).zip(local_ids).filter(|(_, count)| *count > 0) {
                *counts.entry([number(segment.lexeme(local_id))].into()).or_default() += count;
            }
            if !complete {
                break;
            }
        }
        ValueCounts { counts, complete, _memory: memory }
    }

    fn value_text(&self, attribute: Attribute, key: &[u32]) -> String {
        let (layer, lexicon) = (layer_of(attribute, self.engine.lexicon()), self.engine.lexicon());
        let parts: Vec<_> = key.iter().map(|id| attribute.value(lexicon.string(layer, *id))).collect();
        parts.join(" ")
    }

    /// Hits by the value of an attribute of their tokens, joined by blanks. Returns false if a limit was reached or there are
    /// too many distinct values.
    pub fn by_attribute(&self, attribute: Attribute, limits: &Limits) -> (HashMap<String, u64>, bool) {
        let found = self.value_counts(attribute, limits);
        let mut texts: HashMap<String, u64> = HashMap::new();
        for (key, count) in found.counts {
            *texts.entry(self.value_text(attribute, &key)).or_default() += count;
        }
        (texts, found.complete)
    }

    /// The frequency of each value of an attribute among hits. Without an exhaustive search there are no rates.
    pub fn frequencies_by_attribute(&self, attribute: Attribute, limits: &Limits) -> (Frequencies, bool) {
        self.most_frequent_values(attribute, 0, usize::MAX, limits)
    }

    /// The `most` most frequent values of an attribute among hits, of those with at least `at_least` hits. Only the texts of
    /// rows are held in memory.
    pub fn most_frequent_values(
        &self,
        attribute: Attribute,
        at_least: u64,
        most: usize,
        limits: &Limits,
    ) -> (Frequencies, bool) {
        let ValueCounts { counts, complete, _memory } = self.value_counts(attribute, limits);
        let tokens = self.tokens();
        let hits = counts.values().sum();
        let mut values = 0;
        // The row that is the last in order is on top of the heap.
        let mut rows: BinaryHeap<(Reverse<u64>, String)> = BinaryHeap::new();
        let mut deadline = Deadline::new(limits);
        for (key, count) in counts.into_iter().filter(|(_, count)| *count >= at_least) {
            values += 1;
            let is_full = rows.len() >= most;
            if is_full && rows.peek().is_none_or(|(Reverse(least), _)| count < *least) {
                continue;
            }
            // After the search was cut off, what it has found is still shown.
            if complete && !deadline.tick_by(TEXT_STEPS) || limits.is_cancelled() {
                break;
            }
            rows.push((Reverse(count), self.value_text(attribute, &key)));
            if is_full {
                rows.pop();
            }
        }
        let complete = complete && !deadline.is_over;
        let row = |(Reverse(hits), value): (Reverse<u64>, String)| FrequencyRow {
            value,
            hits,
            tokens: None,
            per_million: per_million(hits as f64, tokens as f64).filter(|_| complete),
        };
        let rows = rows.into_sorted_vec().into_iter().map(row).collect();
        (Frequencies { by: attribute.name().to_owned(), hits, tokens, values, rows }, complete)
    }
}
