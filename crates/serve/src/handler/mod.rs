//! The functions behind the endpoints: questions to a corpus, and questions about the home.

pub(crate) mod collection;
pub(crate) mod corpora;
pub(crate) mod decisions;
pub(crate) mod feeds;
pub(crate) mod revisions;
pub(crate) mod searches;
pub(crate) mod server;
pub(crate) mod sites;
pub(crate) mod sources;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tidings_query::engine::{Limits, MemoryPool};
use tidings_query::question::{
    Answered, OtherCorpus, QuestionContext, QuestionError, QuestionInfo, Request, RowData, RowSink, WindowLimit,
};
use tidings_query::trend::Bin;
use tidings_query::{Filter, SyntaxError};
use tidings_store::virtual_corpora;

use crate::api_error::ApiError;
use crate::corpus_registry::CorpusRegistry;
use crate::endpoint::{Endpoint, Handler};
use crate::lanes::Place;
use crate::query_params::QueryParams;
use crate::response::{ClientGone, ResponseWriter};
use crate::rights::Right;
use crate::server::AppState;
use crate::settings::Settings;
use crate::window_limiter::ClientId;

/// A question about the home: its fields are the parameters.
pub(crate) trait HomeQuestion: Request {
    const NAME: &'static str;
    /// The path of the endpoint below the root of the API.
    const PATH: &'static str = Self::NAME;
    const SUMMARY: &'static str;
    /// The field of the answer that holds its rows.
    const ROWS: &'static str;
    type Answer: Serialize + JsonSchema;

    fn answer(&self, context: &HomeContext<'_>) -> Result<Self::Answer, ApiError>;
}

/// What questions about the home are answered from.
pub(crate) struct HomeContext<'h> {
    pub registry: &'h CorpusRegistry,
    pub settings: &'h Settings,
    /// The right of the client.
    pub right: Right,
}

/// The reason why a request was not answered to its end.
pub(crate) enum RequestError {
    Rejected(ApiError),
    ClientGone,
    /// The time is over; rows sent so far are right, but not all.
    Timeout,
}

impl<E: Into<ApiError>> From<E> for RequestError {
    fn from(error: E) -> RequestError {
        RequestError::Rejected(error.into())
    }
}

impl From<ClientGone> for RequestError {
    fn from(_: ClientGone) -> RequestError {
        RequestError::ClientGone
    }
}

/// The end of a request's time.
#[derive(Debug, Clone)]
pub(crate) struct RequestDeadline {
    pub until: Instant,
    /// The time that the request had in all.
    pub time_limit: Duration,
    /// Set when the client has gone.
    pub cancelled: Arc<AtomicBool>,
    /// The place in a lane.
    pub place: Place,
    /// The memory that all questions share.
    pub memory: Arc<MemoryPool>,
}

impl RequestDeadline {
    /// The limits of the engine: time, a client that has gone, the lane, memory.
    pub fn limits(self) -> Limits {
        let RequestDeadline { until, time_limit, cancelled, place, memory } = self;
        let share = if place.is_heavy() { memory.bytes() / 2 } else { memory.share() };
        let (stop, ended) = (cancelled.clone(), place.clone());
        let check = move || {
            if !place.check() {
                stop.store(true, Relaxed);
            }
        };
        Limits::until_or_cancelled(until, time_limit, cancelled)
            .with_check(check)
            .with_thread_end(move || ended.end_thread())
            .with_memory(memory)
            .with_share(share)
    }
}

/// A request to an endpoint.
pub(crate) struct ApiRequest<'q> {
    pub state: &'q AppState,
    pub right: Right,
    pub client: ClientId,
    pub params: QueryParams,
    /// The language of the corpus; empty for questions about the home.
    pub lang: String,
    pub deadline: RequestDeadline,
}

