//! What the tagger sees of a word: itself without case, its beginnings and ends, its looks, and its class.
//!
//! A *class* says which parts of speech a word (or, for words never seen, its ending) had in the text
//! that was learned from.

use crate::hash::{Hash, mix, plain};
use crate::tagger::ModelError;
use crate::tagger::bytes::Reader;
use crate::tagger::sparse::Sparse;

/// How many ends and beginnings of a word are looked at.
pub const ENDS: usize = 6;
/// The same for beginnings.
pub const STARTS: usize = 7;

/// Where hashes of whole words, of ends and of beginnings start, so that they never meet.
const WHOLE: Hash = 0x9ae1_6a3b;
const END: Hash = 0xc3a5_c85c;
const START: Hash = 0xb492_b66f;

/// A word as features see it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Word {
    /// The word without its case.
    pub whole: Hash,
    /// Its last one, two … characters; shorter words repeat their longest.
    pub ends: [Hash; ENDS],
    /// Its first one, two … characters.
    pub starts: [Hash; STARTS],
    /// Which kinds of characters it has, and where.
    pub looks: u64,
    /// How many characters it has, up to a limit.
    pub length: u64,
    /// Its first and its last part, if blanks or hyphens part it.
    pub parts: [Hash; 2],
    /// Which parts of speech it had, or its ending.
    pub class: u64,
}

/// Kinds of characters, as bits of [`Word::looks`].
mod look {
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

impl Word {
    /// A place before or after the sentence.
    pub fn outside(distance: u64) -> Word {
        let mark = mix(0x0u64, 1 + distance);
        Word {
            whole: mark,
            ends: [mark; ENDS],
            starts: [mark; STARTS],
            looks: 1 << 20,
            class: 254 + distance,
            ..Word::default()
        }
    }

    /// A word of a text, its class not yet known.
    pub fn new(text: &str) -> Word {
        let mut word = Word { whole: WHOLE, ..Word::default() };
        let mut start = START;
        let mut last = WHOLE;
        let mut length = 0;
        for c in text.chars() {
            word.looks |= look_of(c, length == 0);
            if matches!(c, ' ' | '\u{a0}' | '-') && length > 0 {
                if word.parts[0] == 0 {
                    word.parts[0] = word.whole;
                }
                last = WHOLE;
            }
            let c = plain(c) as u64;
            last = mix(last, c);
            word.whole = mix(word.whole, c);
            if length < STARTS {
                start = mix(start, c);
                word.starts[length..].fill(start);
            }
            length += 1;
        }
        if word.parts[0] != 0 {
            word.parts[1] = last;
        }
        word.ends = ends(text);
        word.length = length.min(12) as u64;
        word
    }
}

/// The last characters of a word: one, two … of them; shorter words repeat their longest.
pub fn ends<const COUNT: usize>(text: &str) -> [Hash; COUNT] {
    let mut ends = [0; COUNT];
    let mut end = END;
    for (place, c) in text.chars().rev().take(COUNT).enumerate() {
        end = mix(end, plain(c) as u64);
        ends[place..].fill(end);
    }
    ends
}

fn look_of(c: char, is_first: bool) -> u64 {
    match c {
        'a'..='z' | 'а'..='я' => look::HAS_LOWER,
        '0'..='9' => look::HAS_DIGIT,
        '-' | '‐' | '‑' | '–' | '—' => look::HAS_HYPHEN,
        '\'' | '’' | 'ʼ' => look::HAS_APOSTROPHE,
        '.' | ',' | ':' | '!' | '?' | ';' | '…' | '。' | '、' => look::HAS_STOP,
        _ if c.is_uppercase() && is_first => look::BEGINS_UPPER,
        _ if c.is_uppercase() => look::HAS_UPPER,
        _ if c.is_lowercase() => look::HAS_LOWER,
        _ if c.is_numeric() => look::HAS_DIGIT,
        _ if c.is_alphabetic() => look::HAS_CASELESS,
        _ => look::HAS_OTHER,
    }
}

/// Classes of words and of their ends.
#[derive(Debug, Default)]
pub struct Classes {
    known: Sparse,
    classes: Vec<u8>,
}

/// The longest and the shortest end that may have a class.
pub const CLASSED_ENDS: [usize; 3] = [4, 3, 2];
/// What is added to the class of an end: it is a guess.
const GUESSED: u64 = 512;

impl Classes {
    /// Reads what [`Classes::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<Classes, ModelError> {
        let known = Sparse::read(reader)?;
        let classes = reader.take(known.len())?.to_vec();
        Ok(Classes { known, classes })
    }

    /// Places and classes as a part of a model; places must ascend.
    pub fn write(bits: u32, places: &[u32], classes: &[u8], out: &mut Vec<u8>) {
        Sparse::write(bits, places, out);
        out.extend(classes);
    }

    /// Gives a word its class.
    #[inline]
    pub fn classify(&self, word: &mut Word) {
        word.class = match self.known.find(word.whole) {
            Some(number) => u64::from(self.classes[number]),
            None => self.guess(word),
        };
    }

    /// The class of a word as if it had never been seen.
    pub fn guess(&self, word: &Word) -> u64 {
        let found = CLASSED_ENDS.iter().find_map(|length| self.known.find(word.ends[length - 1]));
        GUESSED + found.map_or(255, |number| u64::from(self.classes[number]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_a_matter_of_looks() {
        let (one, other) = (Word::new("Übung"), Word::new("übung"));
        assert_eq!((one.whole, one.ends, one.starts), (other.whole, other.ends, other.starts));
        assert_ne!(one.looks, other.looks);
        assert_ne!(Word::new("x").whole, Word::new("x").ends[0]);
        Word::new("");
    }
}
