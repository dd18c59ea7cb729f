//! Level shifts: words whose rate changes at once and stays changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{SeriesParams, TestParams};
use super::trends::{ShardedTest, as_texts, panel_subcorpus};
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
    const SHARDED: bool = true;
    type Answer = Steps;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Steps>, QuestionError> {
        let SeriesParams { scope, attribute, by, min, content, panel, limit } = &self.series;
        let attribute = attribute.of(context)?;
        let config = SeriesConfig { min_documents: *min, false_discovery_rate: self.test.fdr };
        let (mut found, tokens, filter) = if context.is_sharded() {
            let test = ShardedTest::new(context, scope, panel, *by)?;
            let cells = test.cells(context, attribute, *min, content.has_kinds(attribute))?;
            (cells.steps(&test.bins, &config), test.tokens, test.filter)
        } else {
            let (subcorpus, filter) = panel_subcorpus(context, scope, panel, *by)?;
            let content = content.words(context, attribute);
            let found = context.engine.steps(&subcorpus, attribute, *by, &config, content.as_ref());
            (found, context.engine.tokens(&subcorpus), filter)
        };
        self.test.keep(&mut found.rows, |row| row.found.log_ratio);
        let values = limit.cut(&mut found.rows);
        let is_complete = !context.is_cut_off();
        // A test of a part of the tokens would find other words.
        let rows = found.rows.into_iter().filter(|_| is_complete).map(StepRow::of).collect();
        let body = Steps {
            attribute,
            bins: if is_complete { found.bins } else { Vec::new() },
            tokens,
            sites: if is_complete { found.sites } else { 0 },
            tested: if is_complete { found.tested } else { 0 },
            left_out: if is_complete { found.left_out } else { 0 },
            false_discovery_rate: self.test.fdr,
            values: is_complete.then_some(values),
            rows,
        };
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}
