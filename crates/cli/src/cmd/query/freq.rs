//! `tidings freq`: frequencies of hits by the values of an attribute or a field.

use anyhow::Result;
use tidings_query::MatchRule;
use tidings_query::answer::{Exactness, first_rows};
use tidings_query::cql::Attribute;

use super::{QueryArgs, short};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The query
    #[arg(value_name = "CQL")]
    query: String,
    /// By word, lc, lemma, tag, feats or a feature such as Case of the hit, or by a field of its document such as site, date, feed, topic
    #[arg(long, value_name = "NAME", default_value = "lc")]
    by: String,
    #[command(flatten)]
    query_args: QueryArgs,
    /// Rows to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let context = args.query_args.open(global)?;
    let (query, search) = context.search(&args.query, MatchRule::default())?;
    let (mut found, complete) = match Attribute::named(&args.by) {
        Some(attribute) => search.frequencies_by_attribute(attribute, &context.limits()),
        None => search.frequencies_by_field(&args.by, &context.limits()),
    };
    let values = first_rows(&mut found.rows, args.limit, |_| true);
    let mut table = Table::new(&["value", "#hits", "#share %", "#per million"]);
    for row in &found.rows {
        let share = 100.0 * row.hits as f64 / found.hits.max(1) as f64;
        let rate = row.per_million.map(short).unwrap_or_default();
        table.push(vec![row.value.clone(), row.hits.to_string(), format!("{share:.1}"), rate]);
    }
    let heading = format!(
        "{} by {}: {} in {}",
        count(found.hits, "hit"),
        args.by,
        count(values, "value"),
        context.of_what(found.tokens)
    );
    let about = context.about(Some(&query), MatchRule::default(), Exactness::of(complete, found.hits));
    Ok(context.report(&heading, &table, about, found))
}
