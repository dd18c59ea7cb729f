//! Lift of words in class names, ids and text, estimated over domains.
//!
//! The lift of a word is the share of article text among the blocks with that word, minus the share
//! on the whole page. It is averaged over domains, so that large sites do not dominate, and shrunk
//! towards zero for words seen on few domains.

use std::collections::{BTreeMap, HashMap, HashSet};

use tidings_clean::article::blocks::Blocks;
use tidings_clean::article::evidence::{Fnv1a, MAX_NAME_BYTES, container_names};
use tidings_clean::article::features::WordLifts;
use tidings_clean::article::words::pair;
use tidings_clean::tree::{LocalName, Tree};

use super::labels::Label;

/// Counts of one page.
#[derive(Debug, Default)]
pub struct Counts {
    names: HashMap<String, (f32, f32)>,
    words: HashMap<String, (f32, f32)>,
    page: (f32, f32),
}

/// Lift by hash of the word.
#[derive(Debug, Default, Clone)]
pub struct Weights {
    /// Lift of words in class and id.
    pub names: HashMap<u64, f32>,
    /// Lift of words and bigrams of the text.
    pub words: HashMap<u64, f32>,
}

impl WordLifts for Weights {
    fn name(&self, hash: u64) -> Option<f32> {
        self.names.get(&hash).copied()
    }

    fn word(&self, hash: u64) -> Option<f32> {
        self.words.get(&hash).copied()
    }
}

/// Counts the words of a page by label.
pub fn count(tree: &Tree, blocks: &Blocks, labels: &[Label]) -> Counts {
    let mut counts = Counts::default();
    let mut names_of: HashMap<usize, Vec<String>> = HashMap::new();
    for (block, label) in blocks.list.iter().zip(labels) {
        if label.weight == 0.0 {
            continue;
        }
        let (yes, all) = (label.article_share * label.weight, label.weight);
        counts.page.0 += yes;
        counts.page.1 += all;
        let mut seen: HashSet<String> = HashSet::new();
        if let Some(element) = block.element {
            for id in std::iter::once(element).chain(tree.ancestors(element)) {
                let own = names_of.entry(id.index()).or_insert_with(|| {
                    let class =
                        tree.attrs(id).iter().filter(|attribute| matches!(&*attribute.name.local, "class" | "id"));
                    let tag = tree.name(id);
                    class
                        .flat_map(|attribute| tag.map(|tag| names(tag, &attribute.value)).unwrap_or_default())
                        .collect()
                });
                seen.extend(own.iter().cloned());
            }
        }
        for name in seen {
            let cell = counts.names.entry(name).or_default();
            cell.0 += yes;
            cell.1 += all;
        }
        let own: Vec<String> = words(block.text(blocks)).collect();
        let pairs: Vec<String> = own.windows(2).take(11).map(|pair| pair.join(" ")).collect();
        let own: HashSet<String> = own.into_iter().chain(pairs).collect();
        for word in own {
            let cell = counts.words.entry(word).or_default();
            cell.0 += yes;
            cell.1 += all;
        }
    }
    counts
}

type Table = BTreeMap<String, f32>;

/// Estimates the lift of names and words from pages with their domain.
pub fn estimate<'a>(pages: impl Iterator<Item = (&'a str, &'a Counts)>) -> (Table, Table) {
    let mut names: HashMap<&str, HashMap<&str, (f32, f32)>> = HashMap::new();
    let mut words: HashMap<&str, HashMap<&str, (f32, f32)>> = HashMap::new();
    for (domain, counts) in pages {
        let base = counts.page.0 / counts.page.1.max(1e-6);
        for (from, to) in [(&counts.names, &mut names), (&counts.words, &mut words)] {
            for (name, (yes, all)) in from {
                let cell = to.entry(name).or_default().entry(domain).or_default();
                cell.0 += yes / all - base;
                cell.1 += 1.0;
            }
        }
    }
    (shrunk(names, 5), shrunk(words, 8))
}

fn shrunk(counted: HashMap<&str, HashMap<&str, (f32, f32)>>, min_domains: usize) -> Table {
    let mut table = Table::new();
    for (name, domains) in counted {
        if domains.len() < min_domains {
            continue;
        }
        let sum: f32 = domains.values().map(|(lift, pages)| lift / pages).sum();
        let weight = sum / (domains.len() as f32 + 5.0);
        let weight = (weight * 100.0).round() / 100.0;
        if weight.abs() >= 0.05 {
            table.insert(name.to_owned(), weight);
        }
    }
    table
}

impl Weights {
    /// Builds the hash tables.
    pub fn of(names: &Table, words: &Table) -> Weights {
        let hash = |name: &str| match name.split_once(' ') {
            Some((first, second)) => pair(Fnv1a::of(first), Fnv1a::of(second)),
            None => Fnv1a::of(name),
        };
        let hashed = |table: &Table| table.iter().map(|(name, weight)| (hash(name), *weight)).collect();
        Weights { names: hashed(names), words: hashed(words) }
    }
}

/// The names in a class or id as strings, split as the extractor does before hashing.
fn names(tag: &LocalName, value: &str) -> Vec<String> {
    let value = &value[..value.floor_char_boundary(MAX_NAME_BYTES)];
    let mut found = Vec::new();
    for name in container_names(tag, value) {
        let mut parts: Vec<String> = vec![String::new()];
        let mut lower_before = false;
        for c in name.chars() {
            let parted = c.is_ascii() && !c.is_ascii_alphabetic();
            if parted || (c.is_ascii_uppercase() && lower_before) {
                parts.push(String::new());
            }
            lower_before = c.is_ascii_lowercase();
            if !parted {
                parts.last_mut().expect("parts is never empty").push(c.to_ascii_lowercase());
            }
        }
        let whole: String = parts.concat();
        parts.retain(|part| part.len() > 1);
        if parts.len() > 1 {
            parts.push(whole);
        }
        found.extend(parts);
    }
    found
}

/// The words of a text as strings, split as the extractor does before hashing.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in text.chars() {
        let unspaced = tidings_lang::is_unspaced(c);
        if c.is_alphanumeric() && !unspaced {
            word.extend(if c.is_uppercase() { c.to_lowercase().next() } else { Some(c) });
            continue;
        }
        if !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if unspaced && c.is_alphanumeric() {
            if let Some(before) = before {
                found.push([before, c].iter().collect());
            }
            before = Some(c);
        } else {
            before = None;
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found.into_iter()
}
