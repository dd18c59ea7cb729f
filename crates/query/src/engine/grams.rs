//! Words in a row: n-grams inside sentences, and those that are typical of a part.

use super::set::layer_of;
use super::words::{is_wordlike, words};
use super::{Engine, EngineError, Result, Subcorpus};
use crate::cql::Attribute;
use crate::measure::keyness::Keyness;
use crate::question::{Keywords, Words};
use crate::syntax::ValueMatcher;
use hashbrown::HashMap;
use tidings_index::codec::bit;

/// The longest n-gram.
const MAX_N: usize = 5;
/// More distinct n-grams than this are not held in memory (about 60 bytes each).
const MAX_GRAMS: usize = 6_000_000;
/// Counters of a first look, one byte each.
const MOST_COUNTERS: u64 = 1 << 26;

/// The numbers of some words in a row; places that are not used are all alike.
type Gram = [u32; MAX_N];

/// How often an n-gram was met, in how many documents, and in which last.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    hits: u64,
    documents: u32,
    last: u32,
}

impl Tally {
    fn meet(&mut self, document: u32) {
        self.hits += 1;
        self.documents += u32::from(self.last != document);
        self.last = document;
    }
}

/// A first look at n-grams: how often each occurs at most, because several may share a counter.
struct Glance(Vec<u8>);

impl Glance {
    fn new(tokens: u64) -> Glance {
        Glance(vec![0; tokens.next_power_of_two().min(MOST_COUNTERS) as usize])
    }

    fn slot(&self, gram: &[u32]) -> usize {
        let mix = |hash: u64, word: &u32| (hash.rotate_left(23) ^ u64::from(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (gram.iter().fold(0, mix) >> 32) as usize & (self.0.len() - 1)
    }

    fn meet(&mut self, gram: &[u32]) {
        let place = self.slot(gram);
        self.0[place] = self.0[place].saturating_add(1);
    }

    fn at_most(&self, gram: &[u32]) -> u8 {
        self.0[self.slot(gram)]
    }
}

impl Engine {
    /// The n-grams inside sentences of a part that match and occur often enough, the most frequent first.
    pub fn ngrams(
        &self,
        part: &Subcorpus,
        attribute: Attribute,
        n: usize,
        matching: Option<&ValueMatcher>,
        at_least: u64,
    ) -> Result<Words> {
        let rows = self.grams(part, attribute, n, at_least)?;
        words(attribute, n, self.tokens(part), matching, at_least, rows)
    }

    /// Every n-gram that occurs often enough, with its hits and documents.
    pub(super) fn grams(
        &self,
        part: &Subcorpus,
        attribute: Attribute,
        n: usize,
        at_least: u64,
    ) -> Result<Vec<(String, u64, u64)>> {
        let tallies = self.tally(part, &self.words_of_lexemes(attribute), n, at_least)?;
        let frequent = tallies.into_iter().filter(|(_, tally)| tally.hits >= at_least);
        Ok(frequent
            .map(|(gram, tally)| (self.gram_text(attribute, n, &gram), tally.hits, u64::from(tally.documents)))
            .collect())
    }

    /// Words in a row that are typical of one part against another.
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
        for (gram, tally) in self.tally(focus, &of, n, at_least)? {
            if tally.hits >= at_least && is_wordlike(&self.gram_text(attribute, n, &gram)) {
                terms.insert(gram, (tally.hits, 0));
            }
        }
        // The reference is mostly much larger; what is not in focus need not be remembered.
        self.each_gram(reference, &of, n, |gram, _| {
            if let Some(counts) = terms.get_mut(gram) {
                counts.1 += 1;
            }
            true
        });
        let counts = terms.into_iter().map(|(gram, (here, there))| (self.gram_text(attribute, n, &gram), here, there));
        Ok(Keywords::rank(attribute, (self.tokens(focus), self.tokens(reference)), order, at_least, counts))
    }

    /// Counts all n-grams that may occur often enough. Most n-grams of a corpus occur once: a first look counts them by
    /// hash, and those whose counter stays below the bound are not held in memory at all.
    fn tally(&self, part: &Subcorpus, of: &[u32], n: usize, at_least: u64) -> Result<HashMap<Gram, Tally>> {
        let bound = at_least.min(u8::MAX.into()) as u8;
        let mut glance = (bound >= 2).then(|| Glance::new(self.tokens(part)));
        if let Some(glance) = &mut glance {
            self.each_gram(part, of, n, |gram, _| {
                glance.meet(&gram[..n.min(MAX_N)]);
                true
            });
        }
        let is_rare = |gram: &Gram| glance.as_ref().is_some_and(|glance| glance.at_most(&gram[..n.min(MAX_N)]) < bound);
        let mut tallies: HashMap<Gram, Tally> = HashMap::new();
        let is_all = self.each_gram(part, of, n, |gram, document| {
            if !is_rare(gram) {
                tallies.entry(*gram).or_default().meet(document);
            }
            tallies.len() <= MAX_GRAMS
        });
        if is_all { Ok(tallies) } else { Err(EngineError::TooMany { limit: MAX_GRAMS }) }
    }

    /// For each lexeme the number of its word; those that share a value, such as the word in lower case, share one.
    pub(super) fn words_of_lexemes(&self, attribute: Attribute) -> Vec<u32> {
        let (layer, lexicon) = (layer_of(attribute), self.lexicon());
        let count = lexicon.count(layer);
        let Some(shared) = self.shared(attribute) else {
            // A damaged lexicon may name any number.
            return lexicon.all_of(layer).into_iter().map(|id| if id < count { id } else { 0 }).collect();
        };
        lexicon.all_of(layer).into_iter().map(|id| shared.get(id as usize).copied().unwrap_or(0)).collect()
    }

    fn gram_text(&self, attribute: Attribute, n: usize, gram: &Gram) -> String {
        let (lexicon, layer) = (self.lexicon(), layer_of(attribute));
        let text = |id: &u32| attribute.value(lexicon.string(layer, *id));
        gram[..n.clamp(1, MAX_N)].iter().map(text).collect::<Vec<_>>().join(" ")
    }

    /// Gives every n-gram with a number of its document until one is not wanted; says whether all were.
    fn each_gram(&self, part: &Subcorpus, of: &[u32], n: usize, mut each: impl FnMut(&Gram, u32) -> bool) -> bool {
        let n = n.clamp(1, MAX_N);
        let mut number = 0;
        let mut goes_on = true;
        for (segment, scope) in self.scopes(part).filter(|(_, scope)| !scope.documents().is_empty()) {
            let ids: Vec<u32> =
                segment.lexemes().iter().map(|lexeme| of.get(*lexeme as usize).copied().unwrap_or(0)).collect();
            let bits = segment.sentence_bits();
            scope.pieces(segment, &part.limits(), |run| {
                for document in run {
                    number += 1;
                    let tokens = segment.tokens_of(document);
                    // The last tokens of the sentence, the newest at the end.
                    let mut gram = [u32::MAX; MAX_N];
                    let mut length = 0;
                    segment.column().scan(tokens.start, tokens.end, |from, ranks| {
                        for (position, rank) in (from..).zip(ranks) {
                            if bit(bits, position) {
                                length = 0;
                            }
                            gram[..n].rotate_left(1);
                            gram[n - 1] = ids.get(*rank as usize).copied().unwrap_or(0);
                            length += 1;
                            goes_on = goes_on && (length < n || each(&gram, number));
                        }
                    });
                }
            });
        }
        goes_on
    }
}
