//! `tidings words`: the words of the corpus, or its n-grams, with their frequencies.

use anyhow::Result;
use tidings_query::answer::{Exactness, first_rows};
use tidings_query::cql::Attribute;
use tidings_query::engine::is_wordlike;
use tidings_query::{MatchRule, ValueMatcher};

use super::{QueryArgs, parse_attribute, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::corpus;
use tidings_pipeline::display::count;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only those that match this regular expression, as a whole
    #[arg(value_name = "REGEX")]
    matching: Option<String>,
    #[command(flatten)]
    query_args: QueryArgs,
    /// What to count: word, lc, lemma, tag, feats, or a feature such as Case
    #[arg(long, value_name = "NAME", default_value = "lc", value_parser = parse_attribute)]
    attribute: Attribute,
    /// Words in a row, inside one sentence: 1 to 5
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    ngram: u8,
    /// At least so often [default: 1, with --ngram 5]
    #[arg(long, value_name = "N")]
    min: Option<u64>,
    /// Punctuation too
    #[arg(long)]
    punctuation: bool,
    /// Rows to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let part = context.corpus.engine.subcorpus(context.filter.as_ref())?;
    let min = args.min.unwrap_or(if args.ngram == 1 { 1 } else { 5 });
    let matching = args.matching.as_ref().map(ValueMatcher::regex);
    let found = match args.ngram {
        1 => context.corpus.engine.words(&part, args.attribute, matching.as_ref(), min),
        n => context.corpus.engine.ngrams(&part, args.attribute, n.into(), matching.as_ref(), min),
    };
    let mut found = found.map_err(|error| corpus::explain(error, args.matching.as_deref().unwrap_or_default()))?;
    let all = first_rows(&mut found.rows, args.limit, |row| args.punctuation || is_wordlike(&row.value));
    let mut table = Table::new(&["word", "#hits", "#documents", "#per million"]);
    for row in &found.rows {
        table.push(vec![row.value.clone(), row.hits.to_string(), row.documents.to_string(), short(row.per_million)]);
    }
    let thing = if args.ngram == 1 { "word" } else { "n-gram" };
    let heading = format!("{} in {}", count(all, thing), context.of_what(found.tokens));
    Ok(context.report(&heading, &table, context.about(None, MatchRule::default(), Exactness::Exact), found))
}
