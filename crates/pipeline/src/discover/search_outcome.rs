//! The outcome of a search for feeds.

use std::fmt;

use serde::Serialize;
use tidings_store::candidates::Candidate;

use crate::display::{count, span_s};

/// The outcome of a search.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SearchOutcome {
    /// Feeds that were found.
    pub feeds: Vec<FoundFeed>,
    /// Pages of sites without a feed that list articles; lines for them are not added to the list.
    pub pages: Vec<FoundPage>,
    /// Addresses that were searched.
    pub addresses: u64,
    /// Addresses without a feed.
    pub without_feed: u64,
    /// Addresses that were not reached.
    pub unreachable: u64,
    /// Addresses that were searched before.
    pub skipped: u64,
    /// Addresses that are left for a later run.
    pub left: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Rounds of requests.
    pub rounds: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// Duration in seconds.
    pub seconds: f64,
    #[serde(skip)]
    pub(super) offline: bool,
    #[serde(skip)]
    pub(super) text: String,
}

/// A feed that was found.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)] // The columns of `state/candidates.tsv`.
pub struct FoundFeed {
    pub feed: String,
    pub site: String,
    pub evidence: String,
    pub found_on: String,
    #[serde(rename = "fate")]
    pub status: &'static str,
    pub entries: u32,
    pub latest: String,
    pub language: String,
    pub title: String,
}

/// A page that lists the articles of a site without a feed.
#[derive(Debug, Clone, Serialize)]
pub struct FoundPage {
    /// The URL for a line with `kind=page`.
    pub page: String,
    /// Its site.
    pub site: String,
    /// Articles that it links to.
    pub articles: u32,
}

impl fmt::Display for SearchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        let offline = if self.offline { "; no host responded, the network seems to be down" } else { "" };
        let left = if self.left > 0 { format!("; {} left for a later run", self.left) } else { String::new() };
        let addresses = if self.addresses == 1 { "URL" } else { "URLs" };
        writeln!(
            f,
            "{} found from {} {addresses} with {}; {} without a feed, {} unreachable{left}{offline}, {}",
            count(self.feeds.len() as u64, "feed"),
            self.addresses,
            count(self.requests, "request"),
            self.without_feed,
            self.unreachable,
            span_s(self.seconds),
        )
    }
}

impl From<&Candidate> for FoundFeed {
    fn from(row: &Candidate) -> FoundFeed {
        FoundFeed {
            feed: row.feed.clone(),
            site: row.site.clone(),
            evidence: row.evidence.clone(),
            found_on: row.found_on.clone(),
            status: row.status.word(),
            entries: row.entries,
            latest: row.latest.clone(),
            language: row.language.clone(),
            title: row.title.clone(),
        }
    }
}
