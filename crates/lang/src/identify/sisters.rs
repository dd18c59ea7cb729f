//! Sister languages: Bosnian, Croatian and Serbian share nearly every n-gram, but not every word.
//!
//! `data/close.txt` lists the words, beginnings, endings and letters by which people tell such languages
//! apart. It is asked only when one of the sisters is among the first.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::grams::{GRAMS, Label};

pub(crate) static LISTS: &str = include_str!("../../data/close.txt");

pub(super) static SISTERS: LazyLock<Vec<Group>> = LazyLock::new(|| read(LISTS));

/// Who has a word of the lists.
type Owners = Vec<Label>;

/// Languages that are told apart by words.
pub(super) struct Group {
    pub(super) labels: Vec<Label>,
    /// Whole words, and the beginnings and ends of words.
    words: HashMap<&'static str, Owners>,
    stems: HashMap<&'static str, Owners>,
    ends: HashMap<&'static str, Owners>,
    /// What stands anywhere in a word; the first that is found counts.
    within: Vec<(&'static str, Owners)>,
    longest_stem: usize,
    longest_end: usize,
}

fn read(lists: &'static str) -> Vec<Group> {
    let label = |code: &str| GRAMS.label(code).expect("the lists name languages of the table, as a test makes sure");
    let mut groups = Vec::new();
    let lines = lists.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut lines = lines.peekable();
    while let Some(head) = lines.next() {
        let labels: Vec<Label> = head.trim_start_matches('=').split_whitespace().map(label).collect();
        // In the order of the file, for what stands anywhere in a word.
        let mut listed: Vec<(&'static str, Owners)> = Vec::new();
        let mut places: HashMap<&'static str, usize> = HashMap::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with('=')) {
            let (codes, words) = line.split_once(':').unwrap_or_default();
            for word in words.split_whitespace() {
                let place = *places.entry(word).or_insert_with(|| {
                    listed.push((word, Owners::new()));
                    listed.len() - 1
                });
                let owners = &mut listed[place].1;
                for owner in codes.split_whitespace().map(label) {
                    if !owners.contains(&owner) {
                        owners.push(owner);
                    }
                }
            }
        }
        groups.push(Group::new(labels, listed));
    }
    groups
}

impl Group {
    fn new(labels: Vec<Label>, listed: Vec<(&'static str, Owners)>) -> Group {
        let mut group = Group {
            words: HashMap::new(),
            stems: HashMap::new(),
            ends: HashMap::new(),
            within: Vec::new(),
            longest_stem: 0,
            longest_end: 0,
            labels,
        };
        // What all sisters share says nothing.
        for (word, owners) in listed.into_iter().filter(|(_, owners)| owners.len() < group.labels.len()) {
            match (word.strip_prefix('*'), word.strip_suffix('*')) {
                (None, None) => {
                    group.words.insert(word, owners);
                }
                (None, Some(stem)) => {
                    group.longest_stem = group.longest_stem.max(stem.len());
                    group.stems.insert(stem, owners);
                }
                (Some(end), None) => {
                    group.longest_end = group.longest_end.max(end.len());
                    group.ends.insert(end, owners);
                }
                (Some(rest), Some(_)) => group.within.push((rest.trim_end_matches('*'), owners)),
            }
        }
        group
    }

    /// What the words of a text say for each label of the group; a word of two sisters counts half
    /// for each. Each word counts once, and the more there are the less each adds.
    pub(super) fn weigh(&self, text: &str) -> Vec<f32> {
        let mut points = vec![0.0; self.labels.len()];
        let mut seen = HashSet::new();
        let mut telling = 0;
        let lower = text.to_lowercase();
        for word in lower.split(|letter: char| !letter.is_alphabetic() && letter != '\'') {
            let word = word.trim_end_matches('\'');
            if word.is_empty() || !seen.insert(word) {
                continue;
            }
            let owners = self.owners(word);
            telling += usize::from(!owners.is_empty());
            for owner in owners {
                let place = self.labels.iter().position(|label| label == owner);
                points[place.expect("owners are of the group")] += 1.0 / owners.len() as f32;
            }
        }
        let scale = 1.0 / (4.0 + 5.0 * telling as f32).sqrt();
        points.iter().map(|points| points * scale).collect()
    }

    fn owners(&self, word: &str) -> &[Label] {
        let stem = || {
            let longest = word.len().min(self.longest_stem);
            let mut ends = (2..=longest).rev().filter(|end| word.is_char_boundary(*end));
            ends.find_map(|end| self.stems.get(&word[..end]))
        };
        let end = || {
            let first = word.len().saturating_sub(self.longest_end).max(1);
            let mut starts = (first..word.len()).filter(|start| word.is_char_boundary(*start));
            starts.find_map(|start| self.ends.get(&word[start..]))
        };
        let within = || self.within.iter().find(|(part, _)| word.contains(part)).map(|(_, owners)| owners);
        self.words.get(word).or_else(stem).or_else(end).or_else(within).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lists_is_understood() {
        assert!(SISTERS.len() >= 7);
        for group in SISTERS.iter() {
            let within = group.within.iter().map(|(_, owners)| owners);
            let lists = [&group.words, &group.stems, &group.ends];
            let owners: Vec<_> = lists.iter().flat_map(|list| list.values()).chain(within).flatten().collect();
            assert!(group.labels.len() >= 2 && owners.len() > 25);
            assert!(owners.into_iter().all(|owner| group.labels.contains(owner)));
        }
    }

    #[test]
    fn a_week_is_croatian_bosnian_or_serbian() {
        let group = &SISTERS[0];
        let best = |text: &str| {
            let points = group.weigh(text);
            let best = (0..points.len()).max_by(|a, b| points[*a].total_cmp(&points[*b])).unwrap();
            GRAMS.codes[usize::from(group.labels[best])]
        };
        assert_eq!(best("Prošlog tjedna tisuće prosvjednika"), "hr");
        assert_eq!(best("Prošle sedmice je saopćeno, vjerovatno historijski"), "bs");
        assert_eq!(best("Prošle nedelje, posle pobede, verovatno"), "sr");
    }
}
