//! N-grams inside sentences, and key terms.

use super::memory::Reserved;
use super::set::layer_of;
use super::words::{is_wordlike, words};
use super::{Deadline, Engine, EngineError, Result, Subcorpus};
use crate::cql::Attribute;
use crate::measure::keyness::Keyness;
use crate::question::{Keywords, Words};
use crate::syntax::ValueMatcher;
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeSet;
use tidings_index::codec::bit;

/// The longest n-gram.
const MAX_N: usize = 5;
/// The maximum number of distinct n-grams in memory.
const MAX_GRAMS: usize = 6_000_000;
/// The memory of an n-gram with its counts, in a table that is half full.
const GRAM_BYTES: u64 = 76;
/// The maximum number of counters of the first pass, one byte each, and the least that are of use.
const MAX_COUNTERS: u64 = 1 << 26;
const MIN_COUNTERS: u64 = 1 << 20;

/// The steps that the text of an n-gram counts for.
const TEXT_STEPS: u32 = 32;

/// The word numbers of an n-gram; unused positions are `u32::MAX`.
type Gram = [u32; MAX_N];

/// The hits of an n-gram, its documents, and the last of them.
#[derive(Debug, Clone, Copy, Default)]
struct GramCount {
    hits: u64,
    documents: u32,
    last: u32,
}

impl GramCount {
    fn add(&mut self, document: u32) {
        self.hits += 1;
        self.documents += u32::from(self.last != document);
        self.last = document;
    }
}

/// Counts by n-gram.
struct GramCounts {
    counts: HashMap<Gram, GramCount>,
    _memory: Reserved,
}

/// Upper bounds of n-gram frequencies: a counting Bloom filter with one hash function, where several n-grams may share a
/// counter.
struct GramFilter(Vec<u8>);

impl GramFilter {
    /// A filter for a part of `tokens`, with as many counters as fit into the memory; `None` if too few do. Fewer counters
    /// hold back fewer rare n-grams.
    fn new(tokens: u64, memory: &mut Reserved) -> Option<GramFilter> {
        let mut counters = tokens.next_power_of_two().min(MAX_COUNTERS);
        let least = counters.min(MIN_COUNTERS);
        while !memory.grow(counters) {
            counters /= 2;
            if counters < least {
                return None;
            }
        }
        Some(GramFilter(vec![0; counters as usize]))
    }

