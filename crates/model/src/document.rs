//! Documents: the clean text of a page, its structure and its metadata.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Rights;
use crate::annotated::Token;
use crate::layer::LayerColumn;
use crate::layer_record::LayerNames;
use crate::span_part::{SpanPart, kept_before};

/// A document as stored in `docs/`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// A stable 128-bit hash of the normalised URL and the content, in hexadecimal.
    pub id: String,
    /// The URL that was requested.
    pub url: String,
    /// The host that published it.
    pub site: String,
    /// The feed that listed it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub feed: String,
    /// The publication date and its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dated: Option<Dated>,
    /// The time of download, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub downloaded: String,
    /// The times of the earlier downloads of its URL that it revises, RFC 3339; empty on a first download.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub revises: Vec<String>,
    /// Rights statements of the publisher, as evidence.
    #[serde(skip_serializing_if = "Rights::is_empty")]
    pub rights: Rights,
    /// Metadata declared by the page.
    #[serde(flatten)]
    pub about: PageMetadata,
    /// The text, in reading order.
    pub paragraphs: Vec<Paragraph>,
    /// Reader comments, if their extraction is enabled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Paragraph>,
    /// Where each comment begins in `comments`, with its author and day.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comment_starts: Vec<CommentStart>,
    /// Paragraphs dropped after extraction, each with its reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<DroppedParagraph>,
    /// The number of masked items per type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub masked: BTreeMap<String, u32>,
    /// Other metadata of an imported document: name to value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The extractor and its version: a change of extractor changes the corpus.
    pub extractor: String,
}

/// Metadata declared by a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageMetadata {
    /// The headline, without the name of the site.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Names of persons, or of organisations if no person is named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// The day of the last modification, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub modified: String,
    /// The name of the site.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub site_name: String,
    /// A short description for search engines and link previews.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Sections of the site.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The language (BCP 47): detected from the text if detection is enabled, otherwise as declared.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// The confidence of language detection, from 0 to 1; `None` if it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_score: Option<f32>,
    /// The declared language, if detection disagrees.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub declared_language: String,
    /// The type of the page: `article`, `forum`, `documentation`, `product` or `listing`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub page_type: String,
    /// The licence stated on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<Licence>,
    /// The canonical URL declared by the page.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub canonical: String,
    /// Translations of the page: language to URL.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub alternates: BTreeMap<String, String>,
    /// The URL of the lead image.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub image: String,
}

/// The beginning of a reader comment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentStart {
    /// The index of its first paragraph in [`Document::comments`].
    pub paragraph: usize,
    /// The name of its author as displayed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The day on which it was written, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub date: String,
}

/// A licence and its evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Licence {
    /// A short name such as `CC-BY-SA-4.0`, or the wording of the page.
    pub name: String,
    /// The URL of the licence text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// The place that states it: `json-ld`, `link`, `meta`, `anchor`, `text`.
    pub evidence: String,
}

/// A date with its source and confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dated {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// The source: `json-ld`, `meta`, `microdata`, `time`, `url`, `text`, `script`, `image`, `feed`, `http`, `seen`.
    pub source: String,
    /// The accuracy of this source on pages with a known date, from 0 to 1.
    pub confidence: f32,
    /// Anomalies: `future-feed-date`, `rolling-feed-date`, `disagreement` and others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// A block of text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Paragraph {
    /// The type of block.
    #[serde(flatten)]
    pub kind: ParagraphKind,
    /// The text: lines end with `\n`, cells of a row are separated by `\t`.
    pub text: String,
    /// Emphasis, links and other marks, ordered by start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// The language, if it differs from the document's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// Sentences that were imported with it. They are valid as long as they match the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<Vec<Token>>,
    /// Further attributes of their tokens, each with a value per token of the paragraph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<LayerColumn>,
    /// Spans over their tokens, counted from the start of the paragraph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_spans: Vec<SpanPart>,
}

/// A dropped paragraph and the reason.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DroppedParagraph {
    /// The number of kept paragraphs before it.
    pub after: usize,
    /// The rule that dropped it.
    pub reason: String,
    /// The paragraph.
    #[serde(flatten)]
    pub paragraph: Paragraph,
}

