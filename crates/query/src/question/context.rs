//! The corpus a question is answered from, with its limits and rights.

use serde::Serialize;

use super::params::ScopeParams;
use super::{Exactness, Parsed, QuestionError};
use crate::cql::{MatchRule, Query};
use crate::engine::{CutOff, Engine, Limits, Search, Subcorpus};
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
    pub limits: Limits,
    /// The limits of lists and tests over the whole vocabulary; past them, a test has no rows.
    pub vocabulary_limits: Limits,
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
        /// The caution to show with the answer; missing unless a limit stopped the search.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pub warning: Option<String>,
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
            vocabulary_limits: Limits::default(),
            privacy: Privacy::owner(Availability::Kwic),
            find_filter: unknown,
            run_days: &|_| None,
            streams: false,
        }
    }

    /// The filter of the documents that a question is about. All its fields exist.
    pub fn filter(&self, scope: &ScopeParams) -> Result<Option<Filter>, QuestionError> {
        if let Some(filter) = &scope.filter {
            self.check_filter("filter", filter)?;
        }
        let named = scope.virtual_corpus.as_deref().map(self.find_filter).transpose()?;
        if let Some(named) = &named {
            // Saved in its canonical form, and read again for the places of its fields.
            let text = named.to_string();
            let filter = text.parse().unwrap_or_else(|_| named.clone());
            self.check_filter_text("in", &filter, &text)?;
        }
        Ok(Filter::both(named, scope.filter.as_deref().cloned()))
    }

    /// The documents that a filter admits. Counting them stops at the limits of the context: check [`Self::cut_off`].
    pub(super) fn subcorpus(&self, filter: Option<&Filter>) -> Result<Subcorpus, QuestionError> {
        Ok(self.engine.subcorpus(filter)?.with_limits(self.vocabulary_limits.clone()))
    }

    /// The search or count that a limit stopped, if one was stopped.
    pub fn cut_off(&self) -> Option<CutOff> {
        self.limits.cut_off().or_else(|| self.vocabulary_limits.cut_off())
    }

    /// Returns true if a limit stopped a search or a count, so that there are no rates, scores or tests.
    pub(super) fn is_cut_off(&self) -> bool {
        self.cut_off().is_some()
    }

    /// Compiles a query for the documents that a filter admits.
    pub fn search(
        &self,
        query: &Parsed<Query>,
        rule: MatchRule,
        filter: Option<&Filter>,
    ) -> Result<Search<'c>, QuestionError> {
        self.check_query("q", query)?;
        let search = self.engine.search_within(query, rule, filter, &self.limits);
        search.map_err(QuestionError::of_engine("q", "query", query.text()))
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

    /// An answer with the question and the state of the corpus. If a limit was reached it says so, whatever `exactness` is.
    pub(super) fn answered<T>(
        &self,
        (query, filter): (Option<&Query>, Option<&Filter>),
        rule: MatchRule,
        exactness: Exactness,
        rewrites: Vec<String>,
        body: T,
    ) -> Answered<T> {
        let exactness = self.cut_off().map_or(exactness, Exactness::from);
        let about = About {
            warning: exactness.warning(),
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
    fn an_unknown_availability_allows_nothing() {
        assert_eq!(Availability::of_field(Some("free"), Availability::Open), Availability::Metadata);
        assert_eq!(Availability::of_field(Some(""), Availability::Open), Availability::Open);
        assert_eq!(Availability::of_field(None, Availability::Kwic), Availability::Kwic);
    }
}
