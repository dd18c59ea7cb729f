//! Opens a corpus, runs a CQL query, prints a concordance and the hits of each year.

use std::io::{Write, stdout};
use std::path::Path;

use anyhow::{Result, bail};
use tidings_pipeline::Pipeline;
use tidings_pipeline::corpus::Corpus;
use tidings_query::MatchRule;
use tidings_query::engine::{Limits, View};
use tidings_query::question::text_of;
use tidings_query::trend::Step;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [home, language, query] = &arguments[..] else { bail!("give a home, a language such as en, and a CQL query") };
    run(Path::new(home), language, query, &mut stdout())
}

/// Prints the newest ten hits with eight tokens of context, then hits and rate of each year.
pub fn run(home: &Path, language: &str, query: &str, out: &mut dyn Write) -> Result<()> {
    let pipeline = Pipeline::open(home)?;
    let corpus = Corpus::open(pipeline.home(), Some(language))?;
    let (query, search) = corpus.search(query, MatchRule::default(), None)?;
    // A service sets a deadline here and checks whether answers are complete.
    let limits = Limits::default();
    writeln!(out, "{} hits of {query}", search.count(&limits).hits)?;
    let view = View { size: 10, ..View::default() };
    let (lines, _) = search.view(&view, 8, &["date"], &limits)?;
    for line in &lines {
        let date = line.fields.get("date").map_or("", String::as_str);
        let [left, node, right] = [&line.left, &line.node, &line.right].map(|tokens| text_of(tokens));
        writeln!(out, "{date}  {left:>50}[{}] {right}", node.trim_end())?;
    }
    let (timeline, _) = search.timeline(Step::Year, 0.95, &limits);
    for point in timeline.points.iter().filter(|point| point.tokens > 0) {
        // Both are unknown where a limit stopped the search.
        if let (Some(hits), Some(rate)) = (point.hits, point.per_million) {
            writeln!(out, "{}  {hits} hits, {rate:.1} per million tokens", point.bin)?;
        }
    }
    Ok(())
}
