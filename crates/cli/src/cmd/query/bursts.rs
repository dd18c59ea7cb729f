//! `tidings bursts`: words that were in the news for a while.

use anyhow::Result;
use tidings_query::question::BurstsRequest;
use tidings_query::trend::Sequel;

use super::{QueryArgs, QueryContext, QuestionArgs, number_of, of_corpus, short, without_function_words};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::grouped;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: QuestionArgs<BurstsRequest>,
    #[command(flatten)]
    query_args: QueryArgs,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    show(&args.query_args.open(global)?, &args.question.request()?)
}

/// Answers the question and renders its table.
pub fn show(context: &QueryContext, request: &BurstsRequest) -> Result<Report> {
    let answered = context.answer(request)?;
    let found = &answered.body;
    let mut table = Table::new(&["word", "when", "#score", "#times", "#q", "#hits", "#documents", "then"]);
    for row in &found.rows {
        let then = match row.sequel {
            Sequel::Fell => "fell back",
            Sequel::Stayed => "stayed",
            Sequel::Open => "too early to tell",
        };
        table.push(vec![
            row.value.clone(),
            row.bin.to_string(),
            short(row.score),
            short(row.log_ratio.exp2()),
            short(row.q),
            row.hits.to_string(),
            row.documents.to_string(),
            then.to_owned(),
        ]);
    }
    let corpus = of_corpus(&answered.about, found.tokens, request.panel.panel);
    let heading = format!(
        "{} of {} words tested{} by {} in {corpus}",
        number_of(found.values, "burst"),
        grouped(found.tested),
        without_function_words(found.left_out),
        found.step
    );
    Ok(context.report::<BurstsRequest>(&heading, &table, &answered))
}
