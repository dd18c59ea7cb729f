//! Fingerprints of texts: exact, and sampled word windows for the share of new text.
//!
//! Windows of seven words as onion takes them; of their hashes one in 64 is kept, about eight for a document, so that
//! the share of known text of a page is estimated from a bounded set.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Words of a window.
const WINDOW: usize = 7;
/// One window hash of so many is kept.
const SAMPLING: u64 = 64;

/// The fingerprint of a clean text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextFingerprint {
    /// The hash of all words; 0 for an empty text.
    pub exact: u64,
    /// Hashes of word windows with `hash % 64 == 0`; of texts with few windows the smallest hash, so that no text is
    /// without.
    pub samples: Vec<u64>,
}

impl TextFingerprint {
    /// The fingerprint of a text. Words that contain `mask` are left out: parked pages show the name of their domain.
    pub fn of(text: &str, mask: &str) -> TextFingerprint {
        let words: Vec<u64> = text
            .split_whitespace()
            .filter(|word| mask.is_empty() || !word.contains(mask))
            .map(|word| xxh3_64(word.as_bytes()))
            .collect();
        if words.is_empty() {
            return TextFingerprint::default();
        }
        let hash = |words: &[u64]| {
            let mut hasher = Xxh3::new();
            words.iter().for_each(|word| hasher.update(&word.to_le_bytes()));
            hasher.digest()
        };
        let mut samples = Vec::new();
        let mut least = u64::MAX;
        for window in words.windows(WINDOW.min(words.len())) {
            let digest = hash(window);
            least = least.min(digest);
            if digest % SAMPLING == 0 {
                samples.push(digest);
            }
        }
        if samples.is_empty() {
            samples.push(least);
        }
        TextFingerprint { exact: hash(&words).max(1), samples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_have_a_sample() {
        assert_eq!(TextFingerprint::of("three short words", "").samples.len(), 1);
        assert_eq!(TextFingerprint::of(" ", ""), TextFingerprint::default());
    }

    #[test]
    fn the_name_of_the_domain_does_not_tell_parked_pages_apart() {
        let page = |name: &str| TextFingerprint::of(&format!("{name} is for sale, ask {name}/contact today"), name);
        assert_eq!(page("one.example"), page("two.example"));
    }
}
