//! Linear models that choose one of a few candidates: each has features, each feature a weight.

use std::collections::HashMap;

use tidings_annotate::tagger::FeatureIndex;

use crate::adagrad::AdaGrad;
use crate::rng::Rng;

/// A choice among candidates, by the numbers of their features.
#[derive(Debug, Default)]
pub struct Choice {
    /// The features of each candidate.
    pub candidates: Vec<Vec<u32>>,
    /// Origin of them are right.
    pub right: Vec<bool>,
    /// How much the choice matters.
    pub weight: f32,
}

/// Features by their slots in a set of two to the power of `bits`, numbered as they come.
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
        let number = |place: u32| {
            *self.numbers.entry(place).or_insert_with(|| {
                self.slots.push(place);
                self.slots.len() as u32 - 1
            })
        };
        slots.map(number).collect()
    }
}

/// Learns weights; pairs of place and weight, by place.
pub fn learn(choices: &[Choice], numbers: &FeatureNumbers, adagrad: AdaGrad) -> Vec<(u32, f32)> {
    let mut weights = vec![0f32; numbers.slots.len()];
    let mut squares = vec![adagrad.initial_squares; numbers.slots.len()];
    let mut sums = vec![0f32; numbers.slots.len()];
    let mut order: Vec<u32> = (0..choices.len() as u32).collect();
    let mut rng = Rng::new(7);
    let mut scores = Vec::new();
    for epoch in 0..adagrad.epochs {
        rng.shuffle(&mut order);
        for place in &order {
            let choice = &choices[*place as usize];
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
                let wanted = if *is_right { score / right } else { 0.0 };
                let gradient = (score / all - wanted) * choice.weight;
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
    let mut pairs: Vec<(u32, f32)> = numbers.slots.iter().zip(sums).map(|(place, sum)| (*place, sum / share)).collect();
    pairs.sort_by_key(|pair| pair.0);
    pairs
}

/// Weights in a byte each, those that become nothing or are weaker than `keep` left out.
pub fn rounded(pairs: &[(u32, f32)], unit: f32, min_weight: f32) -> Vec<(u32, i8)> {
    let round = |weight: f32| (weight / unit).round().clamp(-127.0, 127.0) as i8;
    let kept = pairs.iter().filter(|(_, weight)| weight.abs() >= min_weight);
    kept.map(|(place, weight)| (*place, round(*weight))).filter(|pair| pair.1 != 0).collect()
}
