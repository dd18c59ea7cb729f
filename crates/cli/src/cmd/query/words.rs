//! `tidings words`: the words of the corpus, or its n-grams, with their frequencies.

use anyhow::Result;
use tidings_query::question::WordsRequest;

use super::{Asked, QuestionCommand, at_least, known, of_corpus};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

/// The flags of the command.
pub type Args = QuestionCommand<WordsRequest>;

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, answered, .. } = args.ask(global)?;
    let found = &answered.body;
    let mut table = Table::new(&["word", "#hits", "#documents", "#per million"]);
    for row in &found.rows {
        table.push(vec![row.value.clone(), row.hits.to_string(), row.documents.to_string(), known(row.per_million)]);
    }
    let unit = if found.n == 1 { "word" } else { "n-gram" };
    let corpus = of_corpus(&answered.about, found.tokens, false);
    let heading = format!("{}{} in {corpus}", at_least(&answered.about), count(found.values, unit));
    Ok(context.report::<WordsRequest>(&heading, &table, &answered))
}
