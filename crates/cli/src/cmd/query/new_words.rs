//! `tidings new-words`: words that were not there before.

use anyhow::{Result, anyhow};
use jiff::ToSpan as _;
use jiff::civil::Date;
use tidings_index::Day;
use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, first_rows};
use tidings_query::cql::Attribute;
use tidings_query::trend::{NewWordConfig, NewWordWindow, NoNewWords, Persistence};

use super::{QueryArgs, parse_attribute};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A word is new if it was not collected before the window in any case, stands on several independent sites, \
    and is shaped like a word. Whatever was collected for the first time looks new: give the corpus some months first."
)]
pub struct Args {
    #[command(flatten)]
    query_args: QueryArgs,
    /// The first day of the window [default: the last quarter of what was collected]
    #[arg(long, value_name = "DATE")]
    since: Option<Date>,
    /// What to look at: word or lemma
    #[arg(long, value_name = "NAME", default_value = "word", value_parser = parse_attribute)]
    attribute: Attribute,
    /// On at least so many sites of different owners
    #[arg(long, value_name = "N", default_value_t = 3)]
    min_sites: u32,
    /// On at least so many days
    #[arg(long, value_name = "N", default_value_t = 3)]
    min_days: usize,
    /// In at least so many documents
    #[arg(long, value_name = "N", default_value_t = 5)]
    min_documents: u32,
    /// Names too, by their capitals
    #[arg(long)]
    names: bool,
    /// Rows to show
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let part = context.corpus.engine.subcorpus(context.filter.as_ref())?;
    let volume = context.corpus.engine.volume(&part);
    let collected = volume.keys().next().copied().zip(volume.keys().next_back().copied());
    let window = NewWordWindow::choose(collected, args.since.map(Day::of)).map_err(explain)?;
    let config = NewWordConfig {
        window_start: window.start.0,
        today: window.end.0,
        min_sites: args.min_sites,
        min_days: args.min_days,
        min_documents: args.min_documents,
        names: args.names,
        ..NewWordConfig::default()
    };
    let mut found = context.corpus.engine.new_words(&part, args.attribute, &config)?;
    let all = first_rows(&mut found.rows, args.limit, |_| true);
    let mut table = Table::new(&["word", "first seen", "#hits", "#documents", "#sites", "#days", "then"]);
    for row in &found.rows {
        let then = match row.fate {
            Persistence::Burst => "gone again",
            Persistence::Lasting => "still in use",
            Persistence::Open => "too early to tell",
        };
        table.push(vec![
            row.value.clone(),
            row.first_seen.to_string(),
            row.hits.to_string(),
            row.documents.to_string(),
            row.sites.to_string(),
            row.days.to_string(),
            then.to_owned(),
        ]);
    }
    let heading = format!(
        "{} since {} in {}",
        count(all, "new word"),
        window.start.date(),
        context.of_what(context.corpus.engine.tokens(&part))
    );
    Ok(context.report(&heading, &table, context.about(None, MatchRule::default(), Exactness::Exact), found))
}

/// Says why no word is new, and which window to ask for.
fn explain(error: NoNewWords) -> anyhow::Error {
    match error {
        NoNewWords::NoDocuments => error.into(),
        NoNewWords::NothingBefore { first, .. } => {
            anyhow!("{error}; give a later --since, such as {}", first.date().saturating_add(1.month()))
        }
    }
}
