//! Lists of words and n-grams with their frequencies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{AttributeParams, NgramParams, ScopeParams, WordRowParams};
use super::shards::{PartCells, WordCountsPart};
use super::{Answered, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::engine::{Cells, Reading};
use crate::syntax::ValueMatcher;

/// Lists words or n-grams with their frequencies.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WordsRequest {
    /// Only words that match this regular expression as a whole.
    #[serde(default)]
    #[schemars(extend("x-positional" = true, "x-value-name" = "REGEX"))]
    pub regex: Option<String>,
    /// Minimum hits [default: 1, for n-grams 5].
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub min: Option<u64>,
    /// The documents to count.
    #[serde(flatten)]
    pub scope: ScopeParams,
    /// The attribute to count.
    #[serde(flatten)]
    pub attribute: AttributeParams,
    /// The tokens of a row.
    #[serde(flatten)]
    pub ngram: NgramParams,
    /// The rows.
    #[serde(flatten)]
    pub rows: WordRowParams,
}

/// Minimum hits of n-grams by default: most n-grams of a corpus occur once.
const USUAL_NGRAM_MIN: u64 = 5;

answer! {
    /// Words or n-grams, the most frequent first, equals by value.
    pub struct Words {
        /// The attribute that was counted.
        pub attribute: Attribute,
        /// The tokens of a value: 1 for words. N-grams do not cross sentences.
        pub n: u32,
        /// Tokens of the documents counted.
        pub tokens: u64,
        /// The number of different values.
        pub values: u64,
        /// The values.
        pub rows: Vec<WordRow>,
    }

    /// A word or n-gram.
    pub struct WordRow {
        /// The word; for n-grams, the words separated by blanks.
        pub value: String,
        /// Hits; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Documents with it.
        pub documents: u64,
        /// Hits per million tokens; null if the answer is cut off.
        pub per_million: Option<f64>,
    }
}

impl Request for WordsRequest {
    fn example() -> WordsRequest {
        WordsRequest {
            regex: Some("inter.*".to_owned()),
            min: None,
            scope: ScopeParams::default(),
            attribute: AttributeParams::default(),
            ngram: NgramParams::default(),
            rows: WordRowParams::default(),
        }
    }
}

impl Question for WordsRequest {
    const NAME: &'static str = "words";
    const SUMMARY: &'static str = "List words or n-grams with their frequencies";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Words;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Words>, QuestionError> {
        context.check_attribute("attribute", self.attribute.attribute)?;
        let filter = context.filter(&self.scope)?;
        let reading = if self.ngram.ngram == 1 { Reading::Words(Cells::One) } else { Reading::Positions };
        let matching = self.regex.as_ref().map(ValueMatcher::regex);
        let (attribute, n) = (self.attribute.attribute, self.ngram.ngram as usize);
        let mut rewrites = Vec::new();
        let min = self.min.unwrap_or(if n == 1 { 1 } else { USUAL_NGRAM_MIN });
        let (min, min_documents) = if n == 1 { (min, 0) } else { context.min_counts(min, &mut rewrites) };
        let found = if context.is_sharded() {
            let cells = (n == 1).then_some(PartCells::One);
            let (filter, regex) = (Parsed::of_filter(filter.as_ref()), self.regex.clone());
            let part = WordCountsPart { filter, attribute, ngram: self.ngram.ngram, regex, cells };
            let (counts, (tokens, _)) = context.gather(&part)?;
            let counts = counts.into_iter().map(|(value, (hits, documents))| (value, hits, documents));
            crate::engine::rank_words(attribute, n, tokens, matching.as_ref(), min, counts.collect())
        } else {
            let subcorpus = context.subcorpus_of(filter.as_ref(), reading)?;
            match n {
                1 => context.engine.words(&subcorpus, attribute, matching.as_ref(), min),
                n => context.engine.ngrams(&subcorpus, attribute, n, matching.as_ref(), min),
            }
        };
        let found = found.map(|mut found| {
            found.rows.retain(|row| row.documents >= min_documents);
            found
        });
        let text = self.regex.as_deref().unwrap_or_default();
        let mut found = found.map_err(QuestionError::of_engine("regex", "query", text))?;
        if context.is_cut_off() {
            found.rows.iter_mut().for_each(|row| row.per_million = None);
        }
        found.values = self.rows.cut(&mut found.rows, |row| &row.value);
        Ok(context.answered((None, filter.as_ref()), MatchRule::default(), Exactness::Exact, rewrites, found))
    }
}
