//! The trained model embedded in the binary: two forests and two tables of lift.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::evidence::{Fnv1a, IdentityState};
use super::features::{self, SECOND_COLUMNS, WordLifts};
use super::forest::Forest;
use super::words::pair;

/// The trained model.
#[derive(Debug)]
pub struct Weights {
    names: HashMap<u64, f32, IdentityState>,
    words: HashMap<u64, f32, IdentityState>,
    /// Predicts from the features of a block and its containers.
    pub first: Forest,
    /// Predicts from the same features and the first forest's predictions for neighbouring blocks.
    pub second: Forest,
}

impl Weights {
    /// The embedded model, parsed on first use.
    pub fn get() -> &'static Weights {
        static WEIGHTS: OnceLock<Weights> = OnceLock::new();
        WEIGHTS.get_or_init(|| {
            let columns: Vec<String> = (0..SECOND_COLUMNS).map(features::name).collect();
            let forest = |text: &str| Forest::read(text, &columns).expect("the embedded forests are well-formed");
            Weights {
                names: table(include_str!("weights/names.tsv")),
                words: table(include_str!("weights/words.tsv")),
                first: forest(include_str!("weights/first.forest")),
                second: forest(include_str!("weights/second.forest")),
            }
        })
    }
}

impl WordLifts for Weights {
    fn name(&self, hash: u64) -> Option<f32> {
        self.names.get(&hash).copied()
    }

    fn word(&self, hash: u64) -> Option<f32> {
        self.words.get(&hash).copied()
    }
}

/// About the bytes of a row.
const ROW_BYTES: usize = 13;

fn table(text: &str) -> HashMap<u64, f32, IdentityState> {
    let row = |line: &str| {
        let (name, weight) = line.split_once('\t')?;
        let hash = match name.split_once(' ') {
            Some((first, second)) => pair(Fnv1a::of(first), Fnv1a::of(second)),
            None => Fnv1a::of(name),
        };
        Some((hash, weight.parse().ok()?))
    };
    let mut table = HashMap::with_capacity_and_hasher(text.len() / ROW_BYTES, IdentityState);
    table.extend(text.lines().filter_map(row));
    table
}
