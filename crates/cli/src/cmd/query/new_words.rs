//! `tidings new-words`: words that were not there before.

use anyhow::Result;
use tidings_query::question::NewWordsRequest;
use tidings_query::trend::Persistence;

use super::{Asked, QuestionCommand, number_of, of_corpus, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A word is new if it was not collected before the window in any spelling of its case, occurs on several \
    independent sites, is shaped like a word, and is not one of the rare words that are first seen late by chance \
    (--fdr 1 lists these too, with q). In a young corpus everything looks new: collect for some months first."
)]
pub struct Args {
    #[command(flatten)]
    question: QuestionCommand<NewWordsRequest>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, answered, .. } = args.question.ask(global)?;
    let found = &answered.body;
    let mut table = Table::new(&["word", "first seen", "#hits", "#documents", "#sites", "#days", "#q", "then"]);
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
            short(row.q),
            then.to_owned(),
        ]);
    }
    let corpus = of_corpus(&answered.about, found.tokens, false);
    let heading = format!("{} since {} in {corpus}", number_of(found.values, "new word"), found.since);
    Ok(context.report::<NewWordsRequest>(&heading, &table, &answered))
}
