//! What is known of quotations in a language: the file `quotations.tsv` of its folder.
//!
//! | key | words |
//! |---|---|
//! | `marks` | pairs of marks, as `„…“` |
//! | `dialogue` | `dash`: a dash at the start of a paragraph opens direct speech |
//! | `verbs` | reporting verbs: lemmas and forms |
//! | `verbs-adjacent` | verbs that report only next to a quotation |
//! | `after-quote` | words that stand for a verb right after a quotation, as German *so* |
//! | `according` | words before a source, as *according_to* |
//! | `according-after` | words after a source, as German *zufolge* |
//! | `naming` | words before a term or title, as *so-called* |
//! | `naming-after` | words after a term |
//! | `nouns` | `capitalised`: capital letters do not show names |
//! | `subject-end` | words that end a subject before its verb, in languages without a model |
//! | `subject-after` | particles after a subject, as Japanese は |
//! | `speakers` | nouns of persons and groups that can speak, besides the titles and organisations of `names.tsv` |
//! | `heads` | `last`: the head noun ends the part of a phrase before its first preposition |
//!
//! In lists, `*` ends a prefix or begins an ending, and `_` joins words.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use tidings_lang::languages;

use crate::layers::names::HeadNouns;

/// The fewest bytes of the last part of a compound.
const MIN_COMPOUND: usize = 5;

/// Quotation habits of a language.
#[derive(Debug, Default)]
pub(super) struct Habits {
    /// „…“: the glyph that opens in English closes.
    pub(super) closes_with_left_double: bool,
    /// ”…”
    pub(super) opens_with_right_double: bool,
    /// »…« or »…»
    pub(super) opens_with_right_guillemet: bool,
    pub(super) has_dialogue_dash: bool,
    pub(super) verbs: WordList,
    pub(super) adjacent_verbs: WordList,
    pub(super) after_quote: WordList,
    pub(super) according: WordList,
    pub(super) according_after: WordList,
    pub(super) naming: WordList,
    pub(super) naming_after: WordList,
    pub(super) capitalises_nouns: bool,
    pub(super) subject_end: WordList,
    pub(super) subject_after: WordList,
    pub(super) has_last_heads: bool,
    speakers: WordList,
    heads: Option<HeadNouns>,
}

/// Words and prefixes in lower case.
#[derive(Debug, Default)]
pub(super) struct WordList {
    words: HashSet<&'static str>,
    prefixes: Vec<&'static str>,
    endings: Vec<&'static str>,
    /// Expressions of several words.
    expressions: Vec<Vec<&'static str>>,
}

static HABITS: LazyLock<HashMap<&'static str, Habits>> = LazyLock::new(|| {
    let with_file = languages().iter().filter_map(|language| Some((language.code, language.quotations_tsv?)));
    with_file.map(|(code, file)| (code, Habits::read(code, file))).collect()
});

static GENERAL: LazyLock<Habits> = LazyLock::new(Habits::default);

impl Habits {
    /// The habits of a language by code or tag; general ones if its folder has no file.
    pub(super) fn of(tag: &str) -> &'static Habits {
        let language = tidings_lang::language(tag);
        let own = language.and_then(|language| HABITS.get(language.code));
        let other = || HABITS.get(language?.annotate_as?);
        own.or_else(other).unwrap_or(&GENERAL)
    }

    /// Returns true if a noun in lower case is a person, a role or an organisation.
    pub(super) fn is_speaking(&self, lower: &str) -> bool {
        self.speakers.contains(lower)
            || self.heads.is_some_and(|heads| heads.contains(lower))
            // Compounds: *Werftarbeiter*.
            || self.has_last_heads && self.speakers.ends_compound(lower)
    }

    /// Returns true if a text without spaces ends with such a noun.
    pub(super) fn ends_speaking(&self, joined: &str) -> bool {
        self.speakers.ends(joined) || self.heads.is_some_and(|heads| heads.ends(joined))
    }

    /// Returns true if a text without spaces begins with a family name.
    pub(super) fn begins_with_surname(&self, joined: &str) -> bool {
        self.heads.is_some_and(|heads| heads.begins_with_surname(joined))
    }

    /// Returns true if the tables of the language have such nouns.
    pub(super) fn knows_heads(&self) -> bool {
        self.heads.is_some() || !self.speakers.is_empty()
    }

    fn read(code: &str, file: &'static str) -> Habits {
        let mut habits = Habits { heads: HeadNouns::of(code), ..Habits::default() };
        let rows = file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
        for (key, value) in rows {
            match key {
                "marks" => {
                    let opens_with = |glyph: char| value.split(' ').any(|pair| pair.starts_with(glyph));
                    habits.closes_with_left_double = value.split(' ').any(|pair| pair.ends_with('“'));
                    habits.opens_with_right_double = opens_with('”');
                    habits.opens_with_right_guillemet = opens_with('»');
                }
                "dialogue" => habits.has_dialogue_dash = true,
                "verbs" => habits.verbs = WordList::read(value),
                "verbs-adjacent" => habits.adjacent_verbs = WordList::read(value),
                "after-quote" => habits.after_quote = WordList::read(value),
                "according" => habits.according = WordList::read(value),
                "according-after" => habits.according_after = WordList::read(value),
                "naming" => habits.naming = WordList::read(value),
                "naming-after" => habits.naming_after = WordList::read(value),
                "nouns" => habits.capitalises_nouns = true,
                "subject-end" => habits.subject_end = WordList::read(value),
                "subject-after" => habits.subject_after = WordList::read(value),
                "speakers" => habits.speakers = WordList::read(value),
                "heads" => habits.has_last_heads = value == "last",
                _ => {}
            }
        }
        habits
    }
}

