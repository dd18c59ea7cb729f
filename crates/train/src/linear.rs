//! Log-linear ranking of candidates (maximum entropy), trained by AdaGrad with averaging over the
//! second half of the epochs.

use std::collections::HashMap;

use tidings_annotate::tagger::FeatureIndex;

use crate::adagrad::AdaGrad;
use crate::rng::Rng;

/// Training example: candidates of which at least one is correct.
#[derive(Debug, Default)]
pub struct Choice {
    /// Feature numbers of each candidate.
    pub candidates: Vec<Vec<u32>>,
    /// Correct candidates.
    pub right: Vec<bool>,
    /// Weight of the example.
    pub weight: f32,
}

/// Numbering of hashed features in order of occurrence.
#[derive(Debug)]
pub struct FeatureNumbers {
    bits: u32,
    numbers: HashMap<u32, u32>,
    slots: Vec<u32>,
}

impl FeatureNumbers {
    pub fn new(bits: u32) -> FeatureNumbers {
        FeatureNumbers { bits, numbers: HashMap::new(), slots: Vec::new() }
    }

    pub fn of(&mut self, hashes: &[u64]) -> Vec<u32> {
        let slots = hashes.iter().map(|hash| FeatureIndex::slot(*hash, self.bits));
        let number = |slot: u32| {
            *self.numbers.entry(slot).or_insert_with(|| {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            })
        };
        slots.map(number).collect()
    }
}

/// Trains the weights; returns slots and weights sorted by slot.
pub fn train(choices: &[Choice], numbers: &FeatureNumbers, adagrad: AdaGrad) -> Vec<(u32, f32)> {
    let mut weights = vec![0f32; numbers.slots.len()];
    let mut squares = vec![adagrad.initial_squares; numbers.slots.len()];
    let mut sums = vec![0f32; numbers.slots.len()];
    let mut order: Vec<u32> = (0..choices.len() as u32).collect();
    let mut rng = Rng::new(7);
    let mut scores = Vec::new();
    for epoch in 0..adagrad.epochs {
        rng.shuffle(&mut order);
        for index in &order {
            let choice = &choices[*index as usize];
            scores.clear();
            scores.extend(
                choice
                    .candidates
                    .iter()
                    .map(|candidate| candidate.iter().map(|feature| weights[*feature as usize]).sum::<f32>()),
            );
            let highest = scores.iter().copied().fold(f32::MIN, f32::max);
            scores.iter_mut().for_each(|score| *score = (*score - highest).exp());
            let all: f32 = scores.iter().sum();
            let right: f32 = scores.iter().zip(&choice.right).filter(|pair| *pair.1).map(|pair| pair.0).sum();
            let right = right.max(1e-20);
            for ((score, is_right), candidate) in scores.iter().zip(&choice.right).zip(&choice.candidates) {
                let expected = if *is_right { score / right } else { 0.0 };
                let gradient = (score / all - expected) * choice.weight;
                if gradient.abs() < 0.002 {
                    continue;
                }
                for feature in candidate {
                    let at = *feature as usize;
                    squares[at] += gradient * gradient;
                    let step = adagrad.step / squares[at].sqrt();
                    let weight = weights[at] - step * gradient;
                    weights[at] = weight.signum() * (weight.abs() - step * adagrad.l1).max(0.0);
                }
            }
        }
        if epoch >= adagrad.epochs / 2 {
            sums.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += weight);
        }
    }
    let share = (adagrad.epochs - adagrad.epochs / 2) as f32;
    let mut pairs: Vec<(u32, f32)> = numbers.slots.iter().zip(sums).map(|(slot, sum)| (*slot, sum / share)).collect();
    pairs.sort_by_key(|pair| pair.0);
    pairs
}

/// Quantises weights to a byte; drops those that round to zero or are below `min_weight`.
pub fn rounded(pairs: &[(u32, f32)], unit: f32, min_weight: f32) -> Vec<(u32, i8)> {
    let round = |weight: f32| (weight / unit).round().clamp(-127.0, 127.0) as i8;
    let kept = pairs.iter().filter(|(_, weight)| weight.abs() >= min_weight);
    kept.map(|(slot, weight)| (*slot, round(*weight))).filter(|pair| pair.1 != 0).collect()
}
