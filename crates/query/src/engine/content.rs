//! Content words: what trends, bursts and new words are about.
//!
//! Punctuation, numbers, dates and function words fill lists without telling anything. Where the corpus has universal
//! part-of-speech tags they decide, because lists of frequent words also have content words such as *government*. Without
//! tags, and among adverbs, a function word is one of the most frequent words of the corpus that is also in the stop list of
//! the language.

use super::Engine;
use super::set::layer_of;
use crate::cql::Attribute;
use std::borrow::Cow;
use std::collections::HashSet;
use tidings_index::lexicon::Layer;
use tidings_lang::{is_date_name, stop_list};

/// The kind of a word, as far as lists are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordKind {
    /// A noun, verb, adjective and the like.
    Content,
    /// A proper name, by its tags.
    Name,
    /// An article, a pronoun, a preposition and the like.
    Function,
    /// A number, or a word that begins with one.
    Number,
    /// A month or a weekday.
    Date,
    /// Punctuation, a symbol, a single letter.
    Symbol,
}

impl WordKind {
    /// Whether lists have it by default.
    pub fn is_content(self) -> bool {
        matches!(self, WordKind::Content | WordKind::Name)
    }
}

/// The part of speech of a token, as far as lists are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagClass {
    Open,
    Adverb,
    Name,
    Closed,
    Number,
    Symbol,
}

impl TagClass {
    /// The class of a universal tag; that of a multi-word token (`ADP+DET`) is closed if all its parts are.
    fn of(tag: &str) -> TagClass {
        match tag {
            "ADV" => TagClass::Adverb,
            "PROPN" => TagClass::Name,
            "NUM" => TagClass::Number,
            "PUNCT" | "SYM" => TagClass::Symbol,
            "DET" | "ADP" | "PRON" | "AUX" | "CCONJ" | "SCONJ" | "PART" => TagClass::Closed,
            _ if tag.contains('+') && tag.split('+').all(|part| TagClass::of(part) == TagClass::Closed) => {
                TagClass::Closed
            }
            _ => TagClass::Open,
        }
    }
}

const CLASSES: usize = 6;
/// The tokens of a word by class of tags.
pub(crate) type TagClasses = [u64; CLASSES];
/// The most frequent words of a corpus among which function words are looked for without the help of tags.
const FREQUENT_WORDS: usize = 200;
/// The share of a word's tokens with tags of closed classes from which it is a function word.
const MOSTLY: f64 = 0.5;

/// The kinds of the words of an attribute.
pub struct ContentWords<'e> {
    engine: &'e Engine,
    attribute: Attribute,
    language: &'e str,
    /// Tokens of each word by class of tags; empty if the corpus has no universal tags.
    classes: Vec<TagClasses>,
    /// The most frequent words.
    frequent: HashSet<u32>,
}

impl Engine {
    /// Classifies the words of an attribute in a language; nothing for attributes that are no words, such as tags.
    pub fn content_words<'e>(&'e self, attribute: Attribute, language: &'e str) -> Option<ContentWords<'e>> {
        if !matches!(attribute, Attribute::Word | Attribute::Lc | Attribute::Lemma) {
            return None;
        }
        let mut classes = self.class_counts(attribute);
        let totals: Vec<u64> = classes.iter().map(|classes| classes.iter().sum()).collect();
        if !self.has_universal_tags() {
            classes.clear();
        }
        let mut ordered = totals.clone();
        ordered.sort_unstable_by_key(|total| std::cmp::Reverse(*total));
        let least = ordered.get(FREQUENT_WORDS - 1).copied().unwrap_or(0).max(1);
        let mut frequent: Vec<u32> = (0..totals.len() as u32).filter(|word| totals[*word as usize] >= least).collect();
        // Equals by value, and not by number, which depends on the order in which documents were added.
        frequent.sort_by_cached_key(|word| (std::cmp::Reverse(totals[*word as usize]), self.name(attribute, *word)));
        frequent.truncate(FREQUENT_WORDS);
        Some(ContentWords { engine: self, attribute, language, classes, frequent: frequent.into_iter().collect() })
    }
}

impl Engine {
    /// The tokens of each word of an attribute by class of tags.
    pub(super) fn class_counts(&self, attribute: Attribute) -> Vec<TagClasses> {
        let lexicon = self.lexicon();
        let words = self.words_of_lexemes(attribute);
        let tags = 0..lexicon.count(Layer::Tag);
        let class_of_tag: Vec<TagClass> = tags.map(|tag| TagClass::of(lexicon.string(Layer::Tag, tag))).collect();
        let mut classes = vec![[0; CLASSES]; lexicon.count(layer_of(attribute, lexicon)) as usize];
        for ((word, tag), tokens) in words.iter().zip(lexicon.all_of(Layer::Tag)).zip(self.lexeme_totals()) {
            let class = class_of_tag.get(tag as usize).copied().unwrap_or(TagClass::Open);
            if let Some(counts) = classes.get_mut(*word as usize) {
                counts[class as usize] += tokens;
            }
        }
        classes
    }
}

