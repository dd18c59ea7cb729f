//! Frequencies of hits by several values at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{LimitParams, SearchParams};
use super::shards::{GroupPart, SearchPart};
use super::{Answered, Cost, Exactness, LinePlace, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::engine::{Level, LevelCounts};
use crate::measure::per_million;

/// Counts the hits of a query by several values at once: of the hit, of its neighbours and of its document.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GroupRequest {
    /// The query.
    #[serde(flatten)]
    pub search: SearchParams,
    /// Count by these values, separated by commas: attributes of the hit (lemma), of a neighbour (left1, right2.tag) or of a
    /// labelled token (a.lemma), fields of the document (site), year and month.
    #[serde(default = "usual_levels")]
    #[schemars(extend("x-value-name" = "NAMES"))]
    pub by: Vec<String>,
    /// Minimum hits of a row.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

/// The largest number of levels.
const MAX_LEVELS: usize = 6;

fn usual_levels() -> Vec<String> {
    vec!["lc".to_owned(), "year".to_owned()]
}

fn one() -> u64 {
    1
}

answer! {
    /// Frequencies of hits by several values, the most frequent first, equals by value.
    pub struct Groups {
        /// The names of the values.
        pub by: Vec<String>,
        /// All hits; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// The number of different rows.
        pub values: u64,
        /// The rows.
        pub rows: Vec<GroupRow>,
    }

    /// The frequency of one combination of values.
    pub struct GroupRow {
        /// The values in the order of their names; empty if there is none, such as a neighbour outside of the document.
        pub values: Vec<String>,
        /// Hits with these values.
        pub hits: u64,
        /// Their share among all hits; null if the answer is cut off.
        pub share: Option<f64>,
        /// Hits per million tokens of all documents searched; null if the answer is cut off.
        pub per_million: Option<f64>,
    }
}

impl GroupRequest {
    fn levels(&self, context: &QuestionContext<'_>) -> Result<Vec<Level>, QuestionError> {
        if self.by.is_empty() || self.by.len() > MAX_LEVELS {
            return Err(QuestionError::parameter("by", format!("give 1 to {MAX_LEVELS} names")));
        }
        self.by.iter().map(|name| self.level(name, context)).collect()
    }

    fn level(&self, name: &str, context: &QuestionContext<'_>) -> Result<Level, QuestionError> {
        if let Some((place, attribute)) = LinePlace::with_attribute(name) {
            let attribute = attribute.unwrap_or(Attribute::Lc);
            context.check_attribute("by", attribute)?;
            return Ok(Level::Token(place, attribute));
        }
        let fields = context.field_names();
        let label = name.split_once('.').filter(|(label, _)| self.search.q.has_label(label));
        if let Some((label, attribute)) = label {
            let known = context.attribute(attribute);
            let attribute =
                known.ok_or_else(|| QuestionError::parameter("by", format!("unknown attribute {attribute}")))?;
            context.check_attribute("by", attribute)?;
            return Ok(Level::Label(label.to_owned(), attribute));
        }
        match name {
            name if fields.contains(name) => Ok(Level::Field(name.to_owned())),
            "year" => Ok(Level::Date(4)),
            "month" => Ok(Level::Date(7)),
            name => {
                if let Some(attribute) = context.attribute(name) {
                    context.check_attribute("by", attribute)?;
                    return Ok(Level::Token(LinePlace::Node, attribute));
                }
                context.check_group_name(name)?;
                Ok(Level::Field(name.to_owned()))
            }
        }
    }
}

impl Request for GroupRequest {
    fn example() -> GroupRequest {
        let by = ["lc", "left1", "site"].map(str::to_owned).to_vec();
        GroupRequest { search: SearchParams::example(), by, min: one(), limit: LimitParams::default() }
    }
}

impl Question for GroupRequest {
    const NAME: &'static str = "group";
    const SUMMARY: &'static str = "Count hits by several values at once, also of neighbours";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Groups;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Groups>, QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        // Neighbours are positions: only documents that the client may read.
        let levels = self.levels(context)?;
        let mut rewrites = Vec::new();
        let min = context.min_counts(self.min, &mut rewrites).0;
        let most = usize::try_from(self.limit.limit).unwrap_or(usize::MAX);
        let (found, tokens) = if context.is_sharded() {
            let search = SearchPart::positions(&self.search.q, MatchRule::default(), filter.as_ref());
            let part = GroupPart { search, levels: levels.iter().map(Into::into).collect() };
            let counted = context.gather(&part)?;
            (LevelCounts::rank(counted.rows, counted.hits, min, most), counted.tokens)
        } else {
            // Only the texts of the rows are made.
            let search = context.search(&self.search.q, MatchRule::default(), filter.as_ref())?;
            (search.by_levels(&levels, min, most, &context.limits), search.tokens())
        };
        let is_complete = found.complete && !context.is_cut_off();
        let rows = found.rows.into_iter().map(|(values, hits)| GroupRow {
            values,
            hits,
            share: is_complete.then(|| hits as f64 / found.hits.max(1) as f64),
            per_million: per_million(hits as f64, tokens as f64).filter(|_| is_complete),
        });
        let (hits, values) = (found.hits, found.values);
        let body = Groups { by: self.by.clone(), hits, tokens, values, rows: rows.collect() };
        let asked = (Some(&*self.search.q), filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, rewrites, body))
    }
}
