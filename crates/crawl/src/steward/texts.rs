//! Texts that are known: near-duplicates, exact duplicates, aliases of sections and parked front pages.

use std::collections::{HashMap, VecDeque};

use super::types::SectionId;
use crate::text::{SampleSet, TextFingerprint};

/// Sampled windows that are remembered (about 160 MB at most).
const MAX_SAMPLES: usize = 4_000_000;
/// Exact texts that are remembered.
const MAX_TEXTS: usize = 1_000_000;
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

/// Texts of a crawl.
#[derive(Debug)]
pub struct Texts {
    samples: SampleSet,
    exact: HashMap<u64, (u32, SectionId)>,
    order: VecDeque<u64>,
    fronts: HashMap<u64, (u32, u32)>,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts {
            samples: SampleSet::new(MAX_SAMPLES),
            exact: HashMap::new(),
            order: VecDeque::new(),
            fronts: HashMap::new(),
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
        let shares = self.samples.insert(&text.samples, domain);
        (found.new_share, found.own_share) = (shares.new, shares.own);
        match self.exact.get(&text.exact) {
            Some(&(other, at)) => {
                found.exact = true;
                found.new_share = 0.0;
                found.same_in = (other == domain && at != section).then_some(at);
            }
            None => {
                self.exact.insert(text.exact, (domain, section));
                self.order.push_back(text.exact);
                if self.order.len() > MAX_TEXTS
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.exact.remove(&oldest);
                }
            }
        }
        if front {
            let (count, last) = self.fronts.entry(text.exact).or_insert((0, u32::MAX));
            if *last != domain {
                *count += 1;
                *last = domain;
            }
            found.parked = *count > PARKED_DOMAINS;
        }
        found
    }
}
