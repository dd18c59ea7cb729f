//! `tidings colloc`: collocates of hits.

use anyhow::Result;
use tidings_query::measure::association::Association;
use tidings_query::question::{CollocRequest, Collocate, Window};

use super::{Asked, QuestionCommand, at_least, known, of_corpus};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

/// The measures that the table always shows, with their headings.
const SHOWN: [(Association, &str); 4] = [
    (Association::LogDice, "#logDice"),
    (Association::Mi, "#MI"),
    (Association::TScore, "#t"),
    (Association::LogLikelihood, "#log-likelihood"),
];

/// The flags of the command.
pub type Args = QuestionCommand<CollocRequest>;

/// The places of the window as columns, -2 to +2, if the collocates are counted at each.
fn places(window: Window, rows: &[Collocate]) -> Vec<&'static str> {
    match window {
        Window::Tokens { left, right } if rows.iter().any(|row| row.positions.is_some()) => {
            let before = (1..=left).rev().map(|place| format!("#-{place}"));
            before.chain((1..=right).map(|place| format!("#+{place}"))).map(|name| &*name.leak()).collect()
        }
        _ => Vec::new(),
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, answered, .. } = args.ask(global)?;
    let found = &answered.body;
    let ordered_by = SHOWN.iter().all(|(measure, _)| *measure != found.order).then_some(found.order);
    let measures: Vec<Association> = SHOWN.iter().map(|(measure, _)| *measure).chain(ordered_by).collect();
    let heading = ordered_by.map(|measure| &*format!("#{measure}").leak());
    let mut columns = vec!["collocate", "#together", "#anywhere"];
    columns.extend(places(found.window, &found.rows));
    columns.extend(SHOWN.iter().map(|(_, heading)| *heading).chain(heading));
    let mut table = Table::new(&columns);
    for row in &found.rows {
        let mut fields = vec![row.value.clone(), row.together.to_string(), row.hits.to_string()];
        fields.extend(row.positions.iter().flatten().map(ToString::to_string));
        fields.extend(measures.iter().map(|measure| known(row.scores.get(*measure))));
        table.push(fields);
    }
    let heading = format!(
        "{} of {}{} in {}",
        count(found.collocates, "collocate"),
        at_least(&answered.about),
        count(found.hits, "hit"),
        of_corpus(&answered.about, found.tokens, false)
    );
    Ok(context.report::<CollocRequest>(&heading, &table, &answered))
}
