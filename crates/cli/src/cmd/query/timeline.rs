//! `tidings timeline`: hits in time, with what was collected beside them.

use anyhow::Result;
use tidings_query::MatchRule;
use tidings_query::answer::Exactness;
use tidings_query::trend::Step;

use super::{QueryArgs, parse_step, short};
use crate::args::Global;
use crate::chart::bar;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

/// How long the longest bar is.
const BAR_COLUMNS: usize = 40;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Rates are hits per million tokens; low and high say where they may lie by chance. A step in which \
    nothing was collected has no rate: that is not the same as zero."
)]
pub struct Args {
    /// The query
    #[arg(value_name = "CQL")]
    query: String,
    #[command(flatten)]
    query_args: QueryArgs,
    /// Steps of time: day, 10days, week, month, quarter, half-year or year
    #[arg(long, value_name = "STEP", default_value = "month", value_parser = parse_step)]
    by: Step,
    /// Only sites that gave documents in every step: new feeds do not look like news
    #[arg(long)]
    panel: bool,
    /// The confidence of low and high
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    confidence: f64,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    anyhow::ensure!(
        (0.5..1.0).contains(&args.confidence),
        "--confidence: give a share from 0.5 to below 1, such as 0.95"
    );
    let mut context = args.query_args.open(global)?;
    if args.panel {
        context.keep_panel(args.by)?;
    }
    let (query, search) = context.search(&args.query, MatchRule::default())?;
    let (timeline, complete) = search.timeline(args.by, args.confidence, &context.limits());
    let most = timeline.points.iter().filter_map(|point| point.per_million).fold(0.0, f64::max);
    let columns = ["when", "#hits", "#per million", "#low", "#high", "#tokens", "#documents", "#sites", "chart"];
    let mut table = Table::new(if context.csv { &columns[..8] } else { &columns });
    for point in &timeline.points {
        let rate = point.per_million.map(short);
        let (low, high) = point.band.map(|band| (short(band.low), short(band.high))).unwrap_or_default();
        let mut row = vec![point.bin.to_string(), point.hits.to_string(), rate.unwrap_or_default(), low, high];
        row.extend([point.tokens, point.documents, point.sites].map(|number| number.to_string()));
        if !context.csv {
            row.push(match point.per_million {
                Some(rate) => bar(rate, most, BAR_COLUMNS),
                None => "(nothing collected)".to_owned(),
            });
        }
        table.push(row);
    }
    let hits: u64 = timeline.points.iter().map(|point| point.hits).sum();
    let heading = format!("{} in {}", count(hits, "hit"), context.of_what(search.tokens()));
    let about = context.about(Some(&query), MatchRule::default(), Exactness::of(complete, hits));
    Ok(context.report(&heading, &table, about, timeline))
}
