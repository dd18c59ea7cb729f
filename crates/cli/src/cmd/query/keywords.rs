//! `tidings keywords`: what is typical of one part of the corpus against another.

use anyhow::Result;
use tidings_query::answer::Exactness;
use tidings_query::cql::Attribute;
use tidings_query::measure::keyness::Keyness;
use tidings_query::{Filter, Rule};

use tidings_query::engine::is_wordlike;

use super::{QueryArgs, parse_attribute, parse_filter, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

#[derive(Debug, clap::Args)]
#[command(after_help = "Two periods: tidings keywords date=2026-03 --against date=2026-02\n\
    Two sites:   tidings keywords site=a.example --against site=b.example\n\
    One against everything else: tidings keywords topic=sport")]
pub struct Args {
    /// The documents in focus, such as "date>=2026-03"
    #[arg(value_name = "FILTER")]
    focus: String,
    /// The documents to compare with [default: all others]
    #[arg(long, value_name = "FILTER")]
    against: Option<String>,
    #[command(flatten)]
    query_args: QueryArgs,
    /// What to compare: word, lc, lemma, tag, feats, or a feature such as Case
    #[arg(long, value_name = "NAME", default_value = "lc", value_parser = parse_attribute)]
    attribute: Attribute,
    /// Words in a row: 2 and 3 give multi-word terms
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    ngram: u8,
    /// Order by simple, ll, log-ratio, din or chi2
    #[arg(long, value_name = "MEASURE", default_value = "simple", value_parser = parse_measure)]
    measure: Measure,
    /// What simple maths adds to both rates: 1 favours the rare, 1000 the common
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    add: f64,
    /// At least so often in focus
    #[arg(long, value_name = "N", default_value_t = 5)]
    min: u64,
    /// Only sites that gave documents to both parts: new feeds do not look like new words
    #[arg(long)]
    panel: bool,
    /// Punctuation too
    #[arg(long)]
    punctuation: bool,
    /// Rows to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// A measure whose constant is another flag.
#[derive(Debug, Clone, Copy)]
enum Measure {
    Simple,
    Other(Keyness),
}

fn parse_measure(name: &str) -> Result<Measure, String> {
    match name {
        "simple" => Ok(Measure::Simple),
        "ll" => Ok(Measure::Other(Keyness::LogLikelihood)),
        "log-ratio" => Ok(Measure::Other(Keyness::LogRatio)),
        "din" => Ok(Measure::Other(Keyness::Din)),
        "chi2" => Ok(Measure::Other(Keyness::ChiSquare)),
        _ => Err("give simple, ll, log-ratio, din or chi2".to_owned()),
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let focus = parse_filter(&args.focus)?;
    let against = match &args.against {
        Some(text) => parse_filter(text)?,
        None => Filter { condition: tidings_query::Logic::Not(Box::new(focus.condition.clone())) },
    };
    let part =
        |filter: &Filter| context.engine.part(Filter::both(context.filter.clone(), Some(filter.clone())).as_ref());
    let order = match args.measure {
        Measure::Simple => Keyness::SimpleMaths(args.add.max(1e-9)),
        Measure::Other(measure) => measure,
    };
    let (focus, against) = match args.panel {
        true => {
            let panel = context.engine.panel_of_two(&part(&focus)?, &part(&against)?);
            (focus.and(panel.clone()), against.and(panel))
        }
        false => (focus, against),
    };
    let mut found = context.engine.keywords(
        &part(&focus)?,
        &part(&against)?,
        args.attribute,
        args.ngram.into(),
        order,
        args.min,
    )?;
    found.rows.retain(|row| args.punctuation || is_wordlike(&row.value));
    let all = found.rows.len() as u64;
    found.rows.truncate(args.limit);
    let mut table =
        Table::new(&["word", "#score", "#hits", "#per million", "#there", "#per million there", "#log ratio", "#p"]);
    for row in &found.rows {
        table.push(vec![
            row.value.clone(),
            short(row.score),
            row.focus.to_string(),
            short(row.focus_per_million),
            row.reference.to_string(),
            short(row.reference_per_million),
            short(row.log_ratio),
            short(row.p),
        ]);
    }
    let heading = format!(
        "{} of {} ({}) against {} ({}){} in {}",
        count(all, "keyword"),
        args.focus,
        count(found.focus_tokens, "token"),
        args.against.as_deref().unwrap_or("all others"),
        count(found.reference_tokens, "token"),
        if args.panel { " on sites of both" } else { "" },
        context.code
    );
    Ok(context.report(&heading, &table, context.about(None, Rule::default(), Exactness::Exact), found))
}
