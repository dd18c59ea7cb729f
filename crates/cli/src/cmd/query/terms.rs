//! `tidings terms`: terms of several words that are typical of one part of the corpus.

use anyhow::Result;
use tidings_query::question::TermsRequest;

use super::keywords::parts;
use super::{Asked, QuestionCommand, number_of, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(after_help = "Of one year:  tidings terms date=2026\n\
    Of a section: tidings terms topic=economy --min 10")]
pub struct Args {
    #[command(flatten)]
    question: QuestionCommand<TermsRequest>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, request, answered } = args.question.ask(global)?;
    let found = &answered.body;
    let columns =
        ["term", "#score", "#hits", "#documents", "#per million", "#there", "#per million there", "#log ratio"];
    let mut table = Table::new(&columns);
    for row in &found.rows {
        table.push(vec![
            row.form.clone(),
            short(row.score),
            row.focus.to_string(),
            row.focus_documents.to_string(),
            short(row.focus_per_million),
            row.reference.to_string(),
            short(row.reference_per_million),
            short(row.log_ratio),
        ]);
    }
    let heading = format!(
        "{} of {} in {}",
        number_of(found.values, "term"),
        parts(&request.parts, (found.focus_tokens, found.reference_tokens)),
        answered.about.corpus
    );
    Ok(context.report::<TermsRequest>(&heading, &table, &answered))
}
