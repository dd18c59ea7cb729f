//! Hits by the values of their tokens.

use super::memory::Reserved;
use super::set::layer_of;
use super::{Deadline, Limit, Limits, Search};
use crate::cql::Attribute;
use crate::measure::{per_million, share};
use crate::question::{Frequencies, FrequencyRow};
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// The maximum number of distinct values in memory.
const MAX_VALUES: usize = 2_000_000;
/// The memory of a value besides the numbers of its tokens: an entry of a table that may be half empty, and an allocation.
const VALUE_BYTES: u64 = 80;
/// The steps that the text of a value counts for.
const TEXT_STEPS: u32 = 32;

/// The numbers of the strings of tokens. Strings with the same value have the number of the first.
pub(super) type ValueKey = Box<[u32]>;

/// Hits by the numbers of the strings of their tokens.
pub(super) struct ValueCounts {
    pub(super) counts: HashMap<ValueKey, ValueCount>,
    complete: bool,
    _memory: Reserved,
}

/// The hits of a value, the documents with one, and the last of these, numbered over all segments from 1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ValueCount {
    pub(super) hits: u64,
    pub(super) documents: u64,
    last: u64,
}

impl ValueCount {
    fn add(&mut self, document: u64) {
        self.hits += 1;
        self.documents += u64::from(self.last != document);
        self.last = document;
    }
}

/// The code of a lexeme that was not met yet.
const UNKNOWN: u32 = u32::MAX;

impl Search<'_> {
    /// The function from lexemes to the numbers of their values.
    pub(super) fn numbering(&self, attribute: Attribute) -> impl Fn(u32) -> u32 {
        let (layer, lexicon) = (layer_of(attribute, self.engine.lexicon()), self.engine.lexicon());
        let shared = self.engine.shared(attribute);
        move |lexeme: u32| {
            let string = lexicon.of(lexeme, layer);
            shared.as_ref().map_or(string, |shared| shared.get(string as usize).copied().unwrap_or(string))
        }
    }

    /// Counts hits by the values of their tokens, all of them or those of several tokens that are asked for. A limit, or too
    /// many distinct values, ends the count.
    pub(super) fn value_counts(
        &self,
        attribute: Attribute,
        asked: Option<&HashSet<ValueKey>>,
        limits: &Limits,
    ) -> ValueCounts {
        self.begin_pass(limits);
        let number = self.numbering(attribute);
        let mut counts: HashMap<Box<[u32]>, ValueCount> = HashMap::new();
        let (mut complete, mut memory) = (true, limits.memory());
        let mut key = Vec::new();
        let mut document = 0;
        for index in 0..self.segments() {
            let segment = self.segment(index);
            let column = segment.column();
            // Single tokens are counted by the codes of their values, which lexemes of one value share.
            let mut codes: Vec<u32> = vec![UNKNOWN; segment.lexemes().len()];
            let mut code_of: HashMap<u32, u32> = HashMap::new();
            let mut singles: Vec<(u32, ValueCount)> = Vec::new();
            let mut document_end = 0;
            complete &= self.each_in(index, limits, &mut |start, end| {
                if start >= document_end {
                    document_end = segment.tokens_of(segment.document_at(start)).end;
                    document += 1;
                }
                if end - start == 1 {
                    let local_id = column.get(start) as usize;
                    let Some(code) = codes.get_mut(local_id) else { return ControlFlow::Continue(()) };
                    if *code == UNKNOWN {
                        let value = number(segment.lexeme(local_id as u32));
                        *code = *code_of.entry(value).or_insert_with(|| {
                            singles.push((value, ValueCount::default()));
                            singles.len() as u32 - 1
                        });
                    }
                    singles[*code as usize].1.add(document);
                    return ControlFlow::Continue(());
                }
                key.clear();
                key.extend((start..end).map(|position| number(segment.lexeme_at(position))));
                if let Some(count) = counts.get_mut(&key[..]) {
                    count.add(document);
                    return ControlFlow::Continue(());
                }
                if asked.is_some_and(|asked| !asked.contains(&key[..])) {
                    return ControlFlow::Continue(());
                }
                if counts.len() >= MAX_VALUES || !memory.grow(VALUE_BYTES + key.len() as u64 * 4) {
                    limits.strike(Limit::Values);
                    return ControlFlow::Break(());
                }
                let mut count = ValueCount::default();
                count.add(document);
                counts.insert(key.as_slice().into(), count);
                ControlFlow::Continue(())
            });
            for (value, count) in singles {
                let sum = counts.entry([value].into()).or_default();
                sum.hits += count.hits;
                sum.documents += count.documents;
            }
            if !complete {
                break;
            }
        }
        ValueCounts { counts, complete, _memory: memory }
    }

    /// The values of the tokens of a key.
    pub(super) fn value_words(&self, attribute: Attribute, key: &[u32]) -> Vec<String> {
        let (layer, lexicon) = (layer_of(attribute, self.engine.lexicon()), self.engine.lexicon());
        key.iter().map(|id| attribute.value(lexicon.string(layer, *id)).into_owned()).collect()
    }

    fn value_text(&self, attribute: Attribute, key: &[u32]) -> String {
        self.value_words(attribute, key).join(" ")
    }

    /// Hits, and documents with one, by the value of an attribute of their tokens, joined by blanks. Returns false if a limit
    /// was reached or there are too many distinct values.
    pub fn by_attribute(&self, attribute: Attribute, limits: &Limits) -> (HashMap<String, (u64, u64)>, bool) {
        let found = self.value_counts(attribute, None, limits);
        let mut texts: HashMap<String, (u64, u64)> = HashMap::new();
        for (key, count) in found.counts {
            let sums = texts.entry(self.value_text(attribute, &key)).or_default();
            *sums = (sums.0 + count.hits, sums.1 + count.documents);
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
        let ValueCounts { counts, complete, _memory } = self.value_counts(attribute, None, limits);
        let tokens = self.tokens();
        let documents = self.documents();
        let hits = counts.values().map(|count| count.hits).sum();
        let mut values = 0;
        // The row that is the last in order is on top of the heap.
        let mut rows: BinaryHeap<(Reverse<u64>, String, u64)> = BinaryHeap::new();
        let mut deadline = Deadline::new(limits);
        for (key, count) in counts.into_iter().filter(|(_, count)| count.hits >= at_least) {
            values += 1;
            let is_full = rows.len() >= most;
            if is_full && rows.peek().is_none_or(|(Reverse(least), ..)| count.hits < *least) {
                continue;
            }
            // After the search was cut off, what it has found is still shown.
            if complete && !deadline.tick_by(TEXT_STEPS) || limits.is_cancelled() {
                break;
            }
            rows.push((Reverse(count.hits), self.value_text(attribute, &key), count.documents));
            if is_full {
                rows.pop();
            }
        }
        let complete = complete && !deadline.is_over;
        let row = |(Reverse(hits), value, hit_documents): (Reverse<u64>, String, u64)| FrequencyRow {
            value,
            hits,
            hit_documents: Some(hit_documents),
            documents: None,
            document_share: share(hit_documents, documents).filter(|_| complete),
            tokens: None,
            per_million: per_million(hits as f64, tokens as f64).filter(|_| complete),
        };
        let rows = rows.into_sorted_vec().into_iter().map(row).collect();
        (Frequencies { by: attribute.name().to_owned(), hits, tokens, values, rows }, complete)
    }
}
