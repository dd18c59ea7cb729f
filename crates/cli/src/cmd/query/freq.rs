//! `tidings freq`: frequencies of hits by the values of an attribute or a field.

use anyhow::Result;
use tidings_query::question::FreqRequest;

use super::{Asked, QuestionCommand, at_least, known, of_corpus};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

/// The flags of the command.
pub type Args = QuestionCommand<FreqRequest>;

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, request, answered } = args.ask(global)?;
    let with_documents = request.measures.documents;
    let found = &answered.body;
    let mut columns = vec!["value", "#hits", "#share %", "#per million"];
    if with_documents {
        columns.extend(["#documents with a hit", "#share of documents %"]);
    }
    let mut table = Table::new(&columns);
    for row in &found.rows {
        let share = 100.0 * row.hits as f64 / found.hits.max(1) as f64;
        let share = if answered.about.exactness.is_cut_off() { String::new() } else { format!("{share:.1}") };
        let mut fields = vec![row.value.clone(), row.hits.to_string(), share, known(row.per_million)];
        if with_documents {
            fields.push(row.hit_documents.map(|documents| documents.to_string()).unwrap_or_default());
            fields.push(known(row.document_share.map(|share| 100.0 * share)));
        }
        table.push(fields);
    }
    let heading = format!(
        "{}{} by {}: {} in {}",
        at_least(&answered.about),
        count(found.hits, "hit"),
        found.by,
        count(found.values, "value"),
        of_corpus(&answered.about, found.tokens, false)
    );
    Ok(context.report::<FreqRequest>(&heading, &table, &answered))
}
