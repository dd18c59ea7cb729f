//! The defaults of the MaCoCu crawler, a later SpiderLing.
//!
//! The threshold is 0.002 (log10 n - 1), from 20 pages and 256 kB on; domains with short host names and near to the
//! seeds go first; links of pages without text are not followed to other domains. Its counter of clean bytes includes
//! exact duplicates; that error is not repeated here.

use super::{ArmView, Choice, Closing, DomainView, Evidence, PageWorth, Policy, spiderling};

/// Pages before a domain can be closed.
const MIN_PAGES: u64 = 20;
/// Bytes before a domain can be closed.
const MIN_BYTES: u64 = 256_000;

/// A lower yield threshold on domains, short host names first.
#[derive(Debug, Clone, Copy)]
pub struct Macocu;

impl Policy for Macocu {
    fn window(&self) -> Option<usize> {
        Some(spiderling::WINDOW)
    }

    fn choose(&mut self, domain: &DomainView<'_>, _: &[ArmView]) -> Choice {
        // Within the window all domains take turns; length and distance order those that have waited equally long.
        let order = f64::from(domain.hints.distance) + f64::from(domain.hints.host_len) / 64.0;
        Choice { priority: -(domain.turn as f64) - order, arm: 0 }
    }

    fn learn(&mut self, _: &DomainView<'_>, _: &PageWorth) {}

    fn closes(&self, domain: &DomainView<'_>, _: &Evidence) -> Option<Closing> {
        spiderling::below_threshold(domain.evidence, 0.002, MIN_PAGES, MIN_BYTES).then_some(Closing::Domain)
    }

    fn follows_out(&self, worth: &PageWorth) -> bool {
        worth.clean_bytes > 0
    }
}
