//! Hashed properties of a word that features are built from: form, affixes, shape, ambiguity class.
//!
//! The *ambiguity class* is the set of tags that a word had in the treebank (Cutting et al. 1992);
//! for an unknown word, the set of tags of its suffix.

use crate::hash::{Hash, mix, normalise};
use crate::tagger::ModelError;
use crate::tagger::bytes::Reader;
use crate::tagger::feature_index::FeatureIndex;

/// Number of suffixes, of one to six characters.
pub const SUFFIXES: usize = 6;
/// Number of prefixes, of one to seven characters.
pub const PREFIXES: usize = 7;

/// Seeds that keep hashes of forms, suffixes and prefixes apart.
const FORM_SEED: Hash = 0x9ae1_6a3b;
const SUFFIX_SEED: Hash = 0xc3a5_c85c;
const PREFIX_SEED: Hash = 0xb492_b66f;

/// Hashed properties of a word.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedWord {
    /// Word form, ignoring case.
    pub form: Hash,
    /// Suffixes by length; shorter words repeat their longest.
    pub suffixes: [Hash; SUFFIXES],
    /// Prefixes by length; shorter words repeat their longest.
    pub prefixes: [Hash; PREFIXES],
    /// Classes of characters in the word, as bits of `shape`.
    pub shape: u64,
    /// Length in characters, up to a limit.
    pub length: u64,
    /// First and last part of a word with spaces or hyphens.
    pub parts: [Hash; 2],
    /// Number of the ambiguity class.
    pub class: u64,
}

/// Bits of [`HashedWord::shape`].
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
    /// Boundary marker for a position outside of the sentence.
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

    /// Hashes a word; its class is not set.
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

/// Suffixes by length; shorter words repeat their longest.
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

/// Ambiguity classes of words and suffixes.
#[derive(Debug, Default)]
pub struct AmbiguityClasses {
    known: FeatureIndex,
    classes: Vec<u8>,
}

/// Lengths of suffixes that may have a class, longest first.
pub const CLASSED_SUFFIXES: [usize; 3] = [4, 3, 2];
/// Added to the class of a suffix to tell it from that of a known word.
const SUFFIX_CLASS: u64 = 512;

impl AmbiguityClasses {
    /// Reads the output of [`AmbiguityClasses::write`].
    pub fn read(reader: &mut Reader<'_>) -> Result<AmbiguityClasses, ModelError> {
        let known = FeatureIndex::read(reader)?;
        let classes = reader.take(known.len())?.to_vec();
        Ok(AmbiguityClasses { known, classes })
    }

    /// Serialises the classes; `slots` must ascend.
    pub fn write(bits: u32, slots: &[u32], classes: &[u8], out: &mut Vec<u8>) {
        FeatureIndex::write(bits, slots, out);
        out.extend(classes);
    }

    /// Sets the class of a word.
    #[inline]
    pub fn classify(&self, word: &mut HashedWord) {
        word.class = match self.known.find(word.form) {
            Some(number) => u64::from(self.classes[number]),
            None => self.guess(word),
        };
    }

    /// Returns the class of a word as if it were unknown.
    pub fn guess(&self, word: &HashedWord) -> u64 {
        let found = CLASSED_SUFFIXES.iter().find_map(|length| self.known.find(word.suffixes[length - 1]));
        SUFFIX_CLASS + found.map_or(255, |number| u64::from(self.classes[number]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_affects_the_shape_only() {
        let (one, other) = (HashedWord::new("Übung"), HashedWord::new("übung"));
        assert_eq!((one.form, one.suffixes, one.prefixes), (other.form, other.suffixes, other.prefixes));
        assert_ne!(one.shape, other.shape);
        assert_ne!(HashedWord::new("x").form, HashedWord::new("x").suffixes[0]);
        HashedWord::new("");
    }
}
