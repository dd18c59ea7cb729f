//! Frequencies of the values of hits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use super::params::{LimitParams, MeasureParams, SearchParams};
use super::shards::{AttributeValuesPart, FieldValuesPart, SearchPart, SpanValuesPart};
use super::{Answered, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::{Attribute, MatchRule};
use crate::engine::{Cells, FieldCount};
use crate::measure::{per_million, share};
use crate::trend::Step;

/// Counts the hits of a query by the values of an attribute or a field.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FreqRequest {
    /// The query.
    #[serde(flatten)]
    pub search: SearchParams,
    /// Count by word, lc, lemma, tag, feats, a feature such as Case or another layer of the hit, by a field of its document
    /// such as site, date, feed, topic, or by an attribute of the span that the hit is or lies within, such as ne.name.
    #[serde(default = "lower_case")]
    #[schemars(extend("x-value-name" = "NAME"))]
    pub by: String,
    /// The measures.
    #[serde(flatten)]
    pub measures: MeasureParams,
    /// The number of rows.
    #[serde(flatten)]
    pub limit: LimitParams,
}

fn lower_case() -> String {
    Attribute::Lc.name().to_owned()
}

answer! {
    /// Frequencies of the values of hits, the most frequent first, equals by value.
    pub struct Frequencies {
        /// The attribute or field.
        pub by: String,
        /// All hits; those found until the limit if the answer is cut off.
        pub hits: u64,
        /// Tokens of the documents searched.
        pub tokens: u64,
        /// The number of different values.
        pub values: u64,
        /// The values.
        pub rows: Vec<FrequencyRow>,
    }

    /// The frequency of one value.
    pub struct FrequencyRow {
        /// The value; for hits of several tokens, the values separated by blanks.
        pub value: String,
        /// Hits with this value.
        pub hits: u64,
        /// Documents with such a hit, if they are asked for and the values are of attributes or fields.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64")]
        pub hit_documents: Option<u64>,
        /// For fields, the documents with this value, if they are asked for; missing if the answer is cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64")]
        pub documents: Option<u64>,
        /// The share of documents with such a hit among them; for attributes, among all documents. Missing if the answer is
        /// cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "f64")]
        pub document_share: Option<f64>,
        /// For fields, the tokens of documents with this value; missing if the answer is cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64")]
        pub tokens: Option<u64>,
        /// Hits per million of those tokens; for attributes, of all tokens. Missing if the answer is cut off.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "f64")]
        pub per_million: Option<f64>,
    }
}

impl FreqRequest {
    /// Keeps the first rows.
    fn cut(&self, mut found: Frequencies) -> Frequencies {
        found.values = self.limit.cut(&mut found.rows);
        found
    }

    /// The cells of counts by a field of documents.
    fn cells(&self) -> Cells<'_> {
        match self.by.as_str() {
            "date" => Cells::Steps(Step::Day),
            "id" | "url" | "title" | "seen" => Cells::Documents,
            field => Cells::Field(field),
        }
    }
}

impl Frequencies {
    /// Ranks the values of hits.
    pub fn rank(by: &str, tokens: u64, rows: impl Iterator<Item = FrequencyRow>) -> Frequencies {
        let mut rows: Vec<FrequencyRow> = rows.collect();
        rows.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.value.cmp(&b.value)));
        let hits = rows.iter().map(|row| row.hits).sum();
        Frequencies { by: by.to_owned(), hits, tokens, values: rows.len() as u64, rows }
    }

    /// The rows of attributes that occur at least `at_least` times. Without an exhaustive search there are no rates.
    fn of_values(
        by: &str,
        (values, (tokens, documents)): (HashMap<String, (u64, u64)>, (u64, u64)),
        at_least: u64,
        is_complete: bool,
    ) -> Frequencies {
        let hits = values.values().map(|(hits, _)| hits).sum();
        let row = |(value, (hits, hit_documents)): (String, (u64, u64))| FrequencyRow {
            value,
            hits,
            hit_documents: Some(hit_documents),
            documents: None,
            document_share: share(hit_documents, documents).filter(|_| is_complete),
            tokens: None,
            per_million: per_million(hits as f64, tokens as f64).filter(|_| is_complete),
        };
        let rows = values.into_iter().filter(|(_, (hits, _))| *hits >= at_least).map(row);
        Frequencies { hits, ..Frequencies::rank(by, tokens, rows) }
    }
}

