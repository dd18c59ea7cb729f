//! Commands that query the corpus, and what they share: the index, limits, tables.

pub mod bursts;
pub mod colloc;
pub mod concordance;
pub mod corpus;
pub mod freq;
pub mod generic;
pub mod keywords;
pub mod new_words;
mod question_args;
mod row_table;
pub mod sketch;
pub mod timeline;
pub mod trends;
pub mod words;

pub use question_args::QuestionArgs;

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde::Serialize;
use tidings_query::engine::Limits;
use tidings_query::question::{About, Answered, Availability, Privacy, Question, QuestionContext, QuestionError};
use tidings_query::trend::Bin;
use tidings_store::Home;
use tidings_store::day_stats::DayStatsCache;

use self::row_table::csv_table;
use super::Report;
use crate::args::Global;
use crate::table::Table;
use tidings_pipeline::corpus::Corpus;
use tidings_pipeline::display::{count, grouped};
use tidings_pipeline::virtual_corpora;

/// The flags of all queries beside their parameters: the corpus, the format, the time limit.
#[derive(Debug, clap::Args)]
pub struct QueryArgs {
    /// The language, such as de [default: the only one there is]
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Print CSV instead of a table
    #[arg(long)]
    csv: bool,
    /// Stop after this many seconds and print the partial result
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    time_limit: f64,
}

/// An open index with the limits of a query.
pub struct QueryContext {
    corpus: Corpus,
    home: Home,
    default_availability: Availability,
    until: Option<Instant>,
    csv: bool,
}

impl QueryArgs {
    /// Opens the index of the language.
    pub fn open(&self, global: &Global) -> Result<QueryContext> {
        let (home, config) = super::open_home(global)?;
        let corpus = Corpus::open(&home, self.lang.as_deref())?;
        let limit = Duration::try_from_secs_f64(self.time_limit).map_err(|_| anyhow!("--time-limit: give seconds"))?;
        Ok(QueryContext {
            corpus,
            home,
            default_availability: config.serve.settings()?.default_availability,
            until: Instant::now().checked_add(limit),
            csv: self.csv,
        })
    }
}

impl QueryContext {
    fn limits(&self) -> Limits<'static> {
        Limits { until: self.until, cancelled: None }
    }

    /// Answers a question.
    fn answer<Q: Question>(&self, question: &Q) -> Result<Answered<Q::Answer>> {
        self.with(|context| question.answer(context))
    }

    /// Passes the corpus to a question.
    fn with<T>(&self, ask: impl FnOnce(&QuestionContext<'_>) -> Result<T, QuestionError>) -> Result<T> {
        let find_filter = |name: &str| {
            let not_found =
                |error: anyhow::Error| QuestionError::NotFound { parameter: "in", message: format!("{error:#}") };
            virtual_corpora::find(&self.home, name).map_err(not_found)
        };
        let run_days = |bins: &[Bin]| {
            let mut days = DayStatsCache::default();
            match days.refresh(&self.home) {
                Ok(()) => days.days_with_runs(bins.iter().map(|bin| (bin.first.to_string(), bin.last.to_string()))),
                Err(error) => {
                    log::warn!("days with runs are unknown: {error}");
                    None
                }
            }
        };
        let context = QuestionContext {
            limits: self.limits(),
            privacy: Privacy::owner(self.default_availability),
            find_filter: &find_filter,
            run_days: &run_days,
            ..QuestionContext::new(&self.corpus.engine, &self.corpus.language)
        };
        Ok(ask(&context)?)
    }

    /// Renders an answer as a table under a heading, as JSON, and as CSV with the columns of its rows.
    fn report<Q: Question>(&self, heading: &str, table: &Table, answered: &Answered<Q::Answer>) -> Report {
        self.report_with(heading, table, || csv_table::<Q>(&answered.body, &[]), answered)
    }

    /// The same with another table for CSV.
    fn report_with<T: Serialize>(
        &self,
        heading: &str,
        table: &Table,
        csv: impl FnOnce() -> Table,
        answered: &Answered<T>,
    ) -> Report {
        let text = if self.csv { csv().csv() } else { format!("{heading}\n\n{}", table.text()) };
        let json = serde_json::to_value(answered).expect("answers serialise");
        Report { text, json, ..Report::default() }
    }
}

/// The end of a heading: the corpus and its state.
fn of_corpus(about: &About, tokens: u64, is_panel: bool) -> String {
    let filter = match &about.filter {
        // The names of a thousand sites would fill the screen.
        Some(_) if is_panel => " on sites that were there all the time".to_owned(),
        Some(filter) => format!(" where {filter}"),
        None => String::new(),
    };
    format!("{} in {}{filter}, state {}", count(tokens, "token"), about.corpus, about.generation)
}

/// A heading with the remarks of an answer below it.
fn with_notes(heading: String, notes: &[String]) -> String {
    notes.iter().fold(heading, |text, note| format!("{text}\n{note}"))
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
