//! `tidings colloc`: collocates of hits.

use anyhow::Result;
use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, Window, first_rows};
use tidings_query::cql::Attribute;
use tidings_query::engine::is_wordlike;
use tidings_query::measure::association::{ASSOCIATIONS, Association};

use super::{QueryArgs, parse_attribute, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The query
    #[arg(value_name = "CQL")]
    query: String,
    #[command(flatten)]
    query_args: QueryArgs,
    /// What to count: word, lc, lemma, tag, feats, or a feature such as Case
    #[arg(long, value_name = "NAME", default_value = "lc", value_parser = parse_attribute)]
    attribute: Attribute,
    /// Tokens before the hit
    #[arg(long, value_name = "N", default_value_t = 5)]
    left: u32,
    /// Tokens behind it
    #[arg(long, value_name = "N", default_value_t = 5)]
    right: u32,
    /// The whole sentence instead
    #[arg(long, conflicts_with_all = ["left", "right"])]
    sentence: bool,
    /// Order by logdice, mi, mi3, t-score, ll, dice, min-sensitivity or mi.log-f
    #[arg(long, value_name = "MEASURE", default_value = "logdice", value_parser = parse_measure)]
    measure: Association,
    /// Together at least so often
    #[arg(long, value_name = "N", default_value_t = 3)]
    min: u64,
    /// Punctuation too
    #[arg(long)]
    punctuation: bool,
    /// Rows to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

fn parse_measure(name: &str) -> Result<Association, String> {
    let names: Vec<&str> = ASSOCIATIONS.iter().map(|(name, _)| *name).collect();
    Association::named(name).ok_or_else(|| format!("give one of {}", names.join(", ")))
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let (query, search) = context.search(&args.query, MatchRule::default())?;
    let window = match args.sentence {
        true => Window::Sentence,
        false => Window::Tokens { left: args.left.min(1000), right: args.right.min(1000) },
    };
    let (mut found, complete) = search.collocates(args.attribute, window, args.measure, args.min, &context.limits());
    let all = first_rows(&mut found.rows, args.limit, |row| args.punctuation || is_wordlike(&row.value));
    let mut table = Table::new(&["collocate", "#together", "#anywhere", "#logDice", "#MI", "#t", "#log-likelihood"]);
    for row in &found.rows {
        let scores = &row.scores;
        let scored = [scores.log_dice, scores.mi, scores.t_score, scores.log_likelihood].map(short);
        let mut fields = vec![row.value.clone(), row.together.to_string(), row.hits.to_string()];
        fields.extend(scored);
        table.push(fields);
    }
    let heading =
        format!("{} of {} in {}", count(all, "collocate"), count(found.hits, "hit"), context.of_what(found.tokens));
    let about = context.about(Some(&query), MatchRule::default(), Exactness::of(complete, found.hits));
    Ok(context.report(&heading, &table, about, found))
}
