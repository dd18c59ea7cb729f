//! Annotated documents: sentences of tokens.

use std::fmt;

use compact_str::CompactString;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::layer::{LayerColumn, TokenSpan};

/// A tokenized document, stored in `text/` in the vertical format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotated {
    /// Metadata.
    pub about: Attributes,
    /// Its paragraphs, in reading order.
    pub paragraphs: Vec<AnnotatedParagraph>,
    /// Further attributes of its tokens, each with a value per token.
    pub columns: Vec<LayerColumn>,
    /// Its spans besides sentences and paragraphs, in [file order](TokenSpan::file_order).
    pub spans: Vec<TokenSpan>,
}

impl Annotated {
    /// Its tokens, in reading order. Columns and spans count in this order.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.paragraphs.iter().flat_map(|paragraph| paragraph.sentences.iter().flatten())
    }
}

/// Metadata of an annotated document: the attributes of its `<doc …>` line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The document's 128-bit id.
    pub id: u128,
    /// The URL it was fetched from.
    pub url: String,
    /// The headline.
    pub title: String,
    /// The publication date, `YYYY-MM-DD`; empty if unknown.
    pub date: String,
    /// The day it was first seen, `YYYY-MM-DD`.
    pub seen: String,
    /// Fields with few distinct values, to filter and group by: `site`, `feed`, `country`, `topic`, `genre`, `licence`,
    /// `availability`, `lang` and others that the source provides. Names are unique.
    pub fields: Vec<(String, String)>,
}

impl Attributes {
    /// The value of a field, if the document has it.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A paragraph as a list of sentences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnotatedParagraph {
    /// The paragraph type: `p`, `heading`, `item`, `quote`, `code`, `row`; empty if unknown.
    pub kind: String,
    /// The language code, if it differs from the document's.
    pub language: String,
    /// Its sentences; none is empty.
    pub sentences: Vec<Vec<Token>>,
}

/// A string of a token. Up to 24 bytes, which nearly all words have, need no allocation.
pub type TokenText = CompactString;

/// A token with its annotations. Its JSON form is a list, for brevity: word, lemma, tag, whether white space
/// follows, and features if there are any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Token {
    /// The word form.
    pub word: TokenText,
    /// The lemma; empty if unknown.
    pub lemma: TokenText,
    /// The part-of-speech tag; empty if unknown.
    pub tag: TokenText,
    /// Morphological features in the notation of Universal Dependencies, `Case=Gen|Number=Plur`; empty if there
    /// are none. A token of several words has the features of each, joined by `+` like their tags:
    /// `+Definite=Def|Number=Sing`.
    pub feats: TokenText,
    /// True if white space follows in the text.
    pub space_after: bool,
}

impl Token {
    /// Creates a token without features, followed by white space.
    pub fn new(word: &str, lemma: &str, tag: &str) -> Token {
        let [word, lemma, tag] = [word, lemma, tag].map(TokenText::new);
        Token { word, lemma, tag, feats: TokenText::default(), space_after: true }
    }
}

impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Token { word, lemma, tag, feats, space_after } = self;
        match feats.is_empty() {
            true => (word, lemma, tag, space_after).serialize(serializer),
            false => (word, lemma, tag, space_after, feats).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Token, D::Error> {
        deserializer.deserialize_seq(ListVisitor)
    }
}

/// Deserializes the JSON list of a token.
struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = Token;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a token: word, lemma, tag, whether white space follows, and perhaps features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Token, A::Error> {
        let short = |len| de::Error::invalid_length(len, &"a token of four or five");
        Ok(Token {
            word: list.next_element()?.ok_or_else(|| short(0))?,
            lemma: list.next_element()?.ok_or_else(|| short(1))?,
            tag: list.next_element()?.ok_or_else(|| short(2))?,
            space_after: list.next_element()?.ok_or_else(|| short(3))?,
            // Lists of four predate features and are still written for tokens without them.
            feats: list.next_element()?.unwrap_or_default(),
        })
    }
}

impl AnnotatedParagraph {
    /// The text of the paragraph; sentences are separated by a space.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_json_is_a_list_of_four_or_of_five_with_features() {
        let plain = Token { word: "Rain".into(), lemma: "rain".into(), tag: "NOUN".into(), ..Token::default() };
        let featured = Token { feats: "Number=Sing".into(), space_after: true, ..plain.clone() };
        let texts = [r#"["Rain","rain","NOUN",false]"#, r#"["Rain","rain","NOUN",true,"Number=Sing"]"#];
        for (token, text) in [plain, featured].into_iter().zip(texts) {
            assert_eq!(serde_json::to_string(&token).unwrap(), text);
            assert_eq!(serde_json::from_str::<Token>(text).unwrap(), token);
        }
        for wrong in [r#"["Rain","rain","NOUN"]"#, r#"["Rain","rain","NOUN",true,"",1]"#, r#"{"word":"Rain"}"#] {
            assert!(serde_json::from_str::<Token>(wrong).is_err(), "{wrong}");
        }
    }
}
