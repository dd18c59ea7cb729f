//! How a word becomes its lemma: what its beginning and its end are replaced by, and what happens to its case.

use crate::hash::is_lower_or_caseless;
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_text};

/// What a lemma does with capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LemmaCase {
    /// All small: *Houses* becomes *house*.
    Lower,
    /// A capital first: *BRASÍLIA* becomes *Brasília*.
    Title,
    /// All capitals.
    Upper,
    /// As it stands in the text: *McDonald*.
    Keep,
}

impl LemmaCase {
    /// All of them, by their number.
    pub const ALL: [LemmaCase; 4] = [LemmaCase::Lower, LemmaCase::Title, LemmaCase::Upper, LemmaCase::Keep];

    /// Lemmas of small letters given the case of the lemma; `kept` is the same lemma with the letters of the text.
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

/// Beginning and end, before and after. Everything is in small letters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EditScript {
    /// What the word begins with, and what takes its place.
    pub start: (String, String),
    /// What the word ends with, and what takes its place.
    pub end: (String, String),
}

impl EditScript {
    /// The script that makes a lemma of a word, both in small letters: what they have in common stays.
    pub fn between(word: &str, lemma: &str) -> EditScript {
        let (from, to): (Vec<char>, Vec<char>) = (word.chars().collect(), lemma.chars().collect());
        let (mut from_start, mut to_start, mut length) = common(&from, &to);
        // Where a common beginning is nearly as long, it is the stem.
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

    /// The lemma of a word in small letters; none if the word does not begin and end as it should.
    pub fn apply(&self, word: &str) -> Option<String> {
        let stem = word.strip_prefix(self.start.0.as_str())?.strip_suffix(self.end.0.as_str())?;
        Some([&self.start.1, stem, &self.end.1].concat())
    }

    /// The lemma of a word with the letters it has in the text, which `lower` has as small ones.
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

    /// The script as a part of a model.
    pub fn write(&self, out: &mut Vec<u8>) {
        [&self.start.0, &self.start.1, &self.end.0, &self.end.1].iter().for_each(|text| put_text(text, out));
    }

    /// Reads what [`EditScript::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<EditScript, ModelError> {
        let mut text = || reader.text().map(str::to_owned);
        Ok(EditScript { start: (text()?, text()?), end: (text()?, text()?) })
    }
}

/// Where the longest part is that two words have in common, and how long it is.
fn common(from: &[char], to: &[char]) -> (usize, usize, usize) {
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

/// A word in small letters, as many as it has.
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
    fn a_script_makes_the_lemma_it_was_made_from() {
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
    fn letters_of_the_text_may_be_kept() {
        let script = EditScript::between("mcdonalds", "mcdonald");
        assert_eq!(script.apply_kept("McDonalds", "mcdonalds").as_deref(), Some("McDonald"));
        assert_eq!(LemmaCase::Title.apply("brasília", "BRASÍLIA"), "Brasília");
        assert_eq!(lowercase("İSTANBUL").chars().count(), 8, "no letter may become two");
    }
}
