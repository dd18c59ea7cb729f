//! Input of the rules and models: a chunk of one line, decoded into characters with their classes.

use crate::chars::{CharClass, CharClasses};
use crate::hash::{self, Hash};

/// Maximum number of characters that any rule looks back or ahead; keeps segmentation linear in the
/// text length.
pub const MAX_CONTEXT: usize = 24;

/// Character of a [`TextLine`].
#[derive(Debug, Clone, Copy)]
pub struct Char {
    pub c: char,
    pub class: CharClass,
    /// Extends the character before it: a mark, a joiner, or the character after a joiner.
    pub extends: bool,
    /// Inside a token that is never split, such as a URL.
    pub no_break: bool,
    /// The dictionary segmenter starts a word here.
    pub word_start: bool,
    /// Byte offset in the text.
    pub offset: usize,
}

/// Characters of one line, or of a chunk of a long line.
#[derive(Debug, Default)]
pub struct TextLine {
    pub chars: Vec<Char>,
    /// Byte offset of the end in the text.
    pub end: usize,
}

impl TextLine {
    /// Reads at most `limit` characters from byte offset `from`, up to the end of the line.
    pub fn read(&mut self, text: &str, from: usize, limit: usize, classes: CharClasses) {
        self.chars.clear();
        self.end = text.len();
        let mut before = CharClass::Space;
        let mut half_flag = false;
        for (at, c) in text[from..].char_indices() {
            let mut class = classes.of(c);
            if class == CharClass::Newline || self.chars.len() == limit {
                self.end = from + at;
                break;
            }
            let mut extends = false;
            match class {
                CharClass::Extend if before.is_blank() => class = CharClass::Other,
                CharClass::Extend => (extends, class) = (true, before),
                CharClass::Emoji => extends = self.chars.last().is_some_and(|last| last.c == '\u{200d}'),
                CharClass::Regional if half_flag => extends = true,
                _ => {}
            }
            half_flag = class == CharClass::Regional && !half_flag;
            self.chars.push(Char { c, class, extends, no_break: extends, word_start: !extends, offset: from + at });
            before = class;
        }
    }

    /// Replaces traditional Chinese characters by simplified ones, so that a model learns both scripts as one. Byte
    /// offsets still are those of the text.
    pub fn simplify(&mut self) {
        for found in self.chars.iter_mut().filter(|found| found.class == CharClass::Han) {
            found.c = tidings_lang::simplified(found.c);
        }
    }

    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// Returns a character; a space outside of the line.
    #[inline]
    pub fn char(&self, index: usize) -> char {
        self.chars.get(index).map_or(' ', |found| found.c)
    }

    #[inline]
    pub fn class(&self, index: usize) -> CharClass {
        self.chars.get(index).map_or(CharClass::Space, |found| found.class)
    }

    /// Byte offset of a character in the text.
    pub fn byte(&self, index: usize) -> usize {
        self.chars.get(index).map_or(self.end, |found| found.offset)
    }

    /// Start of the run of letters and digits that ends before `index`.
    pub fn word_before(&self, index: usize) -> usize {
        let furthest = index.saturating_sub(MAX_CONTEXT);
        let mut start = index;
        while start > furthest && self.class(start - 1).is_word() {
            start -= 1;
        }
        start
    }

    /// End of the run of letters and digits that starts at `index`.
    pub fn word_after(&self, index: usize) -> usize {
        let furthest = (index + MAX_CONTEXT).min(self.len());
        let mut end = index;
        while end < furthest && self.class(end).is_word() {
            end += 1;
        }
        end
    }

    /// First non-blank character at or after `index`.
    pub fn skip_blanks(&self, index: usize) -> usize {
        let furthest = (index + MAX_CONTEXT).min(self.len());
        let mut next = index;
        while next < furthest && self.class(next).is_blank() {
            next += 1;
        }
        next
    }

    /// Hash of a range of characters, ignoring case.
    pub fn hash(&self, from: usize, to: usize) -> Hash {
        hash::of_chars(self.chars[from..to.max(from)].iter().map(|found| found.c))
    }
}
