//! Features of a word for the choice of its morphological features, as hashes (feature hashing).

use crate::hash::{Hash, mix, of_str};
use crate::tagger::features;
use crate::tagger::word::{HashedWord, suffixes};

/// Hashed properties of a lemma.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedLemma {
    /// Lemma, ignoring case.
    pub form: Hash,
    /// Suffixes of one, two and three characters.
    pub suffixes: [Hash; 3],
}

impl HashedLemma {
    /// Hashes a lemma.
    pub fn new(text: &str) -> HashedLemma {
        HashedLemma { form: of_str(text), suffixes: suffixes(text) }
    }
}

/// Number of features without context.
pub const WORD_FEATURES: usize = 18;
/// Number of lexical features: the first identifies the word, the second the lemma.
pub const LEXICAL: usize = 2;
/// Number of features with context.
pub const CONTEXT_FEATURES: usize = 21;

/// Features of a word with its tag and lemma that do not depend on context.
#[inline]
pub fn word_features(word: &HashedWord, lemma: &HashedLemma, tag: u8) -> [Hash; WORD_FEATURES] {
    let [e1, e2, e3, e4, e5, e6] = word.suffixes;
    let [l1, l2, l3] = lemma.suffixes;
    let feature = |number: u64, parts: &[u64]| feature(10, number, tag, parts);
    [
        feature(1, &[word.form]),
        feature(2, &[lemma.form]),
        feature(3, &[]),
        feature(4, &[e1]),
        feature(5, &[e2]),
        feature(6, &[e3]),
        feature(7, &[e4]),
        feature(8, &[e5]),
        feature(9, &[e6]),
        feature(10, &[word.prefixes[1]]),
        feature(11, &[word.prefixes[2]]),
        feature(12, &[word.prefixes[4]]),
        feature(13, &[word.shape]),
        feature(14, &[word.prefixes[1], e2]),
        feature(15, &[e1, l1]),
        feature(16, &[e2, l2]),
        feature(17, &[e1, l3]),
        feature(18, &[l3]),
    ]
}

/// Features of the middle word of a window of five, with the tags of the window and the clause
/// before it.
#[inline]
pub fn context_features(words: &[&HashedWord; 5], tags: [u8; 5], clause: ClauseContext) -> [Hash; CONTEXT_FEATURES] {
    let [before2, before, word, after, _] = *words;
    let [tag2, tag1, _, next1, next2] = tags.map(u64::from);
    let [_, e2, e3, ..] = word.suffixes;
    let state = u64::from(clause.verb) * 4 + u64::from(clause.nouns);
    let feature = |number: u64, parts: &[u64]| feature(11, number, tags[2], parts);
    [
        feature(1, &[before.form]),
        feature(2, &[after.form]),
        feature(3, &[before2.form]),
        feature(4, &[tag1]),
        feature(5, &[next1]),
        feature(6, &[tag1, next1]),
        feature(7, &[tag2, tag1]),
        feature(8, &[next1, next2]),
        feature(9, &[before.suffixes[1], tag1]),
        feature(10, &[after.suffixes[1], next1]),
        feature(11, &[before.form, e2]),
        feature(12, &[before.suffixes[1], tag1, e2]),
        feature(13, &[after.suffixes[1], next1, e2]),
        feature(14, &[before2.suffixes[1], tag2, e2]),
        feature(15, &[tag1, e3]),
        feature(16, &[clause.adposition]),
        feature(17, &[clause.adposition, e2]),
        feature(18, &[clause.auxiliary]),
        feature(19, &[clause.auxiliary, e2]),
        feature(20, &[state]),
        feature(21, &[state, e2]),
    ]
}

/// Hash of a feature from its template, the tag and its values. Template numbers are part of every
/// trained model.
#[inline(always)]
fn feature(kind: u64, number: u64, tag: u8, parts: &[u64]) -> Hash {
    parts.iter().fold(mix(mix(kind, number), u64::from(tag)), |hash, part| mix(hash, *part))
}

/// Syntactic role of a tag in [`ClauseContext`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagRole {
    /// Governs the case of the following noun.
    Adposition,
    /// Governs the form of the following verb.
    Auxiliary,
    /// Ends the scope of an adposition.
    Noun,
    /// Ends the scope of an auxiliary.
    Verb,
    /// Ends a clause, in most cases.
    Stop,
    /// No effect.
    Other,
}

impl TagRole {
    /// Role of a tag; for the tag of a multi-word token, that of its first word.
    pub fn of(tag: &str) -> TagRole {
        match tag.split('+').next().unwrap_or_default() {
            "ADP" => TagRole::Adposition,
            "AUX" | "PART" => TagRole::Auxiliary,
            "NOUN" | "PROPN" | "PRON" => TagRole::Noun,
            "VERB" => TagRole::Verb,
            "PUNCT" => TagRole::Stop,
            _ => TagRole::Other,
        }
    }
}

/// State of the clause before a word.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClauseContext {
    /// Adposition since the last noun or verb.
    adposition: Hash,
    /// Auxiliary since the last verb.
    auxiliary: Hash,
    /// A verb has occurred.
    verb: bool,
    /// Number of nouns since the verb or the start of the clause, at most two.
    nouns: u8,
}

impl ClauseContext {
    fn follow(&mut self, word: &HashedWord, role: TagRole) {
        match role {
            TagRole::Adposition => self.adposition = word.form,
            TagRole::Auxiliary => (self.auxiliary, self.verb, self.nouns) = (word.form, true, 0),
            TagRole::Noun => (self.adposition, self.nouns) = (0, (self.nouns + 1).min(2)),
            TagRole::Verb => *self = ClauseContext { verb: true, ..ClauseContext::default() },
            TagRole::Stop => *self = ClauseContext::default(),
            TagRole::Other => {}
        }
    }
}

/// Calls `each` with every word's index and a function that computes its context features.
pub fn of_sentence(
    roles: &[TagRole],
    words: &[HashedWord],
    tags: &[u8],
    mut each: impl FnMut(usize, &dyn Fn() -> [Hash; CONTEXT_FEATURES]),
) {
    let mut clause = ClauseContext::default();
    for index in 0..words.len() {
        let tag = |offset: isize| index.checked_add_signed(offset).and_then(|index| tags.get(index));
        each(index, &|| {
            let tags = [-2, -1, 0, 1, 2].map(|offset| tag(offset).copied().unwrap_or(OUTSIDE));
            context_features(&features::window(words, index), tags, clause)
        });
        clause.follow(&words[index], roles[usize::from(tags[index])]);
    }
}

/// Tag of positions outside of the sentence.
const OUTSIDE: u8 = 255;

/// Roles of tags.
pub fn roles(tags: &[String]) -> Vec<TagRole> {
    tags.iter().map(|tag| TagRole::of(tag)).collect()
}