/// The number of the most frequent words among which function words are looked for.
pub(crate) fn frequent_words() -> usize {
    FREQUENT_WORDS
}

impl ContentWords<'_> {
    /// Whether the corpus has universal part-of-speech tags.
    pub fn has_tags(&self) -> bool {
        !self.classes.is_empty()
    }

    /// The kind of a word; nothing for one that the corpus does not have.
    pub(crate) fn kind_of_value(&self, word: &str) -> Option<WordKind> {
        let lexicon = self.engine.lexicon();
        let string = lexicon.find(layer_of(self.attribute, lexicon), word)?;
        // Words are counted at the first string with their value, which may be another spelling.
        let shared = self.engine.shared(self.attribute);
        Some(self.kind(shared.map_or(string, |shared| shared.get(string as usize).copied().unwrap_or(string))))
    }

    /// The kind of a word, by its number.
    pub fn kind(&self, word: u32) -> WordKind {
        let value = self.engine.name(self.attribute, word);
        kind_of(&value, self.language, self.classes.get(word as usize), self.frequent.contains(&word))
    }
}

/// The kind of a word of a language, from the tokens with it by class of tags. `is_frequent` says that it is one of the most
/// frequent words of the corpus.
pub(crate) fn kind_of(value: &str, language: &str, classes: Option<&TagClasses>, is_frequent: bool) -> WordKind {
    if let Some(kind) = kind_of_shape(value) {
        return kind;
    }
    let lower = lower_case(value);
    if is_date_name(&lower, language) {
        return WordKind::Date;
    }
    let is_stop_word = || is_frequent && stop_list(language).is_some_and(|list| list.contains(&lower));
    match classes.map(TagClass::most_of) {
        Some(TagClass::Closed) => WordKind::Function,
        Some(TagClass::Number) => WordKind::Number,
        Some(TagClass::Symbol) => WordKind::Symbol,
        Some(TagClass::Name) => WordKind::Name,
        Some(TagClass::Open) => WordKind::Content,
        Some(TagClass::Adverb) | None if is_stop_word() => WordKind::Function,
        Some(TagClass::Adverb) | None => WordKind::Content,
    }
}

impl TagClass {
    /// The class of most tokens of a word; closed classes count together.
    fn most_of(counts: &TagClasses) -> TagClass {
        let all: u64 = counts.iter().sum();
        let order =
            [TagClass::Closed, TagClass::Number, TagClass::Symbol, TagClass::Name, TagClass::Adverb, TagClass::Open];
        if all == 0 {
            return TagClass::Open;
        }
        let share = |class: TagClass| counts[class as usize] as f64 / all as f64;
        order.into_iter().find(|class| share(*class) >= MOSTLY).unwrap_or(TagClass::Open)
    }
}

fn lower_case(text: &str) -> Cow<'_, str> {
    match text.chars().any(char::is_uppercase) {
        true => Cow::Owned(text.to_lowercase()),
        false => Cow::Borrowed(text),
    }
}

/// The kind of a text that is no word by its characters.
fn kind_of_shape(text: &str) -> Option<WordKind> {
    let mut letters = text.chars().filter(|c| c.is_alphabetic());
    let (first, second) = (letters.next(), letters.next());
    let is_numeric = text.chars().any(char::is_numeric);
    match first {
        None if is_numeric => Some(WordKind::Number),
        None => Some(WordKind::Symbol),
        Some(_) if text.starts_with(char::is_numeric) => Some(WordKind::Number),
        // One letter is a word in scripts without case, such as Chinese.
        Some(letter) if second.is_none() && !is_numeric && (letter.is_lowercase() || letter.is_uppercase()) => {
            Some(WordKind::Symbol)
        }
        Some(_) if text.contains("://") || text.contains('@') => Some(WordKind::Symbol),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_tell_numbers_and_symbols_from_words() {
        for text in ["2024", "1,5", "1st", "2020s", "10-year"] {
            assert_eq!(kind_of_shape(text), Some(WordKind::Number), "{text}");
        }
        for text in [",", "–", "$", "x", "E", "a@b.example", "https://a.example/"] {
            assert_eq!(kind_of_shape(text), Some(WordKind::Symbol), "{text}");
        }
        for text in ["covid-19", "G20", "drought", "水", "Zoë", "aujourd’hui"] {
            assert_eq!(kind_of_shape(text), None, "{text}");
        }
    }

    #[test]
    fn multi_word_tokens_are_closed_if_all_their_parts_are() {
        assert_eq!((TagClass::of("ADP+DET"), TagClass::of("VERB+PRON")), (TagClass::Closed, TagClass::Open));
        assert_eq!(
            (TagClass::of("DET"), TagClass::of("NOUN"), TagClass::of("")),
            (TagClass::Closed, TagClass::Open, TagClass::Open)
        );
    }
}
