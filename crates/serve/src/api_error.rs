//! Errors of the API, as JSON with a status code.

use std::borrow::Cow;

use hyper::StatusCode;
use serde_json::{Value, json};
use tidings_query::SyntaxError;
use tidings_query::engine::EngineError;
use tidings_query::question::QuestionError;

/// The reason why a request has no answer.
#[derive(Debug)]
pub(crate) struct ApiError {
    /// For programs.
    pub status: StatusCode,
    /// For people: what is wrong, and what to do.
    pub error: String,
    /// The parameter that is wrong.
    pub parameter: Option<Cow<'static, str>>,
    /// Where it is wrong, in bytes, and the same drawn with carets.
    pub place: Option<(usize, usize, String)>,
    /// When to ask again, in seconds.
    pub retry_after_s: Option<u64>,
}

impl ApiError {
    pub fn new(status: StatusCode, error: impl Into<String>) -> ApiError {
        ApiError { status, error: error.into(), parameter: None, place: None, retry_after_s: None }
    }

    /// A parameter is wrong.
    pub fn wrong(parameter: impl Into<Cow<'static, str>>, error: impl Into<String>) -> ApiError {
        ApiError { parameter: Some(parameter.into()), ..ApiError::new(StatusCode::BAD_REQUEST, error) }
    }

    /// A query or a filter is wrong at some place.
    pub fn syntax(parameter: impl Into<Cow<'static, str>>, text: &str, error: &SyntaxError) -> ApiError {
        let place = (error.span.start, error.span.end, error.render(text));
        ApiError { place: Some(place), ..ApiError::wrong(parameter, error.to_string()) }
    }

    /// There is no such thing.
    pub fn unknown(error: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, error)
    }

    /// Too many ask at once.
    pub fn busy(error: impl Into<String>, retry_after_s: u64) -> ApiError {
        ApiError { retry_after_s: Some(retry_after_s), ..ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error) }
    }

    /// Something of ours is broken. What exactly is for the log: paths are nobody else's business.
    pub fn broken(what: &str, error: &dyn std::error::Error) -> ApiError {
        log::error!("{what}: {}", tidings_store::in_full(error));
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{what}; the log of the server says more"))
    }

    pub fn json(&self) -> Value {
        let mut body = json!({ "error": self.error });
        if let Some(parameter) = &self.parameter {
            body["parameter"] = json!(parameter);
        }
        if let Some((from, to, shown)) = &self.place {
            body["place"] = json!({ "from": from, "to": to });
            body["shown"] = json!(shown);
        }
        body
    }
}

impl From<QuestionError> for ApiError {
    fn from(error: QuestionError) -> ApiError {
        let message = error.to_string();
        let with = |status, parameter: Cow<'static, str>| ApiError {
            parameter: Some(parameter),
            ..ApiError::new(status, message.clone())
        };
        match error {
            QuestionError::Parameter { parameter, .. } => with(StatusCode::BAD_REQUEST, parameter),
            QuestionError::Syntax { parameter, text, error, .. } => ApiError::syntax(parameter, &text, &error),
            QuestionError::NotFound { parameter, .. } => with(StatusCode::NOT_FOUND, parameter.into()),
            QuestionError::Forbidden { parameter, .. } => with(StatusCode::FORBIDDEN, parameter.into()),
            QuestionError::TooLarge { parameter, .. } => with(StatusCode::PAYLOAD_TOO_LARGE, parameter),
            QuestionError::Shard { status, parameter, .. } => ApiError {
                parameter: parameter.map(Cow::Owned),
                retry_after_s: (status == 503).then_some(5),
                ..ApiError::new(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY), message)
            },
            QuestionError::ShardsChanged => ApiError::busy(message, 1),
            QuestionError::NotMerged(_) => ApiError::new(StatusCode::NOT_IMPLEMENTED, message),
            QuestionError::Request(_) => ApiError::new(StatusCode::BAD_REQUEST, message),
            QuestionError::Timeout => ApiError::busy(message, 30),
            QuestionError::Engine(error) => match *error {
                EngineError::Index(error) => error.into(),
                _ => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, message),
            },
        }
    }
}

impl From<tidings_store::Error> for ApiError {
    fn from(error: tidings_store::Error) -> ApiError {
        ApiError::broken("the home cannot be read", &error)
    }
}

impl From<tidings_crawl::Error> for ApiError {
    fn from(error: tidings_crawl::Error) -> ApiError {
        ApiError::broken("a crawl cannot be read", &error)
    }
}

impl From<tidings_index::Error> for ApiError {
    fn from(error: tidings_index::Error) -> ApiError {
        ApiError::broken("the index cannot be read", &error)
    }
}
