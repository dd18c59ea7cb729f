//! Errors of the API, as JSON bodies with a status.

use hyper::StatusCode;
use serde_json::{Value, json};
use tidings_query::SyntaxError;
use tidings_query::engine::EngineError;

/// An error response.
#[derive(Debug)]
pub(crate) struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// The message: what is wrong and what to do.
    pub error: String,
    /// The parameter at fault.
    pub parameter: Option<&'static str>,
    /// Byte range of the error in the parameter, and the text with carets under it.
    pub place: Option<(usize, usize, String)>,
    /// Value of Retry-After, in seconds.
    pub retry_after_s: Option<u64>,
}

impl ApiError {
    pub fn new(status: StatusCode, error: impl Into<String>) -> ApiError {
        ApiError { status, error: error.into(), parameter: None, place: None, retry_after_s: None }
    }

    /// 400 for a parameter.
    pub fn wrong(parameter: &'static str, error: impl Into<String>) -> ApiError {
        ApiError { parameter: Some(parameter), ..ApiError::new(StatusCode::BAD_REQUEST, error) }
    }

    /// 400 for a syntax error in a query or filter.
    pub fn syntax(parameter: &'static str, text: &str, error: &SyntaxError) -> ApiError {
        let place = (error.span.start, error.span.end, error.render(text));
        ApiError { place: Some(place), ..ApiError::wrong(parameter, error.to_string()) }
    }

    /// 404.
    pub fn unknown(error: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, error)
    }

    /// 503 with Retry-After.
    pub fn busy(error: impl Into<String>, retry_after_s: u64) -> ApiError {
        ApiError { retry_after_s: Some(retry_after_s), ..ApiError::new(StatusCode::SERVICE_UNAVAILABLE, error) }
    }

    /// 500. The cause goes to the log only, because it may contain paths.
    pub fn broken(what: &str, error: &dyn std::error::Error) -> ApiError {
        log::error!("{what}: {}", tidings_store::in_full(error));
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{what}; see the server log"))
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

/// Converts an error of the engine, which concerns `parameter`.
pub(crate) fn of_engine(parameter: &'static str, text: &str) -> impl Fn(EngineError) -> ApiError {
    move |error| match error {
        EngineError::Syntax(error) => ApiError::syntax(parameter, text, &error),
        EngineError::TooMany { .. } => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
        EngineError::Index(error) => ApiError::broken("cannot read the index", &error),
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> ApiError {
        of_engine("filter", "")(error)
    }
}

impl From<tidings_store::Error> for ApiError {
    fn from(error: tidings_store::Error) -> ApiError {
        ApiError::broken("cannot read the home", &error)
    }
}

impl From<tidings_index::Error> for ApiError {
    fn from(error: tidings_index::Error) -> ApiError {
        ApiError::broken("cannot read the index", &error)
    }
}
