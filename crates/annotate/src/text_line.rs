//! A stretch of text, character by character, with all that rules and models ask about it.

use crate::chars::{CharClass, CharClasses};
use crate::hash::{self, Hash};

/// No rule looks further than this, so that no text is slow.
pub const MAX_CONTEXT: usize = 24;

/// A character in its index.
#[derive(Debug, Clone, Copy)]
pub struct Char {
    pub c: char,
    pub class: CharClass,
    /// Part of the character before it: a mark, a joiner, what a joiner joins.
    pub extends: bool,
    /// Inside something that is never taken apart, such as an address.
    pub no_break: bool,
    /// A dictionary begins a word here.
    pub word_start: bool,
    /// Where it begins in the text, in bytes.
    pub offset: usize,
}

/// The characters of a stretch of text.
#[derive(Debug, Default)]
pub struct TextLine {
    pub chars: Vec<Char>,
    /// Where the stretch ends in the text, in bytes.
    pub end: usize,
}

impl TextLine {
    /// Takes in at most `limit` characters of a text from a index on, up to the end of the line.
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

    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// The character at a index; a blank before the beginning and after the end.
    #[inline]
    pub fn char(&self, index: usize) -> char {
        self.chars.get(index).map_or(' ', |found| found.c)
    }

    #[inline]
    pub fn class(&self, index: usize) -> CharClass {
        self.chars.get(index).map_or(CharClass::Space, |found| found.class)
    }

    /// Where a index is in the text, in bytes.
    pub fn byte(&self, index: usize) -> usize {
        self.chars.get(index).map_or(self.end, |found| found.offset)
    }

    /// Where the letters and digits begin that end at a index.
    pub fn word_before(&self, index: usize) -> usize {
        let furthest = index.saturating_sub(MAX_CONTEXT);
        let mut start = index;
        while start > furthest && self.class(start - 1).is_word() {
            start -= 1;
        }
        start
    }

    /// Where the letters and digits end that begin at a index.
    pub fn word_after(&self, index: usize) -> usize {
        let furthest = (index + MAX_CONTEXT).min(self.len());
        let mut end = index;
        while end < furthest && self.class(end).is_word() {
            end += 1;
        }
        end
    }

    /// The first index from here on that is not blank.
    pub fn skip_blanks(&self, index: usize) -> usize {
        let furthest = (index + MAX_CONTEXT).min(self.len());
        let mut next = index;
        while next < furthest && self.class(next).is_blank() {
            next += 1;
        }
        next
    }

    /// What stands between two places, without regard to case, as a number.
    pub fn hash(&self, from: usize, to: usize) -> Hash {
        hash::of_chars(self.chars[from..to.max(from)].iter().map(|found| found.c))
    }
}
