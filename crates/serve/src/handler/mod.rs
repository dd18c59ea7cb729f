//! The answers, a file for each kind of request.

pub(crate) mod collection;
pub(crate) mod counts;
pub(crate) mod documents;
pub(crate) mod query;
pub(crate) mod sketch;
pub(crate) mod time;
pub(crate) mod words;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hyper::StatusCode;
use serde_json::Value;
use tidings_query::answer::{About, Exactness};
use tidings_query::cql::{self, Attribute};
use tidings_query::engine::{Engine, Limits, Subcorpus};
use tidings_query::trend::Step;
use tidings_query::{Filter, MatchRule, Query, SyntaxError};
use tidings_store::virtual_corpora;

use crate::api_error::{ApiError, of_engine};
use crate::corpus_registry::CorpusRegistry;
use crate::endpoint::RequestError;
use crate::query_params::QueryParams;
use crate::response::ResponseWriter;
use crate::rights::Right;
use crate::schema::{Schema, list, object};

/// The names of attributes; those of features are open.
pub(crate) const ATTRIBUTES: &[&str] = &["word", "lc", "lemma", "tag", "feats"];
/// The names of steps of time, as they are given.
pub(crate) const STEPS: &[&str] = &["day", "10days", "week", "month", "quarter", "half-year", "year"];
/// The names of measures of association.
pub(crate) const ASSOCIATIONS: &[&str] =
    &["logdice", "mi", "mi3", "t-score", "ll", "dice", "min-sensitivity", "mi.log-f"];

/// Tokens on each side of a hit that a line shows at most.
pub(crate) const LONGEST_CONTEXT: u64 = 200;

/// How long somebody waits for an answer.
#[derive(Debug, Clone)]
pub(crate) struct RequestDeadline {
    pub until: Instant,
    /// Set when nobody waits any more.
    pub cancelled: Arc<AtomicBool>,
}

impl RequestDeadline {
    fn limits(&self) -> Limits<'_> {
        Limits { until: Some(self.until), cancelled: Some(&self.cancelled) }
    }
}

/// What was counted, if it was counted to the end.
fn in_time<T>(part: &Subcorpus, counted: T) -> Result<T, RequestError> {
    if part.is_over() { Err(RequestError::Timeout) } else { Ok(counted) }
}

/// A request that somebody asks.
pub(crate) struct ApiRequest<'q> {
    pub registry: &'q CorpusRegistry,
    pub right: Right,
    pub params: QueryParams,
    pub limits: Limits<'q>,
    time: &'q RequestDeadline,
    lang: String,
    /// The id of a document, if the address has one.
    id: String,
    engine: Option<Arc<Engine>>,
    query: Option<Query>,
    filter: Option<Filter>,
    /// Where the page begins.
    first: u64,
}

impl<'q> ApiRequest<'q> {
    /// Reads a request: everything that can be told wrong without the corpus is told here.
    pub fn read(
        registry: &'q CorpusRegistry,
        right: Right,
        mut params: QueryParams,
        places: &[String],
        time: &'q RequestDeadline,
    ) -> Result<ApiRequest<'q>, ApiError> {
        let query = match params.text("q") {
            Some(text) => Some(cql::parse(text).map_err(|error| ApiError::syntax("q", text, &error))?),
            None => None,
        };
        let named = match params.text("in") {
            Some(name) => Some(named(registry, name)?),
            None => None,
        };
        let own = match params.text("filter") {
            Some(text) => Some(filter_of("filter", text)?),
            None => None,
        };
        if let Some(query) = &query {
            params.replace("q", query.to_string());
        }
        if let Some(own) = &own {
            params.replace("filter", own.to_string());
        }
        let (generation, first) = match params.text("cursor") {
            Some(cursor) => read_cursor(cursor).map(|(generation, first)| (Some(generation), first))?,
            None => (None, 0),
        };
        let lang = places.first().cloned().unwrap_or_default();
        let engine = if places.is_empty() { None } else { Some(registry.corpus(&lang, generation)?) };
        let id = places.get(1).cloned().unwrap_or_default();
        let limits = time.limits();
        Ok(ApiRequest {
            registry,
            right,
            params,
            limits,
            time,
            lang,
            id,
            engine,
            query,
            filter: Filter::both(named, own),
            first,
        })
    }

    /// The engine of the language that is asked.
    fn engine(&self) -> &Engine {
        self.engine.as_ref().expect("the path of the endpoint names a language")
    }

    fn query(&self) -> &Query {
        self.query.as_ref().expect("the table of the endpoint requires a query")
    }

    /// The query, compiled.
    fn search(&self, rule: MatchRule) -> Result<tidings_query::engine::Search<'_>, ApiError> {
        let text = self.params.text("q").unwrap_or_default();
        self.engine().search(self.query(), rule, self.filter.as_ref()).map_err(of_engine("q", text))
    }

    fn part(&self) -> Result<Subcorpus, ApiError> {
        self.part_of(self.filter.as_ref())
    }

    /// A part that is not counted longer than somebody waits for it.
    fn part_of(&self, filter: Option<&Filter>) -> Result<Subcorpus, ApiError> {
        Ok(self.engine().subcorpus(filter)?.until(self.time.until, self.time.cancelled.clone()))
    }

    fn attribute(&self) -> Attribute {
        self.params.text("attribute").and_then(Attribute::named).unwrap_or(Attribute::Lc)
    }

    fn step(&self) -> Step {
        self.params.text("by").and_then(Step::named).unwrap_or(Step::Month)
    }

    fn limit(&self) -> usize {
        self.params.number("limit").unwrap_or(50) as usize
    }

    fn about(&self, rule: MatchRule, exactness: Exactness) -> About {
        About {
            corpus: self.lang.clone(),
            generation: self.engine().snapshot().generation(),
            query: self.query.as_ref().map(ToString::to_string),
            filter: self.filter.as_ref().map(ToString::to_string),
            rule,
            exactness,
        }
    }

    /// How rarely rows may occur that are made of neighbouring words; if that is more than was asked for, the answer says so.
    fn least(&self, asked: u64, response: &mut ResponseWriter) -> (u64, u64) {
        use crate::rights::{LEAST_DOCUMENTS, LEAST_HITS};
        if !self.right.is_limited(self.engine()) {
            return (asked, 0);
        }
        let rewritten = format!(
            "rows with fewer than {LEAST_HITS} hits are left out, and of n-grams those in fewer than {LEAST_DOCUMENTS} documents: \
             some texts may not be shown without a token, and rows so rare would give them away"
        );
        response.set("rewrites", [rewritten]);
        (asked.max(LEAST_HITS), LEAST_DOCUMENTS)
    }

    /// Where the next page begins, if there is one.
    fn next(&self, shown: u64, size: u64) -> Value {
        match shown == size && size > 0 {
            true => Value::String(format!("{}-{}", self.engine().snapshot().generation(), self.first + shown)),
            false => Value::Null,
        }
    }
}