/// The type of a paragraph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ParagraphKind {
    /// Running text.
    #[default]
    P,
    /// A heading.
    Heading {
        /// The level, 1 to 6; 1 is the highest.
        level: u8,
    },
    /// An item of a list.
    Item {
        /// The nesting depth of the list.
        depth: u8,
        /// True for a numbered list.
        ordered: bool,
    },
    /// A quotation.
    Quote,
    /// Program code, with white space preserved.
    Code,
    /// A row of a table.
    Row {
        /// True if its cells are column headers.
        header: bool,
    },
}

impl ParagraphKind {
    /// The name in annotated text.
    pub fn name(self) -> &'static str {
        match self {
            ParagraphKind::P => "p",
            ParagraphKind::Heading { .. } => "heading",
            ParagraphKind::Item { .. } => "item",
            ParagraphKind::Quote => "quote",
            ParagraphKind::Code => "code",
            ParagraphKind::Row { .. } => "row",
        }
    }

    /// The type with this name; [`ParagraphKind::P`] for unknown names.
    pub fn from_name(name: &str) -> ParagraphKind {
        let plain = [
            ParagraphKind::Heading { level: 2 },
            ParagraphKind::Item { depth: 1, ordered: false },
            ParagraphKind::Quote,
            ParagraphKind::Code,
            ParagraphKind::Row { header: false },
        ];
        plain.into_iter().find(|kind| kind.name() == name).unwrap_or_default()
    }
}

/// A marked byte range of a paragraph's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The start offset.
    pub start: usize,
    /// The end offset.
    pub end: usize,
    /// The mark.
    #[serde(flatten)]
    pub mark: Mark,
}

/// Inline markup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "lowercase")]
pub enum Mark {
    /// Bold.
    Strong,
    /// Italic.
    Emphasis,
    /// Inline program code.
    Code,
    /// A link, if links are kept.
    Link {
        /// The target.
        href: String,
    },
}

impl Paragraph {
    /// Removes the imported tokens with their layers.
    pub fn clear_sentences(&mut self) {
        self.sentences.clear();
        self.columns.clear();
        self.token_spans.clear();
    }

    /// Keeps the further layers of some of its tokens, given a flag for each. The tokens themselves are the caller's
    /// matter.
    pub fn retain_layers(&mut self, is_kept: &[bool]) {
        for column in &mut self.columns {
            let mut flags = is_kept.iter();
            column.values.retain(|_| *flags.next().unwrap_or(&false));
        }
        if !self.token_spans.is_empty() {
            let positions = kept_before(is_kept);
            self.token_spans.retain_mut(|part| part.span.move_to(&positions));
        }
    }

    /// The byte range of each imported sentence with its tokens; `None` if there are none or they do not match the
    /// text.
    pub fn aligned_sentences(&self) -> Option<Vec<(Range<usize>, &[Token])>> {
        let mut told = Vec::with_capacity(self.sentences.len());
        let mut at = 0;
        for sentence in self.sentences.iter().filter(|sentence| !sentence.is_empty()) {
            let mut start = None;
            for token in sentence {
                let rest = self.text[at..].trim_start();
                if token.word.is_empty() || !rest.starts_with(token.word.as_str()) {
                    return None;
                }
                let word = self.text.len() - rest.len();
                start.get_or_insert(word);
                at = word + token.word.len();
            }
            told.push((start.unwrap_or(at)..at, &sentence[..]));
        }
        (!told.is_empty() && self.text[at..].trim_start().is_empty()).then_some(told)
    }
}

impl Document {
    /// The names of the layers that it was imported with.
    pub fn imported_layers(&self) -> LayerNames {
        let mut names = LayerNames::default();
        for paragraph in &self.paragraphs {
            names.columns.extend(paragraph.columns.iter().map(|column| column.layer.name.clone()));
            names.spans.extend(paragraph.token_spans.iter().map(|part| part.span.name.clone()));
        }
        names
    }

