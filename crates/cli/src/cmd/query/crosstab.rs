//! `tidings crosstab`: several queries by source and time, as a table with periods or other values as columns.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::ValueEnum;
use tidings_query::question::{CrosstabRequest, CrosstabRow};

use super::{Asked, QuestionCommand, at_least, known, of_corpus};
use crate::args::Global;
use crate::cmd::Report;
use crate::table::Table;
use tidings_pipeline::display::count;

/// The number in the cells of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// Hits
    Hits,
    /// Hits per million tokens
    PerMillion,
    /// Documents with a hit
    Documents,
    /// Share of documents with a hit, in percent
    DocumentShare,
    /// Share among the hits of all queries, in percent
    QueryShare,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Share of stories by source and year: tidings crosstab drought,flood --by site,year\n\
    Variant constructions over time:     tidings crosstab who,whom --by year --measure query-share\n\
    --csv and --json have all measures, in a row for each cell and query.")]
pub struct Args {
    #[command(flatten)]
    question: QuestionCommand<CrosstabRequest>,
    /// The number in the cells of the table
    #[arg(long, value_enum, default_value_t = Measure::DocumentShare, value_name = "MEASURE")]
    measure: Measure,
}

impl Measure {
    fn heading(self) -> &'static str {
        match self {
            Measure::Hits => "hits",
            Measure::PerMillion => "hits per million tokens",
            Measure::Documents => "documents with a hit",
            Measure::DocumentShare => "documents with a hit, in percent of documents",
            Measure::QueryShare => "share among the hits of all queries, in percent",
        }
    }

    fn of(self, row: &CrosstabRow) -> String {
        let whole = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        match self {
            Measure::Hits => whole(row.hits),
            Measure::Documents => whole(row.hit_documents),
            Measure::PerMillion => known(row.per_million),
            Measure::DocumentShare => known(row.document_share.map(|share| 100.0 * share)),
            Measure::QueryShare => known(row.query_share.map(|share| 100.0 * share)),
        }
    }
}

/// The rows of the answer with the values of the second name as columns. Cells without documents are empty.
fn table(by: &[String], rows: &[CrosstabRow], queries: usize, measure: Measure) -> Table {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut columns: Vec<&str> = Vec::new();
    let second = |row: &'_ CrosstabRow| row.values.get(1).map_or(String::new(), Clone::clone);
    let mut values: Vec<String> = rows.iter().map(second).collect();
    values.sort();
    values.dedup();
    for value in &values {
        places.insert(value, columns.len());
        columns.push(value);
    }
    let mut headings = vec![by.first().cloned().unwrap_or_else(|| "all".to_owned())];
    if queries > 1 {
        headings.push("query".to_owned());
    }
    let fixed = headings.len();
    headings.extend(columns.iter().map(|value| match *value {
        "" => format!("#{}", if by.len() > 1 { "(none)" } else { "measure" }),
        value => format!("#{value}"),
    }));
    let width = headings.len();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut number_of: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in rows {
        let first = row.values.first().map_or("", String::as_str);
        let line = *number_of.entry((first, &row.query)).or_insert_with(|| {
            let mut line = vec![String::new(); width];
            line[0] = first.to_owned();
            if queries > 1 {
                line[1].clone_from(&row.query);
            }
            lines.push(line);
            lines.len() - 1
        });
        let column = places.get(row.values.get(1).map_or("", String::as_str)).copied().unwrap_or(0);
        lines[line][fixed + column] = measure.of(row);
    }
    let mut table = Table::with_columns(headings);
    lines.into_iter().for_each(|line| table.push(line));
    table
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let Asked { context, request, answered } = args.question.ask(global)?;
    let found = &answered.body;
    let heading = format!(
        "{}{} of {} in {}, {}\n{}",
        at_least(&answered.about),
        count(found.hits, "hit"),
        count(found.queries.len() as u64, "query"),
        count(found.documents, "document"),
        of_corpus(&answered.about, found.tokens, false),
        args.measure.heading(),
    );
    // The queries as they were given are easier to read than their canonical form.
    let given: BTreeMap<&str, &str> = found
        .queries
        .iter()
        .map(String::as_str)
        .zip(request.searches.q.iter().map(|query| query.text().trim()))
        .collect();
    let shown = |row: &CrosstabRow| {
        let query = given.get(row.query.as_str()).map_or(row.query.clone(), |text| (*text).to_owned());
        CrosstabRow { query, ..row.clone() }
    };
    let rows: Vec<CrosstabRow> = found.rows.iter().map(shown).collect();
    let table = table(&request.by, &rows, found.queries.len(), args.measure);
    Ok(context.report::<CrosstabRequest>(&heading, &table, &answered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    #[test]
    fn periods_are_columns_and_queries_are_rows() {
        let row = |site: &str, year: &str, query: &str, hits: u64| CrosstabRow {
            values: vec![site.to_owned(), year.to_owned()],
            query: query.to_owned(),
            hits: Some(hits),
            hit_documents: Some(hits),
            tokens: 100,
            documents: 10,
            per_million: None,
            document_share: Some(hits as f64 / 10.0),
            query_share: None,
        };
        let rows = [
            row("a.example", "2025", "who", 3),
            row("a.example", "2025", "whom", 1),
            row("b.example", "2024", "who", 2),
        ];
        let by = ["site".to_owned(), "year".to_owned()];
        let text = table(&by, &rows, 2, Measure::DocumentShare).csv();
        assert_eq!(
            text,
            "site,query,2024,2025\r\na.example,who,,30.0\r\na.example,whom,,10.0\r\nb.example,who,20.0,\r\n"
        );
        let text = table(&by[..1], &rows[2..], 1, Measure::Hits).text(Style::PLAIN);
        assert!(text.contains("b.example") && text.contains('2'), "{text}");
    }
}
