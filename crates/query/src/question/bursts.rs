//! Bursts: words that were in the news for a while.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{AttributeParams, LimitParams, PanelParams, ScopeParams};
use super::trends::panel_subcorpus;
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
    pub attribute: AttributeParams,
    /// The length of a time step.
    #[serde(default = "week")]
    #[schemars(extend("x-value-name" = "STEP"))]
    pub by: Step,
    /// The panel of sites.
    #[serde(flatten)]
    pub panel: PanelParams,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

fn week() -> Step {
    Step::Week
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
        /// The number of words with a burst; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words.
        pub rows: Vec<BurstRow>,
    }

    /// A word with its strongest burst.
    pub struct BurstRow {
        /// The word.
        pub value: String,
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
            attribute: AttributeParams::default(),
            by: week(),
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
        context.check_attribute("attribute", self.attribute.attribute)?;
        let (subcorpus, filter) = panel_subcorpus(context, &self.scope, &self.panel, self.by)?;
        let mut found = context.engine.bursts(&subcorpus, self.attribute.attribute, self.by, &BurstConfig::default());
        found.values = Some(self.limit.cut(&mut found.rows));
        if context.is_cut_off() {
            // A test of a part of the tokens would find other words.
            found = Bursts { values: None, rows: Vec::new(), ..found };
        }
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, Vec::new(), found))
    }
}
