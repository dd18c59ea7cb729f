//! Change of meaning: words whose collocates differ between two parts of a corpus beyond chance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::focus::two_parts;
use super::params::{LimitParams, ScopeParams, usual_fdr};
use super::{
    Answered, ContrastBasis, ContrastUnit, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request,
};
use crate::cql::{Attribute, MatchRule};
use crate::engine::{EngineError, MeaningChanges, MeaningConfig};
use crate::filter::Filter;

/// Lists the words whose collocates differ most between two parts of the corpus, with the collocates gained and lost.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MeaningRequest {
    /// The documents to compare with, a filter such as date=2025.
    #[schemars(extend("x-value-name" = "BEFORE"))]
    pub before: Parsed<Filter>,
    /// The documents in which collocates are gained or lost, a filter such as date=2026.
    #[schemars(extend("x-value-name" = "AFTER"))]
    pub after: Parsed<Filter>,
    /// Minimum hits of a tested word in each part.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// The tokens on each side of a word in which words are its collocates.
    #[serde(default = "usual_window")]
    #[schemars(range(min = 1, max = 50))]
    pub window: u32,
    /// The most collocates gained, and as many lost, of each word.
    #[serde(default = "usual_collocates")]
    #[schemars(range(min = 1, max = 50))]
    pub collocates: u32,
    /// Test names, too: what stands beside a name changes with the news.
    #[serde(default)]
    pub names: bool,
    /// The accepted share of false discoveries among the rows (Benjamini–Hochberg).
    #[serde(default = "usual_fdr")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-value-name" = "SHARE"))]
    pub fdr: f64,
    /// The documents that both parts are taken from.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

fn usual_min() -> u64 {
    20
}

fn usual_window() -> u32 {
    5
}

fn usual_collocates() -> u32 {
    8
}

answer! {
    /// Words whose collocates differ between two parts of a corpus, by distance.
    pub struct MeaningAnswer {
        /// The attribute of words and collocates.
        pub attribute: Attribute,
        /// The filter of the first part.
        pub before: String,
        /// The filter of the second part.
        pub after: String,
        /// Tokens of the first part.
        pub before_tokens: u64,
        /// Tokens of the second part.
        pub after_tokens: u64,
        /// Tokens on each side of a word in which words are its collocates.
        pub window: u32,
        /// The number of words tested.
        pub tested: u64,
        /// Words that are frequent enough, but beyond the 1,000 most frequent ones that one question tests.
        pub untested: u64,
        /// The accepted share of false discoveries among the rows.
        pub false_discovery_rate: f64,
        /// What the test rests on; missing if the answer is cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "ContrastBasis")]
        pub basis: Option<ContrastBasis>,
        /// Remarks on what the test rests on.
        pub notes: Vec<String>,
        /// The number of words that changed; null if the answer is cut off.
        pub values: Option<u64>,
        /// The words; none if the answer is cut off.
        pub rows: Vec<MeaningRow>,
    }

    /// A word whose collocates changed.
    pub struct MeaningRow {
        /// The word.
        pub value: String,
        /// Hits in the first part.
        pub before: u64,
        /// Hits in the second part.
        pub after: u64,
        /// Documents of the first part that are compared: those of each site have as many collocates as in the second part.
        pub before_compared: u64,
        /// Documents of the second part that are compared.
        pub after_compared: u64,
        /// The distance of the collocates beyond chance: 0 as in random halves, 1 if no collocate is in both parts.
        pub distance: f64,
        /// The collocates that were gained, those that make the greatest difference first.
        pub gained: Vec<MeaningCollocate>,
        /// The collocates that were lost.
        pub lost: Vec<MeaningCollocate>,
        /// Probability of such a distance if documents of a site are exchanged between the parts at random.
        pub p: f64,
        /// The same, controlled for the number of words tested (Benjamini–Hochberg).
        pub q: f64,
    }

    /// A collocate that was gained or lost.
    pub struct MeaningCollocate {
        /// The collocate.
        pub value: String,
        /// Hits of the word with the collocate in the window, in the first part.
        pub before: u64,
        /// The same in the second part.
        pub after: u64,
        /// Documents of the first part with such a hit.
        pub before_documents: u64,
        /// Documents of the second part with such a hit.
        pub after_documents: u64,
    }
}

impl Request for MeaningRequest {
    fn example() -> MeaningRequest {
        MeaningRequest {
            before: Parsed::new("date=2025").expect("examples parse"),
            after: Parsed::new("date=2026").expect("examples parse"),
            min: usual_min(),
            window: usual_window(),
            collocates: usual_collocates(),
            names: false,
            fdr: usual_fdr(),
            scope: ScopeParams::default(),
            limit: LimitParams::default(),
        }
    }
}

impl Question for MeaningRequest {
    const NAME: &'static str = "meaning";
    const SUMMARY: &'static str = "Show words whose collocates differ between two parts of the corpus";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = MeaningAnswer;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<MeaningAnswer>, QuestionError> {
        if context.is_sharded() {
            // Windows of many documents would have to be sent.
            return Err(EngineError::NeedsWholeCorpus("the test of collocates").into());
        }
        context.check_filter("before", &self.before)?;
        context.check_filter("after", &self.after)?;
        let within = context.filter(&self.scope)?;
        let (before, after, within) = two_parts(context, (&self.before, &self.after), within, false)?;
        // Collocates are positions: only documents that the client may read.
        let mut rewrites = Vec::new();
        let of_collocate = context.min_counts(1, &mut rewrites);
        let (before, after) = (context.subcorpus(Some(&before))?, context.subcorpus(Some(&after))?);
        let attribute = context.usual_attribute();
        let config = MeaningConfig {
            at_least: self.min,
            window: self.window,
            names: self.names,
            collocates: self.collocates as usize,
            of_collocate,
            false_discovery_rate: self.fdr,
            rows: usize::try_from(self.limit.limit).unwrap_or(usize::MAX),
        };
        let content = context.engine.content_words(attribute, context.corpus).expect("lemmas and words have kinds");
        let found = context.engine.meaning_changes(&before, &after, attribute, &content, &config);
        let MeaningChanges { basis, tested, untested, values, rows } = found;
        // Chance is measured from document to document, however long the parts are.
        let basis = ContrastBasis { unit: ContrastUnit::Document, ..basis };
        let tokens = (context.engine.tokens(&before), context.engine.tokens(&after));
        let mut body = MeaningAnswer {
            attribute,
            before: self.before.to_string(),
            after: self.after.to_string(),
            before_tokens: tokens.0,
            after_tokens: tokens.1,
            window: self.window,
            tested,
            untested,
            false_discovery_rate: self.fdr,
            notes: match tokens {
                (0, _) => vec!["There are no documents before: its filter selects none.".to_owned()],
                (_, 0) => vec!["There are no documents after: its filter selects none.".to_owned()],
                _ => basis.notes_on_sites(),
            },
            basis: Some(basis),
            values: Some(values),
            rows,
        };
        if untested > 0 {
            body.notes.push(format!(
                "Of the words with enough hits only the most frequent ones were tested, and {untested} were not; raise the \
                 minimum or ask about a part of the corpus."
            ));
        }
        if context.is_cut_off() {
            // Parts that are not counted to the end cannot be compared.
            body = MeaningAnswer { tested: 0, basis: None, notes: Vec::new(), values: None, rows: Vec::new(), ..body };
        }
        Ok(context.answered((None, within.as_ref()), MatchRule::default(), Exactness::Exact, rewrites, body))
    }
}
