//! Commands that query the corpus, and what they share: the index, limits, tables.

pub mod bursts;
pub mod colloc;
pub mod concordance;
pub mod corpus;
pub mod crosstab;
pub mod freq;
pub mod generic;
pub mod keywords;
pub mod names;
pub mod neologisms;
pub mod new_words;
pub mod parallel;
mod question_args;
pub mod quotes;
mod row_table;
pub mod sketch;
pub mod terms;
pub mod timeline;
pub mod trends;
pub mod words;

pub use question_args::QuestionArgs;

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use tidings_query::engine::Limits;
use tidings_query::question::{About, Answered, Availability, Privacy, Question, QuestionContext, QuestionError};
use tidings_query::trend::Bin;
use tidings_store::day_stats::DayStatsCache;
use tidings_store::{Home, digest};

use self::row_table::csv_table;
use super::Report;
use crate::args::Global;
use crate::style::Style;
use crate::table::Table;
use tidings_pipeline::corpus::Corpus;
use tidings_pipeline::display::{count, grouped};
use tidings_pipeline::usage_error::UsageError;
use tidings_pipeline::{document_pairs, neologisms as decided_words, virtual_corpora};

/// The time limit of searches if none is given. A test over the whole vocabulary has none: a part of it has no result.
const SEARCH_TIME_LIMIT: Duration = Duration::from_secs(60);

/// The flags of all queries beside their parameters: the corpus, the format, the time limit.
#[derive(Debug, clap::Args)]
pub struct QueryArgs {
    /// The language, such as de [default: the only one there is]
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Answer from a frozen state instead of the present one: its name, or the day on which it was frozen
    #[arg(long, value_name = "NAME|DATE")]
    as_of: Option<String>,
    /// Print CSV instead of a table
    #[arg(long)]
    csv: bool,
    /// Stop after this many seconds, print what was counted until then, and exit with code 3 [default: 60 for searches;
    /// none for lists and tests over the whole vocabulary]
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
}

/// The most compressed text that is read for the checksum of an answer in JSON, which takes a fraction of a second; `tidings
/// digest` stores those of larger corpora.
const MAX_UNREAD_BYTES: u64 = 16 << 20;

/// An open index with the limits of a query.
pub struct QueryContext {
    corpus: Corpus,
    home: Home,
    default_availability: Availability,
    as_of: Option<String>,
    limits: Limits,
    vocabulary_limits: Limits,
    csv: bool,
    json: bool,
}

impl QueryArgs {
    /// Opens the index of the language.
    pub fn open(&self, global: &Global) -> Result<QueryContext> {
        let (home, config) = super::open_home(global)?;
        let corpus = Corpus::open_as_of(&home, self.lang.as_deref(), self.as_of.as_deref())?;
        let seconds =
            |given: f64| Duration::try_from_secs_f64(given).map_err(|_| UsageError::new("--time-limit: give seconds"));
        let given = self.time_limit.map(seconds).transpose()?;
        let limits = Limits::within(given.unwrap_or(SEARCH_TIME_LIMIT));
        Ok(QueryContext {
            corpus,
            home,
            default_availability: config.serve.settings()?.default_availability,
            as_of: self.as_of.clone(),
            vocabulary_limits: given.map_or_else(Limits::default, |_| limits.clone()),
            limits,
            csv: self.csv,
            json: global.json,
        })
    }
}

/// The command line of a question: its parameters, and the flags of all queries.
#[derive(Debug, clap::Args)]
pub struct QuestionCommand<Q: Question> {
    #[command(flatten)]
    question: QuestionArgs<Q>,
    #[command(flatten)]
    query_args: QueryArgs,
}

/// A question with its answer, and the corpus that gave it.
pub struct Asked<Q: Question> {
    context: QueryContext,
    request: Q,
    answered: Answered<Q::Answer>,
}

impl<Q: Question> QuestionCommand<Q> {
    /// Opens the index and answers the question.
    fn ask(&self, global: &Global) -> Result<Asked<Q>> {
        let request = self.question.request()?;
        let context = self.query_args.open(global)?;
        let answered = context.answer(&request)?;
        Ok(Asked { context, request, answered })
    }
}

