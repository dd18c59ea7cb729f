//! The poll policies of a run: feeds and sitemaps share a budget, pages of sites without feeds have one of their own.
//!
//! A page costs more than a feed: its server rarely says that it is unchanged.

use tidings_feeds::schedule::{PollPolicy, PublishingRate};
use tidings_store::feeds::SourceKind;

use crate::config::FeedsConfig;

/// The policy of each kind of source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PollPolicies {
    feeds: PollPolicy,
    pages: PollPolicy,
}

impl PollPolicies {
    /// Policies that meet the budgets, fitted to sources that respond, for runs that start every `cadence_s` seconds.
    pub fn fit(
        config: &FeedsConfig,
        cadence_s: f64,
        sources: impl Iterator<Item = (SourceKind, PublishingRate)>,
    ) -> PollPolicies {
        let (pages, feeds): (Vec<_>, Vec<_>) = sources.partition(|(kind, _)| *kind == SourceKind::Page);
        let fit = |budget, sources: &[(SourceKind, PublishingRate)]| {
            PollPolicy::fit(budget, &sources.iter().map(|(_, rate)| rate).collect::<Vec<_>>())
        };
        PollPolicies { feeds: fit(config.budget(cadence_s), &feeds), pages: fit(config.page_budget(cadence_s), &pages) }
    }

    /// The policy of a kind of source.
    pub fn of(&self, kind: SourceKind) -> &PollPolicy {
        match kind {
            SourceKind::Feed | SourceKind::Sitemap => &self.feeds,
            SourceKind::Page => &self.pages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_a_budget_of_their_own() {
        let mut rate = PublishingRate::default();
        let start: jiff::Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
        for hour in 0..48u32 {
            let at = |hour: u32| start + jiff::SignedDuration::from_hours(hour.into());
            let keys: Vec<u32> = (0..=hour).collect();
            rate.observe_links(at(hour), hour.checked_sub(1).map(at), &keys);
        }
        let config = FeedsConfig { polls_per_day: 8.0, page_polls_per_day: 2.0, ..FeedsConfig::default() };
        let kinds = [SourceKind::Feed, SourceKind::Sitemap, SourceKind::Page, SourceKind::Page];
        let policies = PollPolicies::fit(&config, 0.0, kinds.into_iter().map(|kind| (kind, rate.clone())));
        for (kind, polls) in [(SourceKind::Feed, 8.0), (SourceKind::Sitemap, 8.0), (SourceKind::Page, 2.0)] {
            let planned = policies.of(kind).polls_per_day(&rate);
            assert!((planned / polls - 1.0).abs() < 0.02, "{kind:?}: {planned} instead of {polls}");
        }
    }
}