/// A cursor is the generation and the number of the first row; nobody needs to know.
fn read_cursor(text: &str) -> Result<(u64, u64), ApiError> {
    let parts =
        text.split_once('-').and_then(|(generation, first)| Some((generation.parse().ok()?, first.parse().ok()?)));
    parts.ok_or_else(|| ApiError::wrong("cursor", "this is no cursor; take `next` of the answer before"))
}

/// Reads a filter.
fn filter_of(parameter: &'static str, text: &str) -> Result<Filter, ApiError> {
    text.parse().map_err(|error: SyntaxError| ApiError::syntax(parameter, text, &error))
}

/// The filter of a virtual corpus.
fn named(registry: &CorpusRegistry, name: &str) -> Result<Filter, ApiError> {
    let known = virtual_corpora::read(&registry.home)?;
    match known.iter().find(|named| named.name == name) {
        Some(named) => filter_of("in", &named.filter),
        None => {
            let names: Vec<&str> = known.iter().map(|named| named.name.as_str()).collect();
            let error = match names.is_empty() {
                true => "there is no virtual corpus yet; `tidings corpus save` names one".to_owned(),
                false => format!("there is no such virtual corpus; there are {}", names.join(", ")),
            };
            Err(ApiError { parameter: Some("in"), ..ApiError::new(StatusCode::NOT_FOUND, error) })
        }
    }
}

/// The shape of `about`.
fn about_schema() -> Schema {
    let exact = object([("kind", Schema::Words(&["exact"]))]);
    let estimate = object([
        ("kind", Schema::Words(&["estimate"])),
        ("seen_tokens", Schema::Integer),
        ("of_tokens", Schema::Integer),
    ]);
    let sample = object([
        ("kind", Schema::Words(&["sample"])),
        ("hits", Schema::Integer),
        ("of_hits", Schema::Integer),
        ("seed", Schema::Integer),
    ]);
    object([
        ("corpus", Schema::Text),
        ("generation", Schema::Integer),
        ("?query", Schema::Text),
        ("?filter", Schema::Text),
        ("rule", Schema::Words(&["shortest", "longest", "all"])),
        ("exactness", Schema::Either(vec![exact, estimate, sample])),
    ])
}

/// The shape of an answer about a corpus: what all have, and its own.
fn answer_schema(own: impl IntoIterator<Item = (&'static str, Schema)>) -> Schema {
    let mut properties = vec![("about", about_schema()), ("link", Schema::Text), ("?rewrites", list(Schema::Text))];
    properties.extend(own);
    Schema::Object(properties)
}

fn attribute_schema() -> Schema {
    Schema::Text
}

fn token_schema() -> Schema {
    object([
        ("word", Schema::Text),
        ("?lemma", Schema::Text),
        ("?tag", Schema::Text),
        ("?feats", Schema::Text),
        ("space_after", Schema::Flag),
    ])
}

fn step_schema() -> Schema {
    Schema::Words(&["day", "ten-days", "week", "month", "quarter", "half-year", "year"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_the_table_are_those_the_engine_knows() {
        assert!(ATTRIBUTES.iter().all(|name| Attribute::named(name).is_some()));
        let steps: Vec<&str> = tidings_query::trend::STEPS.iter().map(|(name, _)| *name).collect();
        assert_eq!(STEPS, steps);
        let measures: Vec<&str> =
            tidings_query::measure::association::ASSOCIATIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(ASSOCIATIONS, measures);
    }

    #[test]
    fn a_cursor_is_read_or_refused() {
        assert_eq!(read_cursor("3-40").ok(), Some((3, 40)));
        assert!(read_cursor("3").is_err() && read_cursor("a-b").is_err() && read_cursor("").is_err());
    }
}
