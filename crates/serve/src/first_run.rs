//! The first run of a home, which its owner starts from the page: finds the feeds of newspapers, collects, makes an index.
//!
//! The server takes the request and shows the progress; the work is done by the program that starts the server, through
//! [`FirstRun`], because this crate opens no connections. Only the owner on the same machine may ask for either.

use std::fmt;
use std::sync::Arc;

use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};

use crate::api_error::ApiError;
use crate::client::Client;
use crate::response::{Body, json_response};
use crate::server::AppState;

/// The path of the first run.
pub(crate) const PATH: &str = "/api/v1/first-run";
/// The longest request: an OPML file with thousands of feeds.
pub(crate) const MAX_BODY_BYTES: usize = 4 << 20;

/// Newspapers to follow.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewSources {
    /// The address under which publishers reach the owner; empty if the settings have one.
    pub contact: String,
    /// Addresses of newspapers or of their feeds.
    pub sites: Vec<String>,
    /// An OPML file; empty for none.
    pub opml: String,
}

/// The steps of a first run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstRunStep {
    /// Nothing was asked for yet.
    #[default]
    Idle,
    /// Feeds are looked for.
    Feeds,
    /// Feeds are polled, pages are downloaded.
    Collect,
    /// Text is extracted, compared, annotated and indexed.
    Process,
    /// The rest is collected and indexed, while the first documents can be searched.
    Rest,
    /// Everything is done.
    Done,
    /// It ended with an error.
    Failed,
}

impl FirstRunStep {
    /// Whether work is going on.
    pub fn is_active(self) -> bool {
        !matches!(self, FirstRunStep::Idle | FirstRunStep::Done | FirstRunStep::Failed)
    }
}

/// The progress of a first run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FirstRunProgress {
    /// Whether the settings name a contact.
    pub has_contact: bool,
    /// The current step.
    pub step: FirstRunStep,
    /// The stage of the pipeline; empty before the first.
    pub stage: String,
    /// Units done in the current work.
    pub done: u64,
    /// All units of the current work, if known.
    pub total: Option<u64>,
    /// The unit, such as `pages`.
    pub unit: String,
    /// Feeds in the list of the home.
    pub feeds: u64,
    /// Addresses without a feed, and those that were not reached.
    pub without_feed: u64,
    /// Addresses that were not reached.
    pub unreachable: u64,
    /// Why it failed.
    pub error: Option<String>,
}

/// The work behind the first run.
pub trait FirstRun: Send + Sync {
    /// Begins in the background; an error says why not.
    fn begin(&self, wanted: NewSources) -> Result<(), String>;
    /// The progress.
    fn progress(&self) -> FirstRunProgress;
    /// Ends the work after its current piece; nothing that was collected is lost.
    fn cancel(&self);
}

/// The work behind the first run, as a setting of the server.
#[derive(Clone)]
pub struct FirstRunHandle(pub Arc<dyn FirstRun>);

impl fmt::Debug for FirstRunHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FirstRunHandle")
    }
}

/// The work, if this server has a home of its own.
pub(crate) fn of(state: &AppState) -> Result<&Arc<dyn FirstRun>, ApiError> {
    let handle = state.settings.first_run.as_ref().filter(|_| state.gateway.is_none());
    handle.map(|handle| &handle.0).ok_or_else(|| ApiError::unknown("this server collects nothing"))
}

/// Answers with the progress.
pub(crate) fn show(state: &AppState, client: &Client) -> Result<Response<Body>, ApiError> {
    if !client.right.is_owner() {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "only the owner on the same machine can see this"));
    }
    let progress = of(state)?.progress();
    Ok(json_response(StatusCode::OK, &serde_json::to_value(progress).expect("progress serialises")))
}
