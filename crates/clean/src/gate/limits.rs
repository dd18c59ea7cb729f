//! The limits of the gate: ours, a language's, and the user's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Limits that somebody set; what is not set is left to others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The fewest words a document has; a character of a script without spaces is half a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_words: Option<u32>,
    /// The fewest sentences it has, by their end marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_sentences: Option<u32>,
    /// The largest share of characters that are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_bad_characters: Option<f64>,
    /// The smallest share of letters among its characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_letters: Option<f64>,
    /// The largest share of words in list items, rows, headings and lines without an end mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_unfinished: Option<f64>,
    /// The largest share of words that repeat what the same document said before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_repeated: Option<f64>,
    /// The largest share of one word that is no small word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_of_one_word: Option<f64>,
    /// The smallest share of small words, in languages that we have a list of them for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_small_words: Option<f64>,
}

impl Limits {
    /// What holds where nobody said anything else; docs/notes/gate.md has the measurements.
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

    /// Whether each can be met; otherwise the name of one that cannot, and why.
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
                return Err(format!("{key} = {share} is no share; give a number from 0 to 1"));
            }
        }
        Ok(())
    }

    /// These limits, and where they say nothing, others.
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

/// The limits of all languages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gate {
    /// What the user set: for a language by its code, for everybody by [`Gate::ALL`].
    set: BTreeMap<String, Limits>,
    is_off: bool,
}

impl Gate {
    /// The name under which limits hold for every language.
    pub const ALL: &'static str = "all";

    /// A gate that stands open.
    pub fn off() -> Gate {
        Gate { is_off: true, ..Gate::default() }
    }

    /// Sets limits for a language, or for all.
    pub fn set(&mut self, language: &str, limits: Limits) {
        self.set.insert(language.to_owned(), limits);
    }

    /// The limits of a language: the user's for it, ours for it, the user's for all, ours for all.
    pub(crate) fn limits(&self, language: &str) -> Limits {
        let nothing = Limits::default();
        if self.is_off {
            return nothing;
        }
        let of = |name: &str| self.set.get(name).unwrap_or(&nothing);
        of(language).or(&own(language)).or(of(Gate::ALL)).or(&Limits::defaults())
    }
}

/// What we know that a language needs.
fn own(language: &str) -> Limits {
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
    fn the_limits_of_every_language_can_be_read() {
        for (code, text) in tables() {
            assert_ne!(own(code), Limits::default(), "{code}");
            assert_eq!(own(code).check(), Ok(()), "{code}");
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                let fields: Vec<&str> = line.split('\t').collect();
                assert_eq!(fields.len(), 3, "{code}: {line}");
                assert!(fields[1].parse::<f64>().is_ok(), "{code}: {line}");
            }
        }
    }

    #[test]
    fn the_nearest_word_holds() {
        let mut gate = Gate::default();
        assert_eq!(gate.limits("th").least_sentences, Some(0));
        gate.set(Gate::ALL, Limits { least_sentences: Some(5), ..Limits::default() });
        assert_eq!((gate.limits("th").least_sentences, gate.limits("de").least_sentences), (Some(0), Some(5)));
        gate.set("th", Limits { least_sentences: Some(1), ..Limits::default() });
        assert_eq!(gate.limits("th").least_sentences, Some(1));
    }
}
