//! Bursts: words that were in the news for a while.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{ContentParams, LimitParams, PanelParams, ScopeParams, TestedAttributeParams};
use super::trends::{ShardedTest, panel_subcorpus};
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::trend::{Bin, BurstConfig, Sequel, Step};

/// Finds the words with the strongest bursts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BurstsRequest {
    /// The documents to count.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The attribute to count.
    #[serde(flatten)]
    pub attribute: TestedAttributeParams,
    /// The length of a time step [default: week; day in corpora of up to four months, month where a week
    /// has few documents].
    #[serde(default)]
    #[schemars(extend("x-value-name" = "STEP"))]
    pub by: Option<Step>,
    /// The words that are tested.
    #[serde(flatten)]
    pub content: ContentParams,
    /// The panel of sites.
    #[serde(flatten)]
    pub panel: PanelParams,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

answer! {
    /// Words with bursts, the strongest first.
    pub struct Bursts {
        /// The attribute that was counted.
        pub attribute: Attribute,
        /// The length of a time step.
        pub step: Step,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// The number of words tested.
        pub tested: u64,
        /// Punctuation, numbers, dates and function words that are frequent enough, but not tested.
        pub left_out: u64,
        /// The accepted share of false discoveries among the rows.
        pub false_discovery_rate: f64,
        /// The number of words with a burst; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<BurstRow>,
    }

    /// A word with its strongest burst.
    pub struct BurstRow {
        /// The word.
        pub value: String,
        /// Whether it is a name, by its tags.
        pub name: bool,
        /// The time step of the burst.
        #[serde(serialize_with = "super::as_text")]
        #[schemars(with = "String")]
        pub bin: Bin,
        /// Log-likelihood against the steps before, times documents divided by hits.
        #[schemars(with = "Option<f64>")]
        pub score: f64,
        /// Binary logarithm of the ratio to the rate before.
        #[schemars(with = "Option<f64>")]
        pub log_ratio: f64,
        /// Probability of such a burst by chance, controlled for the number of words and steps tested (Benjamini–Hochberg).
        #[schemars(with = "Option<f64>")]
        pub q: f64,
        /// Hits in the step.
        pub hits: u64,
        /// Documents with it in the step.
        pub documents: u64,
        /// The course after the burst.
        pub sequel: Sequel,
    }
}

impl Request for BurstsRequest {
    fn example() -> BurstsRequest {
        BurstsRequest {
            scope: ScopeParams::default(),
            attribute: TestedAttributeParams::default(),
            by: Some(Step::Week),
            content: ContentParams::default(),
            panel: PanelParams::default(),
            limit: LimitParams { limit: 20 },
        }
    }
}

impl Question for BurstsRequest {
    const NAME: &'static str = "bursts";
    const SUMMARY: &'static str = "Show words that were in the news for a while";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Bursts;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Bursts>, QuestionError> {
        let attribute = self.attribute.of(context)?;
        let step = match self.by {
            Some(step) => step,
            None => {
                let (days, documents) = context.extent(context.filter(&self.scope)?.as_ref())?;
                Step::of_events(days, documents)
            }
        };
        let config = BurstConfig::default();
        let (mut found, filter) = if context.is_sharded() {
            let test = ShardedTest::new(context, &self.scope, &self.panel, step)?;
            let (least, has_kinds) = (config.min_documents.into(), self.content.has_kinds(attribute));
            let cells = test.cells(context, attribute, least, has_kinds)?;
            (Bursts { tokens: test.tokens, ..cells.bursts((attribute, step), &test.bins, &config) }, test.filter)
        } else {
            let (subcorpus, filter) = panel_subcorpus(context, &self.scope, &self.panel, step)?;
            let content = self.content.words(context, attribute);
            (context.engine.bursts(&subcorpus, attribute, step, &config, content.as_ref()), filter)
        };
        found.values = Some(self.limit.cut(&mut found.rows));
        if context.is_cut_off() {
            // A test of a part of the tokens would find other words.
            found = Bursts { tested: 0, left_out: 0, values: None, rows: Vec::new(), ..found };
        }
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), found))
    }
}
