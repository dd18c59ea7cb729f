//! Several queries by source and time at once: hits, documents with a hit, and the share among the queries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::params::{LimitParams, ScopeParams, SearchesParams};
use super::shards::{CrosstabPart, SearchPart};
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::{CellCounts, CrossCells, DocumentLevel};
use crate::measure::{per_million, share};
use crate::trend::Step;

/// Counts hits and documents of several queries by fields of documents and by time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CrosstabRequest {
    /// The queries.
    #[serde(flatten)]
    pub searches: SearchesParams,
    /// Count by these, at most two, separated by commas: fields of documents such as site, and day, week, month, quarter,
    /// half-year or year.
    #[serde(default = "usual_levels")]
    #[schemars(extend("x-value-name" = "NAMES"))]
    pub by: Vec<String>,
    /// The values of the first of these: those with the most hits.
    #[serde(flatten)]
    pub limit: LimitParams,
}

/// The largest number of levels.
const MAX_LEVELS: usize = 2;

fn usual_levels() -> Vec<String> {
    vec!["site".to_owned(), "year".to_owned()]
}

answer! {
    /// A cross table with a row for each cell and query, also those without a hit. Fields are ordered by hits, periods by
    /// time.
    pub struct Crosstab {
        /// The names of the values.
        pub by: Vec<String>,
        /// The queries.
        pub queries: Vec<String>,
        /// All hits of all queries; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// Documents searched.
        pub documents: u64,
        /// The number of different values of the first name.
        pub values: u64,
        /// The rows.
        pub rows: Vec<CrosstabRow>,
    }

    /// A query in a cell.
    pub struct CrosstabRow {
        /// The values in the order of their names; empty where a document has none.
        pub values: Vec<String>,
        /// The query.
        pub query: String,
        /// Hits; null if the answer is cut off and none was found.
        pub hits: Option<u64>,
        /// Documents with a hit; null as the hits.
        pub hit_documents: Option<u64>,
        /// Tokens of the documents of the cell.
        pub tokens: u64,
        /// These documents.
        pub documents: u64,
        /// Hits per million of these tokens; null if the answer is cut off.
        pub per_million: Option<f64>,
        /// The share of documents with a hit among them; null if the answer is cut off.
        pub document_share: Option<f64>,
        /// The share of the query among the hits of all queries in the cell; null if there are none or the answer is cut off.
        pub query_share: Option<f64>,
    }
}

impl CrosstabRequest {
    fn levels(&self, context: &QuestionContext<'_>) -> Result<Vec<DocumentLevel>, QuestionError> {
        if self.by.len() > MAX_LEVELS {
            return Err(QuestionError::parameter("by", format!("give at most {MAX_LEVELS} names")));
        }
        self.by.iter().map(|name| level(name, context)).collect()
    }
}

fn level(name: &str, context: &QuestionContext<'_>) -> Result<DocumentLevel, QuestionError> {
    match Step::named(name).filter(|_| !context.field_names().contains(name)) {
        Some(step) => Ok(DocumentLevel::Time(step)),
        None => {
            context.check_table_name(name)?;
            Ok(DocumentLevel::Field(name.to_owned()))
        }
    }
}

/// The cells in the order of the table, of the first values; and the number of all first values.
fn ordered(cells: CrossCells, levels: &[DocumentLevel], limit: &LimitParams) -> (Vec<(Vec<String>, CellCounts)>, u64) {
    // The hits of each value of each level.
    let mut totals: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new(); levels.len()];
    for (values, counts) in &cells {
        let hits: u64 = counts.found.iter().map(|(hits, _)| hits).sum();
        for (value, totals) in values.iter().zip(&mut totals) {
            *totals.entry(value.clone()).or_default() += hits;
        }
    }
    let mut first: Vec<(std::cmp::Reverse<u64>, String)> = totals
        .first()
        .map(|totals| totals.iter().map(|(value, hits)| (std::cmp::Reverse(*hits), value.clone())).collect())
        .unwrap_or_default();
    first.sort();
    let count = limit.cut(&mut first);
    let kept: BTreeMap<&str, ()> = first.iter().map(|(_, value)| (value.as_str(), ())).collect();
    let is_kept = |values: &[String]| values.first().is_none_or(|value| kept.contains_key(value.as_str()));
    let rank = |values: &[String]| -> Vec<(std::cmp::Reverse<u64>, String)> {
        let places = values.iter().zip(&totals).zip(levels);
        let place = |((value, totals), level): ((&String, &BTreeMap<String, u64>), &DocumentLevel)| match level {
            DocumentLevel::Time(_) => (std::cmp::Reverse(0), value.clone()),
            DocumentLevel::Field(_) => (std::cmp::Reverse(totals.get(value).copied().unwrap_or(0)), value.clone()),
        };
        places.map(place).collect()
    };
    let mut rows: Vec<(Vec<String>, CellCounts)> = cells.into_iter().filter(|(values, _)| is_kept(values)).collect();
    rows.sort_by_cached_key(|(values, _)| rank(values));
    (rows, count)
}

