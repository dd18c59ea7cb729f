//! The corpus a question is answered from, with its limits and rights.

use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::params::ScopeParams;
use super::{Parsed, QuestionError};
use crate::cql::{MatchRule, Query};
use crate::engine::{Engine, Limits, Search, Subcorpus};
use crate::filter::Filter;
use crate::trend::Bin;

/// The field of a document that states its availability.
pub const AVAILABILITY_FIELD: &str = "availability";
/// Minimum hits of a row that is made of neighbouring words, where some text may not be shown.
pub const MIN_HITS: u64 = 5;
/// Minimum documents of such a row, where documents are counted.
pub const MIN_DOCUMENTS: u64 = 3;
/// Maximum rows of an answer that is sent as one JSON body.
pub const MAX_PAGE_ROWS: u64 = 10_000;

choices! {
    /// Where the text of a document may be shown.
    pub enum Availability {
        /// Nowhere: counts and metadata only.
        Metadata = "metadata",
        /// In lines of a concordance, with a token.
        Kwic = "kwic",
        /// Everywhere.
        Open = "open",
    }
}

impl Availability {
    /// The availability that the field of a document states. No value means the default, and an unknown one allows nothing.
    pub fn of_field(value: Option<&str>, default: Availability) -> Availability {
        match value {
            None | Some("") => default,
            Some(name) => Availability::named(name).unwrap_or(Availability::Metadata),
        }
    }
}

/// The right to see text. Counts and metadata are always shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Privacy {
    /// The availability of documents that do not state theirs.
    pub default: Availability,
    /// Minimum availability of documents whose lines are shown.
    pub lines: Availability,
    /// Minimum availability of documents whose whole text is shown.
    pub text: Availability,
}

impl Privacy {
    /// The right of the owner of the corpus: everything is shown.
    pub const fn owner(default: Availability) -> Privacy {
        Privacy { default, lines: Availability::Metadata, text: Availability::Metadata }
    }

    /// Whether lines of a document may be shown.
    pub fn shows_lines(self, availability: Availability) -> bool {
        availability >= self.lines
    }

    /// Whether the whole text of a document may be shown.
    pub fn shows_text(self, availability: Availability) -> bool {
        availability >= self.text
    }

    /// Whether the corpus has documents whose lines may not be shown.
    pub fn is_limited(self, engine: &Engine) -> bool {
        let hidden = |availability| !self.shows_lines(availability);
        engine.snapshot().segments().iter().any(|live| match live.segment().field(AVAILABILITY_FIELD) {
            Some(field) => {
                (0..field.count()).any(|code| hidden(Availability::of_field(Some(field.value(code)), self.default)))
            }
            None => hidden(self.default),
        })
    }
}

/// Finds the filter of a virtual corpus by its name.
pub type FindFilter<'c> = &'c dyn Fn(&str) -> Result<Filter, QuestionError>;
/// Counts the days with fetch runs in each bin; nothing if the home has no runs.
pub type RunDays<'c> = &'c dyn Fn(&[Bin]) -> Option<Vec<u64>>;

/// The corpus a question is answered from, with its limits and rights.
#[derive(Clone)]
pub struct QuestionContext<'c> {
    /// The engine over one generation of the index.
    pub engine: &'c Engine,
    /// The language of the corpus.
    pub corpus: &'c str,
    /// The limits of searches; past them, an answer is partial and says so.
    pub limits: Limits<'c>,
    /// The limit of lists over the whole vocabulary; past it, there is no answer.
    pub cancel: Option<(Instant, Arc<AtomicBool>)>,
    /// The right to see text.
    pub privacy: Privacy,
    /// Virtual corpora by name.
    pub find_filter: FindFilter<'c>,
    /// Days with fetch runs.
    pub run_days: RunDays<'c>,
    /// Whether rows are sent as they are found, so that there may be many.
    pub streams: bool,
}

/// An answer with what it is an answer to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered<T> {
    /// The question and the state of the corpus.
    pub about: About,
    /// Changes to the question, such as rows that were left out to protect text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
    /// The answer itself.
    #[serde(flatten)]
    pub body: T,
}

answer! {
    /// The question and the state of the corpus that an answer belongs to.
    pub struct About {
        /// The language of the corpus.
        pub corpus: String,
        /// The state of the corpus: it grows with every change, and equal states give equal answers.
        pub generation: u64,
        /// The query in its canonical form.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pub query: Option<String>,
        /// The filter in its canonical form.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pub filter: Option<String>,
        /// The choice among matches that begin at one position.
        pub rule: MatchRule,
        /// Whether the numbers are exact.
        pub exactness: Exactness,
    }
}

