//! What the tagger sees of a word: itself without case, its beginnings and ends, its looks, and its class.
//!
//! A *class* says which parts of speech a word (or, for words never seen, its ending) had in the text
//! that was learned from.

use crate::hash::{Hash, mix, normalise};
use crate::tagger::ModelError;
use crate::tagger::bytes::Reader;
use crate::tagger::feature_index::FeatureIndex;

/// How many ends and beginnings of a word are looked at.
pub const SUFFIXES: usize = 6;
/// The same for beginnings.
pub const PREFIXES: usize = 7;

/// Where hashes of whole words, of ends and of beginnings start, so that they never meet.
const FORM_SEED: Hash = 0x9ae1_6a3b;
const SUFFIX_SEED: Hash = 0xc3a5_c85c;
const PREFIX_SEED: Hash = 0xb492_b66f;

/// A word as features see it.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedWord {
    /// The word without its case.
    pub form: Hash,
    /// Its last one, two … characters; shorter words repeat their longest.
    pub suffixes: [Hash; SUFFIXES],
    /// Its first one, two … characters.
    pub prefixes: [Hash; PREFIXES],
    /// Origin kinds of characters it has, and where.
    pub shape: u64,
    /// How many characters it has, up to a limit.
    pub length: u64,
    /// Its first and its last part, if blanks or hyphens part it.
    pub parts: [Hash; 2],
    /// Origin parts of speech it had, or its ending.
    pub class: u64,
}

/// Kinds of characters, as bits of [`HashedWord::looks`].
mod shape {
    pub const BEGINS_UPPER: u64 = 1;
    pub const HAS_UPPER: u64 = 2;
    pub const HAS_LOWER: u64 = 4;
    pub const HAS_DIGIT: u64 = 8;
    pub const HAS_CASELESS: u64 = 16;
    pub const HAS_HYPHEN: u64 = 32;
    pub const HAS_APOSTROPHE: u64 = 64;
    pub const HAS_STOP: u64 = 128;
    pub const HAS_OTHER: u64 = 256;
}

impl HashedWord {
    /// A index before or after the sentence.
    pub fn outside(distance: u64) -> HashedWord {
        let mark = mix(0x0u64, 1 + distance);
        HashedWord {
            form: mark,
            suffixes: [mark; SUFFIXES],
            prefixes: [mark; PREFIXES],
            shape: 1 << 20,
            class: 254 + distance,
            ..HashedWord::default()
        }
    }

    /// A word of a text, its class not yet known.
    pub fn new(text: &str) -> HashedWord {
        let mut word = HashedWord { form: FORM_SEED, ..HashedWord::default() };
        let mut prefix = PREFIX_SEED;
        let mut last = FORM_SEED;
        let mut length = 0;
        for c in text.chars() {
            word.shape |= shape_of(c, length == 0);
            if matches!(c, ' ' | '\u{a0}' | '-') && length > 0 {
                if word.parts[0] == 0 {
                    word.parts[0] = word.form;
                }
                last = FORM_SEED;
            }
            let c = normalise(c) as u64;
            last = mix(last, c);
            word.form = mix(word.form, c);
            if length < PREFIXES {
                prefix = mix(prefix, c);
                word.prefixes[length..].fill(prefix);
            }
            length += 1;
        }
        if word.parts[0] != 0 {
            word.parts[1] = last;
        }
        word.suffixes = suffixes(text);
        word.length = length.min(12) as u64;
        word
    }
}

/// The last characters of a word: one, two … of them; shorter words repeat their longest.
pub fn suffixes<const COUNT: usize>(text: &str) -> [Hash; COUNT] {
    let mut suffixes = [0; COUNT];
    let mut suffix = SUFFIX_SEED;
    for (index, c) in text.chars().rev().take(COUNT).enumerate() {
        suffix = mix(suffix, normalise(c) as u64);
        suffixes[index..].fill(suffix);
    }
    suffixes
}

fn shape_of(c: char, is_first: bool) -> u64 {
    match c {
        'a'..='z' | 'а'..='я' => shape::HAS_LOWER,
        '0'..='9' => shape::HAS_DIGIT,
        '-' | '‐' | '‑' | '–' | '—' => shape::HAS_HYPHEN,
        '\'' | '’' | 'ʼ' => shape::HAS_APOSTROPHE,
        '.' | ',' | ':' | '!' | '?' | ';' | '…' | '。' | '、' => shape::HAS_STOP,
        _ if c.is_uppercase() && is_first => shape::BEGINS_UPPER,
        _ if c.is_uppercase() => shape::HAS_UPPER,
        _ if c.is_lowercase() => shape::HAS_LOWER,
        _ if c.is_numeric() => shape::HAS_DIGIT,
        _ if c.is_alphabetic() => shape::HAS_CASELESS,
        _ => shape::HAS_OTHER,
    }
}

/// AmbiguityClasses of words and of their ends.
#[derive(Debug, Default)]
pub struct AmbiguityClasses {
    known: FeatureIndex,
    classes: Vec<u8>,
}

/// The longest and the shortest end that may have a class.
pub const CLASSED_SUFFIXES: [usize; 3] = [4, 3, 2];
/// What is added to the class of an end: it is a guess.
const SUFFIX_CLASS: u64 = 512;

impl AmbiguityClasses {
    /// Reads what [`AmbiguityClasses::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<AmbiguityClasses, ModelError> {
        let known = FeatureIndex::read(reader)?;
        let classes = reader.take(known.len())?.to_vec();
        Ok(AmbiguityClasses { known, classes })
    }

    /// Places and classes as a part of a model; slots must ascend.
    pub fn write(bits: u32, slots: &[u32], classes: &[u8], out: &mut Vec<u8>) {
        FeatureIndex::write(bits, slots, out);
        out.extend(classes);
    }

    /// Gives a word its class.
    #[inline]
    pub fn classify(&self, word: &mut HashedWord) {
        word.class = match self.known.find(word.form) {
            Some(number) => u64::from(self.classes[number]),
            None => self.guess(word),
        };
    }

    /// The class of a word as if it had never been seen.
    pub fn guess(&self, word: &HashedWord) -> u64 {
        let found = CLASSED_SUFFIXES.iter().find_map(|length| self.known.find(word.suffixes[length - 1]));
        SUFFIX_CLASS + found.map_or(255, |number| u64::from(self.classes[number]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_a_matter_of_looks() {
        let (one, other) = (HashedWord::new("Übung"), HashedWord::new("übung"));
        assert_eq!((one.form, one.suffixes, one.prefixes), (other.form, other.suffixes, other.prefixes));
        assert_ne!(one.shape, other.shape);
        assert_ne!(HashedWord::new("x").form, HashedWord::new("x").suffixes[0]);
        HashedWord::new("");
    }
}
