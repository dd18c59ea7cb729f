//! Settings of the poll schedule.

use anyhow::{Result, bail};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use tidings_feeds::schedule::{Budget, PollPolicy};

use super::within;

/// The `[feeds]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct FeedsConfig {
    pub polls_per_day: f64,
    pub page_polls_per_day: f64,
    pub min_interval_min: f64,
    pub max_interval_h: f64,
    pub sitemap_days: f64,
}

impl Default for FeedsConfig {
    fn default() -> FeedsConfig {
        FeedsConfig {
            polls_per_day: Budget::default().polls_per_day,
            page_polls_per_day: Budget::of_pages().polls_per_day,
            min_interval_min: 15.0,
            max_interval_h: 48.0,
            sitemap_days: 30.0,
        }
    }
}

impl FeedsConfig {
    pub(super) fn check(&self) -> Result<()> {
        within(
            "feeds.",
            [
                ("polls_per_day", self.polls_per_day, 0.01..=1440.0),
                ("page_polls_per_day", self.page_polls_per_day, 0.01..=1440.0),
                ("min_interval_min", self.min_interval_min, 1.0..=1440.0),
                ("max_interval_h", self.max_interval_h, 1.0..=720.0),
                ("sitemap_days", self.sitemap_days, 0.1..=36_500.0),
            ],
        )?;
        if self.min_interval_min > self.max_interval_h * 60.0 {
            bail!(
                "feeds.min_interval_min = {} is longer than feeds.max_interval_h; lower the first or raise the second",
                self.min_interval_min
            );
        }
        Ok(())
    }

    /// The age from which entries of a sitemap are history and not news.
    pub fn sitemap_age(&self) -> SignedDuration {
        SignedDuration::try_from_secs_f64(self.sitemap_days * 86_400.0).unwrap_or(SignedDuration::MAX)
    }

    /// The longest time from now until a poll of a feed.
    pub fn longest_poll_wait(&self) -> SignedDuration {
        let longest_s = PollPolicy::fit(self.budget(0.0), &[]).longest_wait_s();
        SignedDuration::try_from_secs_f64(longest_s).unwrap_or(SignedDuration::MAX)
    }

    /// The poll budget of pages of sites without feeds, for runs that start every `cadence_s` seconds.
    pub fn page_budget(&self, cadence_s: f64) -> Budget {
        Budget { polls_per_day: self.page_polls_per_day, ..self.budget(cadence_s) }
    }

    /// The poll budget of feeds and sitemaps, for runs that start every `cadence_s` seconds.
    pub fn budget(&self, cadence_s: f64) -> Budget {
        Budget {
            polls_per_day: self.polls_per_day,
            min_interval_s: self.min_interval_min * 60.0,
            max_interval_s: self.max_interval_h * 3600.0,
            cadence_s,
        }
    }
}
