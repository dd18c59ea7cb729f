//! Questions that get no answer, and why.

use hyper::StatusCode;
use serde_json::{Value, json};
use tidings_query::SyntaxError;
use tidings_query::engine::EngineError;

/// Why a question gets no answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// For programs.
    pub status: StatusCode,
    /// For people: what is wrong, and what to do.
    pub error: String,
    /// The parameter that is wrong.
    pub parameter: Option<&'static str>,
    /// Where it is wrong, in bytes, and the same drawn with carets.
    pub place: Option<(usize, usize, String)>,
    /// When to ask again, in seconds.
    pub retry_after_s: Option<u64>,
}

impl Refusal {
    pub fn new(status: StatusCode, error: impl Into<String>) -> Refusal {
        Refusal { status, error: error.into(), parameter: None, place: None, retry_after_s: None }
    }

    /// A parameter is wrong.
    pub fn wrong(parameter: &'static str, error: impl Into<String>) -> Refusal {
        Refusal { parameter: Some(parameter), ..Refusal::new(StatusCode::BAD_REQUEST, error) }
    }

    /// A query or a filter is wrong at some place.
    pub fn syntax(parameter: &'static str, text: &str, error: &SyntaxError) -> Refusal {
        let place = (error.span.start, error.span.end, error.render(text));
        Refusal { place: Some(place), ..Refusal::wrong(parameter, error.to_string()) }
    }

    /// There is no such thing.
    pub fn unknown(error: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, error)
    }

    /// Too many ask at once.
    pub fn busy(error: impl Into<String>, retry_after_s: u64) -> Refusal {
        Refusal { retry_after_s: Some(retry_after_s), ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error) }
    }

    /// Something of ours is broken. What exactly is for the log: paths are nobody else's business.
    pub fn broken(what: &str, error: &dyn std::error::Error) -> Refusal {
        log::error!("{what}: {}", tidings_store::in_full(error));
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{what}; the log of the server says more"))
    }

    pub fn json(&self) -> Value {
        let mut body = json!({ "error": self.error });
        if let Some(parameter) = self.parameter {
            body["parameter"] = json!(parameter);
        }
        if let Some((from, to, shown)) = &self.place {
            body["place"] = json!({ "from": from, "to": to });
            body["shown"] = json!(shown);
        }
        body
    }
}

/// What the engine found wrong with a parameter.
pub(crate) fn of_engine(parameter: &'static str, text: &str) -> impl Fn(EngineError) -> Refusal {
    move |error| match error {
        EngineError::Syntax(error) => Refusal::syntax(parameter, text, &error),
        EngineError::TooMany { .. } => Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
        EngineError::Index(error) => Refusal::broken("the index cannot be read", &error),
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Refusal {
        of_engine("filter", "")(error)
    }
}

impl From<tidings_store::Error> for Refusal {
    fn from(error: tidings_store::Error) -> Refusal {
        Refusal::broken("the home cannot be read", &error)
    }
}

impl From<tidings_index::Error> for Refusal {
    fn from(error: tidings_index::Error) -> Refusal {
        Refusal::broken("the index cannot be read", &error)
    }
}
