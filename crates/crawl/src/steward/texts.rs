//! Texts that are known: near-duplicates, exact duplicates, aliases of sections and parked front pages.
//!
//! All tables have a fixed size and are saved at checkpoints, so that a crawl that goes on does not take old texts for
//! new ones. Where a text was met is not saved: sections that have the same texts are found again.

use super::domain::NO_DOMAIN;
use super::types::SectionId;
use crate::hash_cache::HashCache;
use crate::text::TextFingerprint;

/// Sampled windows that are remembered (16 bytes each).
const MAX_SAMPLES: usize = 1 << 22;
/// Exact texts that are remembered (16 bytes each).
const MAX_TEXTS: usize = 1 << 20;
/// Front pages that are remembered (16 bytes each).
const MAX_FRONTS: usize = 1 << 18;
/// Other domains with the same front page that show a domain to be parked.
const PARKED_DOMAINS: u32 = 5;

/// A text that is known already.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextMatch {
    /// The share of new text.
    pub new_share: f32,
    /// The share that other texts of the same domain have.
    pub own_share: f32,
    /// Whether exactly the same text is known.
    pub exact: bool,
    /// The section of the same domain that has exactly the same text.
    pub same_in: Option<SectionId>,
    /// Whether the text is a front page that more than five domains have.
    pub parked: bool,
}

/// Hashes of texts, to be saved at a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedTexts {
    /// Sampled windows.
    pub samples: Vec<u64>,
    /// Whole texts.
    pub exact: Vec<u64>,
    /// Front pages of parked domains.
    pub parked: Vec<u64>,
}

/// Texts of a crawl.
#[derive(Debug)]
pub struct Texts {
    /// Sampled windows, and the last domain that had them.
    samples: HashCache<u32>,
    exact: HashCache<(u32, SectionId)>,
    /// The number of domains with a front page, and the last of them.
    fronts: HashCache<(u32, u32)>,
    is_changed: bool,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts {
            samples: HashCache::new(MAX_SAMPLES),
            exact: HashCache::new(MAX_TEXTS),
            fronts: HashCache::new(MAX_FRONTS),
            is_changed: false,
        }
    }
}

impl Texts {
    /// Compares a text with all before it, and remembers it.
    pub fn add(&mut self, text: &TextFingerprint, domain: u32, section: SectionId, front: bool) -> TextMatch {
        let mut found = TextMatch { new_share: 1.0, own_share: 0.0, exact: false, same_in: None, parked: false };
        if text.exact == 0 {
            return found;
        }
        self.is_changed = true;
        (found.new_share, found.own_share) = self.shares(&text.samples, domain);
        match self.exact.get(text.exact) {
            Some(&mut (other, at)) => {
                found.exact = true;
                found.new_share = 0.0;
                found.same_in = (other == domain && at != section).then_some(at);
            }
            None => self.exact.insert(text.exact, (domain, section)),
        }
        if front {
            let count = match self.fronts.get(text.exact) {
                Some((count, last)) => {
                    *count += u32::from(*last != domain);
                    *last = domain;
                    *count
                }
                None => {
                    self.fronts.insert(text.exact, (1, domain));
                    1
                }
            };
            found.parked = count > PARKED_DOMAINS;
        }
        found
    }

    /// The shares of samples that were not known, and of those that a text of the same domain was the last to have. All
    /// are known from now on.
    fn shares(&mut self, samples: &[u64], domain: u32) -> (f32, f32) {
        if samples.is_empty() {
            return (1.0, 0.0);
        }
        let (mut new, mut own) = (0usize, 0usize);
        for &sample in samples {
            match self.samples.get(sample) {
                Some(last) => {
                    own += usize::from(*last == domain);
                    *last = domain;
                }
                None => {
                    self.samples.insert(sample, domain);
                    new += 1;
                }
            }
        }
        let share = |count: usize| count as f32 / samples.len() as f32;
        (share(new), share(own))
    }

    /// The hashes, if they changed since the last call.
    pub fn saved(&mut self) -> Option<SavedTexts> {
        std::mem::take(&mut self.is_changed).then(|| SavedTexts {
            samples: self.samples.iter().map(|(hash, _)| hash).collect(),
            exact: self.exact.iter().map(|(hash, _)| hash).collect(),
            parked: self
                .fronts
                .iter()
                .filter(|(_, (count, _))| *count > PARKED_DOMAINS)
                .map(|(hash, _)| hash)
                .collect(),
        })
    }

    /// Remembers the hashes of a checkpoint.
    pub fn restore(&mut self, saved: SavedTexts) {
        saved.samples.into_iter().for_each(|hash| self.samples.insert(hash, NO_DOMAIN));
        saved.exact.into_iter().for_each(|hash| self.exact.insert(hash, (NO_DOMAIN, 0)));
        saved.parked.into_iter().for_each(|hash| self.fronts.insert(hash, (PARKED_DOMAINS + 1, NO_DOMAIN)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(range: std::ops::Range<u32>) -> TextFingerprint {
        TextFingerprint::of(&range.map(|number| format!("word{number} ")).collect::<String>(), "")
    }

    #[test]
    fn the_shares_of_new_and_own_text_are_estimated_from_samples() {
        let mut texts = Texts::default();
        let mut shares = |range, domain| texts.shares(&words(range).samples, domain);
        assert_eq!(shares(0..4_000, 1), (1.0, 0.0));
        let (new, own) = shares(2_000..6_000, 1);
        assert!((0.3..0.7).contains(&new) && (new + own - 1.0).abs() < 1e-6, "{new} {own}");
        assert_eq!(shares(0..4_000, 2), (0.0, 0.0));
    }

    #[test]
    fn texts_are_known_after_a_restart() {
        let mut texts = Texts::default();
        assert_eq!(texts.saved(), None);
        let parked = words(10_000..10_020);
        texts.add(&words(0..4_000), 1, 0, false);
        (0..7).for_each(|domain| _ = texts.add(&parked, domain, 0, true));
        let saved = texts.saved().unwrap();
        assert_eq!(texts.saved(), None, "nothing changed");
        let mut texts = Texts::default();
        texts.restore(saved);
        let same = texts.add(&words(0..4_000), 1, 3, false);
        assert!(same.exact && same.same_in.is_none() && same.new_share.abs() < f32::EPSILON);
        let half = texts.add(&words(2_000..6_000), 2, 0, false);
        assert!((0.3..0.7).contains(&half.new_share) && !half.exact, "{half:?}");
        assert!(texts.add(&parked, 9, 0, true).parked);
    }
}
