//! Spans by value: names and quotations.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use super::Part;
use crate::engine::{Reading, Reserved, SpanCount, SpanKey, SpanTally};
use crate::filter::Filter;
use crate::merge::Merge;
use crate::question::{Parsed, QuestionContext, QuestionError};

/// What spans are counted by.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::question) enum PartKey {
    /// A value of an attribute.
    Attribute(String),
    /// A field of their documents.
    Field(String),
}

/// Spans by value, in the documents that a filter admits.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct SpanTallyPart {
    pub(in crate::question) filter: Option<Parsed<Filter>>,
    /// The name of the spans.
    pub(in crate::question) name: String,
    pub(in crate::question) by: PartKey,
    /// An attribute whose values are counted for each row.
    pub(in crate::question) along: String,
    /// Only spans with this value of an attribute.
    pub(in crate::question) only: Option<(String, String)>,
}

/// Spans by value, and the text that they are in.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::question) struct SpanSums {
    /// Counts by value. All documents of a site are in one shard, so that sites add up.
    pub(in crate::question) values: HashMap<String, SpanCount>,
    /// All spans that were selected, also those without a value.
    pub(in crate::question) all: u64,
    /// Tokens in these spans.
    pub(in crate::question) span_tokens: u64,
    /// Tokens of the documents.
    pub(in crate::question) tokens: u64,
    /// Tokens of documents by the field that spans are counted by.
    pub(in crate::question) by_field: HashMap<String, u64>,
    /// The memory of the values of an index.
    #[serde(skip)]
    _memory: Option<Reserved>,
}

impl Merge for SpanSums {
    fn merge_from(&mut self, other: SpanSums) {
        self.values.merge_from(other.values);
        self.all.merge_from(other.all);
        self.span_tokens.merge_from(other.span_tokens);
        self.tokens.merge_from(other.tokens);
        self.by_field.merge_from(other.by_field);
    }
}

impl Part for SpanTallyPart {
    const NAME: &'static str = "spans";
    type Sum = SpanSums;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<SpanSums, QuestionError> {
        let subcorpus = context.subcorpus_of(self.filter.as_deref(), Reading::Positions)?;
        let by = match &self.by {
            PartKey::Attribute(name) => SpanKey::Attribute(name),
            PartKey::Field(name) => SpanKey::Field(name),
        };
        let only = self.only.as_ref().map(|(name, value)| (name.as_str(), value.as_str()));
        let tally = SpanTally { name: &self.name, by, along: &self.along, only };
        let found = context.engine.span_values(&subcorpus, &tally)?;
        let (all, span_tokens) = (found.all, found.tokens);
        let (values, memory) = found.into_values();
        Ok(SpanSums {
            values,
            all,
            span_tokens,
            tokens: context.engine.tokens(&subcorpus),
            by_field: match by {
                SpanKey::Field(name) => context.engine.tokens_by_field(&subcorpus, name),
                SpanKey::Attribute(_) => HashMap::new(),
            },
            _memory: Some(memory),
        })
    }
}
