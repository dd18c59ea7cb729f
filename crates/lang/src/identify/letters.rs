//! Letters and words as the feature table has them: in lower case, each of one script.

use std::sync::OnceLock;

use super::grams::{ascii_quadgram_hash, quadgram_hash};
use super::script::Script;

/// Longer words are cut; the rest is read as another word.
const LONGEST_WORD: usize = 256;

/// Properties of a letter.
#[derive(Debug, Clone, Copy)]
struct Letter {
    script: Option<Script>,
    /// The lower case letter, or the first of several.
    small: u16,
}

/// Consecutive letters that are looked up together.
const BLOCK: usize = 256;

/// Letters of the Basic Multilingual Plane, in blocks that are filled when a text has one of their letters: most texts
/// have few. This table is several times as fast as the compressed tables of the standard library.
static LETTERS: [OnceLock<[Letter; BLOCK]>; (u16::MAX as usize + 1) / BLOCK] =
    [const { OnceLock::new() }; (u16::MAX as usize + 1) / BLOCK];

/// The letters of a block.
fn fill_block(block: usize) -> [Letter; BLOCK] {
    std::array::from_fn(|place| {
        let number = (block * BLOCK + place) as u16;
        let Some(letter) = char::from_u32(number.into()) else { return Letter { script: None, small: number } };
        let small = letter.to_lowercase().next().and_then(|small| u16::try_from(u32::from(small)).ok());
        Letter { script: Script::of(letter), small: small.unwrap_or(number) }
    })
}

/// The script of a letter and its lower case.
#[inline]
pub(super) fn letter(letter: char) -> (Option<Script>, char) {
    let block = letter as usize / BLOCK;
    match LETTERS.get(block) {
        Some(letters) => {
            let known = letters.get_or_init(|| fill_block(block))[letter as usize % BLOCK];
            (known.script, char::from_u32(known.small.into()).unwrap_or(letter))
        }
        None => (Script::of(letter), letter.to_lowercase().next().unwrap_or(letter)),
    }
}

/// Returns true for combining diacritical marks.
pub(super) fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// The buffer of the word that is being read.
#[derive(Debug)]
pub(super) struct WordBuffer {
    bytes: [u8; LONGEST_WORD + 4],
    /// The offset of each letter.
    starts: [u16; LONGEST_WORD + 4],
    len: usize,
    letters: usize,
}

impl WordBuffer {
    pub(super) fn new() -> WordBuffer {
        WordBuffer { bytes: [0; LONGEST_WORD + 4], starts: [0; LONGEST_WORD + 4], len: 0, letters: 0 }
    }

    pub(super) fn clear(&mut self) {
        (self.len, self.letters) = (0, 0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.letters == 0
    }

    /// Returns true if no letter can be added.
    pub(super) fn is_full(&self) -> bool {
        self.len >= LONGEST_WORD
    }

    /// Adds a letter, unless the word is full.
    #[inline]
    pub(super) fn push(&mut self, letter: char) {
        if self.is_full() {
            return;
        }
        self.starts[self.letters] = self.len as u16;
        self.letters += 1;
        self.len += letter.encode_utf8(&mut self.bytes[self.len..]).len();
    }

    /// Adds an ASCII letter, unless the word is full.
    #[inline]
    pub(super) fn push_ascii(&mut self, letter: u8) {
        if self.is_full() {
            return;
        }
        self.starts[self.letters] = self.len as u16;
        self.letters += 1;
        self.bytes[self.len] = letter;
        self.len += 1;
    }

    pub(super) fn letters(&self) -> usize {
        self.letters
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The first `letters` letters, and true if that is the whole word.
    pub(super) fn beginning(&self, letters: usize) -> (&[u8], bool) {
        let end = self.offset(letters);
        (&self.bytes[..end], end == self.len)
    }

    fn offset(&self, letter: usize) -> usize {
        if letter < self.letters { self.starts[letter].into() } else { self.len }
    }

    /// Calls `each` with the hash of each quadgram, at the offsets that the table was counted at.
    pub(super) fn quadgrams(&self, mut each: impl FnMut(u32)) {
        let is_ascii = self.len == self.letters;
        let mut first = 0;
        while first < self.letters {
            let end = (first + 4).min(self.letters);
            let (is_first, is_last) = (first == 0, end == self.letters);
            each(match is_ascii {
                true => ascii_quadgram_hash(self.four(first) & FIRST_BYTES[end - first], is_first, is_last),
                false => quadgram_hash(&self.bytes[self.offset(first)..self.offset(end)], is_first, is_last),
            });
            if is_last {
                break;
            }
            // CLD2 advances by two letters, and past a vowel.
            let next = self.bytes[self.offset(first + 2)];
            first += 2 + usize::from(matches!(next, b'a' | b'e' | b'i' | b'o' | b'u'));
        }
    }

    /// Four bytes from an offset.
    fn four(&self, offset: usize) -> u32 {
        let bytes = &self.bytes[offset..offset + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

/// Masks that keep the first 0 to 4 bytes.
const FIRST_BYTES: [u32; 5] = [0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letter_table_agrees_with_the_standard_library() {
        for known in (0..=0x1_0FFF).filter_map(char::from_u32) {
            let small = known.to_lowercase().next().unwrap();
            assert_eq!(letter(known), (Script::of(known), small), "{known}");
        }
    }

    #[test]
    fn a_full_word_ignores_further_letters() {
        let mut word = WordBuffer::new();
        (0..1000).for_each(|_| word.push('ẹ'));
        (0..1000).for_each(|_| word.push_ascii(b'e'));
        assert!(word.is_full() && word.bytes().len() <= LONGEST_WORD + 4);
        assert!(std::str::from_utf8(word.bytes()).is_ok());
        let mut quadgrams = 0;
        word.quadgrams(|_| quadgrams += 1);
        assert!(quadgrams > 20);
    }
}
