//! The distribution of hits over the corpus.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::SearchParams;
use super::shards::{HitPlacesPart, SearchPart};
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::{HitDispersion, HitPlaces};

/// Shows how evenly hits are spread over the corpus.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DispersionRequest {
    /// The query.
    #[serde(flatten)]
    pub search: SearchParams,
    /// The number of equal parts of the corpus, the oldest documents first.
    #[serde(default = "usual_parts")]
    #[schemars(range(min = 1, max = 1000))]
    pub parts: u32,
}

fn usual_parts() -> u32 {
    20
}

answer! {
    /// The distribution of hits over the corpus, whose documents are in the order of time.
    pub struct DispersionAnswer {
        /// All hits; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// Documents with a hit.
        pub documents: u64,
        /// The average reduced frequency: the hits if they are spread evenly, 1 if they are all in one place. Null if the answer
        /// is cut off.
        pub arf: Option<f64>,
        /// The average logarithmic distance frequency, between 1 and the hits; null if the answer is cut off.
        pub aldf: Option<f64>,
        /// Gries' deviation of proportions over the parts: 0 if hits are spread evenly, near 1 if they are all in one part. Null
        /// if there are none, or the answer is cut off.
        pub dp: Option<f64>,
        /// The parts.
        pub rows: Vec<DispersionRow>,
    }

    /// A part of the corpus.
    pub struct DispersionRow {
        /// Its number, from 1.
        pub part: u64,
        /// The day of its first token; null if the corpus has fewer tokens than parts.
        pub first: Option<String>,
        /// Hits that start in it; null if the answer is cut off.
        pub hits: Option<u64>,
    }
}

impl Request for DispersionRequest {
    fn example() -> DispersionRequest {
        DispersionRequest { search: SearchParams::example(), parts: usual_parts() }
    }
}

impl Question for DispersionRequest {
    const NAME: &'static str = "dispersion";
    const SUMMARY: &'static str = "Show how evenly hits are spread over the corpus (ARF, ALDF, DP)";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = DispersionAnswer;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<DispersionAnswer>, QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        let (found, tokens) = match context.is_sharded() {
            true => {
                let search = SearchPart::positions(&self.search.q, MatchRule::default(), filter.as_ref());
                let part = HitPlacesPart { search };
                let shards = context.gather_each(|_| Some(&part))?;
                let shards: Vec<HitPlaces> = shards.into_iter().flatten().collect();
                let tokens = shards.iter().flat_map(|shard| shard.days.values()).map(|(tokens, _)| tokens);
                let tokens = tokens.fold(0u64, |sum, tokens| sum.saturating_add(*tokens));
                let is_complete = !context.is_cut_off();
                (HitDispersion::of_shards(&shards, self.parts as usize, is_complete), tokens)
            }
            false => {
                // Positions of hits: only documents that the client may read.
                let search = context.search(&self.search.q, MatchRule::default(), filter.as_ref())?;
                (search.dispersion(self.parts as usize, &context.limits), search.tokens())
            }
        };
        let measures = found.measures.filter(|_| !context.is_cut_off());
        let share = |hits: u64| hits as f64 / found.hits.max(1) as f64;
        let expected = 1.0 / f64::from(self.parts);
        let dp = found.parts.iter().map(|part| (share(part.hits) - expected).abs()).sum::<f64>() / 2.0;
        let rows = (1..).zip(&found.parts).map(|(part, found)| DispersionRow {
            part,
            first: found.first.map(|day| day.to_string()),
            hits: measures.map(|_| found.hits),
        });
        let body = DispersionAnswer {
            hits: found.hits,
            tokens,
            documents: found.documents,
            arf: measures.map(|measures| measures.arf),
            aldf: measures.map(|measures| measures.aldf),
            dp: measures.map(|_| dp).filter(|_| found.hits > 0),
            rows: rows.collect(),
        };
        let asked = (Some(&*self.search.q), filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}
