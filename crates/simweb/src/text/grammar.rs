//! The word lists of each language, from `data/CODE.txt`.
//!
//! A data file has sections of phrases separated by bars. Frames are sentences with slots: `{S}` a subject, `{V}` a
//! transitive verb, `{O}` an object, `{A}` an adverbial, `{C}` a place with its preposition, `{P}` a person, `{N}` a
//! number, `{T}` the word of a trend, `{X}` the name of a town; `{_}` is what belongs to a town. Phrases have the
//! inflection that their slot needs, and verbs the third person of the present or a form without gender, so that any
//! combination is grammatical.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::names::Names;
use super::trend::{Trend, TrendShape};

/// The available languages, in the order in which sites get them.
pub const CODES: &[&str] = &["en", "de", "fr", "es", "cs", "pl", "ru", "el", "ar", "zh", "ja"];

const DATA: &[&str] = &[
    include_str!("../../data/en.txt"),
    include_str!("../../data/de.txt"),
    include_str!("../../data/fr.txt"),
    include_str!("../../data/es.txt"),
    include_str!("../../data/cs.txt"),
    include_str!("../../data/pl.txt"),
    include_str!("../../data/ru.txt"),
    include_str!("../../data/el.txt"),
    include_str!("../../data/ar.txt"),
    include_str!("../../data/zh.txt"),
    include_str!("../../data/ja.txt"),
];

/// The sections of a data file, in the order of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Subjects.
    Subjects,
    /// Transitive verbs.
    Verbs,
    /// Objects.
    Objects,
    /// Adverbials of time, cause and manner.
    Adverbs,
    /// Places with their prepositions.
    Places,
    /// Places with the name of a town.
    Towns,
    /// Nouns with the town they belong to.
    Belonging,
    /// Given names.
    First,
    /// Family names.
    Last,
    /// Sentences with slots.
    Frames,
    /// Shorter sentences that comment.
    Remarks,
    /// Quotations.
    Quotes,
    /// Titles with slots.
    Titles,
    /// Headings within articles.
    Heads,
    /// Categories.
    Topics,
    /// Planted words with the shapes of their curves.
    Trends,
    /// Sentences for planted words.
    Plants,
    /// Labels of the user interface.
    Ui,
}

/// The names of the sections in the data files.
const SECTIONS: [&str; 18] = [
    "subjects",
    "verbs",
    "objects",
    "adverbs",
    "places",
    "towns",
    "belonging",
    "first",
    "last",
    "frames",
    "remarks",
    "quotes",
    "titles",
    "heads",
    "topics",
    "trends",
    "plants",
    "ui",
];

/// The data of one language.
#[derive(Debug)]
pub struct Grammar {
    /// The language's code.
    pub code: &'static str,
    sections: [Vec<&'static str>; SECTIONS.len()],
    labels: HashMap<&'static str, &'static str>,
    /// The planted words, in the order of the file.
    pub trends: Vec<Trend>,
    names: OnceLock<Names>,
}

impl Grammar {
    fn read(code: &'static str, text: &'static str) -> Self {
        let mut sections: [Vec<&str>; SECTIONS.len()] = Default::default();
        let mut section = 0;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[') {
                let name = name.trim_end_matches(']');
                let known = SECTIONS.iter().position(|known| *known == name);
                section = known.expect("all sections are in the table");
            } else {
                let phrases = line.split(" | ").map(str::trim).filter(|phrase| !phrase.is_empty());
                sections[section].extend(phrases);
            }
        }
        let labels = sections[Section::Ui as usize].iter().filter_map(|pair| pair.split_once('=')).collect();
        let trends = sections[Section::Trends as usize]
            .iter()
            .filter_map(|line| line.split_once(' '))
            .map(|(word, shape)| Trend { language: code, word, shape: TrendShape::named(shape) })
            .collect();
        Grammar { code, sections, labels, trends, names: OnceLock::new() }
    }

    /// The phrases of a section; every language has every section.
    pub fn section(&self, section: Section) -> &[&'static str] {
        &self.sections[section as usize]
    }

    /// The generated names of the language.
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::new(self))
    }

    /// A label of the user interface, such as that of the button that accepts cookies.
    pub fn label(&self, name: &str) -> &'static str {
        self.labels[name]
    }

    /// Whether words are separated by spaces.
    pub fn spaced(&self) -> bool {
        !matches!(self.code, "zh" | "ja")
    }

    /// A full name; the family name comes first if that is the custom.
    pub fn person(&self, first: &str, last: &str) -> String {
        if self.spaced() { format!("{first} {last}") } else { format!("{last}{first}") }
    }

    /// The direction of writing, for the `dir` attribute.
    pub fn direction(&self) -> &'static str {
        if self.code == "ar" { "rtl" } else { "ltr" }
    }
}

/// The grammar of a language; English for languages without a generator.
pub fn grammar(code: &str) -> &'static Grammar {
    static ALL: OnceLock<Vec<Grammar>> = OnceLock::new();
    let all = ALL.get_or_init(|| CODES.iter().zip(DATA).map(|(code, text)| Grammar::read(code, text)).collect());
    all.iter().find(|grammar| grammar.code == code).unwrap_or(&all[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_section_and_label_that_english_has() {
        let english = grammar("en");
        for code in CODES {
            let own = grammar(code);
            assert_eq!(own.code, *code);
            for (name, phrases) in SECTIONS.iter().zip(&own.sections) {
                assert!(phrases.len() > 1, "{code} has too little in [{name}]");
            }
            for name in english.labels.keys() {
                assert!(!own.label(name).is_empty(), "{code} lacks the label {name}");
            }
            assert_eq!(own.trends.len(), 6, "{code}");
        }
    }

    #[test]
    fn a_planted_word_occurs_nowhere_else() {
        for code in CODES {
            let own = grammar(code);
            for (name, phrases) in SECTIONS.iter().zip(&own.sections).filter(|row| *row.0 != "trends") {
                for phrase in phrases {
                    for trend in &own.trends {
                        assert_eq!(trend.count_in(phrase), 0, "{code} [{name}]: {phrase}");
                    }
                }
            }
        }
    }
}