    /// Computes the id. The same URL and text give the same id everywhere.
    pub fn identify(&mut self) {
        let mut key = crate::address::identity(&self.url).unwrap_or_else(|| self.url.clone());
        key.push('\n');
        key.push_str(&self.text());
        self.id = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(key.as_bytes()));
    }

    /// The plain text, one paragraph per line.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.paragraphs.iter().map(|paragraph| paragraph.text.len() + 1).sum());
        for paragraph in &self.paragraphs {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&paragraph.text);
        }
        text
    }

    /// The language code for partitioning: the primary subtag if it has two or three letters, otherwise `und`.
    pub fn language_code(&self) -> String {
        let code = self.about.language.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_code = (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase());
        if is_code { code } else { "und".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{LayerDeclaration, LayerKind, TokenSpan};

    fn document(url: &str, texts: &[&str]) -> Document {
        let paragraphs = texts.iter().map(|text| Paragraph { text: (*text).to_owned(), ..Paragraph::default() });
        Document { url: url.to_owned(), paragraphs: paragraphs.collect(), ..Document::default() }
    }

    #[test]
    fn the_id_depends_on_the_normalised_url_and_the_text_only() {
        let id = |url: &str, texts: &[&str]| {
            let mut document = document(url, texts);
            document.identify();
            document.id
        };
        let plain = id("http://e.org/a", &["One.", "Two."]);
        assert_eq!(plain.len(), 32);
        assert_eq!(plain, id("http://E.org/a?utm_source=b#c", &["One.", "Two."]));
        assert_ne!(plain, id("http://e.org/b", &["One.", "Two."]));
        assert_ne!(plain, id("http://e.org/a", &["One.Two."]));
        assert_ne!(id("x", &["a"]), id("y", &["a"]), "an invalid URL is hashed as it is");
    }

    #[test]
    fn imported_sentences_are_valid_while_they_match_the_text() {
        let token = |word: &str| Token { word: word.into(), ..Token::default() };
        let sentences = vec![vec![token("Rain"), token(".")], vec![token("Sun")]];
        let paragraph =
            |text: &str| Paragraph { text: text.to_owned(), sentences: sentences.clone(), ..Paragraph::default() };
        let spans = |text: &str| {
            let paragraph = paragraph(text);
            paragraph.aligned_sentences().map(|told| told.into_iter().map(|(span, _)| span).collect::<Vec<_>>())
        };
        assert_eq!(spans("Rain.  Sun"), Some(vec![0..5, 7..10]));
        assert_eq!(spans("Rain. [MASKED]"), None);
        assert_eq!(spans("Rain. Sun and more"), None);
        assert_eq!(Paragraph::default().aligned_sentences(), None);
    }

    #[test]
    fn layers_follow_the_tokens_that_are_kept() {
        let layer = LayerDeclaration { name: "n".into(), kind: LayerKind::Number, origin: String::new() };
        let part = |start, end| SpanPart { span: TokenSpan::new("ne", start, end), part_of: 0 };
        let mut paragraph = Paragraph {
            columns: vec![LayerColumn { layer, values: ["0", "1", "2", "3"].map(String::from).to_vec() }],
            token_spans: vec![part(0, 2), part(1, 2), part(1, 4)],
            ..Paragraph::default()
        };
        let bytes = serde_json::to_string(&paragraph).unwrap();
        assert_eq!(serde_json::from_str::<Paragraph>(&bytes).unwrap(), paragraph);
        paragraph.retain_layers(&[true, false, true, true]);
        assert_eq!(paragraph.columns[0].values, ["0", "2", "3"]);
        assert_eq!(paragraph.token_spans, [part(0, 1), part(1, 3)], "a span without a token is removed");
    }

    #[test]
    fn the_language_code_of_a_malformed_tag_is_und() {
        let code = |language: &str| {
            let about = PageMetadata { language: language.to_owned(), ..PageMetadata::default() };
            Document { about, ..Document::default() }.language_code()
        };
        let tags = ["de", "de-AT", "PT_br", "gsw", "", "english", "../x", "e\u{e9}", "x-klingon", "12"];
        let codes = ["de", "de", "pt", "gsw", "und", "und", "und", "und", "und", "und"];
        assert_eq!(tags.map(code), codes);
    }
}
