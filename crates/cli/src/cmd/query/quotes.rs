//! `tidings quotes`: who is quoted, with which verbs, and how much each source quotes.

use anyhow::Result;
use tidings_pipeline::display::count;
use tidings_query::question::{QuotesBy, QuotesRequest};

use super::{Asked, QuestionCommand, of_corpus};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The quotations of a speaker: tidings query '<quote speaker==\"Ann Lee\"/>'. Words in quotations: \
    tidings query '[lemma=\"war\"] within <quote kind=\"direct\"/>'."
)]
pub struct Args {
    #[command(flatten)]
    question: QuestionCommand<QuotesRequest>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, answered, .. } = args.question.ask(global)?;
    let found = &answered.body;
    let share = if found.by == QuotesBy::Site { "#% of its text" } else { "#% of quoted text" };
    let by_verb = found.by == QuotesBy::Verb;
    let mut columns = vec![found.by.name(), "#quotations", "#documents", "#sites", "#tokens", share];
    columns.extend((!by_verb).then_some("most frequent verb"));
    let mut table = Table::new(&columns);
    let percent = |share: Option<f64>| share.map(|share| format!("{:.1}", 100.0 * share)).unwrap_or_default();
    for row in &found.rows {
        let mut cells = vec![
            row.value.clone(),
            row.quotes.to_string(),
            row.documents.to_string(),
            row.sites.to_string(),
            row.quoted_tokens.to_string(),
            percent(row.share),
        ];
        cells.extend((!by_verb).then(|| row.verb.clone().unwrap_or_default()));
        table.push(cells);
    }
    let corpus = of_corpus(&answered.about, found.tokens, false);
    let of_text = match found.tokens {
        0 => String::new(),
        tokens => format!(", {:.1} % of the text,", 100.0 * found.quoted_tokens as f64 / tokens as f64),
    };
    let heading = format!("{}{of_text} in {corpus}", count(found.quotes, "direct quotation"));
    Ok(context.report::<QuotesRequest>(&heading, &table, &answered))
}
