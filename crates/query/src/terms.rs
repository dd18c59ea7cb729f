//! Patterns of terms: nouns with what belongs to them, by parts of speech, one file for each family of languages in `data/terms/`.
//!
//! The families are those of the sketch grammars ([`crate::sketch`]).

use crate::cql::{self, Query};
use crate::sketch::Grammar;
use std::sync::OnceLock;

/// The patterns, by the name of the sketch grammar of the same languages; the last one is for all others.
const FILES: &[(&str, &str)] = &[
    ("english", include_str!("../data/terms/english.txt")),
    ("german", include_str!("../data/terms/german.txt")),
    ("romance", include_str!("../data/terms/romance.txt")),
    ("slavic", include_str!("../data/terms/slavic.txt")),
    ("other", include_str!("../data/terms/other.txt")),
];

/// The terms of a family of languages.
#[derive(Debug)]
struct TermPatterns {
    name: &'static str,
    /// The query whose hits are terms, without and with proper nouns.
    queries: [Query; 2],
}

/// The query whose matches, of every length, are the terms of a language.
pub fn term_query(language: &str, with_names: bool) -> &'static Query {
    static ALL: OnceLock<Vec<TermPatterns>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let read = |(name, text): &(&'static str, &str)| {
            let query = |with_names| query_of(text, with_names).expect("a test parses every file");
            TermPatterns { name, queries: [query(false), query(true)] }
        };
        FILES.iter().map(read).collect()
    });
    let name = Grammar::of(language).name.as_str();
    let patterns = all.iter().find(|patterns| patterns.name == name).or(all.last()).expect("there are patterns");
    &patterns.queries[usize::from(with_names)]
}

fn query_of(text: &str, with_names: bool) -> Result<Query, crate::SyntaxError> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let patterns: Vec<&str> = lines.collect();
    let query = format!("({}) within <s/>", patterns.join(" | "));
    cql::parse(&if with_names { query.replace("NOUN", "NOUN|PROPN") } else { query })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_of_languages_has_patterns() {
        for (name, text) in FILES {
            for with_names in [false, true] {
                assert!(query_of(text, with_names).is_ok(), "{name}");
            }
        }
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, Grammar::all().iter().map(|grammar| grammar.name.as_str()).collect::<Vec<_>>());
    }

    #[test]
    fn proper_nouns_are_nouns_if_they_are_asked_for() {
        assert!(!term_query("en", false).to_string().contains("PROPN"));
        assert!(term_query("en", true).to_string().contains("NOUN|PROPN"));
        assert_ne!(term_query("de", false), term_query("fr", false));
        assert_eq!(term_query("tlh", false), term_query("ja", false));
    }
}
