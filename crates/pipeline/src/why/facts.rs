//! Facts of trace events: the content of their sentences for programs.

use std::collections::BTreeMap;

use serde::Serialize;
use tidings_model::{Dated, PageOrigin, Rights};
use tidings_store::dedup_state::{DuplicateUnit, VerdictLine};
use tidings_store::feeds::FeedState;
use tidings_store::removed::Tombstone;
use tidings_store::yields::Yield;

/// Facts of an event. The fields are added to the JSON of the event.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[allow(missing_docs)] // The fields are those of the original records.
pub enum Facts {
    /// An entry of the plan.
    Entry { feed: String, url: String, age: u32, status: String, retries: u32 },
    /// Requests that are not listed individually.
    EarlierRequests { requests: usize },
    /// A request.
    Request { run: String, status: String, bytes: u64, robots_age_s: Option<u64> },
    /// A page of the archive.
    Page { file: String, final_url: String, bytes: usize, status: u16, origin: PageOrigin, rights: Box<Rights> },
    /// A day.
    Day { day: String },
    /// A page without a document.
    Dropped { day: String, reason: String, measured: Option<f64>, limit: Option<f64> },
    /// A document.
    Document(Box<DocumentFacts>),
    /// A verdict on duplicates.
    Verdict(Box<VerdictLine>),
    /// A paragraph that was published before.
    DuplicateUnit(Box<DuplicateUnit>),
    /// A document that is not part of the text.
    LeftOut { day: String, reason: &'static str },
    /// A document in a file of text.
    Text { file: String, tokens: u64 },
    /// A document in the index.
    Index { segment: Option<String>, hidden: bool },
    /// A tombstone.
    Removal { reason: String, by: &'static str, done: String },
    /// The labels of a feed; `None` if it is not in the list.
    Labels { labels: Option<Vec<(String, String)>> },
    /// The state of a feed.
    Feed(Box<FeedState>),
    /// The new URL of a feed.
    Moved { moved_to: String },
    /// The time of the next poll.
    Due { due: String, not_before: String },
    /// The feeds of a host.
    Feeds { feeds: Vec<String> },
    /// The state of a host.
    Host { requests: u64, failures: u32 },
    /// Rules of a host.
    Rules { origin: String, kind: String, status: u16, digest: String },
    /// Requests of the last runs, by status.
    Requests { runs: usize, statuses: BTreeMap<String, u64> },
    /// Entries of the plan, by status.
    Entries { entries: u64, statuses: BTreeMap<String, u64>, first: String, last: String },
    /// The yield of pages.
    Yield { pages: u64, documents: u64, downloaded: u64, clean: u64, days: u64 },
    /// Dropped pages, by reason.
    Reasons { reasons: BTreeMap<String, u64> },
}

/// Facts of a document.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)] // The fields of the document.
pub struct DocumentFacts {
    pub day: String,
    pub id: String,
    pub title: String,
    /// 1 for the first download of the page.
    pub revision: usize,
    pub file: String,
    pub language: String,
    pub language_score: Option<f32>,
    pub dated: Option<Dated>,
    pub paragraphs: usize,
    pub left_out: Vec<String>,
    pub masked: BTreeMap<String, u32>,
    pub extractor: String,
}

impl Facts {
    pub(super) fn day(day: &str) -> Facts {
        Facts::Day { day: day.to_owned() }
    }

    pub(super) fn removal(stone: &Tombstone) -> Facts {
        Facts::Removal { reason: stone.reason.clone(), by: stone.kind.word(), done: stone.done.clone() }
    }

    pub(super) fn yielded(sum: Yield, days: u64) -> Facts {
        let Yield { pages, documents, downloaded, clean } = sum;
        Facts::Yield { pages, documents, downloaded, clean, days }
    }
}
