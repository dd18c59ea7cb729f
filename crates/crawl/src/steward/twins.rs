//! Twins: domains that show the same texts under the same paths, such as mirrors and papers of one publisher.
//!
//! A page of a twin need not be fetched twice. A pair of domains is known as twins after a few texts that both have under
//! the same path; from then on a URL is skipped if the other domain was asked for the same path. Pages that only one of
//! them has are fetched as always, so that a local edition loses nothing. Closing a mirror as a whole would lose them, and
//! its yield alone shows it late: as long as few pages of the original are known, most texts of a mirror are new.

use std::collections::HashMap;

use super::{Request, Steward};
use crate::fingerprint::path_print;
use crate::hash_cache::HashCache;
use crate::text::TextFingerprint;

/// Paths that are remembered (24 bytes each).
const MAX_PATHS: usize = 1 << 19;
/// Pairs of domains that are remembered.
const MAX_PAIRS: usize = 1 << 16;
/// Equal texts under equal paths that make twins.
const LEAST_EQUAL: u32 = 3;
/// Equal texts for each path under which the texts differ, at least: sites with numbers as paths share paths by chance.
const EQUAL_PER_OTHER: u32 = 8;

/// What two domains show under the paths that both have.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    equal: u32,
    other: u32,
}

impl Pair {
    fn is_twins(self) -> bool {
        self.equal >= LEAST_EQUAL && self.equal >= EQUAL_PER_OTHER * self.other
    }
}

/// The paths of a crawl and the domains that share them.
#[derive(Debug)]
pub struct Twins {
    /// The last domain with a path, and a hash of the text there; 0 without text.
    paths: HashCache<(u32, u64)>,
    pairs: HashMap<(u32, u32), Pair>,
}

impl Default for Twins {
    fn default() -> Twins {
        Twins { paths: HashCache::new(MAX_PATHS), pairs: HashMap::new() }
    }
}

impl Twins {
    /// Notes a page that was fetched.
    fn add(&mut self, domain: u32, path: u64, text: Option<&TextFingerprint>) {
        // The least sample hardly depends on a line that a template adds.
        let text = text.and_then(|text| text.samples.iter().min().copied()).unwrap_or(0);
        let Some(known) = self.paths.get(path) else { return self.paths.insert(path, (domain, text)) };
        let (other, its_text) = std::mem::replace(known, (domain, text));
        if other == domain || text == 0 && its_text == 0 {
            return;
        }
        let key = (domain.min(other), domain.max(other));
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&key) {
            return;
        }
        let pair = self.pairs.entry(key).or_default();
        match text == its_text {
            true => pair.equal += 1,
            false => pair.other += 1,
        }
    }

    fn is_twin(&mut self, domain: u32, path: u64) -> bool {
        let Some(&mut (other, _)) = self.paths.get(path) else { return false };
        let pair = self.pairs.get(&(domain.min(other), domain.max(other)));
        other != domain && pair.is_some_and(|pair| pair.is_twins())
    }
}

impl Steward {
    /// Notes the URL of a page that was fetched and the fingerprint of its text.
    pub fn fetched(&mut self, request: &Request, url: &str, text: Option<&TextFingerprint>) {
        if self.policy.has_sections() {
            self.twins.add(request.domain, path_print(url), text);
        }
    }

    /// Whether the page at a URL was fetched from a twin of its domain.
    pub fn has_twin(&mut self, request: &Request, url: &str) -> bool {
        self.policy.has_sections() && self.twins.is_twin(request.domain, path_print(url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: u64) -> TextFingerprint {
        TextFingerprint { exact: number, samples: vec![number * 64, number * 64 + 6400], ..TextFingerprint::default() }
    }

    #[test]
    fn pages_of_a_mirror_are_skipped_after_three_equal_texts() {
        let mut twins = Twins::default();
        (1..20).for_each(|path| twins.add(1, path, Some(&text(path))));
        for path in 1..4 {
            assert!(!twins.is_twin(2, path));
            twins.add(2, path, Some(&text(path)));
        }
        assert!(twins.is_twin(2, 4) && twins.is_twin(2, 19));
        assert!(!twins.is_twin(2, 20), "the other domain was not asked for it");
        assert!(!twins.is_twin(3, 4) && !twins.is_twin(1, 4));
        assert!(twins.is_twin(1, 2), "the mirror was asked for it last");
    }

    #[test]
    fn sites_that_share_paths_by_chance_are_no_twins() {
        let mut twins = Twins::default();
        (1..40).for_each(|path| twins.add(1, path, Some(&text(path))));
        // Three texts of an agency, and other texts under the same numbers.
        (1..4).for_each(|path| twins.add(2, path, Some(&text(path))));
        (4..8).for_each(|path| twins.add(2, path, Some(&text(100 + path))));
        assert!(!twins.is_twin(2, 9));
        (1..9).for_each(|path| twins.add(3, path, None));
        assert!(!twins.is_twin(3, 9), "pages without text are no evidence");
    }
}
