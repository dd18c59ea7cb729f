//! Edit scripts from word form to lemma: replacements of a prefix and a suffix, and the case of the
//! lemma.

use crate::hash::is_lower_or_caseless;
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_text};

/// Case of a lemma relative to the word form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LemmaCase {
    /// Lowercase: *Houses* becomes *house*.
    Lower,
    /// First letter uppercase: *BRASÍLIA* becomes *Brasília*.
    Title,
    /// Uppercase.
    Upper,
    /// As in the text: *McDonald*.
    Keep,
}

impl LemmaCase {
    /// All cases by number.
    pub const ALL: [LemmaCase; 4] = [LemmaCase::Lower, LemmaCase::Title, LemmaCase::Upper, LemmaCase::Keep];

    /// Applies the case to a lowercase lemma; `kept` is the lemma with the capitals of the text.
    pub fn apply(self, lower: &str, kept: &str) -> String {
        match self {
            LemmaCase::Lower => lower.to_owned(),
            LemmaCase::Upper => lower.to_uppercase(),
            LemmaCase::Keep => kept.to_owned(),
            LemmaCase::Title => {
                let mut chars = lower.chars();
                chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
            }
        }
    }
}

/// Edit script on lowercase words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EditScript {
    /// Prefix of the word and its replacement.
    pub start: (String, String),
    /// Suffix of the word and its replacement.
    pub end: (String, String),
}

impl EditScript {
    /// Returns the script from a word to its lemma, both lowercase; keeps their longest common
    /// substring.
    pub fn between(word: &str, lemma: &str) -> EditScript {
        let (from, to): (Vec<char>, Vec<char>) = (word.chars().collect(), lemma.chars().collect());
        let (mut from_start, mut to_start, mut length) = longest_common_substring(&from, &to);
        // A common prefix of nearly the same length is preferred: it is the stem.
        let prefix = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        if prefix > 0 && prefix + 1 >= length {
            (from_start, to_start, length) = (0, 0, prefix);
        }
        if length == 0 {
            return EditScript { end: (word.to_owned(), lemma.to_owned()), ..EditScript::default() };
        }
        let text = |chars: &[char]| chars.iter().collect::<String>();
        EditScript {
            start: (text(&from[..from_start]), text(&to[..to_start])),
            end: (text(&from[from_start + length..]), text(&to[to_start + length..])),
        }
    }

    /// Returns the lemma of a lowercase word; `None` if prefix or suffix do not match.
    pub fn apply(&self, word: &str) -> Option<String> {
        let stem = word.strip_prefix(self.start.0.as_str())?.strip_suffix(self.end.0.as_str())?;
        Some([&self.start.1, stem, &self.end.1].concat())
    }

    /// Returns the lemma with the capitals of the text; `lower` is the lowercase word.
    pub fn apply_kept(&self, word: &str, lower: &str) -> Option<String> {
        self.apply(lower)?;
        let mut chars = word.chars();
        for _ in self.start.0.chars() {
            chars.next();
        }
        for _ in self.end.0.chars() {
            chars.next_back();
        }
        Some([&self.start.1, chars.as_str(), &self.end.1].concat())
    }

    /// Serialises the script.
    pub fn write(&self, out: &mut Vec<u8>) {
        [&self.start.0, &self.start.1, &self.end.0, &self.end.1].iter().for_each(|text| put_text(text, out));
    }

    /// Reads the output of [`EditScript::write`].
    pub fn read(reader: &mut Reader<'_>) -> Result<EditScript, ModelError> {
        let mut text = || reader.text().map(str::to_owned);
        Ok(EditScript { start: (text()?, text()?), end: (text()?, text()?) })
    }
}

/// Longest common substring: start in each word, and length.
fn longest_common_substring(from: &[char], to: &[char]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    let mut lengths = vec![0; to.len() + 1];
    for (row, one) in from.iter().enumerate() {
        for column in (0..to.len()).rev() {
            let length = if *one == to[column] { lengths[column] + 1 } else { 0 };
            lengths[column + 1] = length;
            if length > best.2 {
                best = (row + 1 - length, column + 1 - length, length);
            }
        }
    }
    best
}

/// Lowercases a word without changing its number of characters.
pub fn lowercase(word: &str) -> String {
    let small = |c: char| {
        if c.is_ascii() || is_lower_or_caseless(c) {
            return c.to_ascii_lowercase();
        }
        let mut lower = c.to_lowercase();
        if lower.len() == 1 { lower.next().unwrap_or(c) } else { c }
    };
    word.chars().map(small).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reproduces_the_lemma_it_was_built_from() {
        for (word, lemma) in [
            ("gemacht", "machen"),
            ("häuser", "haus"),
            ("bhfear", "fear"),
            ("ging", "gehen"),
            ("war", "sein"),
            ("x", ""),
            ("", "x"),
            ("행사는", "행사+는"),
        ] {
            let script = EditScript::between(word, lemma);
            assert_eq!(script.apply(word).as_deref(), Some(lemma), "{script:?}");
            let mut bytes = Vec::new();
            script.write(&mut bytes);
            assert_eq!(EditScript::read(&mut Reader::new(&bytes)).unwrap(), script);
        }
        assert_eq!(EditScript::between("gemacht", "machen").start, ("ge".to_owned(), String::new()));
        assert_eq!(EditScript::between("gemacht", "machen").apply("ge"), None);
    }

    #[test]
    fn capitals_of_the_text_can_be_kept() {
        let script = EditScript::between("mcdonalds", "mcdonald");
        assert_eq!(script.apply_kept("McDonalds", "mcdonalds").as_deref(), Some("McDonald"));
        assert_eq!(LemmaCase::Title.apply("brasília", "BRASÍLIA"), "Brasília");
        assert_eq!(lowercase("İSTANBUL").chars().count(), 8, "lowercasing keeps the number of characters");
    }
}
