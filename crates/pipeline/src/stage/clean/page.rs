//! One page of a day: its document, or why there is none.

use std::borrow::Cow;

use anyhow::{Result, anyhow};
use tidings_clean::postprocess::PostprocessOptions;
use tidings_clean::{Options, Suspicion};
use tidings_model::{FailureKind, Page};
use tidings_store::docs::DroppedPage;
use tidings_store::removed::Removed;
use tidings_store::yields::Yield;

use crate::extract_guarded;

/// The result of a page: its target, its line with a line end, and its yield.
pub(super) struct Cleaned {
    pub(super) url: String,
    /// The earlier downloads that its document revises.
    pub(super) revises: Vec<String>,
    pub(super) target: CleanTarget,
    pub(super) line: Vec<u8>,
    pub(super) feed: String,
    pub(super) host: String,
    pub(super) sum: Yield,
}

pub(super) enum CleanTarget {
    /// A document of a language.
    Language(String),
    /// A document that may not be an article, and its line as a dropped page.
    Suspect { language: String, suspicion: Suspicion, dropped: Vec<u8> },
    /// No document.
    Dropped(DropReason),
}

/// The reason why a page has no document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DropReason {
    /// Rejected by the extractor or the quality gate.
    NoDocument(tidings_clean::DropReason),
    /// Covered by a tombstone, but fetched or imported again.
    Removed,
}

impl DropReason {
    /// Its name in `docs/dropped` and in recipes.
    pub fn word(self) -> &'static str {
        match self {
            DropReason::NoDocument(reason) => reason.name(),
            DropReason::Removed => FailureKind::Removed.word(),
        }
    }

    /// The record of a page that was dropped for this reason.
    fn record(self, page: &Page) -> DroppedPage<'_> {
        let refusal = match self {
            DropReason::NoDocument(tidings_clean::DropReason::Rejected(rejection)) => Some(rejection),
            _ => None,
        };
        DroppedPage {
            url: Cow::from(&page.url),
            feed: Cow::from(&page.feed),
            title: Cow::from(&page.title),
            downloaded: Cow::from(&page.downloaded),
            content_type: Cow::from(&page.content_type),
            bytes: page.body.len() as u64,
            reason: Cow::from(self.word()),
            measured: refusal.map(|refusal| refusal.measured),
            limit: refusal.map(|refusal| refusal.limit),
        }
    }

    /// The line of that record, with its line end.
    fn line(self, page: &Page) -> Result<Vec<u8>> {
        let mut line = serde_json::to_vec(&self.record(page))?;
        line.push(b'\n');
        Ok(line)
    }
}

/// The reason for which suspects are dropped.
pub(super) const SAME_TEXT: DropReason = DropReason::NoDocument(tidings_clean::DropReason::SameText);

/// Extracts the document of a page, or the record of why there is none.
pub(super) fn clean_page(
    mut page: Page,
    options: &Options,
    postprocess_options: &PostprocessOptions,
    removed: &Removed,
) -> Result<Cleaned> {
    let is_removed = [&page.url, &page.final_url].into_iter().any(|url| removed.covers(url).is_some());
    if is_removed {
        // Only the URL of a removed page is kept.
        page.title.clear();
    }
    let mut sum = Yield { pages: 1, downloaded: page.body.len() as u64, ..Yield::default() };
    let cleaned = match is_removed {
        true => Err(DropReason::Removed),
        false => extract_guarded::clean_page(&page, options, postprocess_options).map_err(DropReason::NoDocument),
    };
    let (target, line) = match cleaned {
        Ok(mut document) => {
            document.revises.clone_from(&page.revises);
            let mut line = serde_json::to_vec(&document).map_err(|error| anyhow!("{}: {error}", page.url))?;
            line.push(b'\n');
            sum.documents = 1;
            sum.clean = document.paragraphs.iter().map(|paragraph| paragraph.text.len() as u64).sum();
            let language = document.language_code();
            let target = match tidings_clean::suspicion(&page, &document) {
                None => CleanTarget::Language(language),
                Some(suspicion) => CleanTarget::Suspect { language, suspicion, dropped: SAME_TEXT.line(&page)? },
            };
            (target, line)
        }
        Err(reason) => (CleanTarget::Dropped(reason), reason.line(&page)?),
    };
    let address = if page.final_url.is_empty() { &page.url } else { &page.final_url };
    let host = url::Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    Ok(Cleaned { url: page.url, revises: page.revises, target, line, feed: page.feed, host, sum })
}