impl ApiRequest<'_> {
    /// Answers the request.
    pub fn answer(self, endpoint: &Endpoint, response: &mut ResponseWriter) -> Result<(), RequestError> {
        if let Some(gateway) = &self.state.gateway {
            return self.answer_from_shards(gateway, endpoint, response);
        }
        match endpoint.handler {
            Handler::Question(question) => self.answer_question(question, response),
            Handler::Home(answer) => {
                let AppState { registry, settings, .. } = self.state;
                let context = HomeContext { registry, settings, right: self.right };
                Ok(response.body(answer(self.params.values, &context)?)?)
            }
        }
    }

    fn answer_question(self, question: &QuestionInfo, response: &mut ResponseWriter) -> Result<(), RequestError> {
        let registry = &self.state.registry;
        let epoch = registry.removal_epoch();
        let generation = self.params.cursor().map(|cursor| cursor.generation);
        let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let privacy = self.right.privacy(today);
        let as_of = self.params.as_of.as_deref();
        let frozen = as_of.map(|as_of| registry.frozen(&self.lang, as_of, generation, privacy)).transpose()?;
        let engine = match &frozen {
            Some(frozen) => frozen.engine.clone(),
            None => registry.corpus(&self.lang, generation)?,
        };
        let find_filter = |name: &str| find_filter(registry, name);
        let find_decisions = || decisions::find_for(registry, &self.lang, self.right);
        let find_other = |code: &str| {
            // Errors of the registry are about the corpus that a request names; this one is named by a parameter.
            let unknown = |error: ApiError| QuestionError::NotFound { parameter: "to", message: error.error };
            let all = match as_of {
                Some(as_of) => registry.frozen(code, as_of, None, privacy).map_err(unknown)?.engine,
                None => registry.corpus(code, None).map_err(unknown)?,
            };
            Ok(OtherCorpus { readable: all.readable(privacy), all, pairs: registry.document_pairs().map_err(unknown)? })
        };
        let run_days = |bins: &[Bin]| {
            let days = bins.iter().map(|bin| (bin.first.to_string(), bin.last.to_string()));
            registry.day_stats(|stats| stats.days_with_runs(days)).ok().flatten()
        };
        let limits = self.deadline.limits();
        let readable = engine.readable(privacy);
        let per_day = self.state.settings.kwic_windows_per_day;
        let take = |document: &str, position: u64| {
            self.state.window_limiter.take(&self.client, document, position, per_day as usize, today)
        };
        let window_limit = WindowLimit { per_day: per_day.into(), take: &take };
        let context = QuestionContext {
            engine: readable.as_deref().unwrap_or(&engine),
            vocabulary_limits: limits.clone(),
            limits,
            privacy,
            window_limit: Some(window_limit).filter(|_| self.right.has_window_limit()),
            find_filter: &find_filter,
            find_decisions: &find_decisions,
            find_other: &find_other,
            run_days: &run_days,
            streams: response.is_stream(),
            frozen: frozen.as_ref().map(|frozen| &frozen.state),
            ..QuestionContext::new(&engine, &self.lang)
        };
        let is_outdated = || registry.removal_epoch() != epoch;
        let mut sink = ResponseSink { response, is_gone: false, rows: 0, has_head: false, is_outdated: &is_outdated };
        let answered = (question.stream)(self.params.values, &context, &mut sink);
        match answered {
            _ if sink.is_gone => Err(RequestError::ClientGone),
            // The answer may have text of a page that was removed meanwhile.
            _ if is_outdated() => {
                Err(ApiError::busy("pages were removed from the corpus meanwhile; send the request again", 1).into())
            }
            Ok(()) => Ok(()),
            Err(QuestionError::Timeout) => Err(RequestError::Timeout),
            Err(error) => {
                if frozen.is_none() {
                    registry.intact(&self.lang, engine.clone())?;
                }
                Err(error.into())
            }
        }
    }
}

/// Writes an answer as it comes.
pub(crate) struct ResponseSink<'r> {
    response: &'r mut ResponseWriter,
    is_gone: bool,
    rows: u64,
    has_head: bool,
    /// Whether pages were removed since the answer began.
    is_outdated: &'r dyn Fn() -> bool,
}

/// Rows of a stream between two looks at the list of removed pages.
const REMOVAL_CHECK_ROWS: u64 = 64;

impl<'r> ResponseSink<'r> {
    /// A sink for an answer that does not come from the home.
    pub fn new(response: &'r mut ResponseWriter) -> ResponseSink<'r> {
        ResponseSink { response, is_gone: false, rows: 0, has_head: false, is_outdated: &|| false }
    }

    /// Whether rows are sent as they come.
    pub fn is_stream(&self) -> bool {
        self.response.is_stream()
    }

    /// Whether the client no longer waits.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Whether a part of the answer was given, so that it cannot begin anew.
    pub fn has_begun(&self) -> bool {
        self.has_head || self.rows > 0
    }
}

impl RowSink for ResponseSink<'_> {
    fn head(&mut self, head: Answered<Value>) {
        self.has_head = true;
        self.response.head(head);
    }

    fn row(&mut self, row: &dyn RowData) -> ControlFlow<()> {
        self.rows += 1;
        if self.rows.is_multiple_of(REMOVAL_CHECK_ROWS) && (self.is_outdated)() {
            return ControlFlow::Break(());
        }
        match self.response.row(row) {
            Ok(()) => ControlFlow::Continue(()),
            Err(ClientGone) => {
                self.is_gone = true;
                ControlFlow::Break(())
            }
        }
    }
}

/// The filter of a virtual corpus.
pub(crate) fn find_filter(registry: &CorpusRegistry, name: &str) -> Result<Filter, QuestionError> {
    let not_found = |message: String| QuestionError::NotFound { parameter: "in", message };
    let known = virtual_corpora::read(&registry.home).map_err(|error| {
        log::error!("the virtual corpora cannot be read: {}", tidings_store::in_full(&error));
        not_found("the virtual corpora cannot be read; the log of the server says more".to_owned())
    })?;
    let Some(named) = known.iter().find(|named| named.name == name) else {
        let names: Vec<&str> = known.iter().map(|named| named.name.as_str()).collect();
        return Err(not_found(match names.is_empty() {
            true => "there is no virtual corpus yet; `tidings corpus save` names one".to_owned(),
            false => format!("no such virtual corpus; available: {}", names.join(", ")),
        }));
    };
    named.filter.parse().map_err(|error: SyntaxError| QuestionError::Syntax {
        parameter: "in".to_owned(),
        language: "filter",
        text: named.filter.clone(),
        error: Box::new(error),
    })
}
