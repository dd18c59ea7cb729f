//! `tidings new-words`: words that were not there before.

use anyhow::Result;
use tidings_pipeline::display::count;
use tidings_query::question::{NewWordHint, NewWords, NewWordsRequest};
use tidings_query::trend::Persistence;

use super::{Asked, QuestionCommand, number_of, of_corpus, short, with_notes};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A word is new if none of its forms was collected before the window, the dictionary of the language does \
    not have it (--known), it occurs on several independent sites, is shaped like a word, and is not one of the rare words \
    that are first seen late by chance (--fdr 1 lists these too, with q). In a young corpus everything looks new: collect \
    for some months first."
)]
pub struct Args {
    #[command(flatten)]
    question: QuestionCommand<NewWordsRequest>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, answered, .. } = args.question.ask(global)?;
    let found = &answered.body;
    let mut table = Table::new(&["word", "kind", "first seen", "#hits", "#documents", "#sites", "#days", "#q", "then"]);
    for row in &found.rows {
        let then = match row.fate {
            Persistence::Burst => "gone again",
            Persistence::Lasting => "still in use",
            Persistence::Open => "too early to tell",
        };
        table.push(vec![
            row.value.clone(),
            if row.name { "name" } else { "word" }.to_owned(),
            row.first_seen.to_string(),
            row.hits.to_string(),
            row.documents.to_string(),
            row.sites.to_string(),
            row.days.to_string(),
            short(row.q),
            then.to_owned(),
        ]);
    }
    let corpus = of_corpus(&answered.about, found.tokens, false);
    let heading = format!("{} since {} in {corpus}", number_of(found.values, "new word"), found.since);
    let heading = with_notes(heading, &notes(found));
    Ok(context.report::<NewWordsRequest>(&heading, &table, &answered))
}

/// The thresholds and, if no word is left, the flags that list candidates that were dropped.
fn notes(found: &NewWords) -> Vec<String> {
    let (sites, days) = (count(found.min_sites.into(), "site"), count(found.min_days.into(), "day"));
    let documents = count(found.min_documents.into(), "document");
    let mut notes = vec![format!(
        "Words on at least {sites}, {days} and in {documents}; {} in the window.",
        count(found.sites, "independent site")
    )];
    if found.rows.is_empty() {
        notes.extend(found.hints.iter().map(hint));
    }
    notes
}

fn hint(hint: &NewWordHint) -> String {
    let flag = |(name, value): (&&str, &String)| match value.as_str() {
        "true" => format!("--{}", name.replace('_', "-")),
        value => format!("--{} {value}", name.replace('_', "-")),
    };
    let flags: Vec<String> = hint.parameters.iter().map(flag).collect();
    let reason = match hint.rule {
        "rare" => "too rare",
        "known" => "known to the dictionary",
        "name" => "names",
        "function" => "function words or dates",
        _ => "first seen in the window by chance",
    };
    format!("{} {reason}: {}", count(hint.words, "candidate"), flags.join(" "))
}
