//! A document: the clean text of a page, its structure, and what is known about it.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Rights;
use crate::annotated::Token;

/// One document, as it lies in `docs/`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// A stable 128-bit hash of normalised address and content, in hexadecimal.
    pub id: String,
    /// The address that was asked for.
    pub url: String,
    /// The host that published it.
    pub site: String,
    /// The feed that listed it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub feed: String,
    /// When it was published, and how we know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dated: Option<Dated>,
    /// When the page was downloaded, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub downloaded: String,
    /// What the publisher said about use, as evidence.
    #[serde(skip_serializing_if = "Rights::is_empty")]
    pub rights: Rights,
    /// What the page says about itself.
    #[serde(flatten)]
    pub about: About,
    /// The text, in the order of reading.
    pub paragraphs: Vec<Paragraph>,
    /// What readers wrote below it, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Paragraph>,
    /// Paragraphs that were taken out after extraction, each with its reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// How many things of each kind were masked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub masked: BTreeMap<String, u32>,
    /// What else is known of a document that was imported: name to value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The extractor and its version, because a change of extractor is a change of corpus.
    pub extractor: String,
}

/// What a page says about itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The headline, without the name of the site.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Names of people, or of organisations where no person is named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// The day of the last change, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub modified: String,
    /// What the site calls itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub site_name: String,
    /// A sentence or two for search engines and link previews.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Sections of the site.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The language (BCP 47): told from the text where that was asked for, otherwise as declared.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// Between 0 and 1: how sure the text is of its language; nothing where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_score: Option<f32>,
    /// The language that the page declares, where the text tells another.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub declared_language: String,
    /// The licence the page states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<Licence>,
    /// The address the page prefers for itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub canonical: String,
    /// The same page in other languages: language to address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub alternates: BTreeMap<String, String>,
    /// The address of the lead picture.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub image: String,
}

/// A licence and where it was stated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Licence {
    /// A short name such as `CC-BY-SA-4.0`, or the words of the page.
    pub name: String,
    /// The address of its text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// Where the page says so: `json-ld`, `link`, `meta`, `anchor`.
    pub evidence: String,
}

/// A day with its source and how far it can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dated {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// What said so: `json-ld`, `meta`, `microdata`, `time`, `url`, `text`, `script`, `image`,
    /// `feed`, `http`, `seen`.
    pub source: String,
    /// Between 0 and 1: how often such evidence was right on pages whose date is known.
    pub confidence: f32,
    /// What is odd about it: `future-feed-date`, `rolling-feed-date`, `disagreement` and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// A piece of text that stands by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Paragraph {
    /// What it is on the page.
    #[serde(flatten)]
    pub kind: Kind,
    /// Its text: lines end with `\n`, cells of a row are parted by `\t`.
    pub text: String,
    /// Emphasis, links and the like, in the order of their beginnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// Its language, where that is another than the document's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// Its sentences, where it was imported with them. They hold as long as they tell its text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<Vec<Token>>,
}

/// A paragraph that was taken out, and why.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// How many of the paragraphs that stayed came before it.
    pub after: usize,
    /// The rule that took it out.
    pub reason: String,
    /// The paragraph.
    #[serde(flatten)]
    pub paragraph: Paragraph,
}

/// What a paragraph is on the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// Running text.
    #[default]
    P,
    /// A heading of that rank, 1 to 6.
    Heading {
        /// 1 is the highest.
        level: u8,
    },
    /// An item of a list.
    Item {
        /// How many lists it lies in.
        depth: u8,
        /// Whether the list counts.
        ordered: bool,
    },
    /// A quotation.
    Quote,
    /// Program text, white space kept.
    Code,
    /// A row of a table.
    Row {
        /// Whether its cells head columns.
        header: bool,
    },
}

