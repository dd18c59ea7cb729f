//! Saved searches.

use hyper::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidings_query::answer;
use tidings_query::question::Request;
use tidings_store::saved_searches;

use super::{HomeContext, HomeQuestion};
use crate::api_error::ApiError;
use crate::rights::Right;

/// Lists the saved searches.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SearchesRequest {}

answer! {
    /// The saved searches. `/api/v1/searches/NAME/feed` is the feed of the newest hits of one, as RSS or JSON.
    pub struct Searches {
        /// The searches.
        pub rows: Vec<SearchRow>,
    }

    /// A saved search.
    pub struct SearchRow {
        /// The name.
        pub name: String,
        /// The language of the corpus.
        pub lang: String,
        /// The query.
        pub q: String,
        /// The filter of documents; empty for all.
        pub filter: String,
        /// The time at which it was saved.
        pub created: String,
    }
}

/// Refuses clients without a token: what the owner looks for is private.
pub(crate) fn may_see(right: Right) -> Result<(), ApiError> {
    match right.scope {
        Some(_) => Ok(()),
        None => Err(ApiError::new(StatusCode::FORBIDDEN, "saved searches can be seen with an access token only")),
    }
}

impl Request for SearchesRequest {
    fn example() -> SearchesRequest {
        SearchesRequest {}
    }
}

impl HomeQuestion for SearchesRequest {
    const NAME: &'static str = "searches";
    const SUMMARY: &'static str = "List the saved searches, each of which has a feed of new hits";
    const ROWS: &'static str = "rows";
    type Answer = Searches;

    fn answer(&self, HomeContext { registry, right, .. }: &HomeContext<'_>) -> Result<Searches, ApiError> {
        may_see(*right)?;
        let row = |search: saved_searches::SavedSearch| SearchRow {
            name: search.name,
            lang: search.lang,
            q: search.query,
            filter: search.filter,
            created: search.created,
        };
        Ok(Searches { rows: saved_searches::read(&registry.home)?.into_iter().map(row).collect() })
    }
}
