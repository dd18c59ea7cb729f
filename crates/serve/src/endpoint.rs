//! The table of endpoints, from which the router and the OpenAPI document are made.
//!
//! Questions to a corpus come from [`tidings_query::question::QUESTIONS`]; those about the home are in `handler`.

use std::sync::LazyLock;

use schemars::{JsonSchema as _, Schema, SchemaGenerator};
use serde_json::Value;
use tidings_query::question::{
    Canonical, Column, Cost, NewWordsRequest, Parameter, ParameterKind, QUESTIONS, Question as _, QuestionInfo,
    Request as _, Values, columns, request,
};

use crate::api_error::ApiError;

use crate::handler::collection::{CollectionRequest, DaysRequest, LanguagesRequest};
use crate::handler::corpora::{CorporaRequest, NamedCorporaRequest};
use crate::handler::decisions::DecisionsRequest;
use crate::handler::feeds::{FeedsRequest, HostsRequest};
use crate::handler::revisions::RevisionsRequest;
use crate::handler::searches::SearchesRequest;
use crate::handler::server::ServerRequest;
use crate::handler::sites::SitesRequest;
use crate::handler::sources::{BackfillsRequest, CrawlsRequest, SourcesRequest};
use crate::handler::{HomeContext, HomeQuestion};
use crate::response::{Format, FormatParams, StateParams};

/// An endpoint of the API.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// The name in files, logs and the OpenAPI document.
    pub name: &'static str,
    /// The path; names in braces are parameters.
    pub path: String,
    pub summary: &'static str,
    /// The field of the answer that holds its rows; empty if there are none.
    pub rows: &'static str,
    /// The parameters, those of the path included.
    pub parameters: Vec<Parameter>,
    pub example: fn() -> Value,
    pub request_schema: fn(&mut SchemaGenerator) -> Schema,
    /// The schema of the answer without what all answers have.
    pub answer_schema: fn(&mut SchemaGenerator) -> Schema,
    /// The request of checked parameters in its canonical form, and its cost.
    pub canonical: Canonical,
    pub handler: Handler,
}

/// The function that answers.
#[derive(Debug)]
pub(crate) enum Handler {
    /// A question to a corpus.
    Question(&'static QuestionInfo),
    /// A question about the home.
    Home(fn(Values, &HomeContext<'_>) -> Result<Value, ApiError>),
}

/// The root of all paths.
const ROOT: &str = "/api/v1";

/// All endpoints.
pub(crate) static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    let home = [
        Endpoint::home::<ServerRequest>(),
        Endpoint::home::<CorporaRequest>(),
        Endpoint::home::<NamedCorporaRequest>(),
        Endpoint::home::<SearchesRequest>(),
        Endpoint::home::<DecisionsRequest>(),
        Endpoint::home::<SitesRequest>(),
        Endpoint::home::<FeedsRequest>(),
        Endpoint::home::<HostsRequest>(),
        Endpoint::home::<SourcesRequest>(),
        Endpoint::home::<CrawlsRequest>(),
        Endpoint::home::<BackfillsRequest>(),
        Endpoint::home::<CollectionRequest>(),
        Endpoint::home::<DaysRequest>(),
        Endpoint::home::<LanguagesRequest>(),
        Endpoint::home::<RevisionsRequest>(),
    ];
    home.into_iter().chain(QUESTIONS.iter().map(Endpoint::question)).collect()
});

impl Endpoint {
    fn question(question: &'static QuestionInfo) -> Endpoint {
        let with_rss = question.name == NewWordsRequest::NAME;
        Endpoint {
            name: question.name,
            path: format!("{ROOT}/{{lang}}/{}", question.path),
            summary: question.summary,
            rows: question.rows,
            parameters: with_format(with_state((question.parameters)()), question.rows, with_rss),
            example: question.example,
            request_schema: question.request_schema,
            answer_schema: question.answer_schema,
            canonical: question.canonical,
            handler: Handler::Question(question),
        }
    }

    fn home<Q: HomeQuestion>() -> Endpoint {
        Endpoint {
            name: Q::NAME,
            path: format!("{ROOT}/{}", Q::PATH),
            summary: Q::SUMMARY,
            rows: Q::ROWS,
            parameters: with_format(Q::parameters(), Q::ROWS, false),
            example: || serde_json::to_value(Q::example()).expect("requests serialise"),
            request_schema: Q::json_schema,
            answer_schema: Q::Answer::json_schema,
            canonical: |values| {
                let canonical = serde_json::to_value(request::<Q>(values)?).expect("requests serialise");
                Ok((canonical, Cost::Quick))
            },
            handler: Handler::Home(|values, context| {
                let answer = request::<Q>(values)?.answer(context)?;
                Ok(serde_json::to_value(answer).expect("answers serialise"))
            }),
        }
    }

    /// The names in braces of the path, in order.
    pub fn path_names(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// The parameters that follow the question mark.
    pub fn query_parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| self.path_names().all(|name| name != parameter.name))
    }

    /// The columns of the rows as CSV; `fields` are those of documents.
    pub fn columns(&self, fields: &[&str]) -> Vec<Column> {
        columns(self.answer_schema, self.rows, fields)
    }

    /// The values of the braces, if a path is of this endpoint.
    fn matches<'p>(&self, path: &'p str) -> Option<Vec<&'p str>> {
        let (mut pattern, mut path) = (self.path.split('/'), path.split('/'));
        let mut values = Vec::new();
        loop {
            match (pattern.next(), path.next()) {
                (None, None) => return Some(values),
                (Some(name), Some(value)) if name.starts_with('{') && !value.is_empty() => values.push(value),
                (Some(name), Some(value)) if name == value => {}
                _ => return None,
            }
        }
    }

    /// The endpoint of a path, and the values of its braces.
    pub fn find(path: &str) -> Option<(&'static Endpoint, Vec<&str>)> {
        ENDPOINTS.iter().find_map(|endpoint| Some((endpoint, endpoint.matches(path)?)))
    }
}

/// Parameters with the state of the corpus.
fn with_state(mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    parameters.extend(StateParams::parameters());
    parameters
}

/// Parameters with the format of the response, where the answer has rows.
fn with_format(mut parameters: Vec<Parameter>, rows: &str, with_rss: bool) -> Vec<Parameter> {
    if rows.is_empty() {
        return parameters;
    }
    for mut parameter in FormatParams::parameters() {
        if let (ParameterKind::Choice { names, .. }, false) = (&mut parameter.kind, with_rss) {
            names.retain(|name| name != Format::Rss.name());
        }
        parameters.push(parameter);
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_is_found_by_its_own_path() {
        for endpoint in ENDPOINTS.iter() {
            let path = endpoint.path.replace("{lang}", "en").replace("{id}", "0a");
            let (found, values) = Endpoint::find(&path).unwrap();
            assert_eq!(found.name, endpoint.name);
            assert_eq!(values.len(), endpoint.path_names().count());
        }
        assert!(Endpoint::find("/api/v1/en/nothing").is_none() && Endpoint::find("/api/v1//query").is_none());
    }

    #[test]
    fn names_of_endpoints_and_of_their_parameters_are_used_once() {
        for endpoint in ENDPOINTS.iter() {
            assert_eq!(ENDPOINTS.iter().filter(|other| other.name == endpoint.name).count(), 1);
            for parameter in &endpoint.parameters {
                let same = endpoint.parameters.iter().filter(|other| other.name == parameter.name);
                assert_eq!(same.count(), 1, "{}.{}", endpoint.name, parameter.name);
            }
        }
    }
}
