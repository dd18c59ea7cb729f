//! Features of a token for part-of-speech tagging, as hashes (feature hashing).
//!
//! Lexical features, which identify the word itself, come first: training drops them at random so
//! that the others learn to tag unknown words. Features without context are separate so that they
//! can be cached per word.

use std::sync::LazyLock;

use crate::hash::{Hash, mix};
use crate::tagger::word::HashedWord;

/// Number of features without context.
pub const WORD_FEATURES: usize = 27;
/// Number of features with context.
pub const CONTEXT_FEATURES: usize = 32;
/// Number of lexical features (word form or class) in each group; they come first.
const WORD_LEXICAL: usize = 3;
const CONTEXT_LEXICAL: usize = 7;
/// Number of all features.
pub const COUNT: usize = WORD_FEATURES + CONTEXT_FEATURES;
/// Number of lexical features.
pub const LEXICAL: usize = WORD_LEXICAL + CONTEXT_LEXICAL;

/// Features of a word that do not depend on context.
#[inline]
pub fn word_features(word: &HashedWord, is_first: bool) -> [Hash; WORD_FEATURES] {
    let first = u64::from(is_first);
    let [e1, e2, e3, e4, e5, e6] = word.suffixes;
    let [s1, s2, s3, s4, s5, s6, s7] = word.prefixes;
    let case = word.shape & 7;
    [
        // Lexical.
        feature(0, &[word.form]),
        feature(1, &[word.form, case, first]),
        feature(4, &[word.class]),
        // Affixes and shape.
        feature(10, &[]),
        feature(11, &[e1]),
        feature(12, &[e2]),
        feature(13, &[e3]),
        feature(14, &[e4]),
        feature(15, &[e5]),
        feature(16, &[e6]),
        feature(17, &[s1]),
        feature(18, &[s2]),
        feature(19, &[s3]),
        feature(20, &[s4]),
        feature(21, &[s5]),
        feature(22, &[s6]),
        feature(23, &[s7]),
        feature(24, &[e1, word.shape]),
        feature(25, &[e2, case, first]),
        feature(26, &[e3, case, first]),
        feature(27, &[s1, e2]),
        feature(28, &[s2, e1]),
        feature(29, &[word.shape]),
        feature(30, &[word.shape, first]),
        feature(31, &[word.length, case]),
        feature(34, &[word.parts[0]]),
        feature(35, &[word.parts[1]]),
    ]
}

/// Features of the middle word of a window of five that depend on context.
#[inline]
pub fn context_features(words: &[&HashedWord; 5]) -> [Hash; CONTEXT_FEATURES] {
    let [before2, before, word, after, after2] = words;
    let [_, e2, e3, ..] = word.suffixes;
    let case = word.shape & 7;
    [
        // Lexical.
        feature(2, &[before.form, word.form]),
        feature(3, &[word.form, after.form]),
        feature(5, &[before.class, word.class]),
        feature(6, &[word.class, after.class]),
        feature(7, &[before.class, word.class, after.class]),
        feature(8, &[before2.class, before.class, word.class]),
        feature(9, &[word.class, after.class, after2.class]),
        // Shape.
        feature(32, &[word.shape, before.shape]),
        feature(33, &[word.shape, after.shape]),
        // Neighbours only.
        feature(36, &[before.form]),
        feature(37, &[after.form]),
        feature(38, &[before2.form]),
        feature(39, &[after2.form]),
        feature(40, &[before.form, after.form]),
        feature(41, &[before2.form, before.form]),
        feature(42, &[after.form, after2.form]),
        feature(43, &[before.class]),
        feature(44, &[after.class]),
        feature(45, &[before.class, after.class]),
        feature(46, &[before2.class, before.class]),
        feature(47, &[after.class, after2.class]),
        feature(48, &[before.suffixes[2]]),
        feature(49, &[after.suffixes[2]]),
        feature(50, &[before.suffixes[1], after.suffixes[1]]),
        // Neighbours and suffix.
        feature(51, &[before.form, e3]),
        feature(52, &[after.form, e3]),
        feature(53, &[before.class, e3]),
        feature(54, &[after.class, e3]),
        feature(55, &[before.class, e2, after.class]),
        feature(56, &[before.suffixes[2], e2]),
        feature(57, &[e2, after.suffixes[2]]),
        feature(58, &[before.form, case]),
    ]
}

/// Hash of a feature from its template number and values. Template numbers are part of every
/// trained model.
#[inline(always)]
fn feature(number: usize, parts: &[u64]) -> Hash {
    let number = number as u64 + 1;
    parts.iter().fold(mix(0, number), |hash, part| mix(hash, *part)) ^ number
}

/// Window of five words around `index`; positions outside of the sentence hold boundary markers.
#[inline]
pub fn window(words: &[HashedWord], index: usize) -> [&HashedWord; 5] {
    [-2, -1, 0, 1, 2].map(|offset| match index.checked_add_signed(offset) {
        Some(index) if index < words.len() => &words[index],
        Some(index) => &OUTSIDE[2 + index - words.len()],
        None => &OUTSIDE[usize::from(index == 0 && offset == -2)],
    })
}

/// Boundary markers: one and two positions before the sentence, one and two after it.
static OUTSIDE: LazyLock<[HashedWord; 4]> = LazyLock::new(|| [0, 1, 2, 3].map(HashedWord::outside));

/// Calls `each` with the features of every token of a sentence, lexical features first.
pub fn of_sentence(words: &[HashedWord], mut each: impl FnMut(&[Hash; COUNT])) {
    for (index, word) in words.iter().enumerate() {
        let (own, around) = (word_features(word, index == 0), context_features(&window(words, index)));
        let lexical = own[..WORD_LEXICAL].iter().chain(&around[..CONTEXT_LEXICAL]);
        let mut all = lexical.chain(&own[WORD_LEXICAL..]).chain(&around[CONTEXT_LEXICAL..]).copied();
        each(&std::array::from_fn(|_| all.next().expect("both groups together have COUNT features")));
    }
}
