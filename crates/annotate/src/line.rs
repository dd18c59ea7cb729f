//! A stretch of text, character by character, with all that rules and models ask about it.

use crate::chars::{Kind, Kinds};
use crate::hash::{self, Hash};

/// No rule looks further than this, so that no text is slow.
pub const FAR: usize = 24;

/// A character in its place.
#[derive(Debug, Clone, Copy)]
pub struct Char {
    pub c: char,
    pub kind: Kind,
    /// Part of the character before it: a mark, a joiner, what a joiner joins.
    pub extends: bool,
    /// Inside something that is never taken apart, such as an address.
    pub glued: bool,
    /// A dictionary begins a word here.
    pub begins: bool,
    /// Where it begins in the text, in bytes.
    pub at: usize,
}

/// The characters of a stretch of text.
#[derive(Debug, Default)]
pub struct Line {
    pub chars: Vec<Char>,
    /// Where the stretch ends in the text, in bytes.
    pub end: usize,
}

impl Line {
    /// Takes in at most `limit` characters of a text from a place on, up to the end of the line.
    pub fn read(&mut self, text: &str, from: usize, limit: usize, kinds: Kinds) {
        self.chars.clear();
        self.end = text.len();
        let mut before = Kind::Space;
        let mut half_flag = false;
        for (at, c) in text[from..].char_indices() {
            let mut kind = kinds.of(c);
            if kind == Kind::Newline || self.chars.len() == limit {
                self.end = from + at;
                break;
            }
            let mut extends = false;
            match kind {
                Kind::Extend if before.is_blank() => kind = Kind::Other,
                Kind::Extend => (extends, kind) = (true, before),
                Kind::Emoji => extends = self.chars.last().is_some_and(|last| last.c == '\u{200d}'),
                Kind::Regional if half_flag => extends = true,
                _ => {}
            }
            half_flag = kind == Kind::Regional && !half_flag;
            self.chars.push(Char { c, kind, extends, glued: extends, begins: !extends, at: from + at });
            before = kind;
        }
    }

    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// The character at a place; a blank before the beginning and after the end.
    #[inline]
    pub fn char(&self, place: usize) -> char {
        self.chars.get(place).map_or(' ', |found| found.c)
    }

    #[inline]
    pub fn kind(&self, place: usize) -> Kind {
        self.chars.get(place).map_or(Kind::Space, |found| found.kind)
    }

    /// Where a place is in the text, in bytes.
    pub fn byte(&self, place: usize) -> usize {
        self.chars.get(place).map_or(self.end, |found| found.at)
    }

    /// Where the letters and digits begin that end at a place.
    pub fn word_before(&self, place: usize) -> usize {
        let furthest = place.saturating_sub(FAR);
        let mut start = place;
        while start > furthest && self.kind(start - 1).is_word() {
            start -= 1;
        }
        start
    }

    /// Where the letters and digits end that begin at a place.
    pub fn word_after(&self, place: usize) -> usize {
        let furthest = (place + FAR).min(self.len());
        let mut end = place;
        while end < furthest && self.kind(end).is_word() {
            end += 1;
        }
        end
    }

    /// The first place from here on that is not blank.
    pub fn skip_blanks(&self, place: usize) -> usize {
        let furthest = (place + FAR).min(self.len());
        let mut next = place;
        while next < furthest && self.kind(next).is_blank() {
            next += 1;
        }
        next
    }

    /// What stands between two places, without regard to case, as a number.
    pub fn hash(&self, from: usize, to: usize) -> Hash {
        hash::of_chars(self.chars[from..to.max(from)].iter().map(|found| found.c))
    }
}
