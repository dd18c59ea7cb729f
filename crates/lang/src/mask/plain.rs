//! Text with digits and marks of other scripts written in ASCII, so that one set of rules reads all.

use std::borrow::Cow;
use std::ops::Range;

/// A text in which digits of all scripts, wide marks, dashes and blanks are ASCII.
pub struct Plain<'a> {
    /// The text; borrowed if nothing changed.
    pub text: Cow<'a, str>,
    /// The place in the original of each byte, and the length of the original.
    places: Vec<u32>,
}

/// The ASCII form of a character.
fn ascii(c: char) -> Option<char> {
    let digit = |zero: char| char::from_digit(c as u32 - zero as u32, 10);
    match c {
        '٠'..='٩' => digit('٠'),
        '۰'..='۹' => digit('۰'),
        '०'..='९' => digit('०'),
        '০'..='৯' => digit('০'),
        '๐'..='๙' => digit('๐'),
        '０'..='９' => digit('０'),
        '‐' | '‑' | '‒' | '–' | '−' | '－' | 'ー' => Some('-'),
        '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{3000}' => Some(' '),
        '（' => Some('('),
        '）' => Some(')'),
        '＋' => Some('+'),
        '＠' => Some('@'),
        '／' => Some('/'),
        '．' => Some('.'),
        _ => None,
    }
}

impl<'a> Plain<'a> {
    /// Writes a text in ASCII where possible.
    pub fn new(text: &'a str) -> Plain<'a> {
        if text.is_ascii() || !text.chars().any(|c| !c.is_ascii() && ascii(c).is_some()) {
            return Plain { text: Cow::Borrowed(text), places: Vec::new() };
        }
        let mut plain = String::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len() + 1);
        let mut before = None;
        for (place, c) in text.char_indices() {
            // The mark of long vowels is a letter of Japanese, and a dash only beside digits.
            let is_dash = c != 'ー' || before.is_some_and(|c: char| c.is_ascii_digit());
            let written = if c.is_ascii() || !is_dash { c } else { ascii(c).unwrap_or(c) };
            plain.push(written);
            places.extend((0..written.len_utf8()).map(|byte| (place + byte) as u32));
            before = Some(written);
        }
        places.push(text.len() as u32);
        Plain { text: Cow::Owned(plain), places }
    }

    /// The place in the original of a range.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        match self.text {
            Cow::Borrowed(_) => range,
            Cow::Owned(_) => self.places[range.start] as usize..self.places[range.end] as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_other_scripts_become_ascii_and_keep_their_places() {
        let text = "тел ٠٣ – ９a";
        let plain = Plain::new(text);
        assert_eq!(plain.text, "тел 03 - 9a");
        let start = plain.text.find('0').unwrap();
        assert_eq!(&text[plain.original(start..start + 2)], "٠٣");
        assert!(matches!(Plain::new("тел 1").text, Cow::Borrowed(_)));
        assert_eq!(Plain::new("メール").text, "メール");
    }
}
