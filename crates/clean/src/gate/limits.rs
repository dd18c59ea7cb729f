//! The limits of the gate: ours, a language's, and the user's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The limits of single languages.
pub(crate) const LANGUAGES_TSV: &str = include_str!("languages.tsv");

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
    for line in LANGUAGES_TSV.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (code, key, value) = (fields.next(), fields.next(), fields.next());
        if code == Some(language) {
            let value = value.expect("rows have four fields");
            match key.expect("rows have four fields") {
                "least_sentences" => limits.least_sentences = value.parse().ok(),
                "most_unfinished" => limits.most_unfinished = value.parse().ok(),
                "least_small_words" => limits.least_small_words = value.parse().ok(),
                other => unreachable!("the table sets no {other}"),
            }
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_languages_reads() {
        for line in LANGUAGES_TSV.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!(fields.len(), 4, "{line}");
            assert!(fields[2].parse::<f64>().is_ok(), "{line}");
            assert_ne!(own(fields[0]), Limits::default());
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
