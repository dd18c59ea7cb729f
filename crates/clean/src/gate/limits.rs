//! Limits of the quality gate: built-in, per language, and set by the user.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A set of limits; unset ones fall back to the next set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Minimum number of words; a character of a script without spaces is half a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_words: Option<u32>,
    /// Minimum number of sentences, by end marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_sentences: Option<u32>,
    /// Maximum share of replacement, private-use and control characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_bad_characters: Option<f64>,
    /// Minimum share of letters among the characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_letters: Option<f64>,
    /// Maximum share of words in list items, rows, headings and lines without an end mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_unfinished: Option<f64>,
    /// Maximum share of words that repeat earlier text of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_repeated: Option<f64>,
    /// Maximum share of the most frequent word that is not a stop word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_of_one_word: Option<f64>,
    /// Minimum share of stop words, in languages with a stop list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_small_words: Option<f64>,
}

impl Limits {
    /// The built-in limits for all languages; docs/notes/gate.md has the measurements.
    pub const fn defaults() -> Limits {
        Limits {
            least_words: Some(25),
            least_sentences: Some(2),
            most_bad_characters: Some(0.02),
            least_letters: Some(0.5),
            most_unfinished: Some(0.95),
            most_repeated: Some(0.5),
            most_of_one_word: Some(0.15),
            least_small_words: Some(0.15),
        }
    }

    /// Checks that all shares are between 0 and 1; the error names one that is not.
    pub fn check(&self) -> Result<(), String> {
        let shares = [
            ("most_bad_characters", self.most_bad_characters),
            ("least_letters", self.least_letters),
            ("most_unfinished", self.most_unfinished),
            ("most_repeated", self.most_repeated),
            ("most_of_one_word", self.most_of_one_word),
            ("least_small_words", self.least_small_words),
        ];
        for (key, share) in shares.into_iter().filter_map(|(key, share)| Some((key, share?))) {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("{key} = {share} is out of range; give a number from 0 to 1"));
            }
        }
        Ok(())
    }

    /// Fills unset limits from `other`.
    pub fn or(&self, other: &Limits) -> Limits {
        Limits {
            least_words: self.least_words.or(other.least_words),
            least_sentences: self.least_sentences.or(other.least_sentences),
            most_bad_characters: self.most_bad_characters.or(other.most_bad_characters),
            least_letters: self.least_letters.or(other.least_letters),
            most_unfinished: self.most_unfinished.or(other.most_unfinished),
            most_repeated: self.most_repeated.or(other.most_repeated),
            most_of_one_word: self.most_of_one_word.or(other.most_of_one_word),
            least_small_words: self.least_small_words.or(other.least_small_words),
        }
    }
}

/// The limits for all languages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gate {
    /// Limits set by the user, by language code or [`Gate::ALL`].
    set: BTreeMap<String, Limits>,
    is_off: bool,
}

impl Gate {
    /// The key for limits of every language.
    pub const ALL: &'static str = "all";

    /// A gate that accepts everything.
    pub fn off() -> Gate {
        Gate { is_off: true, ..Gate::default() }
    }

    /// Sets limits for a language, or for all with [`Gate::ALL`].
    pub fn set(&mut self, language: &str, limits: Limits) {
        self.set.insert(language.to_owned(), limits);
    }

    /// The limits of a language. Precedence: user for the language, built-in for the language, user
    /// for all, built-in for all.
    pub(crate) fn limits(&self, language: &str) -> Limits {
        let nothing = Limits::default();
        if self.is_off {
            return nothing;
        }
        let of = |name: &str| self.set.get(name).unwrap_or(&nothing);
        of(language).or(&built_in(language)).or(of(Gate::ALL)).or(&Limits::defaults())
    }
}

/// The built-in limits of a language.
fn built_in(language: &str) -> Limits {
    let mut limits = Limits::default();
    let known = tidings_lang::language(language).filter(|known| known.code == language);
    for line in known.and_then(|known| known.gate_tsv).unwrap_or_default().lines() {
        let mut fields = line.split('\t');
        let (key, value) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        match key {
            "least_words" => limits.least_words = value.parse().ok(),
            "least_sentences" => limits.least_sentences = value.parse().ok(),
            "most_bad_characters" => limits.most_bad_characters = value.parse().ok(),
            "least_letters" => limits.least_letters = value.parse().ok(),
            "most_unfinished" => limits.most_unfinished = value.parse().ok(),
            "most_repeated" => limits.most_repeated = value.parse().ok(),
            "most_of_one_word" => limits.most_of_one_word = value.parse().ok(),
            "least_small_words" => limits.least_small_words = value.parse().ok(),
            _ => debug_assert!(key.starts_with('#'), "{language}/gate.tsv has the unknown key {key:?}"),
        }
    }
    limits
}

/// The limits of single languages: the files `languages/CODE/gate.tsv`, by code.
pub(crate) fn tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    tidings_lang::languages().iter().filter_map(|language| Some((language.code, language.gate_tsv?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_every_language_are_well_formed() {
        for (code, text) in tables() {
            assert_ne!(built_in(code), Limits::default(), "{code}");
            assert_eq!(built_in(code).check(), Ok(()), "{code}");
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                let fields: Vec<&str> = line.split('\t').collect();
                assert_eq!(fields.len(), 3, "{code}: {line}");
                assert!(fields[1].parse::<f64>().is_ok(), "{code}: {line}");
            }
        }
    }

    #[test]
    fn the_most_specific_limit_applies() {
        let mut gate = Gate::default();
        assert_eq!(gate.limits("th").least_sentences, Some(0));
        gate.set(Gate::ALL, Limits { least_sentences: Some(5), ..Limits::default() });
        assert_eq!((gate.limits("th").least_sentences, gate.limits("de").least_sentences), (Some(0), Some(5)));
        gate.set("th", Limits { least_sentences: Some(1), ..Limits::default() });
        assert_eq!(gate.limits("th").least_sentences, Some(1));
    }
}
