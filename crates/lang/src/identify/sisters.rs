//! Sister languages: Bosnian, Croatian and Serbian share nearly every n-gram, but not every word.
//!
//! `data/close.txt` lists the words by which people tell such languages apart. It is asked only when
//! one of the sisters is in the lead.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::grams::{GRAMS, Label};

static LISTS: &str = include_str!("../../data/close.txt");

pub(super) static SISTERS: LazyLock<Vec<Group>> = LazyLock::new(|| read(LISTS));

/// Languages that are told apart by words.
pub(super) struct Group {
    pub(super) labels: Vec<Label>,
    /// Whole words, and beginnings of words, with the labels they speak for.
    words: HashMap<&'static str, Vec<Label>>,
    stems: HashMap<&'static str, Vec<Label>>,
    longest_stem: usize,
}

fn read(lists: &'static str) -> Vec<Group> {
    let label = |code: &str| GRAMS.label(code).expect("the lists name languages of the table, as a test makes sure");
    let mut groups: Vec<Group> = Vec::new();
    for line in lists.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(codes) = line.strip_prefix('=') {
            let labels = codes.split_whitespace().map(label).collect();
            groups.push(Group { labels, words: HashMap::new(), stems: HashMap::new(), longest_stem: 0 });
            continue;
        }
        let (codes, words) = line.split_once(':').unwrap_or_default();
        let Some(group) = groups.last_mut() else { continue };
        for word in words.split_whitespace() {
            let (stem, list) = match word.strip_suffix('*') {
                Some(stem) => (stem, &mut group.stems),
                None => (word, &mut group.words),
            };
            let owners: &mut Vec<Label> = list.entry(stem).or_default();
            owners.extend(
                codes.split_whitespace().map(label).filter(|label| !owners.contains(label)).collect::<Vec<_>>(),
            );
        }
        group.longest_stem = group.stems.keys().map(|stem| stem.len()).max().unwrap_or(0);
    }
    // What all sisters share says nothing.
    for group in &mut groups {
        let all = group.labels.len();
        group.words.retain(|_, owners| owners.len() < all);
        group.stems.retain(|_, owners| owners.len() < all);
    }
    groups
}

impl Group {
    /// For each label of the group, how many of its own words the text has; a word of two sisters
    /// counts half for each.
    pub(super) fn weigh(&self, text: &str) -> Vec<f32> {
        let mut points = vec![0.0; self.labels.len()];
        let mut seen = HashSet::new();
        let lower = text.to_lowercase();
        for word in lower.split(|letter: char| !letter.is_alphabetic() && letter != '\'') {
            let word = word.trim_end_matches('\'');
            if word.is_empty() || word.len() > 64 || !seen.insert(word) {
                continue;
            }
            let owners = self.owners(word);
            for owner in owners {
                let place = self.labels.iter().position(|label| label == owner);
                points[place.expect("owners are of the group")] += 1.0 / owners.len() as f32;
            }
        }
        points
    }

    fn owners(&self, word: &str) -> &[Label] {
        if let Some(owners) = self.words.get(word) {
            return owners;
        }
        let longest = word.len().min(self.longest_stem);
        let stem =
            (2..=longest).rev().filter(|end| word.is_char_boundary(*end)).find_map(|end| self.stems.get(&word[..end]));
        stem.map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lists_is_understood() {
        assert!(SISTERS.len() >= 7);
        for group in SISTERS.iter() {
            assert!(group.labels.len() >= 2 && group.words.len() + group.stems.len() > 50);
            let owners = group.words.values().chain(group.stems.values()).flatten();
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
