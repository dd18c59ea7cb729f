//! Level shifts: words whose rate changes at once and stays changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{SeriesParams, TestParams};
use super::series::SeriesTest;
use super::trends::as_texts;
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request, as_text};
use crate::cql::{Attribute, MatchRule};
use crate::engine::{SeriesConfig, TestedWord, WordStep};
use crate::trend::Bin;

/// Tests the whole vocabulary for words whose rate changes at once and stays changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StepsRequest {
    /// The series of words.
    #[serde(flatten)]
    pub series: SeriesParams,
    /// The test.
    #[serde(flatten)]
    pub test: TestParams,
}

answer! {
    /// Words whose rate changes at once, the surest first.
    pub struct Steps {
        /// The attribute that was counted.
        pub attribute: Attribute,
        /// The time steps with enough tokens.
        #[serde(serialize_with = "as_texts")]
        #[schemars(with = "Vec<String>")]
        pub bins: Vec<Bin>,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// Sites with text; words are tested within them.
        pub sites: u64,
        /// The number of words tested.
        pub tested: u64,
        /// The number of words that are frequent enough and not tested: punctuation, numbers, dates, function words.
        pub left_out: u64,
        /// The accepted share of false discoveries among the rows.
        pub false_discovery_rate: f64,
        /// The number of words whose rate changes at once; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<StepRow>,
    }

    /// A word whose rate changes at once.
    pub struct StepRow {
        /// The word.
        pub value: String,
        /// Hits in all steps.
        pub hits: u64,
        /// Documents with it.
        pub documents: u64,
        /// The first time step of the new level.
        #[serde(serialize_with = "as_text")]
        #[schemars(with = "String")]
        pub bin: Bin,
        /// Binary logarithm of the rate from then on by that before, within sites.
        #[schemars(with = "Option<f64>")]
        pub log_ratio: f64,
        /// Probability by chance.
        #[schemars(with = "Option<f64>")]
        pub p: f64,
        /// The same, controlled for the number of words tested (Benjamini–Hochberg).
        #[schemars(with = "Option<f64>")]
        pub q: f64,
        /// Hits per million tokens in each step.
        pub per_million: Vec<f64>,
    }
}

impl StepRow {
    fn of(word: TestedWord<WordStep>) -> StepRow {
        let TestedWord { value, hits, documents, per_million, p, q, found } = word;
        let WordStep { at, log_ratio } = found;
        StepRow { value, hits, documents, bin: at, log_ratio, p, q, per_million }
    }
}

impl Request for StepsRequest {
    fn example() -> StepsRequest {
        StepsRequest { series: SeriesParams::default(), test: TestParams::default() }
    }
}

impl Question for StepsRequest {
    const NAME: &'static str = "steps";
    const SUMMARY: &'static str = "Show which words change at once and stay changed";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Steps;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Steps>, QuestionError> {
        let attribute = self.series.attribute.of(context)?;
        let min = &self.series.min;
        let config = SeriesConfig { min_documents: *min, false_discovery_rate: self.test.fdr };
        let SeriesTest { found, values, tokens, filter } = SeriesTest::new(
            context,
            &self.series,
            |cells, bins| cells.steps(bins, &config),
            |rows| self.test.keep(rows, |row| row.found.log_ratio),
        )?;
        let body = Steps {
            attribute,
            bins: found.bins,
            tokens,
            sites: found.sites,
            tested: found.tested,
            left_out: found.left_out,
            false_discovery_rate: self.test.fdr,
            values,
            rows: found.rows.into_iter().map(StepRow::of).collect(),
        };
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}