impl Kind {
    /// The word for it in annotated text.
    pub fn word(self) -> &'static str {
        match self {
            Kind::P => "p",
            Kind::Heading { .. } => "heading",
            Kind::Item { .. } => "item",
            Kind::Quote => "quote",
            Kind::Code => "code",
            Kind::Row { .. } => "row",
        }
    }

    /// What a word stands for, as far as it tells; running text if it is none of ours.
    pub fn of_word(word: &str) -> Kind {
        let plain = [
            Kind::Heading { level: 2 },
            Kind::Item { depth: 1, ordered: false },
            Kind::Quote,
            Kind::Code,
            Kind::Row { header: false },
        ];
        plain.into_iter().find(|kind| kind.word() == word).unwrap_or_default()
    }
}

/// A stretch of a paragraph that is marked, in bytes of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How it is marked.
    #[serde(flatten)]
    pub mark: Mark,
}

/// A way to mark text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "lowercase")]
pub enum Mark {
    /// Bold.
    Strong,
    /// Italic.
    Emphasis,
    /// Program text within a line.
    Code,
    /// A link, kept where that was asked for.
    Link {
        /// Where it leads.
        href: String,
    },
}

impl Paragraph {
    /// Where its sentences lie in its text, each with its tokens; nothing if it has none, or if they tell another text.
    pub fn told_sentences(&self) -> Option<Vec<(Range<usize>, &[Token])>> {
        let mut told = Vec::with_capacity(self.sentences.len());
        let mut at = 0;
        for sentence in self.sentences.iter().filter(|sentence| !sentence.is_empty()) {
            let mut start = None;
            for token in sentence {
                let rest = self.text[at..].trim_start();
                if token.word.is_empty() || !rest.starts_with(&token.word) {
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
    /// Gives the document its id: the same page with the same text has it everywhere.
    pub fn identify(&mut self) {
        let mut key = crate::address::normalise(&self.url, None).unwrap_or_else(|| self.url.clone());
        key.push('\n');
        key.push_str(&self.text());
        self.id = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(key.as_bytes()));
    }

    /// The text alone, a paragraph a line.
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

    /// The shelf of its language: the first part of the tag where that is a code of two or three
    /// letters, otherwise `und`.
    pub fn language_code(&self) -> String {
        let code = self.about.language.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_code = (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase());
        if is_code { code } else { "und".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(url: &str, texts: &[&str]) -> Document {
        let paragraphs = texts.iter().map(|text| Paragraph { text: (*text).to_owned(), ..Paragraph::default() });
        Document { url: url.to_owned(), paragraphs: paragraphs.collect(), ..Document::default() }
    }

    #[test]
    fn a_name_stands_for_address_and_text_and_nothing_else() {
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
        assert_ne!(id("x", &["a"]), id("y", &["a"]), "what is no address counts as it is");
    }

    #[test]
    fn sentences_hold_as_long_as_they_tell_the_text() {
        let token = |word: &str| Token { word: word.to_owned(), ..Token::default() };
        let sentences = vec![vec![token("Rain"), token(".")], vec![token("Sun")]];
        let paragraph =
            |text: &str| Paragraph { text: text.to_owned(), sentences: sentences.clone(), ..Paragraph::default() };
        let spans = |text: &str| {
            let paragraph = paragraph(text);
            paragraph.told_sentences().map(|told| told.into_iter().map(|(span, _)| span).collect::<Vec<_>>())
        };
        assert_eq!(spans("Rain.  Sun"), Some(vec![0..5, 7..10]));
        assert_eq!(spans("Rain. [MASKED]"), None);
        assert_eq!(spans("Rain. Sun and more"), None);
        assert_eq!(Paragraph::default().told_sentences(), None);
    }

    #[test]
    fn a_language_has_a_shelf_and_nonsense_has_none() {
        let code = |language: &str| {
            let about = About { language: language.to_owned(), ..About::default() };
            Document { about, ..Document::default() }.language_code()
        };
        let tags = ["de", "de-AT", "PT_br", "gsw", "", "english", "../x", "e\u{e9}", "x-klingon", "12"];
        let codes = ["de", "de", "pt", "gsw", "und", "und", "und", "und", "und", "und"];
        assert_eq!(tags.map(code), codes);
    }
}