impl WordList {
    fn read(value: &'static str) -> WordList {
        let mut list = WordList::default();
        for word in value.split(' ').filter(|word| !word.is_empty()) {
            if word.contains('_') {
                list.expressions.push(word.split('_').collect());
            } else if let Some(ending) = word.strip_prefix('*') {
                list.endings.push(ending);
            } else if let Some(prefix) = word.strip_suffix('*') {
                list.prefixes.push(prefix);
            } else {
                list.words.insert(word);
            }
        }
        list
    }

    /// Returns true if the list has no words.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.prefixes.is_empty() && self.expressions.is_empty()
    }

    /// Returns true if a word is on the list or ends with a word of the list.
    pub(super) fn ends(&self, word: &str) -> bool {
        self.words.iter().any(|suffix| word.ends_with(suffix))
    }

    /// Returns true if a word is a compound whose last part is on the list.
    fn ends_compound(&self, word: &str) -> bool {
        let is_end = |end: &&str| end.len() >= MIN_COMPOUND && word.len() > end.len() + 2 && word.ends_with(*end);
        word.len() > MIN_COMPOUND && self.words.iter().any(is_end)
    }

    /// Returns true if a word in lower case is on the list.
    pub(super) fn contains(&self, word: &str) -> bool {
        let has_ending = |ending: &&str| word.len() > ending.len() + 3 && word.ends_with(*ending);
        !word.is_empty()
            && (self.words.contains(word)
                || self.prefixes.iter().any(|prefix| word.starts_with(prefix))
                || self.endings.iter().any(has_ending))
    }

    /// The length of the longest entry that matches the words from the first one on; `word(n)` is the nth in lower case.
    pub(super) fn matches<'w>(&self, word: impl Fn(usize) -> Option<std::borrow::Cow<'w, str>>) -> Option<usize> {
        let is_at = |expression: &[&str]| {
            expression.iter().enumerate().all(|(at, part)| word(at).is_some_and(|found| found == *part))
        };
        let longest = self.expressions.iter().filter(|one| is_at(one)).map(Vec::len).max();
        longest.or_else(|| word(0).filter(|first| self.contains(first)).map(|_| 1))
    }

    /// The length of the longest entry that ends right before a place; `word(n)` is the nth before it in lower case.
    pub(super) fn matches_before<'w>(
        &self,
        word: impl Fn(usize) -> Option<std::borrow::Cow<'w, str>>,
    ) -> Option<usize> {
        let ends = |expression: &[&str]| {
            expression.iter().rev().enumerate().all(|(at, part)| word(at).is_some_and(|found| found == *part))
        };
        let longest = self.expressions.iter().filter(|one| ends(one)).map(Vec::len).max();
        longest.or_else(|| word(0).filter(|last| self.contains(last)).map(|_| 1))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    const KEYS: [&str; 14] = [
        "marks",
        "dialogue",
        "verbs",
        "verbs-adjacent",
        "after-quote",
        "according",
        "according-after",
        "naming",
        "naming-after",
        "nouns",
        "subject-end",
        "subject-after",
        "speakers",
        "heads",
    ];

    #[test]
    fn files_have_known_keys_and_words_in_lower_case() {
        let mut files = 0;
        for language in languages() {
            let Some(file) = language.quotations_tsv else { continue };
            files += 1;
            for line in file.lines().filter(|line| !line.starts_with('#')) {
                let (key, value) = line.split_once('\t').unwrap_or_else(|| panic!("{}: {line}", language.code));
                assert!(KEYS.contains(&key), "{}: unknown key {key}", language.code);
                assert!(value.split(' ').all(|word| !word.is_empty()), "{}: spaces in {key}", language.code);
                assert_eq!(value, value.to_lowercase(), "{}: {key}", language.code);
                let pairs = key != "marks" || value.split(' ').all(|pair| pair.chars().nth(1) == Some('…'));
                assert!(pairs, "{}: {value}", language.code);
            }
        }
        assert!(files >= 45, "{files}");
    }

    #[test]
    fn words_prefixes_and_expressions_are_found() {
        let list = WordList::read("say told* according_to *ista");
        assert!(list.contains("periodista") && !list.contains("pista"));
        assert!(list.contains("say") && list.contains("tolds") && !list.contains("saying") && !list.contains(""));
        let words = ["according", "to", "him"];
        let at = |n: usize| words.get(n).map(|word| Cow::Borrowed(*word));
        assert_eq!(list.matches(at), Some(2));
        let before = |n: usize| words[..2].iter().rev().nth(n).map(|word| Cow::Borrowed(*word));
        assert_eq!(list.matches_before(before), Some(2));
    }
}
