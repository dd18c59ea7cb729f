//! Features of a token for the choice of its part of speech: a word and its neighbours, as hashes.
//!
//! Those that know the word itself come first: in training they are now and then left out, so that the others
//! learn to do without them, as they must for words that were never seen.

use crate::hash::{Hash, mix};
use crate::tagger::words::Word;

/// How many features know the word itself or its class.
pub const LEXICAL: usize = 10;
/// How many features a token has.
pub const COUNT: usize = 59;

/// The features of the token in the middle of five, the first and last of which may be outside the sentence.
pub fn features(around: &[Word; 5], is_first: bool) -> [Hash; COUNT] {
    let [before2, before, word, after, after2] = around;
    let first = u64::from(is_first);
    let [e1, e2, e3, e4, e5, e6] = word.ends;
    let [s1, s2, s3, s4, s5, s6, s7] = word.starts;
    let case = word.looks & 7;
    let mut number = 0;
    let mut feature = |parts: &[u64]| {
        number += 1;
        parts.iter().fold(mix(0, number), |hash, part| mix(hash, *part)) ^ number
    };
    [
        // With the word itself.
        feature(&[word.whole]),
        feature(&[word.whole, case, first]),
        feature(&[before.whole, word.whole]),
        feature(&[word.whole, after.whole]),
        feature(&[word.class]),
        feature(&[before.class, word.class]),
        feature(&[word.class, after.class]),
        feature(&[before.class, word.class, after.class]),
        feature(&[before2.class, before.class, word.class]),
        feature(&[word.class, after.class, after2.class]),
        // With its beginning and its end.
        feature(&[]),
        feature(&[e1]),
        feature(&[e2]),
        feature(&[e3]),
        feature(&[e4]),
        feature(&[e5]),
        feature(&[e6]),
        feature(&[s1]),
        feature(&[s2]),
        feature(&[s3]),
        feature(&[s4]),
        feature(&[s5]),
        feature(&[s6]),
        feature(&[s7]),
        feature(&[e1, word.looks]),
        feature(&[e2, case, first]),
        feature(&[e3, case, first]),
        feature(&[s1, e2]),
        feature(&[s2, e1]),
        feature(&[word.looks]),
        feature(&[word.looks, first]),
        feature(&[word.length, case]),
        feature(&[word.looks, before.looks]),
        feature(&[word.looks, after.looks]),
        feature(&[word.parts[0]]),
        feature(&[word.parts[1]]),
        // With its neighbours.
        feature(&[before.whole]),
        feature(&[after.whole]),
        feature(&[before2.whole]),
        feature(&[after2.whole]),
        feature(&[before.whole, after.whole]),
        feature(&[before2.whole, before.whole]),
        feature(&[after.whole, after2.whole]),
        feature(&[before.class]),
        feature(&[after.class]),
        feature(&[before.class, after.class]),
        feature(&[before2.class, before.class]),
        feature(&[after.class, after2.class]),
        feature(&[before.ends[2]]),
        feature(&[after.ends[2]]),
        feature(&[before.ends[1], after.ends[1]]),
        // With both.
        feature(&[before.whole, e3]),
        feature(&[after.whole, e3]),
        feature(&[before.class, e3]),
        feature(&[after.class, e3]),
        feature(&[before.class, e2, after.class]),
        feature(&[before.ends[2], e2]),
        feature(&[e2, after.ends[2]]),
        feature(&[before.whole, case]),
    ]
}

/// Calls `each` with the place and the features of every token of a sentence.
pub fn of_sentence(words: &[Word], mut each: impl FnMut(usize, &[Hash; COUNT])) {
    let at = |place: usize, offset: isize| match place.checked_add_signed(offset) {
        Some(place) if place < words.len() => words[place],
        Some(place) => Word::outside(2 + (place - words.len()) as u64),
        None => Word::outside(if place == 0 && offset == -2 { 1 } else { 0 }),
    };
    for place in 0..words.len() {
        let around = [-2, -1, 0, 1, 2].map(|offset| at(place, offset));
        each(place, &features(&around, place == 0));
    }
}