/// The rows of a cell.
fn rows_of<'r>(
    values: &'r [String],
    counts: &'r CellCounts,
    queries: &'r [String],
    is_complete: bool,
) -> impl Iterator<Item = CrosstabRow> + 'r {
    let all: u64 = counts.found.iter().map(|(hits, _)| hits).sum();
    queries.iter().zip(&counts.found).map(move |(query, (hits, found))| {
        let is_known = is_complete || *hits > 0;
        CrosstabRow {
            values: values.to_vec(),
            query: query.clone(),
            hits: is_known.then_some(*hits),
            hit_documents: is_known.then_some(*found),
            tokens: counts.tokens,
            documents: counts.documents,
            per_million: per_million(*hits as f64, counts.tokens as f64).filter(|_| is_complete),
            document_share: share(*found, counts.documents).filter(|_| is_complete),
            query_share: share(*hits, all).filter(|_| is_complete),
        }
    })
}

impl Request for CrosstabRequest {
    fn example() -> CrosstabRequest {
        let query = |text: &str| Parsed::new(text).expect("examples parse");
        CrosstabRequest {
            searches: SearchesParams {
                q: vec![query("storm"), query(r#"[lemma="flood"]"#)],
                scope: ScopeParams::default(),
            },
            by: vec!["site".to_owned(), "month".to_owned()],
            limit: LimitParams::default(),
        }
    }
}

impl Question for CrosstabRequest {
    const NAME: &'static str = "crosstab";
    const SUMMARY: &'static str = "Count several queries by source and time, with shares of documents and of queries";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Crosstab;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Crosstab>, QuestionError> {
        let queries = self.searches.queries()?;
        let filter = context.filter(&self.searches.scope)?;
        let levels = self.levels(context)?;
        // Documents are counted one by one: only those that the client may read.
        let search = |query| SearchPart::positions(query, MatchRule::default(), filter.as_ref());
        let part = CrosstabPart { searches: queries.iter().map(search).collect(), levels: levels.clone() };
        let cells = context.gather(&part)?.into_cells();
        let sum = |count: fn(&CellCounts) -> u64| cells.values().map(count).sum::<u64>();
        let (tokens, documents) = (sum(|cell| cell.tokens), sum(|cell| cell.documents));
        let hits = sum(|cell| cell.found.iter().map(|(hits, _)| hits).sum());
        let queries = self.searches.texts();
        let (cells, values) = ordered(cells, &levels, &self.limit);
        let is_complete = !context.is_cut_off();
        let rows = cells.iter().flat_map(|(values, counts)| rows_of(values, counts, &queries, is_complete));
        let body = Crosstab {
            by: self.by.clone(),
            rows: rows.collect(),
            queries: queries.clone(),
            hits,
            tokens,
            documents,
            values,
        };
        let asked = (self.searches.only(), filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> CrossCells {
        let cell = |site: &str, year: &str, found: [(u64, u64); 2]| {
            let counts = CellCounts { tokens: 1000, documents: 4, found: found.to_vec() };
            (vec![site.to_owned(), year.to_owned()], counts)
        };
        let cells = [
            cell("b", "2025", [(3, 2), (1, 1)]),
            cell("b", "2024", [(0, 0), (0, 0)]),
            cell("a", "2024", [(1, 1), (0, 0)]),
        ];
        cells.into_iter().collect()
    }

    #[test]
    fn sources_come_by_hits_and_periods_by_time() {
        let levels = [DocumentLevel::Field("site".to_owned()), DocumentLevel::Time(Step::Year)];
        let order = |limit: u64| {
            let (rows, values) = ordered(cells(), &levels, &LimitParams { limit });
            (rows.iter().map(|(values, _)| values.join(" ")).collect::<Vec<_>>(), values)
        };
        assert_eq!(order(9), (vec!["b 2024".into(), "b 2025".into(), "a 2024".into()], 2));
        assert_eq!(order(1).0, ["b 2024", "b 2025"]);
        let turned = [DocumentLevel::Time(Step::Year), DocumentLevel::Field("site".to_owned())];
        let cells = cells().into_iter().map(|(values, counts)| (values.into_iter().rev().collect(), counts)).collect();
        let (rows, _) = ordered(cells, &turned, &LimitParams { limit: 9 });
        let rows: Vec<String> = rows.iter().map(|(values, _)| values.join(" ")).collect();
        assert_eq!(rows, ["2024 b", "2024 a", "2025 b"]);
    }

    #[test]
    fn shares_are_of_documents_and_of_queries_and_unknown_if_the_search_was_cut_off() {
        let cells = cells();
        let queries = ["who".to_owned(), "whom".to_owned()];
        let counts = &cells[&vec!["b".to_owned(), "2025".to_owned()]];
        let rows: Vec<CrosstabRow> = rows_of(&[], counts, &queries, true).collect();
        assert_eq!((rows[0].query_share, rows[0].document_share), (Some(0.75), Some(0.5)));
        assert_eq!(rows[1].per_million, Some(1000.0));
        let empty = &cells[&vec!["b".to_owned(), "2024".to_owned()]];
        let rows: Vec<CrosstabRow> = rows_of(&[], empty, &queries, true).collect();
        assert_eq!((rows[0].hits, rows[0].query_share, rows[0].document_share), (Some(0), None, Some(0.0)));
        let rows: Vec<CrosstabRow> = rows_of(&[], empty, &queries, false).collect();
        assert_eq!((rows[0].hits, rows[0].document_share), (None, None));
    }
}
