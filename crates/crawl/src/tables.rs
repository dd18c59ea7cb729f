//! The tables of a crawl, and one of them: pages by outcome, and how the last run ended. Saved with each checkpoint.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tidings_model::Status;

use crate::error::Result;
use crate::inspect::read_table;
use crate::record::Done;
use crate::steward::End;

/// The table of the crawl as a whole.
pub const CRAWL_TABLE: &str = "crawl";
/// The table of domains and their sections.
pub const DOMAIN_TABLE: &str = "domains";
/// The status of a URL whose page was fetched from a domain with the same pages.
pub const TWIN: &str = "twin";
/// The table of [counts](PageCounts).
pub const COUNT_TABLE: &str = "counts";
/// The time after which hosts are asked again that did not answer.
const UNREACHABLE_WAIT: SignedDuration = SignedDuration::from_hours(24);

/// Pages of a crawl by outcome.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageCounts {
    /// Pages that were stored.
    pub kept: u64,
    /// Pages that were not, by reason.
    pub refused: BTreeMap<String, u64>,
    /// URLs that gave no page, by status.
    pub failed: BTreeMap<String, u64>,
    /// The end of the last run; `None` while one is running, and after a crash.
    pub ended: Option<LastEnd>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastEnd {
    /// The reason; `None` if it was stopped.
    pub reason: Option<End>,
    /// The time.
    pub at: Timestamp,
    /// Whether URLs wait for hosts that did not answer.
    pub unreachable: bool,
    /// The number of seeds that it had: further ones were not asked for yet.
    #[serde(default)]
    pub seeds: usize,
}

impl PageCounts {
    /// Counts a finished URL. One that was not requested because a twin has its page is no failure.
    pub fn add(&mut self, done: &Done) {
        if done.status == TWIN {
            return;
        }
        let count = match &done.refused {
            Some(reason) => self.refused.entry(reason.clone()).or_default(),
            None if done.status == Status::Ok.to_string() => &mut self.kept,
            None => self.failed.entry(done.status.clone()).or_default(),
        };
        *count += 1;
    }

    /// The counts of the last checkpoint.
    pub fn read(folder: &Path) -> Result<PageCounts> {
        let mut counts = PageCounts::default();
        read_table(folder, COUNT_TABLE, |text| counts = PageCounts::parse(text))?;
        Ok(counts)
    }

    /// The counts in the text of the table; those of a later release may be incomplete.
    pub fn parse(text: &str) -> PageCounts {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Whether another run of a crawl with this many seeds may find something to ask for.
    pub fn is_due(&self, seeds: usize, now: Timestamp) -> bool {
        match &self.ended {
            Some(ended) if ended.seeds != seeds => true,
            Some(LastEnd { reason: Some(End::Dry), unreachable: false, .. }) => false,
            Some(LastEnd { reason: Some(End::Dry), at, .. }) => now.duration_since(*at) >= UNREACHABLE_WAIT,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PageWorth;

    #[test]
    fn urls_are_counted_by_their_outcome() {
        let mut counts = PageCounts::default();
        for (status, refused) in [("ok", None), ("ok", Some("off-topic")), ("http-404", None), ("http-404", None)] {
            let (status, refused) = (status.to_owned(), refused.map(str::to_owned));
            let worth = PageWorth::default();
            counts.add(&Done { url: "http://a.example/".into(), status, worth, requested: true, refused, text: None });
        }
        let (url, worth) = ("http://b.example/".into(), PageWorth::default());
        counts.add(&Done { url, status: TWIN.into(), worth, requested: false, refused: None, text: None });
        assert_eq!(
            (counts.kept, counts.failed.len(), counts.refused["off-topic"], counts.failed["http-404"]),
            (1, 1, 1, 2)
        );
        assert_eq!(PageCounts::parse(&serde_json::to_string(&counts).unwrap()), counts);
    }

    #[test]
    fn a_crawl_is_due_unless_nothing_was_left() {
        let at: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let due = |reason, unreachable, hours| {
            let ended = Some(LastEnd { reason, at, unreachable, seeds: 3 });
            let counts = PageCounts { ended, ..PageCounts::default() };
            assert!(counts.is_due(4, at), "there is a new seed");
            counts.is_due(3, at + SignedDuration::from_hours(hours))
        };
        assert!(PageCounts::default().is_due(0, at), "it never ended");
        assert!(due(Some(End::Pages), false, 0) && due(None, false, 0));
        assert!(!due(Some(End::Dry), false, 1000));
        assert!(!due(Some(End::Dry), true, 23) && due(Some(End::Dry), true, 24));
    }
}
