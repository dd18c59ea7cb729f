//! The thesaurus: words that occur in the same contexts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{LimitParams, ScopeParams};
use super::shards::similar;
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::SimilarTo;

/// Lists words that occur in the same contexts as a lemma.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ThesaurusRequest {
    /// The lemma, as a dictionary lists it.
    #[schemars(extend("x-value-name" = "LEMMA"))]
    pub lemma: String,
    /// The part of speech, such as NOUN [default: the most frequent one].
    #[serde(default)]
    #[schemars(extend("x-value-name" = "TAG"))]
    pub pos: Option<String>,
    /// Minimum hits of similar words.
    #[serde(default = "usual_min")]
    #[schemars(range(min = 1))]
    pub min: u64,
    /// The documents to count.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

/// The maximum number of rows: each needs a vector of its own.
const MAX_ROWS: u64 = 200;

fn usual_min() -> u64 {
    20
}

answer! {
    /// Words that occur in the same contexts, the most similar first.
    pub struct Thesaurus {
        /// The lemma.
        pub lemma: String,
        /// The part of speech of all words; empty if the corpus has no such lemma with a tag.
        pub tag: String,
        /// Hits of the lemma.
        pub hits: u64,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// The number of contexts that are compared: collocates with the highest positive mutual information.
        pub contexts: u64,
        /// The similar words; none if the answer is cut off.
        pub rows: Vec<ThesaurusRow>,
    }

    /// A similar word.
    pub struct ThesaurusRow {
        /// The lemma.
        pub value: String,
        /// Hits of the lemma.
        pub hits: u64,
        /// The cosine of the vectors of contexts: 1 if they are the same, 0 if they share none.
        pub similarity: f64,
        /// The contexts that both words have and that contribute most.
        pub shared: Vec<String>,
    }
}

impl Request for ThesaurusRequest {
    fn example() -> ThesaurusRequest {
        let limit = LimitParams { limit: 20 };
        ThesaurusRequest {
            lemma: "storm".to_owned(),
            pos: None,
            min: usual_min(),
            scope: ScopeParams::default(),
            limit,
        }
    }
}

impl Question for ThesaurusRequest {
    const NAME: &'static str = "thesaurus";
    const SUMMARY: &'static str = "List words that occur in the same contexts";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Thesaurus;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Thesaurus>, QuestionError> {
        let filter = context.filter(&self.scope)?;
        let mut rewrites = Vec::new();
        let (at_least, _) = context.min_counts(self.min, &mut rewrites);
        let asked = SimilarTo {
            lemma: &self.lemma,
            tag: self.pos.as_deref(),
            filter: filter.as_ref(),
            at_least,
            rows: usize::try_from(self.limit.limit.min(MAX_ROWS)).unwrap_or(usize::MAX),
        };
        let found = match context.is_sharded() {
            true => similar(context, &asked)?,
            false => {
                context.note_filter(filter.as_ref())?;
                let filter = context.resolved(filter.as_ref())?;
                context.engine.similar(&SimilarTo { filter: filter.as_deref(), ..asked }, &context.limits)?
            }
        };
        let rows = found.rows.into_iter().map(|row| ThesaurusRow {
            value: row.lemma,
            hits: row.hits,
            similarity: row.similarity,
            shared: row.shared,
        });
        let body = Thesaurus {
            lemma: self.lemma.clone(),
            tag: found.tag,
            hits: found.hits,
            tokens: found.tokens,
            contexts: found.contexts,
            rows: rows.collect(),
        };
        let asked = (None, filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, rewrites, body))
    }
}
