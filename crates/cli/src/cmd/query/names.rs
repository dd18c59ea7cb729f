//! `tidings names`: who and what is in the news.

use anyhow::Result;
use tidings_query::question::NamesRequest;

use super::{Asked, QuestionCommand, known, number_of, of_corpus};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The mentions of a name: tidings query '<ne name==\"Ann Lee\"/>'. Over time: tidings timeline with the \
    same query; by source: tidings freq --by site."
)]
pub struct Args {
    #[command(flatten)]
    question: QuestionCommand<NamesRequest>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, request, answered } = args.question.ask(global)?;
    let found = &answered.body;
    let headings = ["name", "type", "#documents", "#sites", "#mentions", "#per million", "first seen", "last seen"];
    let mut table = Table::new(&headings);
    for row in &found.rows {
        let day = |day: Option<jiff::civil::Date>| day.map(|day| day.to_string()).unwrap_or_default();
        table.push(vec![
            row.name.clone(),
            row.r#type.map(|kind| kind.to_string()).unwrap_or_default(),
            row.documents.to_string(),
            row.sites.to_string(),
            row.mentions.to_string(),
            known(row.per_million),
            day(row.first_seen),
            day(row.last_seen),
        ]);
    }
    let corpus = of_corpus(&answered.about, found.tokens, false);
    let new = request.since.map(|since| format!(" first seen since {since}")).unwrap_or_default();
    let heading = format!("{}{new} in {corpus}", number_of(found.values, "name"));
    Ok(context.report::<NamesRequest>(&heading, &table, &answered))
}
