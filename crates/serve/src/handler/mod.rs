//! The functions behind the endpoints: questions to a corpus, and questions about the home.

pub(crate) mod collection;
pub(crate) mod corpora;
pub(crate) mod feeds;
pub(crate) mod revisions;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tidings_query::engine::{Limits, MemoryPool};
use tidings_query::question::{Answered, QuestionContext, QuestionError, QuestionInfo, Request, RowData, RowSink};
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

/// A question about the home: its fields are the parameters.
pub(crate) trait HomeQuestion: Request {
    const NAME: &'static str;
    /// The path of the endpoint below the root of the API.
    const PATH: &'static str = Self::NAME;
    const SUMMARY: &'static str;
    /// The field of the answer that holds its rows.
    const ROWS: &'static str;
    type Answer: Serialize + JsonSchema;

    fn answer(&self, registry: &CorpusRegistry) -> Result<Self::Answer, ApiError>;
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
    fn limits(self) -> Limits {
        let RequestDeadline { until, time_limit, cancelled, place, memory } = self;
        let stop = cancelled.clone();
        let check = move || {
            if !place.check() {
                stop.store(true, Relaxed);
            }
        };
        Limits::until_or_cancelled(until, time_limit, cancelled).with_check(check).with_memory(memory)
    }
}

/// A request to an endpoint.
pub(crate) struct ApiRequest<'q> {
    pub registry: &'q CorpusRegistry,
    pub right: Right,
    pub params: QueryParams,
    /// The language of the corpus; empty for questions about the home.
    pub lang: String,
    pub deadline: RequestDeadline,
}

impl ApiRequest<'_> {
    /// Answers the request.
    pub fn answer(self, endpoint: &Endpoint, response: &mut ResponseWriter) -> Result<(), RequestError> {
        match endpoint.handler {
            Handler::Question(question) => self.answer_question(question, response),
            Handler::Home(answer) => Ok(response.body(answer(self.params.values, self.registry)?)?),
        }
    }

    fn answer_question(self, question: &QuestionInfo, response: &mut ResponseWriter) -> Result<(), RequestError> {
        let registry = self.registry;
        let generation = self.params.cursor().map(|cursor| cursor.generation);
        let engine = registry.corpus(&self.lang, generation)?;
        let find_filter = |name: &str| find_filter(registry, name);
        let run_days = |bins: &[Bin]| {
            let days = bins.iter().map(|bin| (bin.first.to_string(), bin.last.to_string()));
            registry.day_stats(|stats| stats.days_with_runs(days)).ok().flatten()
        };
        let limits = self.deadline.limits();
        let context = QuestionContext {
            vocabulary_limits: limits.clone(),
            limits,
            privacy: self.right.privacy(),
            find_filter: &find_filter,
            run_days: &run_days,
            streams: response.is_stream(),
            ..QuestionContext::new(&engine, &self.lang)
        };
        let mut sink = ResponseSink { response, is_gone: false };
        match (question.stream)(self.params.values, &context, &mut sink) {
            _ if sink.is_gone => Err(RequestError::ClientGone),
            Ok(()) => Ok(()),
            Err(QuestionError::Timeout) => Err(RequestError::Timeout),
            Err(error) => Err(error.into()),
        }
    }
}

/// Writes an answer as it comes.
struct ResponseSink<'r> {
    response: &'r mut ResponseWriter,
    is_gone: bool,
}

impl RowSink for ResponseSink<'_> {
    fn head(&mut self, head: Answered<Value>) {
        self.response.head(head);
    }

    fn row(&mut self, row: &dyn RowData) -> ControlFlow<()> {
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
fn find_filter(registry: &CorpusRegistry, name: &str) -> Result<Filter, QuestionError> {
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