impl QueryContext {
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
        let find_decisions = || {
            let broken = |error: anyhow::Error| QuestionError::Request(format!("{error:#}"));
            decided_words::decisions(&self.home, &self.corpus.language).map_err(broken)
        };
        let find_other = |code: &str| {
            let not_found =
                |error: anyhow::Error| QuestionError::NotFound { parameter: "to", message: format!("{error:#}") };
            document_pairs::other_corpus(&self.home, code, self.as_of.as_deref()).map_err(not_found)
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
            limits: self.limits.clone(),
            vocabulary_limits: self.vocabulary_limits.clone(),
            privacy: Privacy::owner(self.default_availability),
            find_filter: &find_filter,
            find_decisions: &find_decisions,
            find_other: &find_other,
            run_days: &run_days,
            frozen: self.corpus.frozen.as_ref(),
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
        let text = match (self.csv, answered.about.exactness.warning()) {
            (true, _) => csv().csv(),
            (false, None) => format!("{heading}\n\n{}", table.text(Style::stdout())),
            (false, Some(warning)) => format!("{heading}\n{warning}\n\n{}", table.text(Style::stdout())),
        };
        self.marked(text, answered)
    }

    /// The report of an answer. One that is cut off has a warning on standard error and exit code 3.
    fn marked<T: Serialize>(&self, text: String, answered: &Answered<T>) -> Report {
        let warning = answered.about.exactness.warning();
        if let Some(warning) = &warning {
            log::warn!("{warning}; counts are the least there can be, and rates and tests are left out");
        }
        let mut json = serde_json::to_value(answered).expect("answers serialise");
        if let (true, Some(answer)) = (self.json, json.as_object_mut()) {
            answer.insert("provenance".to_owned(), self.provenance());
        }
        Report { text, json, partly: warning.is_some(), ..Report::default() }
    }

    /// The program and the checksum of the text, by which a number can be checked later. The checksum is that of `tidings
    /// digest --lang CODE`; null if it is not stored and much text would have to be read.
    fn provenance(&self) -> serde_json::Value {
        if let Some(frozen) = &self.corpus.frozen {
            return serde_json::json!({ "program": tidings_pipeline::program(), "digest": frozen.digest });
        }
        let digests = digest::of_languages(&self.home, MAX_UNREAD_BYTES).unwrap_or_else(|error| {
            log::warn!("no checksum of the corpus: {}", tidings_store::in_full(&error));
            None
        });
        let digest = digests.and_then(|digests| digests.get(&self.corpus.language).cloned());
        serde_json::json!({ "program": tidings_pipeline::program(), "digest": digest })
    }
}

/// “at least ” before a number of hits that was cut off.
fn at_least(about: &About) -> &'static str {
    if about.exactness.is_cut_off() { "at least " } else { "" }
}

/// The end of a heading: the corpus and its state.
fn of_corpus(about: &About, tokens: u64, is_panel: bool) -> String {
    let filter = match &about.filter {
        // The names of a thousand sites would fill the screen.
        Some(_) if is_panel => " on sites that were there all the time".to_owned(),
        Some(filter) => format!(" where {filter}"),
        None => String::new(),
    };
    let state = match &about.frozen {
        Some(frozen) => {
            let day = frozen.frozen.get(..10).unwrap_or_default();
            let caution = frozen.caution().map(|caution| format!("\n{caution}")).unwrap_or_default();
            format!("state {}, frozen on {day} as {}{caution}", about.generation, frozen.name)
        }
        None => format!("state {}", about.generation),
    };
    format!("{} in {}{filter}, {state}", count(tokens, "token"), about.corpus)
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

/// The number of rows of a test, or that it is unknown.
fn number_of(values: Option<u64>, unit: &str) -> String {
    values.map_or_else(|| format!("an unknown number of {unit}s"), |values| count(values, unit))
}

/// The words that a test leaves out by default, in parentheses.
fn without_function_words(left_out: u64) -> String {
    match left_out {
        0 => String::new(),
        words => format!(" ({} left out: --all-words)", grouped(words)),
    }
}

/// A number that may be unknown.
fn known(number: Option<f64>) -> String {
    number.map(short).unwrap_or_default()
}

fn grouped_rounded(number: f64) -> String {
    let sign = if number < 0.0 { "−" } else { "" };
    format!("{sign}{}", grouped(number.abs().round() as u64))
}
