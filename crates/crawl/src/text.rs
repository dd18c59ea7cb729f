//! Fingerprints of texts: exact, and sampled word windows for the share of new text.
//!
//! Windows of seven words as onion takes them; of their hashes one in 64 is kept, about eight for a document, so that
//! the share of known text of a page is estimated from a bounded set.

use std::collections::{HashMap, VecDeque};

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

/// How much of a text is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleShares {
    /// The share that no text had before.
    pub new: f32,
    /// The share that a text of the same site was the last to have.
    pub own: f32,
}

/// A set of sampled window hashes that forgets the oldest beyond its capacity.
#[derive(Debug, Clone, Default)]
pub struct SampleSet {
    known: HashMap<u64, u32>,
    order: VecDeque<u64>,
    capacity: usize,
}

impl SampleSet {
    /// An empty set of at most `capacity` hashes (about 40 bytes each).
    pub fn new(capacity: usize) -> SampleSet {
        SampleSet { known: HashMap::new(), order: VecDeque::new(), capacity }
    }

    /// The shares of samples that were not known and of those that the same site had before. All are known from now on.
    pub fn insert(&mut self, samples: &[u64], site: u32) -> SampleShares {
        if samples.is_empty() {
            return SampleShares { new: 1.0, own: 0.0 };
        }
        let (mut new, mut own) = (0usize, 0usize);
        for &sample in samples {
            match self.known.insert(sample, site) {
                Some(last) => own += usize::from(last == site),
                None => {
                    new += 1;
                    self.order.push_back(sample);
                    if self.order.len() > self.capacity
                        && let Some(oldest) = self.order.pop_front()
                    {
                        self.known.remove(&oldest);
                    }
                }
            }
        }
        let share = |count: usize| count as f32 / samples.len() as f32;
        SampleShares { new: share(new), own: share(own) }
    }

    /// The hashes, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.order.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(range: std::ops::Range<u32>) -> String {
        range.map(|number| format!("word{number} ")).collect()
    }

    #[test]
    fn the_share_of_new_text_is_estimated_from_samples() {
        let mut known = SampleSet::new(10_000);
        let mut insert = |range, site| known.insert(&TextFingerprint::of(&words(range), "").samples, site);
        assert_eq!(insert(0..4_000, 1), SampleShares { new: 1.0, own: 0.0 });
        let half = insert(2_000..6_000, 1);
        assert!((0.3..0.7).contains(&half.new) && (half.own + half.new - 1.0).abs() < 1e-6, "{half:?}");
        assert_eq!(insert(0..4_000, 2), SampleShares { new: 0.0, own: 0.0 });
    }

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

    #[test]
    fn the_oldest_samples_are_forgotten() {
        let mut known = SampleSet::new(2);
        known.insert(&[1, 2, 3], 1);
        assert_eq!(known.iter().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(known.insert(&[1], 1).new, 1.0);
    }
}
