//! What a corpus has: fields, attributes, spans and its size.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tidings_index::Day;

use super::{Part, PartAnswer};
use crate::merge::Merge;
use crate::question::{CorpusRow, QuestionContext, QuestionError};

/// What a corpus has.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CorpusSchema {
    /// The state: the sum of those of the shards.
    pub generation: u64,
    /// Tokens.
    pub tokens: u64,
    /// Documents.
    pub documents: u64,
    first_day: Option<i32>,
    last_day: Option<i32>,
    /// The fields of documents besides the standard ones.
    pub(in crate::question) fields: BTreeSet<String>,
    /// The attributes of tokens, in order.
    pub(in crate::question) attributes: Vec<String>,
    pub(in crate::question) features: BTreeMap<String, BTreeSet<String>>,
    /// The names of further layers.
    pub(in crate::question) layers: BTreeSet<String>,
    pub(in crate::question) spans: BTreeMap<String, BTreeSet<String>>,
    /// Whether there are documents that the client does not count one by one, among all and among those whose lines it sees.
    pub(in crate::question) is_limited: (bool, bool),
}

impl CorpusSchema {
    /// The corpus in lists.
    pub fn row(&self, language: &str, generation: u64) -> CorpusRow {
        CorpusRow {
            corpus: language.to_owned(),
            generation,
            digest: None,
            tokens: self.tokens,
            documents: self.documents,
            first_day: self.first_day.map(|day| Day(day).to_string()),
            last_day: self.last_day.map(|day| Day(day).to_string()),
            fields: ["date", "seen", "url", "title"]
                .into_iter()
                .map(str::to_owned)
                .chain(self.fields.iter().cloned())
                .collect(),
            attributes: self.attributes.clone(),
            features: self.features.clone(),
            spans: self.spans.clone(),
            layers: Vec::new(),
            frozen: Vec::new(),
        }
    }
}

impl Merge for CorpusSchema {
    fn merge_from(&mut self, other: CorpusSchema) {
        self.generation.merge_from(other.generation);
        self.tokens.merge_from(other.tokens);
        self.documents.merge_from(other.documents);
        self.first_day = [self.first_day, other.first_day].into_iter().flatten().min();
        self.last_day = self.last_day.max(other.last_day);
        self.fields.merge_from(other.fields);
        for name in other.attributes {
            if !self.attributes.contains(&name) {
                self.attributes.push(name);
            }
        }
        self.features.merge_from(other.features);
        self.layers.merge_from(other.layers);
        self.spans.merge_from(other.spans);
        self.is_limited = (self.is_limited.0 || other.is_limited.0, self.is_limited.1 || other.is_limited.1);
    }
}

/// Asks for the schema.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SchemaPart {}

impl Part for SchemaPart {
    const NAME: &'static str = "schema";
    type Sum = CorpusSchema;

    fn compute(&self, context: &QuestionContext<'_>) -> Result<CorpusSchema, QuestionError> {
        let snapshot = context.all.snapshot();
        let with_text = || snapshot.segments().iter().filter(|live| live.documents() > 0).map(|live| live.segment());
        let declared = snapshot.lexicon().declared();
        let spans = snapshot.span_names().into_iter();
        Ok(CorpusSchema {
            generation: snapshot.generation(),
            tokens: snapshot.tokens(),
            documents: snapshot.documents(),
            first_day: with_text().map(|segment| segment.meta().first_day).min(),
            last_day: with_text().map(|segment| segment.meta().last_day).max(),
            fields: with_text().flat_map(|segment| segment.field_names()).map(str::to_owned).collect(),
            attributes: context.all.attributes().into_iter().map(str::to_owned).collect(),
            features: context.all.features().clone(),
            layers: declared.iter().map(|(_, layer)| layer.name.clone()).collect(),
            spans: spans
                .map(|(name, attributes)| (name.to_owned(), attributes.into_iter().map(str::to_owned).collect()))
                .collect(),
            is_limited: (context.privacy.is_limited(context.all), context.privacy.is_limited(context.engine)),
        })
    }
}

/// The schema of the answers of shards.
pub(super) fn merged(answers: &[Option<Vec<u8>>]) -> Result<CorpusSchema, QuestionError> {
    let mut schema: Option<CorpusSchema> = None;
    for answer in answers.iter().flatten() {
        let answer: PartAnswer<CorpusSchema> =
            serde_json::from_slice(answer).map_err(|error| QuestionError::Request(error.to_string()))?;
        match &mut schema {
            None => schema = Some(answer.sum),
            Some(sum) => sum.merge_from(answer.sum),
        }
    }
    schema.ok_or(QuestionError::Timeout)
}
