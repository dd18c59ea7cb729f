//! Letters and words as the table of evidence knows them: in lower case, each of one script.

use std::sync::LazyLock;

use super::grams::{ascii_quad_hash, quad_hash};
use super::script::Script;

/// Longer words are none; their rest is read as another word.
const LONGEST_WORD: usize = 256;

/// What is to be known of a letter.
#[derive(Debug, Clone, Copy)]
struct Letter {
    script: Option<Script>,
    /// Its small letter; the first of them where it has several.
    small: u16,
}

/// Letters by their number. To look them up is several times as fast as to ask the tables of the standard library, which are
/// packed.
static LETTERS: LazyLock<Vec<Letter>> = LazyLock::new(|| {
    let letter = |number: u16| {
        let Some(letter) = char::from_u32(number.into()) else { return Letter { script: None, small: number } };
        let small = letter.to_lowercase().next().and_then(|small| u16::try_from(u32::from(small)).ok());
        Letter { script: Script::of(letter), small: small.unwrap_or(number) }
    };
    (0..=u16::MAX).map(letter).collect()
});

/// The script of a letter, and its small letter.
#[inline]
pub(super) fn letter(letter: char) -> (Option<Script>, char) {
    match LETTERS.get(letter as usize) {
        Some(known) => (known.script, char::from_u32(known.small.into()).unwrap_or(letter)),
        None => (Script::of(letter), letter.to_lowercase().next().unwrap_or(letter)),
    }
}

/// Whether it is an accent that belongs to the letter before it.
pub(super) fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

/// A word while it is read.
#[derive(Debug)]
pub(super) struct Word {
    bytes: [u8; LONGEST_WORD + 4],
    /// Where each letter begins.
    starts: [u16; LONGEST_WORD + 4],
    len: usize,
    letters: usize,
}

impl Word {
    pub(super) fn new() -> Word {
        Word { bytes: [0; LONGEST_WORD + 4], starts: [0; LONGEST_WORD + 4], len: 0, letters: 0 }
    }

    pub(super) fn clear(&mut self) {
        (self.len, self.letters) = (0, 0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.letters == 0
    }

    /// Whether no letter can be added.
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

    /// Adds a letter of ASCII, unless the word is full.
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

    /// Its first letters, at most so many; and whether that is all.
    pub(super) fn beginning(&self, letters: usize) -> (&[u8], bool) {
        let end = self.place(letters);
        (&self.bytes[..end], end == self.len)
    }

    fn place(&self, letter: usize) -> usize {
        if letter < self.letters { self.starts[letter].into() } else { self.len }
    }

    /// The hashes of its groups of four letters, as many as the table was counted from.
    pub(super) fn quads(&self, mut each: impl FnMut(u32)) {
        let is_ascii = self.len == self.letters;
        let mut first = 0;
        while first < self.letters {
            let end = (first + 4).min(self.letters);
            let (is_first, is_last) = (first == 0, end == self.letters);
            each(match is_ascii {
                true => ascii_quad_hash(self.four(first) & UP_TO[end - first], is_first, is_last),
                false => quad_hash(&self.bytes[self.place(first)..self.place(end)], is_first, is_last),
            });
            if is_last {
                break;
            }
            // Two letters on, and past a vowel.
            let next = self.bytes[self.place(first + 2)];
            first += 2 + usize::from(matches!(next, b'a' | b'e' | b'i' | b'o' | b'u'));
        }
    }

    /// Four bytes from a place on, whatever they are.
    fn four(&self, place: usize) -> u32 {
        let bytes = &self.bytes[place..place + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

/// What keeps so many bytes of four.
const UP_TO: [u32; 5] = [0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_what_the_standard_library_says() {
        for known in (0..=0x1_0FFF).filter_map(char::from_u32) {
            let small = known.to_lowercase().next().unwrap();
            assert_eq!(letter(known), (Script::of(known), small), "{known}");
        }
    }

    #[test]
    fn a_word_that_is_full_takes_no_more() {
        let mut word = Word::new();
        (0..1000).for_each(|_| word.push('ẹ'));
        (0..1000).for_each(|_| word.push_ascii(b'e'));
        assert!(word.is_full() && word.bytes().len() <= LONGEST_WORD + 4);
        assert!(std::str::from_utf8(word.bytes()).is_ok());
        let mut quads = 0;
        word.quads(|_| quads += 1);
        assert!(quads > 20);
    }
}
