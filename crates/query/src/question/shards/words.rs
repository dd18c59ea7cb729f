//! Word lists.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use super::{Part, PartCells};
use crate::cql::Attribute;
use crate::engine::Reading;
use crate::filter::Filter;
use crate::question::{Parsed, QuestionContext, QuestionError};
use crate::syntax::ValueMatcher;

/// Hits and documents of words or n-grams, and the tokens of the documents counted.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct WordCountsPart {
    pub(in crate::question) filter: Option<Parsed<Filter>>,
    pub(in crate::question) attribute: Attribute,
    pub(in crate::question) ngram: u32,
    pub(in crate::question) regex: Option<String>,
    /// The cells of counts of single words; without them, counts depend on positions.
    pub(in crate::question) cells: Option<PartCells>,
}

impl Part for WordCountsPart {
    const NAME: &'static str = "words";
    /// The hits and documents of each word; and the tokens and number of the documents counted.
    type Sum = (HashMap<String, (u64, u64)>, (u64, u64));

    fn compute(&self, context: &QuestionContext<'_>) -> Result<Self::Sum, QuestionError> {
        let reading = self.cells.as_ref().map_or(Reading::Positions, |cells| Reading::Words(cells.as_cells()));
        let subcorpus = context.subcorpus_of(self.filter.as_deref(), reading)?;
        let matching = self.regex.as_ref().map(ValueMatcher::regex);
        let found = match self.ngram {
            1 => context.engine.words(&subcorpus, self.attribute, matching.as_ref(), 1),
            n => context.engine.ngrams(&subcorpus, self.attribute, n as usize, matching.as_ref(), 1),
        };
        let text = self.regex.as_deref().unwrap_or_default();
        let found = found.map_err(QuestionError::of_engine("regex", "query", text))?;
        let counts = found.rows.into_iter().map(|row| (row.value, (row.hits, row.documents))).collect();
        Ok((counts, (found.tokens, context.engine.documents(&subcorpus))))
    }
}
