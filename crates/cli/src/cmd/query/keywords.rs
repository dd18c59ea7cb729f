//! `tidings keywords`: words that are typical of one part of the corpus against another.

use anyhow::Result;
use tidings_query::question::{FocusParams, KeywordsRequest};

use super::{Asked, QuestionCommand, number_of, short, with_notes};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::{count, grouped};

#[derive(Debug, clap::Args)]
#[command(after_help = "Two periods: tidings keywords date=2026-03 --against date=2026-02\n\
    Two sites:   tidings keywords site=a.example --against site=b.example\n\
    One against everything else: tidings keywords topic=sport")]
pub struct Args {
    #[command(flatten)]
    question: QuestionCommand<KeywordsRequest>,
}

/// The focus and what it is compared with, with their tokens.
pub(super) fn parts(parts: &FocusParams, (focus_tokens, reference_tokens): (u64, u64)) -> String {
    format!(
        "{} ({}) against {} ({}){}",
        parts.focus.text(),
        count(focus_tokens, "token"),
        parts.against.as_ref().map_or("all others", |filter| filter.text()),
        count(reference_tokens, "token"),
        if parts.panel { " on sites of both" } else { "" },
    )
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, request, answered } = args.question.ask(global)?;
    let found = &answered.body;
    let mut table =
        Table::new(&["word", "#score", "#hits", "#per million", "#there", "#per million there", "#log ratio", "#q"]);
    for row in &found.rows {
        table.push(vec![
            row.value.clone(),
            short(row.score),
            row.focus.to_string(),
            short(row.focus_per_million),
            row.reference.to_string(),
            short(row.reference_per_million),
            short(row.log_ratio),
            row.q.map_or_else(String::new, short),
        ]);
    }
    let heading = format!(
        "{}, {} significant at {} %, of {} in {}",
        number_of(found.values, "keyword"),
        grouped(found.significant),
        short(100.0 * found.false_discovery_rate),
        parts(&request.parts, (found.focus_tokens, found.reference_tokens)),
        answered.about.corpus
    );
    let heading = with_notes(heading, &found.notes);
    Ok(context.report::<KeywordsRequest>(&heading, &table, &answered))
}
