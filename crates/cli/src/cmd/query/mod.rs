//! Commands that query the corpus, and what they share: the index, filters, limits, tables.

pub mod colloc;
pub mod concordance;
pub mod corpus;
pub mod freq;
pub mod keywords;
pub mod new_words;
pub mod sketch;
pub mod timeline;
pub mod trends;
pub mod words;

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde::Serialize;
use tidings_query::answer::{About, Answer, Exactness};
use tidings_query::cql::Attribute;
use tidings_query::engine::{Limits, Search};
use tidings_query::trend::{STEPS, Step};
use tidings_query::{Filter, MatchRule, Query};

use super::Report;
use crate::args::Global;
use crate::table::Table;
use tidings_pipeline::corpus::Corpus;
use tidings_pipeline::display::{count, grouped};
pub use tidings_pipeline::virtual_corpora::parse_filter;

/// The flags of all queries: the documents, the format, the time limit.
#[derive(Debug, clap::Args)]
pub struct QueryArgs {
    /// The language, such as de [default: the only one there is]
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Only documents such as "site=gazette.example date>=2026-01 topic=sport"
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
    /// Only documents of a virtual corpus that `tidings corpus save` has named
    #[arg(long = "in", value_name = "NAME")]
    corpus: Option<String>,
    /// Print CSV instead of a table
    #[arg(long)]
    csv: bool,
    /// Give what was found after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    time_limit: f64,
}

/// An open index with the filter and the limits of a query.
pub struct QueryContext {
    corpus: Corpus,
    filter: Option<Filter>,
    /// Whether the filter names the sites of a panel.
    is_panel: bool,
    until: Option<Instant>,
    csv: bool,
}

impl QueryArgs {
    /// Opens the index of the language.
    pub fn open(&self, global: &Global) -> Result<QueryContext> {
        let (home, _) = super::open_home(global)?;
        let corpus = Corpus::open(&home, self.lang.as_deref())?;
        let named = match &self.corpus {
            Some(name) => Some(corpus::find(&home, name)?),
            None => None,
        };
        let given = self.filter.as_deref().map(parse_filter).transpose()?;
        let limit = Duration::try_from_secs_f64(self.time_limit).map_err(|_| anyhow!("--time-limit: give seconds"))?;
        Ok(QueryContext {
            corpus,
            filter: Filter::both(named, given),
            is_panel: false,
            until: Instant::now().checked_add(limit),
            csv: self.csv,
        })
    }
}

/// An attribute by its name on the command line.
fn parse_attribute(name: &str) -> Result<Attribute, String> {
    Attribute::named(name).ok_or_else(|| "give word, lc, lemma, tag, feats, or a feature such as Case".to_owned())
}

/// A step of time by its name on the command line.
fn parse_step(name: &str) -> Result<Step, String> {
    let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
    Step::named(name).ok_or_else(|| format!("give one of {}", names.join(", ")))
}

impl QueryContext {
    fn limits(&self) -> Limits<'static> {
        Limits { until: self.until, cancelled: None }
    }

    /// Parses a query and compiles it for this corpus; an error points at the place.
    fn search(&self, text: &str, rule: MatchRule) -> Result<(Query, Search<'_>)> {
        self.corpus.search(text, rule, self.filter.as_ref())
    }

    /// Restricts the query to sites that have documents in every step of time.
    fn keep_panel(&mut self, step: Step) -> Result<()> {
        let panel = self.corpus.engine.panel(&self.corpus.engine.subcorpus(self.filter.as_ref())?, step, 1);
        self.filter = Filter::both(self.filter.take(), Some(panel));
        self.is_panel = true;
        Ok(())
    }

    fn about(&self, query: Option<&Query>, rule: MatchRule, exactness: Exactness) -> About {
        About {
            corpus: self.corpus.language.clone(),
            generation: self.corpus.engine.snapshot().generation(),
            query: query.map(ToString::to_string),
            filter: self.filter.as_ref().map(ToString::to_string),
            rule,
            exactness,
        }
    }

    /// Renders an answer as a table under a heading or as CSV, and as JSON.
    fn report(&self, heading: &str, table: &Table, about: About, body: impl Serialize) -> Report {
        let text = if self.csv { table.csv() } else { format!("{heading}\n\n{}", table.text()) };
        let json = serde_json::to_value(Answer { about, body }).expect("answers serialise");
        Report { text, json, ..Report::default() }
    }

    /// The end of a heading: the corpus and its state.
    fn of_what(&self, tokens: u64) -> String {
        let filter = match &self.filter {
            // The names of a thousand sites would fill the screen.
            Some(_) if self.is_panel => " on sites that were there all the time".to_owned(),
            Some(filter) => format!(" where {filter}"),
            None => String::new(),
        };
        format!(
            "{} in {}{filter}, state {}",
            count(tokens, "token"),
            self.corpus.language,
            self.corpus.engine.snapshot().generation()
        )
    }
}

/// A number with its meaningful digits.
fn short(number: f64) -> String {
    match number.abs() {
        size if size >= 1000.0 => grouped_rounded(number),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 0.1 || size == 0.0 => format!("{number:.2}"),
        _ => format!("{number:.1e}"),
    }
}

fn grouped_rounded(number: f64) -> String {
    let sign = if number < 0.0 { "−" } else { "" };
    format!("{sign}{}", grouped(number.abs().round() as u64))
}
