//! Patterns of terms: nouns with what belongs to them, by parts of speech, one file for each family of languages in `data/terms/`.
//!
//! The families are those of the sketch grammars ([`crate::sketch`]). Parts of speech do not tell adjectives that classify
//! (*public library*) from those that compare, count or judge (*last year*, *same answer*), so that `languages/CODE/terms.tsv`
//! lists words of no term:
//!
//! | key | lemmas, in lower case |
//! | --- | --- |
//! | `general` | words that no term contains |
//! | `container` | nouns that measure or hold what follows behind a link: *number* of people |
//! | `link` | words between a noun and what belongs to it: number *of* people |

use crate::cql::{self, Query};
use crate::sketch::Grammar;
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};
use tidings_lang::languages;

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

/// The words of no term in a language.
#[derive(Debug, Default)]
struct NonTerms {
    general: HashSet<&'static str>,
    containers: HashSet<&'static str>,
    links: HashSet<&'static str>,
}

impl NonTerms {
    /// Reads the text of a `terms.tsv`; nothing if a row has another key.
    fn parse(text: &'static str) -> Option<NonTerms> {
        let mut words = NonTerms::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (key, values) = line.split_once('\t')?;
            let set = match key {
                "general" => &mut words.general,
                "container" => &mut words.containers,
                "link" => &mut words.links,
                _ => return None,
            };
            set.extend(values.split(' '));
        }
        Some(words)
    }

    /// The words of a language, if it has a list.
    fn of(language: &str) -> Option<&'static NonTerms> {
        static ALL: LazyLock<HashMap<&str, NonTerms>> = LazyLock::new(|| {
            let with_file = languages().iter().filter_map(|language| Some((language.code, language.terms_tsv?)));
            with_file.map(|(code, text)| (code, NonTerms::parse(text).expect("a test parses every file"))).collect()
        });
        ALL.get(tidings_lang::language(language)?.code)
    }
}

/// Whether words that match a pattern may be a term of a language, as far as lists tell.
pub fn may_be_term(language: &str, words: &[String]) -> bool {
    let Some(lists) = NonTerms::of(language) else { return true };
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    // A contraction of a link and an article may have the lemmas of both, joined by `+`.
    let is_link = |word: &str| word.contains('+') || lists.links.contains(word);
    let has_container = words.windows(2).any(|pair| lists.containers.contains(pair[0].as_str()) && is_link(&pair[1]));
    !has_container && !words.iter().any(|word| lists.general.contains(word.as_str()))
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

    fn is_term(language: &str, text: &str) -> bool {
        may_be_term(language, &text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn every_list_has_known_keys_and_words_in_lower_case() {
        let lists = languages().iter().filter_map(|language| language.terms_tsv);
        for list in lists.map(|text| NonTerms::parse(text).unwrap()) {
            assert!(!list.general.is_empty() && !list.containers.is_empty() && !list.links.is_empty());
            for word in list.general.union(&list.containers) {
                assert_eq!(**word, word.to_lowercase());
            }
        }
    }

    #[test]
    fn adjectives_that_compare_count_or_judge_make_no_term() {
        for (language, text) in [
            ("en", "last drought"),
            ("en", "same answer"),
            ("en", "Less gloomy"),
            ("de", "nächst Jahr"),
            ("es", "mismo respuesta"),
            ("fr", "dernier année"),
            ("eng", "last drought"),
        ] {
            assert!(!is_term(language, text), "{language}: {text}");
        }
        for (language, text) in [
            ("en", "public library"),
            ("en", "ferry contract"),
            ("de", "öffentlich Bibliothek"),
            ("es", "agua potable"),
            ("fr", "eau potable"),
            ("tlh", "last drought"),
        ] {
            assert!(is_term(language, text), "{language}: {text}");
        }
    }

    #[test]
    fn nouns_that_measure_others_make_no_term_with_them() {
        assert!(!is_term("en", "number of people") && !is_term("en", "great number of visitor"));
        assert!(
            is_term("en", "number plate")
                && is_term("en", "part law")
                && is_term("en", "phone number")
                && is_term("en", "freedom of speech")
        );
        assert!(!is_term("de", "Teil der Stadt") && !is_term("fr", "nombre de personne"));
        assert!(!is_term("es", "parte de+el ciudad") && is_term("es", "parte meteorológico"));
    }

    #[test]
    fn proper_nouns_are_nouns_if_they_are_asked_for() {
        assert!(!term_query("en", false).to_string().contains("PROPN"));
        assert!(term_query("en", true).to_string().contains("NOUN|PROPN"));
        assert_ne!(term_query("de", false), term_query("fr", false));
        assert_eq!(term_query("tlh", false), term_query("ja", false));
    }
}
