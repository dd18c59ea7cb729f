//! `tidings timeline`: hits over time, with the size of the collection.

use anyhow::Result;
use tidings_query::question::{TimelinePoint, TimelineRequest};

use super::{Asked, QuestionCommand, at_least, known, of_corpus, short};
use crate::args::Global;
use crate::chart::bar;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

/// The length of the longest bar.
const BAR_COLUMNS: usize = 40;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Rates are hits per million tokens, with the interval from low to high. A step in which nothing was \
    collected has no rate: that is not the same as zero. A step that was not searched before --time-limit has neither hits \
    nor a rate.\n\n\
    Several queries: tidings timeline who whom --by year\n\
    Each has its series, with its share among the hits of all of them."
)]
pub struct Args {
    #[command(flatten)]
    question: QuestionCommand<TimelineRequest>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, request, answered } = args.question.ask(global)?;
    let timeline = &answered.body;
    let with_documents = request.measures.documents;
    let measured = |point: &TimelinePoint| if with_documents { point.document_share } else { point.per_million };
    let most = timeline.points.iter().filter_map(measured).fold(0.0, f64::max);
    let columns = ["when", "#hits", "#per million", "#low", "#high", "#tokens", "#documents", "#sites", "chart"];
    let mut columns = columns.to_vec();
    if with_documents {
        columns.splice(8..8, ["#documents with a hit", "#share %"]);
    }
    let queries = &request.searches.q;
    let has_several = queries.len() > 1;
    if has_several {
        columns.splice(2..2, ["#share of hits %"]);
        columns.insert(0, "query");
    }
    let mut table = Table::new(&columns);
    // The queries as they were given are easier to read than their canonical form.
    let steps = timeline.points.len() / queries.len().max(1);
    let query_of = |number: usize| queries.get(number / steps.max(1)).map_or("", |query| query.text().trim());
    for (number, point) in timeline.points.iter().enumerate() {
        let rate = point.per_million.map(short);
        let (low, high) = point.band.map(|band| (short(band.low), short(band.high))).unwrap_or_default();
        let hits = point.hits.map(|hits| hits.to_string()).unwrap_or_default();
        let mut row = vec![point.bin.to_string(), hits, rate.unwrap_or_default(), low, high];
        row.extend([point.tokens, point.documents, point.sites].map(|number| number.to_string()));
        if with_documents {
            row.push(point.hit_documents.map(|documents| documents.to_string()).unwrap_or_default());
            row.push(point.document_share.map(|share| short(100.0 * share)).unwrap_or_default());
        }
        if has_several {
            row.insert(2, known(point.query_share.map(|share| 100.0 * share)));
            row.insert(0, query_of(number).to_owned());
        }
        row.push(match measured(point) {
            Some(rate) => bar(rate, most, BAR_COLUMNS),
            None if point.hits.is_none() => "(not searched)".to_owned(),
            None => "(nothing collected)".to_owned(),
        });
        table.push(row);
    }
    let corpus = of_corpus(&answered.about, timeline.tokens, request.panel.panel);
    let of_queries = if has_several { format!(" of {}", count(queries.len() as u64, "query")) } else { String::new() };
    let heading = format!("{}{}{of_queries} in {corpus}", at_least(&answered.about), count(timeline.hits, "hit"));
    Ok(context.report::<TimelineRequest>(&heading, &table, &answered))
}
