//! Groups of confusable languages, such as Bosnian, Croatian and Serbian.
//!
//! Such languages share nearly every n-gram but not every word. `confusable.tsv` in the folder of the
//! first language lists the words, prefixes, suffixes and letters that separate them. A group is scored only
//! if one of its languages is among the best candidates.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::decide::confusable_codes;
use super::grams::{GRAMS, Label};
use crate::registry::{language, rows};

/// The groups in the order of their features.
pub(super) static GROUPS: LazyLock<Vec<Group>> =
    LazyLock::new(|| tables().map(|(_, text)| Group::read(text)).collect());

/// The files of the groups, by the first language of each.
pub(super) fn tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    confusable_codes().filter_map(|code| Some((code, language(code)?.confusable_tsv?)))
}

/// The languages of a group that have a word.
type Owners = Vec<Label>;

/// A group of confusable languages with the words that separate them.
pub(super) struct Group {
    pub(super) labels: Vec<Label>,
    /// Whole words, prefixes and suffixes.
    words: HashMap<&'static str, Owners>,
    prefixes: HashMap<&'static str, Owners>,
    suffixes: HashMap<&'static str, Owners>,
    /// Substrings; the first that is found counts.
    within: Vec<(&'static str, Owners)>,
    longest_prefix: usize,
    longest_suffix: usize,
}

impl Group {
    /// Reads a file: a row `languages` with the codes of the group, then rows of languages and words.
    fn read(text: &'static str) -> Group {
        let label = |code: &str| GRAMS.label(code).expect("a test checks that groups name languages of the table");
        let mut labels = Vec::new();
        // In the order of the file, which decides between substrings.
        let mut listed: Vec<(&'static str, Owners)> = Vec::new();
        let mut indexes: HashMap<&'static str, usize> = HashMap::new();
        for (codes, words) in rows(text) {
            if codes == "languages" {
                labels = words.split_whitespace().map(label).collect();
                continue;
            }
            for word in words.split_whitespace() {
                let index = *indexes.entry(word).or_insert_with(|| {
                    listed.push((word, Owners::new()));
                    listed.len() - 1
                });
                let owners = &mut listed[index].1;
                for owner in codes.split_whitespace().map(label) {
                    if !owners.contains(&owner) {
                        owners.push(owner);
                    }
                }
            }
        }
        Group::new(labels, listed)
    }

    fn new(labels: Vec<Label>, listed: Vec<(&'static str, Owners)>) -> Group {
        let mut group = Group {
            words: HashMap::new(),
            prefixes: HashMap::new(),
            suffixes: HashMap::new(),
            within: Vec::new(),
            longest_prefix: 0,
            longest_suffix: 0,
            labels,
        };
        // Words that all languages of the group share carry no information.
        for (word, owners) in listed.into_iter().filter(|(_, owners)| owners.len() < group.labels.len()) {
            match (word.strip_prefix('*'), word.strip_suffix('*')) {
                (None, None) => {
                    group.words.insert(word, owners);
                }
                (None, Some(prefix)) => {
                    group.longest_prefix = group.longest_prefix.max(prefix.len());
                    group.prefixes.insert(prefix, owners);
                }
                (Some(suffix), None) => {
                    group.longest_suffix = group.longest_suffix.max(suffix.len());
                    group.suffixes.insert(suffix, owners);
                }
                (Some(rest), Some(_)) => group.within.push((rest.trim_end_matches('*'), owners)),
            }
        }
        group
    }

    /// The score of each label of the group. Each distinct word counts once and is divided among its
    /// owners; the sum is scaled by the square root of the number of listed words.
    pub(super) fn score(&self, text: &str) -> Vec<f32> {
        let mut points = vec![0.0; self.labels.len()];
        let mut seen = HashSet::new();
        let mut listed_words = 0;
        let lower = text.to_lowercase();
        for word in lower.split(|letter: char| !letter.is_alphabetic() && letter != '\'') {
            let word = word.trim_end_matches('\'');
            if word.is_empty() || !seen.insert(word) {
                continue;
            }
            let owners = self.owners(word);
            listed_words += usize::from(!owners.is_empty());
            for owner in owners {
                let place = self.labels.iter().position(|label| label == owner);
                points[place.expect("owners are of the group")] += 1.0 / owners.len() as f32;
            }
        }
        let scale = 1.0 / (4.0 + 5.0 * listed_words as f32).sqrt();
        points.iter().map(|points| points * scale).collect()
    }

    fn owners(&self, word: &str) -> &[Label] {
        let prefix = || {
            let longest = word.len().min(self.longest_prefix);
            let mut ends = (2..=longest).rev().filter(|end| word.is_char_boundary(*end));
            ends.find_map(|end| self.prefixes.get(&word[..end]))
        };
        let suffix = || {
            let first = word.len().saturating_sub(self.longest_suffix).max(1);
            let mut starts = (first..word.len()).filter(|start| word.is_char_boundary(*start));
            starts.find_map(|start| self.suffixes.get(&word[start..]))
        };
        let within = || self.within.iter().find(|(part, _)| word.contains(part)).map(|(_, owners)| owners);
        self.words.get(word).or_else(prefix).or_else(suffix).or_else(within).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_words_of_its_own_languages_only() {
        assert!(GROUPS.len() >= 7);
        for group in GROUPS.iter() {
            let within = group.within.iter().map(|(_, owners)| owners);
            let lists = [&group.words, &group.prefixes, &group.suffixes];
            let owners: Vec<_> = lists.iter().flat_map(|list| list.values()).chain(within).flatten().collect();
            assert!(group.labels.len() >= 2 && owners.len() > 25);
            assert!(owners.into_iter().all(|owner| group.labels.contains(owner)));
        }
    }

    #[test]
    fn words_for_week_separate_croatian_bosnian_and_serbian() {
        let group = &GROUPS[0];
        let best = |text: &str| {
            let points = group.score(text);
            let best = (0..points.len()).max_by(|a, b| points[*a].total_cmp(&points[*b])).unwrap();
            GRAMS.codes[usize::from(group.labels[best])]
        };
        assert_eq!(best("Prošlog tjedna tisuće prosvjednika"), "hr");
        assert_eq!(best("Prošle sedmice je saopćeno, vjerovatno historijski"), "bs");
        assert_eq!(best("Prošle nedelje, posle pobede, verovatno"), "sr");
    }
}
