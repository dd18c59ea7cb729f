//! The number of hits of a query.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::SearchParams;
use super::shards::{CountPart, SearchPart};
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::Cells;
use crate::measure::per_million;

/// Counts the hits of a query.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CountRequest {
    /// The query.
    #[serde(flatten)]
    pub search: SearchParams,
}

answer! {
    /// The number of hits of a query.
    pub struct HitCount {
        /// Hits; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// Hits per million tokens; null if the answer is cut off.
        pub per_million: Option<f64>,
    }
}

impl Request for CountRequest {
    fn example() -> CountRequest {
        CountRequest { search: SearchParams::example() }
    }
}

impl Question for CountRequest {
    const NAME: &'static str = "count";
    const SUMMARY: &'static str = "Count the hits of a query";
    const ROWS: &'static str = "";
    const COST: Cost = Cost::Quick;
    type Answer = HitCount;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<HitCount>, QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        let search = SearchPart::words(&self.search.q, filter.as_ref(), Cells::One);
        let (hits, tokens) = context.gather(&CountPart { search })?;
        let rate = per_million(hits as f64, tokens as f64).filter(|_| !context.is_cut_off());
        let body = HitCount { hits, tokens, per_million: rate };
        let asked = (Some(&*self.search.q), filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}
