//! What was found out about words, kept for when they come back.
//!
//! Nine words of ten have stood in the text before. What a word is to the tagger by itself, and which lemma it had with
//! which tag, does not change: it is exceptions, in a table of fixed size in which a word takes the slot of whichever
//! stood there. What comes out is the same with and without.

use crate::hash::mix;
use crate::tagger::crf::EmissionScores;
use crate::tagger::feats::WordScores;
use crate::tagger::word::HashedWord;

/// How many words have a slot, as a power of two: with what is kept of them, about as much memory as a model takes.
const SLOT_BITS: u32 = 13;
/// Longer words are seldom and need not come back.
const MAX_BYTES: usize = 64;

/// A table of words.
#[derive(Debug)]
pub struct WordCache {
    slots: Vec<Option<Box<CacheEntry>>>,
}

/// A word, and what is entry about it.
#[derive(Debug)]
struct CacheEntry {
    text: Box<str>,
    is_first: bool,
    cached: CachedWord,
    /// Lemmas, and what they and the word say about features, by the number of the tag.
    lemmas: Vec<(u8, Box<str>, WordScores)>,
}

/// A word as the tagger sees it.
#[derive(Debug, Clone, Copy)]
pub struct CachedWord {
    /// What features are made of.
    pub word: HashedWord,
    /// What those features say that it has by itself.
    pub own: EmissionScores,
}

impl Default for WordCache {
    fn default() -> WordCache {
        WordCache { slots: (0..1 << SLOT_BITS).map(|_| None).collect() }
    }
}

impl WordCache {
    /// A word as it was cached before, or as `compute` sees it now.
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

    /// The lemma a word had with this tag before and what was said about features, or what `compute` makes now.
    pub fn lemma(
        &mut self,
        text: &str,
        is_first: bool,
        tag: u8,
        compute: impl FnOnce() -> (String, WordScores),
    ) -> (String, WordScores) {
        let Some(entry) = &mut self.slots[slot_of(text, is_first)] else { return compute() };
        if *entry.text != *text || entry.is_first != is_first {
            return compute();
        }
        if let Some((_, lemma, scores)) = entry.lemmas.iter().find(|(entry, ..)| *entry == tag) {
            return (lemma.to_string(), *scores);
        }
        let (lemma, scores) = compute();
        entry.lemmas.push((tag, lemma.as_str().into(), scores));
        (lemma, scores)
    }
}

fn slot_of(text: &str, is_first: bool) -> usize {
    let mut eights = text.as_bytes().chunks_exact(8);
    let mut hash = mix(0, u64::from(is_first));
    for eight in &mut eights {
        hash = mix(hash, u64::from_le_bytes(eight.try_into().expect("there are eight")));
    }
    let mut rest = [0; 8];
    rest[..eights.remainder().len()].copy_from_slice(eights.remainder());
    (mix(hash, u64::from_le_bytes(rest)) >> (64 - SLOT_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_share_a_place_are_not_taken_for_one_another() {
        let mut cache = WordCache::default();
        let words: Vec<String> = (0..1 << (SLOT_BITS + 1)).map(|number| format!("w{number}")).collect();
        for _ in 0..2 {
            for text in &words {
                let cached = cache
                    .word(text, false, || CachedWord { word: HashedWord::new(text), own: EmissionScores::default() });
                assert_eq!(cached.word.form, HashedWord::new(text).form);
                let made = |text: &str| (text.to_owned(), WordScores::default());
                let upper = text.to_uppercase();
                assert_eq!(cache.lemma(text, false, 3, || made(&upper)).0, upper);
                assert_eq!(cache.lemma(text, false, 3, || unreachable!("it was just told")).0, upper);
                assert_eq!(cache.lemma(text, true, 3, || made("as the first")).0, "as the first");
            }
        }
    }
}
