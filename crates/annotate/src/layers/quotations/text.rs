//! Flat view of a document: tokens in reading order with the borders of sentences and paragraphs.

use std::ops::Range;

use tidings_model::{Annotated, Token, TokenSpan};

use super::habits::Habits;
use crate::layers::names::{self, NameKind};

/// A document as one row of tokens.
pub(super) struct Text<'a> {
    tokens: Vec<&'a Token>,
    /// The number of the first token of each sentence.
    sentences: Vec<u32>,
    pub(super) paragraphs: Vec<ParagraphView>,
    /// The names of the document in order, if the layer of names has run.
    names: Vec<NameRange>,
}

/// A name as a range of tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameRange {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Option<NameKind>,
    /// True if its canonical form has several words.
    pub(super) is_full: bool,
}

impl NameRange {
    fn of(span: &TokenSpan) -> Option<NameRange> {
        let code = span.attribute(names::TYPE);
        let kind = NameKind::ALL.into_iter().find(|kind| code == Some(kind.code()));
        let is_full = span.attribute(names::NAME).is_some_and(|name| name.contains(' '));
        let range = NameRange { start: span.start as usize, end: span.end as usize, kind, is_full };
        (span.name == names::SPAN && range.start < range.end).then_some(range)
    }
}

/// A paragraph as a range of tokens.
#[derive(Clone, Copy)]
pub(super) struct ParagraphView {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_heading: bool,
    pub(super) habits: &'static Habits,
}

impl<'a> Text<'a> {
    /// The view of a document; none if it has no token for which `is_mark` holds.
    pub(super) fn new(document: &'a Annotated, language: &str, is_mark: impl Fn(&str) -> bool) -> Option<Text<'a>> {
        if !document.tokens().any(|token| is_mark(&token.word)) {
            return None;
        }
        let own = Habits::of(language);
        let names = document.spans.iter().filter_map(NameRange::of).collect();
        let mut text = Text { tokens: Vec::new(), sentences: Vec::new(), paragraphs: Vec::new(), names };
        let title = without_space(&document.about.title);
        for paragraph in &document.paragraphs {
            let start = text.tokens.len();
            for sentence in &paragraph.sentences {
                text.sentences.push(text.tokens.len() as u32);
                text.tokens.extend(sentence);
            }
            let end = text.tokens.len();
            if end >= u32::MAX as usize {
                // Offsets of spans have 32 bits; the rest of such a document has no quotations.
                text.tokens.truncate(start);
                break;
            }
            let habits = if paragraph.language.is_empty() { own } else { Habits::of(&paragraph.language) };
            let is_heading = paragraph.kind == "heading" || text.equals(start, end, &title);
            text.paragraphs.push(ParagraphView { start, end, is_heading, habits });
        }
        Some(text)
    }

    /// Returns true if the tokens of a range spell the text, which has no white space.
    fn equals(&self, start: usize, end: usize, text: &str) -> bool {
        let mut rest = text;
        !text.is_empty()
            && self.tokens[start..end].iter().all(|token| match rest.strip_prefix(token.word.as_str()) {
                Some(left) => {
                    rest = left;
                    true
                }
                None => false,
            })
            && rest.is_empty()
    }

    /// Returns true if the layer of names has found any.
    pub(super) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// All names, in reading order.
    pub(super) fn names(&self) -> impl Iterator<Item = &NameRange> {
        self.names.iter()
    }

    /// Returns true if a token is part of a name.
    pub(super) fn is_name(&self, index: usize) -> bool {
        self.names_in(&(index..index + 1)).next().is_some()
    }

    /// The names that share tokens with a range; names do not overlap one another.
    pub(super) fn names_in(&self, range: &Range<usize>) -> impl Iterator<Item = &NameRange> {
        let first = self.names.partition_point(|name| name.end <= range.start);
        let end = range.end;
        self.names[first..].iter().take_while(move |name| name.start < end)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn token(&self, index: usize) -> &'a Token {
        self.tokens[index]
    }

    pub(super) fn word(&self, index: usize) -> &'a str {
        &self.tokens[index].word
    }

    /// The word of a token, empty after the last one.
    pub(super) fn word_or_empty(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |token| token.word.as_str())
    }

    /// The universal part-of-speech tag of a token, the first one if it has several; empty if unknown.
    pub(super) fn tag(&self, index: usize) -> &'a str {
        self.tokens[index].tag.split('+').next().unwrap_or_default()
    }

    /// The range of the sentence of a token.
    pub(super) fn sentence(&self, index: usize) -> (usize, usize) {
        let after = self.sentences.partition_point(|start| *start as usize <= index);
        let start = after.checked_sub(1).map_or(0, |at| self.sentences[at] as usize);
        let end = self.sentences.get(after).map_or(self.tokens.len(), |end| *end as usize);
        (start, end.min(self.tokens.len()))
    }

    /// Returns true if a token is the first one of its sentence.
    pub(super) fn starts_sentence(&self, index: usize) -> bool {
        self.sentences.binary_search(&(index as u32)).is_ok()
    }

    /// Returns true if white space or a border of a sentence separates a token from the next one. The last token of a sentence
    /// does not record its white space.
    pub(super) fn space_after(&self, index: usize) -> bool {
        self.tokens[index].space_after || index + 1 >= self.tokens.len() || self.starts_sentence(index + 1)
    }

    /// The text of a range of tokens as it stands.
    pub(super) fn spelled(&self, start: usize, end: usize) -> String {
        let mut text = String::new();
        for index in start..end {
            text.push_str(self.word(index));
            if index + 1 < end && self.tokens[index].space_after {
                text.push(' ');
            }
        }
        text
    }
}

fn without_space(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Returns true if a word has a letter or digit.
pub(super) fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// Returns true if a word begins with an upper-case letter.
pub(super) fn is_capitalised(word: &str) -> bool {
    word.chars().find(|character| character.is_alphabetic()).is_some_and(char::is_uppercase)
}

/// Returns true if a word is a dash.
pub(super) fn is_dash(word: &str) -> bool {
    matches!(word, "—" | "–" | "―" | "-" | "--" | "---" | "——" | "−")
}

/// Returns true if a word ends a sentence: full stop, question mark, exclamation mark, ellipsis.
pub(super) fn is_final(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|one| matches!(one, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '۔' | '।' | '‽'))
}

/// Returns true if a word is a comma of any script.
pub(super) fn is_comma(word: &str) -> bool {
    matches!(word, "," | "，" | "、" | "،" | "､")
}

/// Returns true if a word is a colon.
pub(super) fn is_colon(word: &str) -> bool {
    matches!(word, ":" | "：")
}

/// Returns true for characters of scripts that are written without spaces.
pub(super) fn is_unspaced(character: char) -> bool {
    ('\u{2E80}'..='\u{9FFF}').contains(&character)
        || ('\u{F900}'..='\u{FAFF}').contains(&character)
        || ('\u{FF00}'..='\u{FFEF}').contains(&character)
        || ('\u{20000}'..='\u{3FFFF}').contains(&character)
        || ('\u{0E00}'..='\u{0EFF}').contains(&character)
}
