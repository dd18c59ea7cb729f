//! The languages whose stop lists have a word: rejects stretches of text before their language is identified.
//!
//! A stretch counts as foreign only if many of its words are stop words of the identified language. Runs of rare words
//! are common in text with many names of things, and hardly ever are so many of them stop words of any one language, so
//! that the identifier, which is a hundred times slower than lookups, need not run.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tidings_lang::{languages, stop_list};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Identified stretches after which the index is built. Reading all lists takes as long as this many identifications,
/// and a round with a few documents has fewer.
const WORTHWHILE: u32 = 8000;

/// The languages of stop words.
pub(super) struct StopWordIndex {
    /// The place of each word in `languages`, by its hash: collisions only add languages.
    places: HashMap<u64, (u32, u16), BuildHasherDefault<Xxh3Default>>,
    languages: Vec<u8>,
    count: usize,
}

impl StopWordIndex {
    /// The index, once it is worth its construction.
    pub(super) fn get() -> Option<&'static StopWordIndex> {
        static INDEX: OnceLock<StopWordIndex> = OnceLock::new();
        static ASKED: AtomicU32 = AtomicU32::new(0);
        if let Some(index) = INDEX.get() {
            return Some(index);
        }
        let asked = ASKED.fetch_add(1, Ordering::Relaxed);
        (asked >= WORTHWHILE).then(|| INDEX.get_or_init(StopWordIndex::new))
    }

    fn new() -> StopWordIndex {
        let lists = languages().iter().filter_map(|language| stop_list(language.code)).filter(|list| !list.is_off());
        let mut pairs: Vec<(u64, u8)> = Vec::new();
        let mut count = 0;
        for list in lists {
            // The last number stands for all further languages, which counts too many and never too few.
            let language = u8::try_from(count).unwrap_or(u8::MAX);
            pairs.extend(list.words().map(|word| (xxh3_64(word.as_bytes()), language)));
            count += 1;
        }
        pairs.sort_unstable();
        let mut places = HashMap::default();
        let mut languages = Vec::with_capacity(pairs.len());
        for word in pairs.chunk_by(|(one, _), (next, _)| one == next) {
            places.insert(word[0].0, (languages.len() as u32, word.len() as u16));
            languages.extend(word.iter().map(|(_, language)| *language));
        }
        StopWordIndex { places, languages, count: count.min(1 << 8) }
    }

    /// An upper bound of the number of words that are stop words of one and the same language.
    pub(super) fn most<'w>(&self, words: impl Iterator<Item = &'w str>) -> usize {
        let mut counts = vec![0; self.count];
        for word in words {
            let lower =
                word.bytes().any(|byte| !byte.is_ascii() || byte.is_ascii_uppercase()).then(|| word.to_lowercase());
            let hash = xxh3_64(lower.as_deref().unwrap_or(word).as_bytes());
            let Some((start, len)) = self.places.get(&hash) else { continue };
            let languages = &self.languages[*start as usize..][..usize::from(*len)];
            languages.iter().for_each(|language| counts[usize::from(*language)] += 1);
        }
        counts.into_iter().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_the_count_of_the_language_with_most_of_the_words() {
        let index = StopWordIndex::new();
        let text = "les autres dans Cette maison tungsten qwrtp À";
        let counts = languages().iter().filter_map(|language| stop_list(language.code)).filter(|list| !list.is_off());
        let most = counts.map(|list| text.split(' ').filter(|word| list.contains(word)).count()).max();
        assert_eq!(Some(index.most(text.split(' '))), most);
        assert_eq!(index.most("qwrtp zzxxq".split(' ')), 0);
    }
}
