//! `tidings trends`: words that rise or fall, out of the whole vocabulary.

use anyhow::Result;
use tidings_query::question::{BurstsRequest, Direction, TrendsRequest};
use tidings_query::trend::Shape;

use super::{QueryArgs, QuestionArgs, bursts, number_of, of_corpus, short, with_notes, without_function_words};
use crate::args::Global;
use crate::chart::{SPARK_COLUMNS, sparkline};
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::{count, grouped};

#[derive(Debug, clap::Args)]
#[command(after_help = "Every word in enough documents is tested; of the rows at most the share --fdr is due to \
    chance (Benjamini–Hochberg). Factor is the rate at the end divided by that at the beginning, within sites; growth is the Theil–Sen line from the first step to the last, in multiples of the mean rate.")]
pub struct Args {
    #[command(flatten)]
    question: QuestionArgs<TrendsRequest>,
    #[command(flatten)]
    query_args: QueryArgs,
    /// The former spelling of --direction rising
    #[arg(long, hide = true, conflicts_with_all = ["falling", "direction"])]
    rising: bool,
    /// The former spelling of --direction falling
    #[arg(long, hide = true, conflicts_with = "direction")]
    falling: bool,
    /// The former spelling of `tidings bursts`
    #[arg(long, hide = true, conflicts_with_all = ["rising", "falling", "fdr"])]
    bursts: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let mut request = args.question.request()?;
    if args.bursts {
        return bursts::show(&context, &bursts_of(request));
    }
    match (args.rising, args.falling) {
        (true, _) => request.test.direction = Direction::Rising,
        (_, true) => request.test.direction = Direction::Falling,
        _ => {}
    }
    let answered = context.answer(&request)?;
    let found = &answered.body;
    let mut table =
        Table::new(&["word", "#hits", "#documents", "#factor", "#growth", "#q", "changes", "rate over time"]);
    for row in &found.rows {
        let shape = match row.shape {
            Some(Shape::Steady) => "steadily",
            Some(Shape::Late) => "late",
            Some(Shape::Early) => "early",
            None => "",
        };
        table.push(vec![
            row.value.clone(),
            row.hits.to_string(),
            row.documents.to_string(),
            short(row.log_ratio.exp2()),
            short(row.growth),
            short(row.q),
            shape.to_owned(),
            sparkline(&row.per_million, SPARK_COLUMNS),
        ]);
    }
    let heading = format!(
        "{} of {} words tested{} over {} by {} in {}",
        number_of(found.values, "trend"),
        grouped(found.tested),
        without_function_words(found.left_out),
        count(found.bins.len() as u64, "step"),
        found.step,
        of_corpus(&answered.about, found.tokens, request.panel.panel)
    );
    let heading = with_notes(heading, &found.notes);
    Ok(context.report::<TrendsRequest>(&heading, &table, &answered))
}

fn bursts_of(request: TrendsRequest) -> BurstsRequest {
    BurstsRequest {
        scope: request.scope,
        attribute: request.attribute,
        by: request.step.by,
        content: request.content,
        panel: request.panel,
        limit: request.limit,
    }
}
