//! The revisions of a page: its documents, of which the corpus has the newest.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_query::answer;
use tidings_query::question::Request;
use tidings_store::hidden;
use tidings_store::revisions::{self, RevisionFilter};

use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;

/// Lists the revisions of a page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RevisionsRequest {
    /// The address of the page, as the document has it.
    #[schemars(extend("x-value-name" = "URL"))]
    url: String,
    /// The day of the download of the newest revision, as the document has it.
    seen: Date,
}

answer! {
    /// The revisions of a page, oldest first; empty if it was never revised.
    pub struct PageRevisions {
        /// The revisions.
        pub rows: Vec<PageRevision>,
    }

    /// A revision of a page.
    pub struct PageRevision {
        /// The id of the document, 32 hexadecimal digits.
        pub id: String,
        /// The time of the download.
        pub downloaded: String,
        /// The title.
        pub title: String,
    }
}

impl Request for RevisionsRequest {
    fn example() -> RevisionsRequest {
        RevisionsRequest { url: "https://example.org/article".to_owned(), seen: Date::constant(2026, 3, 1) }
    }
}

impl HomeQuestion for RevisionsRequest {
    const NAME: &'static str = "revisions";
    const PATH: &'static str = "collection/revisions";
    const SUMMARY: &'static str = "List the revisions of a page with their times and titles";
    const ROWS: &'static str = "rows";
    type Answer = PageRevisions;

    fn answer(&self, HomeContext { registry, .. }: &HomeContext<'_>) -> Result<PageRevisions, ApiError> {
        let hidden = hidden::read(&registry.home)?;
        let day = Some(self.seen.to_string());
        let url = Some(self.url.clone());
        let filter = RevisionFilter { since: day.clone(), until: day, url, site: None };
        let pages = revisions::list(&registry.home, &filter)?.into_iter().filter(|page| !hidden.contains(&page.url));
        let revisions = pages.flat_map(|page| page.revisions).filter(|revision| !hidden.contains(&revision.id));
        let row = |revision: revisions::Revision| PageRevision {
            id: revision.id,
            downloaded: revision.downloaded,
            title: revision.title,
        };
        Ok(PageRevisions { rows: revisions.map(row).collect() })
    }
}
