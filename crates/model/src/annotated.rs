//! An annotated document: sentences of tokens, ready to be counted.

use serde::{Deserialize, Serialize};

/// A document whose text has become tokens. It lies in `text/` in the vertical format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotated {
    /// What is known about it.
    pub about: Attributes,
    /// Its paragraphs, in the order of reading.
    pub paragraphs: Vec<AnnotatedParagraph>,
}

/// What is known about an annotated document: the attributes of its line `<doc …>`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The document's 128-bit id.
    pub id: u128,
    /// The address it was fetched from.
    pub url: String,
    /// The headline.
    pub title: String,
    /// The day of publication, `YYYY-MM-DD`; nothing where nobody knows.
    pub date: String,
    /// The day it was first seen, `YYYY-MM-DD`.
    pub seen: String,
    /// Everything with few distinct values that one may want to filter or count by: `site`, `feed`, `country`, `topic`,
    /// `genre`, `licence`, `availability`, `lang` and whatever else the writer knows. Name and value, each name once.
    pub fields: Vec<(String, String)>,
}

impl Attributes {
    /// The value of a field; nothing if the document has none of that name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A paragraph: its sentences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnotatedParagraph {
    /// What it is on the page: `p`, `heading`, `item`, `quote`, `code`, `row`; nothing if unknown.
    pub kind: String,
    /// The code of its language where that is not its document's.
    pub language: String,
    /// Its sentences, none of them empty.
    pub sentences: Vec<Vec<Token>>,
}

/// A token and what is known about it. In JSON it is a list of the four, short because there are many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, String, String, bool)", into = "(String, String, String, bool)")]
pub struct Token {
    /// The word as it stands in the text.
    pub word: String,
    /// Its dictionary form; empty if unknown.
    pub lemma: String,
    /// Its part of speech; empty if unknown.
    pub tag: String,
    /// Whether white space follows it in the text.
    pub space_after: bool,
}

impl From<(String, String, String, bool)> for Token {
    fn from((word, lemma, tag, space_after): (String, String, String, bool)) -> Token {
        Token { word, lemma, tag, space_after }
    }
}

impl From<Token> for (String, String, String, bool) {
    fn from(token: Token) -> (String, String, String, bool) {
        (token.word, token.lemma, token.tag, token.space_after)
    }
}

impl AnnotatedParagraph {
    /// The text that its tokens tell; white space between sentences is a blank.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for token in self.sentences.iter().flatten() {
            text.push_str(&token.word);
            if token.space_after {
                text.push(' ');
            }
        }
        text.truncate(text.trim_end().len());
        text
    }
}
