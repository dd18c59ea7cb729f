//! Direct-mapped cache of per-word results.
//!
//! Nine of ten tokens repeat an earlier word. The context-free scores of a word and its lemma for a
//! tag never change, so they are kept in a table of fixed size; a collision evicts the older word.
//! Results are the same with and without the cache.

use tidings_model::TokenText;

use crate::hash::mix;
use crate::tagger::crf::EmissionScores;
use crate::tagger::word::HashedWord;

/// Number of slots as a power of two; a full cache takes about as much memory as a model.
const SLOT_BITS: u32 = 13;
/// Longer words are rare and not cached.
const MAX_BYTES: usize = 64;

/// Direct-mapped cache of words. `S` are the feature scores of a word; nothing where features are off.
#[derive(Debug)]
pub struct WordCache<S> {
    slots: Vec<Option<Box<CacheEntry<S>>>>,
}

/// Cached word.
#[derive(Debug)]
struct CacheEntry<S> {
    text: Box<str>,
    is_first: bool,
    cached: CachedWord,
    /// Lemma and feature scores by tag.
    lemmas: Vec<(u8, TokenText, S)>,
}

/// Context-free results for a word.
#[derive(Debug, Clone, Copy)]
pub struct CachedWord {
    /// The hashed word.
    pub word: HashedWord,
    /// Its context-free emission scores.
    pub own: EmissionScores,
}

impl<S> Default for WordCache<S> {
    fn default() -> WordCache<S> {
        WordCache { slots: (0..1 << SLOT_BITS).map(|_| None).collect() }
    }
}

impl<S: Copy> WordCache<S> {
    /// Returns the cached word, or computes and stores it.
    pub fn word(&mut self, text: &str, is_first: bool, compute: impl FnOnce() -> CachedWord) -> CachedWord {
        let slot = &mut self.slots[slot_of(text, is_first)];
        match slot {
            Some(entry) if *entry.text == *text && entry.is_first == is_first => entry.cached,
            _ => {
                let cached = compute();
                if text.len() <= MAX_BYTES {
                    *slot = Some(Box::new(CacheEntry { text: text.into(), is_first, cached, lemmas: Vec::new() }));
                }
                cached
            }
        }
    }

    /// Returns the cached lemma and feature scores of a word with a tag, or computes and stores
    /// them.
    pub fn lemma(
        &mut self,
        text: &str,
        is_first: bool,
        tag: u8,
        compute: impl FnOnce() -> (TokenText, S),
    ) -> (TokenText, S) {
        let Some(entry) = &mut self.slots[slot_of(text, is_first)] else { return compute() };
        if *entry.text != *text || entry.is_first != is_first {
            return compute();
        }
        if let Some((_, lemma, scores)) = entry.lemmas.iter().find(|(known, ..)| *known == tag) {
            return (lemma.clone(), *scores);
        }
        let (lemma, scores) = compute();
        entry.lemmas.push((tag, lemma.clone(), scores));
        (lemma, scores)
    }
}

fn slot_of(text: &str, is_first: bool) -> usize {
    let mut eights = text.as_bytes().chunks_exact(8);
    let mut hash = mix(0, u64::from(is_first));
    for eight in &mut eights {
        hash = mix(hash, u64::from_le_bytes(eight.try_into().expect("chunks have eight bytes")));
    }
    let mut rest = [0; 8];
    rest[..eights.remainder().len()].copy_from_slice(eights.remainder());
    (mix(hash, u64::from_le_bytes(rest)) >> (64 - SLOT_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tagger::feats::WordScores;

    #[test]
    fn words_that_share_a_slot_are_kept_apart() {
        let mut cache = WordCache::default();
        let words: Vec<String> = (0..1 << (SLOT_BITS + 1)).map(|number| format!("w{number}")).collect();
        for _ in 0..2 {
            for text in &words {
                let cached = cache
                    .word(text, false, || CachedWord { word: HashedWord::new(text), own: EmissionScores::default() });
                assert_eq!(cached.word.form, HashedWord::new(text).form);
                let made = |text: &str| (TokenText::new(text), WordScores::default());
                let upper = text.to_uppercase();
                assert_eq!(cache.lemma(text, false, 3, || made(&upper)).0, upper);
                assert_eq!(cache.lemma(text, false, 3, || unreachable!("the lemma is cached")).0, upper);
                assert_eq!(cache.lemma(text, true, 3, || made("as the first")).0, "as the first");
            }
        }
    }
}