/// Whether numbers are exact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Exactness {
    /// Everything was counted.
    Exact,
    /// A part of the corpus was counted and the rest extrapolated.
    Estimate {
        /// Tokens counted.
        seen_tokens: u64,
        /// Tokens of the corpus.
        of_tokens: u64,
    },
    /// A sample of the hits was used, or those found until the time limit.
    Sample {
        /// Hits of the sample.
        hits: u64,
        /// Hits in all.
        of_hits: u64,
        /// The seed that draws the same sample again.
        seed: u64,
    },
}

impl Exactness {
    /// Exact, or the hits seen until the time limit.
    pub fn of(complete: bool, seen: u64) -> Exactness {
        match complete {
            true => Exactness::Exact,
            false => Exactness::Sample { hits: seen, of_hits: seen, seed: 0 },
        }
    }
}

impl<'c> QuestionContext<'c> {
    /// A context without limits that shows everything and knows no virtual corpora.
    pub fn new(engine: &'c Engine, corpus: &'c str) -> QuestionContext<'c> {
        let unknown: FindFilter<'static> = &|name| {
            Err(QuestionError::NotFound { parameter: "in", message: format!("there is no virtual corpus {name}") })
        };
        QuestionContext {
            engine,
            corpus,
            limits: Limits::default(),
            cancel: None,
            privacy: Privacy::owner(Availability::Kwic),
            find_filter: unknown,
            run_days: &|_| None,
            streams: false,
        }
    }

    /// The filter of the documents that a question is about.
    pub fn filter(&self, scope: &ScopeParams) -> Result<Option<Filter>, QuestionError> {
        let named = scope.virtual_corpus.as_deref().map(self.find_filter).transpose()?;
        Ok(Filter::both(named, scope.filter.as_deref().cloned()))
    }

    /// The documents that a filter admits. Counting them stops at the limit of the context: check [`Self::in_time`].
    pub(super) fn subcorpus(&self, filter: Option<&Filter>) -> Result<Subcorpus, QuestionError> {
        let subcorpus = self.engine.subcorpus(filter)?;
        Ok(match &self.cancel {
            Some((until, cancelled)) => subcorpus.until(*until, cancelled.clone()),
            None => subcorpus,
        })
    }

    /// The answer of a count over a part, unless the limit was reached.
    pub(super) fn in_time<T>(&self, subcorpus: &Subcorpus, counted: T) -> Result<T, QuestionError> {
        if subcorpus.is_over() { Err(QuestionError::Timeout) } else { Ok(counted) }
    }

    /// Compiles a query for the documents that a filter admits.
    pub fn search(
        &self,
        query: &Parsed<Query>,
        rule: MatchRule,
        filter: Option<&Filter>,
    ) -> Result<Search<'c>, QuestionError> {
        self.engine.search(query, rule, filter).map_err(QuestionError::of_engine("q", "query", query.text()))
    }

    /// Minimum hits and documents of rows that are made of neighbouring words. Where some text may not be shown, rarer rows
    /// could be put together to text again; the answer says that they are left out.
    pub(super) fn min_counts(&self, asked: u64, rewrites: &mut Vec<String>) -> (u64, u64) {
        if !self.privacy.is_limited(self.engine) {
            return (asked, 0);
        }
        rewrites.push(format!(
            "rows with fewer than {MIN_HITS} hits are left out, and n-grams in fewer than {MIN_DOCUMENTS} documents: some \
             texts may not be shown without a token, and rare rows would reveal them"
        ));
        (asked.max(MIN_HITS), MIN_DOCUMENTS)
    }

    /// An answer with the question and the state of the corpus.
    pub(super) fn answered<T>(
        &self,
        (query, filter): (Option<&Query>, Option<&Filter>),
        rule: MatchRule,
        exactness: Exactness,
        rewrites: Vec<String>,
        body: T,
    ) -> Answered<T> {
        let about = About {
            corpus: self.corpus.to_owned(),
            generation: self.engine.snapshot().generation(),
            query: query.map(ToString::to_string),
            filter: filter.map(ToString::to_string),
            rule,
            exactness,
        };
        Answered { about, rewrites, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_count_is_a_sample() {
        assert_eq!(Exactness::of(true, 7), Exactness::Exact);
        assert_eq!(Exactness::of(false, 7), Exactness::Sample { hits: 7, of_hits: 7, seed: 0 });
    }

    #[test]
    fn an_unknown_availability_allows_nothing() {
        assert_eq!(Availability::of_field(Some("free"), Availability::Open), Availability::Metadata);
        assert_eq!(Availability::of_field(Some(""), Availability::Open), Availability::Open);
        assert_eq!(Availability::of_field(None, Availability::Kwic), Availability::Kwic);
    }
}
