//! `tidings trends`: words that rise, fall or burst, out of the whole vocabulary.

use anyhow::Result;
use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, TrendRow, first_rows};
use tidings_query::cql::Attribute;
use tidings_query::engine::Subcorpus;
use tidings_query::trend::{BurstConfig, RiseConfig, Sequel, Shape, Step};

use super::{QueryArgs, QueryContext, parse_attribute, parse_step, short};
use crate::args::Global;
use crate::chart::sparkline;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::{count, grouped};

const SPARK_COLUMNS: usize = 24;

#[derive(Debug, clap::Args)]
#[command(after_help = "Every word in enough documents is tested; of the answers at most the share --fdr is due to \
    chance (Benjamini–Hochberg). Growth is the Theil–Sen line from the first step to the last, in means of the word's rate.")]
pub struct Args {
    #[command(flatten)]
    query_args: QueryArgs,
    /// What to count: word, lc, lemma, tag, feats, or a feature such as Case
    #[arg(long, value_name = "NAME", default_value = "lc", value_parser = parse_attribute)]
    attribute: Attribute,
    /// Steps of time: day, 10days, week, month, quarter, half-year or year [default: quarter, with --bursts week]
    #[arg(long, value_name = "STEP", value_parser = parse_step)]
    by: Option<Step>,
    /// Words in fewer documents are not tested
    #[arg(long, value_name = "N", default_value_t = 30)]
    min: u64,
    /// The share of false ones that is admitted
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    fdr: f64,
    /// Only words that rise
    #[arg(long, conflicts_with = "falling")]
    rising: bool,
    /// Only words that fall
    #[arg(long)]
    falling: bool,
    /// Words that were in the news for one step instead
    #[arg(long, conflicts_with_all = ["rising", "falling", "fdr"])]
    bursts: bool,
    /// Only sites that gave documents in every step: new feeds do not look like new words
    #[arg(long)]
    panel: bool,
    /// Rows to show
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    anyhow::ensure!((0.0..=1.0).contains(&args.fdr), "--fdr: give a share from 0 to 1, such as 0.05");
    let mut context = args.query_args.open(global)?;
    let step = args.by.unwrap_or(if args.bursts { Step::Week } else { Step::Quarter });
    if args.panel {
        context.keep_panel(step)?;
    }
    let part = context.corpus.engine.subcorpus(context.filter.as_ref())?;
    if args.bursts { bursts(args, &context, &part, step) } else { rises(args, &context, &part, step) }
}

fn rises(args: &Args, context: &QueryContext, part: &Subcorpus, step: Step) -> Result<Report> {
    let config = RiseConfig { min_count: args.min, false_discovery_rate: args.fdr, ..RiseConfig::default() };
    let mut found = context.corpus.engine.trends(part, args.attribute, step, &config);
    let is_wanted = |row: &TrendRow| !(args.rising && row.growth < 0.0 || args.falling && row.growth > 0.0);
    let all = first_rows(&mut found.rows, args.limit, is_wanted);
    let mut table = Table::new(&["word", "#hits", "#documents", "#growth", "#q", "changes", "rate in time"]);
    for row in &found.rows {
        let shape = match row.shape {
            Some(Shape::Steady) => "all the time",
            Some(Shape::Late) => "lately",
            Some(Shape::Early) => "at first",
            None => "",
        };
        table.push(vec![
            row.value.clone(),
            row.hits.to_string(),
            row.documents.to_string(),
            short(row.growth),
            short(row.q),
            shape.to_owned(),
            sparkline(&row.per_million, SPARK_COLUMNS),
        ]);
    }
    let heading = format!(
        "{} of {} tested over {} in {}",
        count(all, "trend"),
        grouped(found.tested),
        count(found.bins.len() as u64, "step"),
        context.of_what(context.corpus.engine.tokens(part))
    );
    Ok(context.report(&heading, &table, context.about(None, MatchRule::default(), Exactness::Exact), found))
}

fn bursts(args: &Args, context: &QueryContext, part: &Subcorpus, step: Step) -> Result<Report> {
    let mut found = context.corpus.engine.bursts(part, args.attribute, step, &BurstConfig::default());
    let all = first_rows(&mut found.rows, args.limit, |_| true);
    let mut table = Table::new(&["word", "when", "#score", "#times", "#hits", "#documents", "then"]);
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
            row.hits.to_string(),
            row.documents.to_string(),
            then.to_owned(),
        ]);
    }
    let heading = format!("{} in {}", count(all, "burst"), context.of_what(context.corpus.engine.tokens(part)));
    Ok(context.report(&heading, &table, context.about(None, MatchRule::default(), Exactness::Exact), found))
}