impl FrequencyRow {
    /// The rows of fields, from the counts of values; values without hits are left out. Without an exhaustive search there
    /// are no rates.
    pub(crate) fn of_field(
        values: impl IntoIterator<Item = (String, FieldCount)>,
        is_complete: bool,
        with_documents: bool,
    ) -> impl Iterator<Item = FrequencyRow> {
        values.into_iter().filter(|(_, count)| count.hits > 0).map(move |(value, count)| {
            let FieldCount { hits, hit_documents, .. } = count;
            let tokens = is_complete.then_some(count.tokens);
            let documents = (is_complete && with_documents).then_some(count.documents);
            FrequencyRow {
                value,
                hits,
                hit_documents: with_documents.then_some(hit_documents),
                documents,
                document_share: documents.and_then(|documents| share(hit_documents, documents)),
                tokens,
                per_million: tokens.and_then(|tokens| per_million(hits as f64, tokens as f64)),
            }
        })
    }

    /// The row without documents with a hit.
    fn without_documents(self) -> FrequencyRow {
        FrequencyRow { hit_documents: None, documents: None, document_share: None, ..self }
    }
}

impl Request for FreqRequest {
    fn example() -> FreqRequest {
        FreqRequest {
            search: SearchParams::example(),
            by: "site".to_owned(),
            measures: MeasureParams::default(),
            limit: LimitParams::default(),
        }
    }
}

impl Question for FreqRequest {
    const NAME: &'static str = "freq";
    const SUMMARY: &'static str = "Count hits by an attribute or a field";
    const ROWS: &'static str = "rows";
    const COST: Cost = Cost::Heavy;
    type Answer = Frequencies;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Frequencies>, QuestionError> {
        let filter = context.filter(&self.search.scope)?;
        let attribute = context.attribute(&self.by);
        let most = usize::try_from(self.limit.limit).unwrap_or(usize::MAX);
        let mut rewrites = Vec::new();
        // Hidden documents are known by sums of their words only, which do not tell how many of them have one.
        let part = |cells| match self.measures.documents {
            true => SearchPart::positions(&self.search.q, MatchRule::default(), filter.as_ref()),
            false => SearchPart::words(&self.search.q, filter.as_ref(), cells),
        };
        let mut found = if let Some(attribute) = attribute {
            context.check_attribute("by", attribute)?;
            let min = match self.search.q.is_single_token() {
                true => 0,
                false => context.min_counts(0, &mut rewrites).0,
            };
            if context.is_sharded() {
                let values = context.gather(&AttributeValuesPart { search: part(Cells::One), attribute })?;
                self.cut(Frequencies::of_values(attribute.name(), values, min, !context.is_cut_off()))
            } else {
                // Only the texts of the rows are made.
                let search = part(Cells::One).search(context)?;
                search.most_frequent_values(attribute, min, most, &context.limits).0
            }
        } else if let Some((span, name)) = self.by.split_once('.') {
            context.check_grouping(&self.by)?;
            // Spans are positions: documents that the client may not read do not count.
            let search = SearchPart::positions(&self.search.q, MatchRule::default(), filter.as_ref());
            let part = SpanValuesPart { search, span: span.to_owned(), attribute: name.to_owned() };
            let (values, tokens) = context.gather(&part)?;
            let min = context.min_counts(0, &mut rewrites).0;
            // The documents of spans are not counted.
            let values = values.into_iter().map(|(value, hits)| (value, (hits, 0))).collect();
            self.cut(Frequencies::of_values(&self.by, (values, (tokens, 0)), min, !context.is_cut_off()))
        } else {
            context.check_grouping(&self.by)?;
            let field = FieldValuesPart { search: part(self.cells()), field: self.by.clone() };
            let (values, tokens) = context.gather(&field)?;
            let rows = FrequencyRow::of_field(values, !context.is_cut_off(), self.measures.documents);
            self.cut(Frequencies::rank(&self.by, tokens, rows))
        };
        if !self.measures.documents || attribute.is_none() && self.by.contains('.') {
            found.rows = found.rows.into_iter().map(FrequencyRow::without_documents).collect();
        }
        let asked = (Some(&*self.search.q), filter.as_ref());
        Ok(context.answered(asked, MatchRule::default(), Exactness::Exact, rewrites, found))
    }
}
