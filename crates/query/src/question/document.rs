//! One document: its metadata and, where it may be shown, its text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::documents::metadata;
use super::{Answered, Availability, Cost, Exactness, Question, QuestionContext, QuestionError, Request};
use crate::cql::MatchRule;
use crate::engine::EngineError;

/// Shows the metadata of a document and its text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DocumentRequest {
    /// The id of the document, 32 hexadecimal digits.
    #[schemars(extend("x-value-name" = "ID"))]
    pub id: String,
}

answer! {
    /// The metadata of a document and, where it may be shown, its text.
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
    }
}

/// The document of an id, as segment and number.
pub(super) fn find(context: &QuestionContext<'_>, id: &str) -> Result<(usize, u32), QuestionError> {
    let unknown = || {
        let message = "there is no document with this id; an id has 32 hexadecimal digits".to_owned();
        QuestionError::NotFound { parameter: "id", message }
    };
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = u128::from_str_radix(id, 16).ok().filter(|_| is_id).ok_or_else(unknown)?;
    context.all.snapshot().find_document(id).pop().ok_or_else(unknown)
}

impl Request for DocumentRequest {
    fn example() -> DocumentRequest {
        DocumentRequest { id: "0123456789abcdef0123456789abcdef".to_owned() }
    }
}

impl Question for DocumentRequest {
    const NAME: &'static str = "document";
    const PATH: &'static str = "documents/{id}";
    const SUMMARY: &'static str = "Show the metadata and the text of a document";
    const ROWS: &'static str = "";
    const COST: Cost = Cost::Quick;
    type Answer = Document;

    fn answer(&self, context: &QuestionContext<'_>) -> Result<Answered<Document>, QuestionError> {
        let place = find(context, &self.id)?;
        let row = metadata(context, place)?;
        let shows = context.privacy.shows_text(row.availability);
        let paragraphs = match shows {
            true => Some(paragraphs(context, place)?),
            false => None,
        };
        let body = Document {
            id: row.id,
            date: row.date,
            seen: row.seen,
            title: row.title,
            url: row.url,
            tokens: row.tokens,
            availability: row.availability,
            fields: row.fields,
            restricted: !shows,
            paragraphs,
        };
        Ok(context.answered((None, None), MatchRule::default(), Exactness::Exact, Vec::new(), body))
    }
}

fn paragraphs(context: &QuestionContext<'_>, (segment, document): (usize, u32)) -> Result<Vec<String>, QuestionError> {
    let annotated = context.all.snapshot().annotated(segment, document).map_err(EngineError::from)?;
    let text = annotated.paragraphs.iter().map(|paragraph| {
        let mut text = String::new();
        for token in paragraph.sentences.iter().flatten() {
            text.push_str(&token.word);
            text.push_str(if token.space_after { " " } else { "" });
        }
        text.trim_end().to_owned()
    });
    Ok(text.collect())
}
