//! One document: its metadata and, where it may be shown, its text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tidings_model::{Annotated, AnnotatedParagraph, TokenSpan};

use super::documents::metadata;
use super::shards::DocumentPart;
use super::{Answered, Availability, Cost, Exactness, Parsed, Question, QuestionContext, QuestionError, Request};
use crate::cql::{MatchRule, Query};
use crate::engine::EngineError;

/// Shows the metadata of a document and its text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DocumentRequest {
    /// The id of the document, 32 hexadecimal digits.
    #[schemars(extend("x-value-name" = "ID"))]
    pub id: String,
    /// The query whose hits are marked: a word, several words, or CQL.
    #[serde(default)]
    pub q: Option<Parsed<Query>>,
}

answer! {
    /// The metadata of a document and, where it may be shown, its text.
    #[derive(serde::Deserialize)]
    pub struct Document {
        /// The id, 32 hexadecimal digits.
        pub id: String,
        /// The day of publication.
        pub date: String,
        /// The day of the download.
        pub seen: String,
        /// The title.
        pub title: String,
        /// The address.
        pub url: String,
        /// Tokens.
        pub tokens: u64,
        /// Where the text may be shown.
        pub availability: Availability,
        /// Further fields.
        pub fields: BTreeMap<String, String>,
        /// Whether the text may not be shown.
        pub restricted: bool,
        /// The paragraphs of the text; missing if they may not be shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<String>")]
        pub paragraphs: Option<Vec<String>>,
        /// Names, quotations and other spans of the text, one for each paragraph that they reach; missing if there are none
        /// or they may not be shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub spans: Vec<DocumentSpan>,
        /// Hits of the query, as spans with the name `hit`, one for each paragraph that they reach; missing if there are
        /// none or the text may not be shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub hits: Vec<DocumentSpan>,
    }

    /// A span of the text of a document, inside one paragraph.
    #[derive(serde::Deserialize)]
    pub struct DocumentSpan {
        /// The name, such as `ne` or `quote`.
        pub span: String,
        /// The number of the paragraph, from 0.
        pub paragraph: u64,
        /// The first character in the paragraph, from 0.
        pub start: u64,
        /// The character after the last one.
        pub end: u64,
        /// Names and values of its attributes.
        pub attributes: BTreeMap<String, String>,
    }
}

pub(super) fn unknown() -> QuestionError {
    let message = "there is no document with this id; an id has 32 hexadecimal digits".to_owned();
    QuestionError::NotFound { parameter: "id", message }
}

/// The document of an id, as segment and number.
pub(super) fn find(context: &QuestionContext<'_>, id: &str) -> Result<(usize, u32), QuestionError> {
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = u128::from_str_radix(id, 16).ok().filter(|_| is_id).ok_or_else(unknown)?;
    context.all.snapshot().find_document(id).pop().ok_or_else(unknown)
}

impl Request for DocumentRequest {
    fn example() -> DocumentRequest {
        DocumentRequest { id: "0123456789abcdef0123456789abcdef".to_owned(), q: None }
    }
}

impl Question for DocumentRequest {
    const NAME: &'static str = "document";
    const PATH: &'static str = "documents/{id}";
    const SUMMARY: &'static str = "Show the metadata and the text of a document";
    const ROWS: &'static str = "";
    const COST: Cost = Cost::Quick;
    type Answer = Document;

    fn evaluate(&self, context: &QuestionContext<'_>) -> Result<Answered<Document>, QuestionError> {
        let body = match context.is_sharded() {
            true => context.gather(&DocumentPart { request: self.clone() })?.0.ok_or_else(unknown)?,
            false => self.body(context)?,
        };
        Ok(context.answered((self.q.as_deref(), None), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}

impl DocumentRequest {
    /// The document of an index.
    pub(super) fn body(&self, context: &QuestionContext<'_>) -> Result<Document, QuestionError> {
        let place = find(context, &self.id)?;
        let row = metadata(context, place)?;
        let shows = context.privacy.shows_text(row.availability);
        let annotated = match shows {
            true => Some(context.all.snapshot().annotated(place.0, place.1).map_err(EngineError::from)?),
            false => None,
        };
        let mut hits = Vec::new();
        if let (Some(query), Some(text)) = (&self.q, &annotated) {
            let search = context.search(query, MatchRule::default(), None)?;
            let found = search.in_document(place, &context.limits);
            let found = found.into_iter().map(|(start, end)| TokenSpan::new(HIT, start, end));
            hits = spans(text, &found.collect::<Vec<_>>());
        }
        Ok(Document {
            id: row.id,
            date: row.date,
            seen: row.seen,
            title: row.title,
            url: row.url,
            tokens: row.tokens,
            availability: row.availability,
            fields: row.fields,
            restricted: !shows,
            paragraphs: annotated.as_ref().map(|text| text.paragraphs.iter().map(AnnotatedParagraph::text).collect()),
            spans: annotated.as_ref().map(|text| spans(text, &text.spans)).unwrap_or_default(),
            hits,
        })
    }
}

/// The name of the spans of hits.
const HIT: &str = "hit";

/// Spans of a document by paragraph, with places in characters.
fn spans(document: &Annotated, spans: &[TokenSpan]) -> Vec<DocumentSpan> {
    let mut found = Vec::new();
    let mut first = 0u32;
    for (number, paragraph) in (0..).zip(&document.paragraphs) {
        // Where each token starts and ends.
        let mut places: Vec<(u64, u64)> = Vec::new();
        let mut at = 0;
        for token in paragraph.sentences.iter().flatten() {
            let end = at + token.word.chars().count() as u64;
            places.push((at, end));
            at = end + u64::from(token.space_after);
        }
        let last = first + places.len() as u32;
        for span in spans.iter().filter(|span| span.start < last && span.end > first) {
            let inside = (span.start.max(first) - first) as usize..(span.end.min(last) - first) as usize;
            found.push(DocumentSpan {
                span: span.name.clone(),
                paragraph: number,
                start: places[inside.start].0,
                end: places[inside.end - 1].1,
                attributes: span.attributes.iter().cloned().collect(),
            });
        }
        first = last;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::Token;

    #[test]
    fn a_span_over_paragraphs_is_shown_in_each_with_places_in_characters() {
        let paragraph = |words: &[&str]| AnnotatedParagraph {
            sentences: words.iter().map(|word| vec![Token::new(word, "", "")]).collect(),
            ..AnnotatedParagraph::default()
        };
        let mut document = Annotated {
            paragraphs: vec![paragraph(&["„", "Größer", "wird"]), paragraph(&["es", "nicht"])],
            spans: vec![TokenSpan::new("quote", 1, 4).with("kind", "direct")],
            ..Annotated::default()
        };
        document.paragraphs[0].sentences[0][0].space_after = false;
        let found = spans(&document, &document.spans);
        let places: Vec<(u64, u64, u64)> = found.iter().map(|span| (span.paragraph, span.start, span.end)).collect();
        assert_eq!(places, [(0, 1, 12), (1, 0, 2)]);
        let text: String = document.paragraphs[0].text().chars().skip(1).take(11).collect();
        assert_eq!(text, "Größer wird");
        assert_eq!(found[0].attributes["kind"], "direct");
    }
}
