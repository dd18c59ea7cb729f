//! Documents in the layout of large text collections: one JSON object per line with `id`, `text`, `source`, `created`,
//! `added`, and everything else in `metadata`. With tokens, the field `tokens` has the annotated text: paragraphs of sentences
//! of tokens, further attributes as columns, and spans.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidings_model::{
    Annotated, AnnotatedParagraph, Attributes, Document, LayerColumn, Licence, Rights, Token, TokenSpan, feats,
};

use crate::vertical;

#[derive(Serialize)]
struct JsonlDocument<'a> {
    id: &'a str,
    text: String,
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    added: &'a str,
    metadata: Metadata<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<TokensBlock>,
}

/// The annotated text of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokensBlock {
    /// The paragraphs, in reading order.
    pub paragraphs: Vec<TokensParagraph>,
    /// Further attributes, each with a value for every token.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<LayerColumn>,
    /// Spans; positions count the tokens of the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<TokenSpan>,
}

/// A paragraph of an annotated text. A token is a list: word, lemma, tag, whether white space follows, features.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokensParagraph {
    /// Its type.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Its language, if it differs from that of the document.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// Its sentences.
    pub sentences: Vec<Vec<Token>>,
}

impl TokensBlock {
    /// The annotated text of a document.
    pub fn of(text: &Annotated) -> TokensBlock {
        let paragraph = |paragraph: &AnnotatedParagraph| TokensParagraph {
            kind: paragraph.kind.clone(),
            language: paragraph.language.clone(),
            sentences: paragraph.sentences.clone(),
        };
        TokensBlock {
            paragraphs: text.paragraphs.iter().map(paragraph).collect(),
            columns: text.columns.clone(),
            spans: text.spans.clone(),
        }
    }

    /// The annotated text, without attributes of the document. Columns of another length, columns with names that other
    /// formats cannot write, and spans outside the text are left out.
    pub fn into_annotated(self) -> Annotated {
        let paragraph = |paragraph: TokensParagraph| AnnotatedParagraph {
            kind: paragraph.kind,
            language: paragraph.language,
            sentences: paragraph.sentences,
        };
        let mut text = Annotated {
            paragraphs: self.paragraphs.into_iter().map(paragraph).collect(),
            columns: self.columns,
            spans: self.spans,
            ..Annotated::default()
        };
        let tokens = text.tokens().count();
        text.columns.retain(|column| column.values.len() == tokens && vertical::is_layer_name(&column.layer.name));
        for span in &mut text.spans {
            span.attributes.retain(|(name, _)| vertical::is_name(name));
        }
        text.spans
            .retain(|span| span.start < span.end && span.end as usize <= tokens && vertical::is_span_name(&span.name));
        for token in text.paragraphs.iter_mut().flat_map(|paragraph| paragraph.sentences.iter_mut().flatten()) {
            token.feats = feats::canonical(&token.feats).unwrap_or_default().into();
        }
        text.spans.sort_by(TokenSpan::file_order);
        text
    }
}

#[derive(Serialize)]
struct Metadata<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    authors: &'a [String],
    language: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    language_score: Option<f32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    declared_language: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    site_name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    categories: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    date_source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_confidence: Option<f32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    modified: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    feed: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    canonical: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    alternates: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    licence: Option<&'a Licence>,
    #[serde(skip_serializing_if = "Rights::is_empty")]
    rights: &'a Rights,
    /// Labels of its feed, and other fields for filters.
    fields: serde_json::Map<String, serde_json::Value>,
    extractor: &'a str,
}

/// Fields with another position in the line.
const ELSEWHERE: [&str; 7] = ["site", "feed", "lang", "licence", "section", "author", "dated_by"];

/// The line of a document, with its end; `text` is its annotated text, if the line has tokens.
pub fn write(document: &Document, attributes: &Attributes, text: Option<&Annotated>) -> Vec<u8> {
    let about = &document.about;
    let others = attributes.fields.iter().filter(|(name, _)| !ELSEWHERE.contains(&name.as_str()));
    let line = JsonlDocument {
        id: &document.id,
        text: document.text(),
        source: &document.site,
        created: document.dated.as_ref().map(|dated| format!("{}T00:00:00.000Z", dated.day)),
        added: &document.downloaded,
        metadata: Metadata {
            url: &document.url,
            title: &about.title,
            authors: &about.authors,
            language: &about.language,
            language_score: about.language_score,
            declared_language: &about.declared_language,
            site_name: &about.site_name,
            description: &about.description,
            categories: &about.categories,
            tags: &about.tags,
            date_source: document.dated.as_ref().map(|dated| dated.source.as_str()),
            date_confidence: document.dated.as_ref().map(|dated| dated.confidence),
            modified: &about.modified,
            feed: &document.feed,
            canonical: &about.canonical,
            alternates: &about.alternates,
            licence: about.licence.as_ref(),
            rights: &document.rights,
            fields: others.map(|(name, value)| (name.clone(), value.clone().into())).collect(),
            extractor: &document.extractor,
        },
        tokens: text.map(TokensBlock::of),
    };
    let mut out = serde_json::to_vec(&line).expect("documents serialise");
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use tidings_model::{LayerDeclaration, LayerKind};

    #[test]
    fn a_line_has_the_expected_fields() {
        let attributes = Attributes {
            fields: [("site", "e.org"), ("topic", "weather")].map(|(n, v)| (n.to_owned(), v.to_owned())).into(),
            ..Attributes::default()
        };
        let line = write(&sample::article(), &attributes, None);
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!((&value["source"], &value["created"]), (&"e.org".into(), &"2026-03-01T00:00:00.000Z".into()));
        assert!(value["text"].as_str().unwrap().starts_with("Rain & flood\nIt rained"));
        assert_eq!(value["metadata"]["licence"]["name"], "CC-BY-4.0");
        assert_eq!(value["metadata"]["fields"], serde_json::json!({ "topic": "weather" }));
    }

    #[test]
    fn tokens_columns_and_spans_are_read_as_they_were_written() {
        let layer = LayerDeclaration { name: "syllables".into(), kind: LayerKind::Number, origin: "toy 1".into() };
        let token =
            |word: &str| Token { feats: "Number=Sing".into(), space_after: true, ..Token::new(word, word, "X") };
        let paragraph = |words: &[&str]| AnnotatedParagraph {
            kind: "p".into(),
            sentences: vec![words.iter().map(|word| token(word)).collect()],
            ..AnnotatedParagraph::default()
        };
        let text = Annotated {
            paragraphs: vec![paragraph(&["Ann", "Lee"]), paragraph(&["slept"])],
            columns: vec![LayerColumn { layer, values: ["1", "", "1"].map(String::from).to_vec() }],
            spans: vec![TokenSpan::new("quote", 0, 3), TokenSpan::new("ne", 0, 2).with("type", "PER")],
            ..Annotated::default()
        };
        #[derive(serde::Deserialize)]
        struct Line {
            tokens: TokensBlock,
        }
        let line = write(&sample::article(), &Attributes::default(), Some(&text));
        let mut read: Line = serde_json::from_slice(&line).unwrap();
        assert_eq!(read.tokens.clone().into_annotated(), text);
        read.tokens.columns[0].values.pop();
        read.tokens.spans[0].end = 4;
        let read = read.tokens.into_annotated();
        assert_eq!((read.columns.len(), read.spans.len()), (0, 1), "what does not fit the tokens is left out");
    }
}
