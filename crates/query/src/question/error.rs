//! The reasons why a question has no answer.

use std::borrow::Cow;

use super::parameter::ValueError;
use crate::engine::EngineError;
use crate::syntax::SyntaxError;

/// The reason why a question has no answer. Messages name the remedy; the parameter is for programs.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// A parameter has a value that this corpus cannot answer.
    #[error("{message}")]
    Parameter {
        /// The parameter.
        parameter: Cow<'static, str>,
        /// The cause and the remedy.
        message: String,
    },
    /// A query or a filter is wrong.
    #[error("invalid {language}: {}", .error.render(.text))]
    Syntax {
        /// The parameter.
        parameter: String,
        /// The name of the language: query or filter.
        language: &'static str,
        /// The text as it was given.
        text: String,
        /// The error in the text.
        error: Box<SyntaxError>,
    },
    /// A parameter names something that does not exist.
    #[error("{message}")]
    NotFound {
        /// The parameter.
        parameter: &'static str,
        /// The cause and the remedy.
        message: String,
    },
    /// The answer would show text that may not be shown.
    #[error("{message}")]
    Forbidden {
        /// The parameter.
        parameter: &'static str,
        /// The cause and the remedy.
        message: String,
    },
    /// The answer needs more memory than one question may use.
    #[error("{message}")]
    TooLarge {
        /// The parameter.
        parameter: Cow<'static, str>,
        /// The cause and the remedy.
        message: String,
    },
    /// The time is over and a partial answer would be wrong.
    #[error("the time limit is reached; give a shorter period or a smaller part of the corpus")]
    Timeout,
    /// A shard of the corpus does not answer, or refuses.
    #[error("{message}")]
    Shard {
        /// The status of the answer, as in HTTP.
        status: u16,
        /// The parameter that is wrong, if one is.
        parameter: Option<String>,
        /// The cause and the remedy.
        message: String,
    },
    /// The shards of a corpus changed while the question was answered.
    #[error("the corpus changed while the question was answered; send the request again")]
    ShardsChanged,
    /// The answers of shards cannot be merged.
    #[error("{0} cannot be put together from shards; ask a server that has the whole corpus in one index")]
    NotMerged(String),
    /// The parameters do not form a request.
    #[error("{0}")]
    Request(String),
    /// The engine cannot answer.
    #[error(transparent)]
    Engine(Box<EngineError>),
}

impl QuestionError {
    /// An error of one parameter.
    pub fn parameter(parameter: &'static str, message: impl Into<String>) -> QuestionError {
        QuestionError::Parameter { parameter: parameter.into(), message: message.into() }
    }

    /// An error that the engine finds in a query or a filter.
    pub(super) fn of_engine(
        parameter: &str,
        language: &'static str,
        text: &str,
    ) -> impl FnOnce(EngineError) -> QuestionError {
        let (parameter, text) = (parameter.to_owned(), text.to_owned());
        move |error| match error {
            EngineError::Syntax(error) => QuestionError::Syntax { parameter, language, text, error: Box::new(error) },
            EngineError::Stopped => QuestionError::Timeout,
            EngineError::NeedsWholeCorpus(what) => QuestionError::NotMerged(what.to_owned()),
            error @ EngineError::TooManyWords => {
                QuestionError::TooLarge { parameter: parameter.into(), message: error.to_string() }
            }
            other => QuestionError::Engine(Box::new(other)),
        }
    }

    /// An error in the text of a parameter.
    pub fn of_value(parameter: &super::Parameter, text: &str, error: ValueError) -> QuestionError {
        match error {
            ValueError::Syntax(error) => QuestionError::Syntax {
                parameter: parameter.name.clone(),
                language: match parameter.kind {
                    super::ParameterKind::Cql | super::ParameterKind::Queries => "query",
                    _ => "filter",
                },
                text: text.to_owned(),
                error: Box::new(error),
            },
            ValueError::Expected(expected) => {
                let shown: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
                let message = format!("{} = {shown}: give {expected}", parameter.name);
                QuestionError::Parameter { parameter: parameter.name.clone().into(), message }
            }
        }
    }
}

impl From<EngineError> for QuestionError {
    fn from(error: EngineError) -> QuestionError {
        QuestionError::of_engine("filter", "filter", "")(error)
    }
}