    fn slot(&self, gram: &[u32]) -> usize {
        let mix = |hash: u64, word: &u32| (hash.rotate_left(23) ^ u64::from(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (gram.iter().fold(0, mix) >> 32) as usize & (self.0.len() - 1)
    }

    fn add(&mut self, gram: &[u32]) {
        let slot = self.slot(gram);
        self.0[slot] = self.0[slot].saturating_add(1);
    }

    fn at_most(&self, gram: &[u32]) -> u8 {
        self.0[self.slot(gram)]
    }
}

impl Engine {
    /// The n-grams inside sentences that match and occur at least `at_least` times, the most frequent first.
    pub fn ngrams(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        n: usize,
        matching: Option<&ValueMatcher>,
        at_least: u64,
    ) -> Result<Words> {
        let rows = self.grams(subcorpus, attribute, n, at_least)?;
        words(attribute, n, self.tokens(subcorpus), matching, at_least, rows)
    }

    /// Every n-gram that occurs at least `at_least` times, with its hits and documents.
    pub(super) fn grams(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        n: usize,
        at_least: u64,
    ) -> Result<Vec<(String, u64, u64)>> {
        let counts = self.count(subcorpus, &self.words_of_lexemes(attribute), n, at_least)?;
        let mut deadline = Deadline::new(subcorpus.limits());
        let frequent = counts.counts.into_iter().filter(|(_, count)| count.hits >= at_least);
        let rows: Vec<(String, u64, u64)> = frequent
            .take_while(|_| deadline.tick_by(TEXT_STEPS))
            .map(|(gram, count)| (self.gram_text(attribute, n, &gram), count.hits, u64::from(count.documents)))
            .collect();
        // Past a limit there is no time to sort them.
        Ok(if deadline.is_over { Vec::new() } else { rows })
    }

    /// Key terms: n-grams that are typical of one subcorpus against another.
    pub(super) fn keyterms(
        &self,
        (focus, reference): (&Subcorpus, &Subcorpus),
        attribute: Attribute,
        n: usize,
        order: Keyness,
        at_least: u64,
    ) -> Result<Keywords> {
        let of = self.words_of_lexemes(attribute);
        let mut terms: HashMap<Gram, (u64, u64)> = HashMap::new();
        let counted = self.count(focus, &of, n, at_least)?;
        for (gram, count) in counted.counts {
            if count.hits >= at_least && is_wordlike(&self.gram_text(attribute, n, &gram)) {
                terms.insert(gram, (count.hits, 0));
            }
        }
        // The reference is usually much larger: count only the n-grams of the focus.
        reference.limits().begin_pass(self.tokens(reference));
        self.each_gram(reference, &of, n, |gram, _| {
            if let Some(counts) = terms.get_mut(gram) {
                counts.1 += 1;
            }
            true
        });
        let counts = terms.into_iter().map(|(gram, (here, there))| (self.gram_text(attribute, n, &gram), here, there));
        Ok(Keywords::rank(attribute, (self.tokens(focus), self.tokens(reference)), order, at_least, counts))
    }

    /// The n-grams of words that occur at least `at_least` times, as their words.
    pub(crate) fn gram_words(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        n: usize,
        at_least: u64,
    ) -> Result<BTreeSet<Vec<String>>> {
        let counted = self.count(subcorpus, &self.words_of_lexemes(attribute), n, at_least)?;
        let frequent = counted.counts.into_iter().filter(|(_, count)| count.hits >= at_least);
        let words = |gram: Gram| gram.into_iter().take(n.clamp(1, MAX_N)).map(|id| self.name(attribute, id)).collect();
        Ok(frequent.map(|(gram, _)| words(gram)).collect())
    }

    /// The hits of some n-grams, in their order.
    pub(crate) fn counts_of_grams(
        &self,
        subcorpus: &Subcorpus,
        attribute: Attribute,
        n: usize,
        grams: &[Vec<String>],
    ) -> Vec<u64> {
        let n = n.clamp(1, MAX_N);
        let of = self.words_of_lexemes(attribute);
        let words: HashSet<&str> = grams.iter().flatten().map(String::as_str).collect();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let ids: BTreeSet<u32> = of.iter().copied().collect();
        for id in ids {
            let value = self.name(attribute, id);
            if words.contains(value.as_str()) {
                numbers.insert(value, id);
            }
        }
        let gram_of = |words: &Vec<String>| {
            let mut gram = [u32::MAX; MAX_N];
            for (slot, word) in gram.iter_mut().zip(words) {
                *slot = *numbers.get(word)?;
            }
            (words.len() == n).then_some(gram)
        };
        let places: HashMap<Gram, usize> =
            grams.iter().enumerate().filter_map(|(at, words)| Some((gram_of(words)?, at))).collect();
        let mut counts = vec![0; grams.len()];
        subcorpus.limits().begin_pass(self.tokens(subcorpus));
        self.each_gram(subcorpus, &of, n, |gram, _| {
            if let Some(at) = places.get(gram) {
                counts[*at] += 1;
            }
            true
        });
        counts
    }

    /// Counts all n-grams that can reach `at_least`. Most n-grams of a corpus occur once: a first pass counts them by hash,
    /// and those whose counter stays below the minimum are not held in memory.
    fn count(&self, subcorpus: &Subcorpus, of: &[u32], n: usize, at_least: u64) -> Result<GramCounts> {
        let bound = at_least.min(u8::MAX.into()) as u8;
        let tokens = self.tokens(subcorpus);
        let mut memory = subcorpus.limits().memory();
        let mut filter = match bound >= 2 {
            true => Some(GramFilter::new(tokens, &mut memory).ok_or(EngineError::TooMany { limit: 0 })?),
            false => None,
        };
        if let Some(filter) = &mut filter {
            subcorpus.limits().begin_pass(tokens);
            self.each_gram(subcorpus, of, n, |gram, _| {
                filter.add(&gram[..n.min(MAX_N)]);
                true
            });
        }
        let is_rare = |gram: &Gram| filter.as_ref().is_some_and(|filter| filter.at_most(&gram[..n.min(MAX_N)]) < bound);
        let mut counts: HashMap<Gram, GramCount> = HashMap::new();
        subcorpus.limits().begin_pass(tokens);
        let is_all = self.each_gram(subcorpus, of, n, |gram, document| {
            if is_rare(gram) {
                return true;
            }
            let known = counts.len();
            counts.entry(*gram).or_default().add(document);
            counts.len() == known || (known < MAX_GRAMS && memory.grow(GRAM_BYTES))
        });
        if is_all {
            Ok(GramCounts { counts, _memory: memory })
        } else {
            Err(EngineError::TooMany { limit: counts.len() - 1 })
        }
    }

    /// For each lexeme the number of its word; lexemes with the same value, such as the word in lower case, share one.
    pub(super) fn words_of_lexemes(&self, attribute: Attribute) -> Vec<u32> {
        let (layer, lexicon) = (layer_of(attribute, self.lexicon()), self.lexicon());
        let count = lexicon.count(layer);
        let Some(shared) = self.shared(attribute) else {
            // A damaged lexicon may have any number.
            return lexicon.all_of(layer).into_iter().map(|id| if id < count { id } else { 0 }).collect();
        };
        lexicon.all_of(layer).into_iter().map(|id| shared.get(id as usize).copied().unwrap_or(0)).collect()
    }

    fn gram_text(&self, attribute: Attribute, n: usize, gram: &Gram) -> String {
        let (lexicon, layer) = (self.lexicon(), layer_of(attribute, self.lexicon()));
        let text = |id: &u32| attribute.value(lexicon.string(layer, *id));
        gram[..n.clamp(1, MAX_N)].iter().map(text).collect::<Vec<_>>().join(" ")
    }

    /// Passes every n-gram with the number of its document until `each` returns false; returns true if it never did.
    fn each_gram(&self, subcorpus: &Subcorpus, of: &[u32], n: usize, mut each: impl FnMut(&Gram, u32) -> bool) -> bool {
        let n = n.clamp(1, MAX_N);
        let mut number = 0;
        let mut is_all = true;
        for (segment, scope) in self.scopes(subcorpus).filter(|(_, scope)| !scope.documents().is_empty()) {
            let ids: Vec<u32> =
                segment.lexemes().all().iter().map(|lexeme| of.get(*lexeme as usize).copied().unwrap_or(0)).collect();
            let bits = segment.sentence_bits();
            scope.pieces(segment, subcorpus.limits(), |run| {
                subcorpus.limits().saw(segment.tokens_in(run.clone()).len() as u64);
                for document in run {
                    number += 1;
                    let tokens = segment.tokens_of(document);
                    // The last tokens of the sentence, the newest at the end.
                    let mut gram = [u32::MAX; MAX_N];
                    let mut length = 0;
                    segment.column().scan(tokens.start, tokens.end, |from, local_ids| {
                        for (position, local_id) in (from..).zip(local_ids) {
                            if bit(bits, position) {
                                length = 0;
                            }
                            gram[..n].rotate_left(1);
                            gram[n - 1] = ids.get(*local_id as usize).copied().unwrap_or(0);
                            length += 1;
                            is_all = is_all && (length < n || each(&gram, number));
                        }
                    });
                }
            });
        }
        is_all
    }
}
