//! An annotated document: sentences of tokens, ready to be counted.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// A token and what is known about it. In JSON it is a list, short because there are many: the word, its lemma, its tag,
/// whether white space follows, and its features where it has some.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Token {
    /// The word as it stands in the text.
    pub word: String,
    /// Its dictionary form; empty if unknown.
    pub lemma: String,
    /// Its part of speech; empty if unknown.
    pub tag: String,
    /// Its morphological features as Universal Dependencies write them, `Case=Gen|Number=Plur`; empty if it has none. Those
    /// of a token that stands for several words are joined by `+` as its tags are, a word without features being empty:
    /// `+Definite=Def|Number=Sing`.
    pub feats: String,
    /// Whether white space follows it in the text.
    pub space_after: bool,
}

impl Token {
    /// A token without features that white space follows.
    pub fn new(word: &str, lemma: &str, tag: &str) -> Token {
        let feats = String::new();
        Token { word: word.to_owned(), lemma: lemma.to_owned(), tag: tag.to_owned(), feats, space_after: true }
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

/// Reads the list that a token is in JSON.
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
            // Lists of four are older than the features, and still what a token without them is.
            feats: list.next_element()?.unwrap_or_default(),
        })
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
