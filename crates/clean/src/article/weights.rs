//! The fitted weights, as they come with the program.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::evidence::{Hash, Plain};
use super::features::{self, Odds, SECOND};
use super::forest::Forest;
use super::words::pair;

/// All that was learned from annotated pages.
#[derive(Debug)]
pub struct Weights {
    names: HashMap<u64, f32, Plain>,
    words: HashMap<u64, f32, Plain>,
    /// What a block's own features tell.
    pub first: Forest,
    /// What its features and its neighbours tell together.
    pub second: Forest,
}

impl Weights {
    /// The weights of this version, read at first use.
    pub fn get() -> &'static Weights {
        static WEIGHTS: OnceLock<Weights> = OnceLock::new();
        WEIGHTS.get_or_init(|| {
            let columns: Vec<String> = (0..SECOND).map(features::name).collect();
            let forest = |text: &str| Forest::read(text, &columns).expect("the forests in the program are whole");
            Weights {
                names: table(include_str!("weights/names.tsv")),
                words: table(include_str!("weights/words.tsv")),
                first: forest(include_str!("weights/first.forest")),
                second: forest(include_str!("weights/second.forest")),
            }
        })
    }
}

impl Odds for Weights {
    fn name(&self, hash: u64) -> Option<f32> {
        self.names.get(&hash).copied()
    }

    fn word(&self, hash: u64) -> Option<f32> {
        self.words.get(&hash).copied()
    }
}

fn table(text: &str) -> HashMap<u64, f32, Plain> {
    let row = |line: &str| {
        let (name, weight) = line.split_once('\t')?;
        let hash = match name.split_once(' ') {
            Some((first, second)) => pair(Hash::of(first), Hash::of(second)),
            None => Hash::of(name),
        };
        Some((hash, weight.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}
