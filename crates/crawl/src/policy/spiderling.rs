//! The rule of SpiderLing (Suchomel and Pomikálek 2012, section 3.1).
//!
//! A domain is closed when its yield rate falls below t(n) = 0.01 (log10 n - 1), n its pages, but not before 8 pages and
//! 512 kB. Exact duplicates do not count as text, near-duplicates do.

use super::{ArmView, Choice, Closing, DomainView, Evidence, PageWorth, Policy};

/// Pages before a domain can be closed.
const MIN_PAGES: u64 = 8;
/// Bytes before a domain can be closed.
const MIN_BYTES: u64 = 512_000;
/// Domains that are worked on at once. The crawler opens domains in the order in which it met them.
pub(super) const WINDOW: usize = 400;

/// The yield threshold t(n) on domains.
#[derive(Debug, Clone, Copy)]
pub struct Spiderling;

/// A yield threshold that grows with the logarithm of pages, from zero at ten pages.
pub(super) fn below_threshold(evidence: &Evidence, slope: f64, min_pages: u64, min_bytes: u64) -> bool {
    evidence.pages >= min_pages
        && evidence.bytes >= min_bytes
        && evidence.yield_rate() < slope * ((evidence.pages as f64).log10() - 1.0)
}

impl Policy for Spiderling {
    fn window(&self) -> Option<usize> {
        Some(WINDOW)
    }

    fn choose(&mut self, domain: &DomainView<'_>, _: &[ArmView]) -> Choice {
        Choice { priority: -(domain.turn as f64), arm: 0 }
    }

    fn learn(&mut self, _: &DomainView<'_>, _: &PageWorth) {}

    fn closes(&self, domain: &DomainView<'_>, _: &Evidence) -> Option<Closing> {
        below_threshold(domain.evidence, 0.01, MIN_PAGES, MIN_BYTES).then_some(Closing::Domain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(pages: u64, bytes: u64, clean_bytes: u64) -> Evidence {
        Evidence { pages, bytes, clean_bytes, ..Evidence::default() }
    }

    #[test]
    fn the_threshold_is_that_of_the_paper() {
        for (pages, threshold) in [(10, 0.0), (100, 0.01), (1000, 0.02), (10_000, 0.03)] {
            let bytes = 100_000_000;
            let at = (threshold * bytes as f64) as u64;
            assert!(!below_threshold(&evidence(pages, bytes, at + 1), 0.01, MIN_PAGES, MIN_BYTES), "{pages} pages");
            if at > 0 {
                assert!(below_threshold(&evidence(pages, bytes, at - 1), 0.01, MIN_PAGES, MIN_BYTES), "{pages} pages");
            }
        }
    }

    #[test]
    fn a_domain_is_not_closed_before_eight_pages_and_512_kb() {
        assert!(!below_threshold(&evidence(7, 10_000_000, 0), 0.01, MIN_PAGES, MIN_BYTES));
        assert!(!below_threshold(&evidence(100, 511_000, 0), 0.01, MIN_PAGES, MIN_BYTES));
        assert!(below_threshold(&evidence(11, 512_000, 0), 0.01, MIN_PAGES, MIN_BYTES));
    }
}
