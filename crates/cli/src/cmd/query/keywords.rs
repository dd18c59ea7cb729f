//! `tidings keywords`: words that are typical of one part of the corpus against another.

use anyhow::Result;
use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, first_rows};
use tidings_query::cql::Attribute;
use tidings_query::engine::{ContrastOf, is_wordlike};
use tidings_query::measure::keyness::{KEYNESS_NAMES, Keyness};

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
    measure: Keyness,
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

fn parse_measure(name: &str) -> Result<Keyness, String> {
    Keyness::named(name, 1.0).ok_or_else(|| format!("give one of {}", KEYNESS_NAMES.join(", ")))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let focus = parse_filter(&args.focus)?;
    let reference = args.against.as_deref().map(parse_filter).transpose()?;
    let (focus, reference) = context.corpus.engine.contrast(&ContrastOf {
        focus: &focus,
        reference: reference.as_ref(),
        within: context.filter.as_ref(),
        panel: args.panel,
    })?;
    let measure = match args.measure {
        // Its constant is a flag of its own.
        Keyness::SimpleMaths(_) => Keyness::SimpleMaths(args.add.max(1e-9)),
        other => other,
    };
    let mut found =
        context.corpus.engine.keywords(&focus, &reference, args.attribute, args.ngram.into(), measure, args.min)?;
    let all = first_rows(&mut found.rows, args.limit, |row| args.punctuation || is_wordlike(&row.value));
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
        context.corpus.language
    );
    Ok(context.report(&heading, &table, context.about(None, MatchRule::default(), Exactness::Exact), found))
}
