//! Linear models that choose one of a few candidates: each has features, each feature a weight.

use std::collections::HashMap;

use tidings_annotate::tagger::Sparse;

use crate::adagrad::AdaGrad;
use crate::dice::Dice;

/// A choice among candidates, by the numbers of their features.
#[derive(Debug, Default)]
pub struct Choice {
    /// The features of each candidate.
    pub candidates: Vec<Vec<u32>>,
    /// Which of them are right.
    pub right: Vec<bool>,
    /// How much the choice matters.
    pub weight: f32,
}

/// Features by their places in a set of two to the power of `bits`, numbered as they come.
#[derive(Debug)]
pub struct Numbers {
    bits: u32,
    numbers: HashMap<u32, u32>,
    places: Vec<u32>,
}

impl Numbers {
    pub fn new(bits: u32) -> Numbers {
        Numbers { bits, numbers: HashMap::new(), places: Vec::new() }
    }

    pub fn of(&mut self, hashes: &[u64]) -> Vec<u32> {
        let places = hashes.iter().map(|hash| Sparse::place(*hash, self.bits));
        let number = |place: u32| {
            *self.numbers.entry(place).or_insert_with(|| {
                self.places.push(place);
                self.places.len() as u32 - 1
            })
        };
        places.map(number).collect()
    }
}

/// Learns weights; pairs of place and weight, by place.
pub fn learn(choices: &[Choice], numbers: &Numbers, adagrad: AdaGrad) -> Vec<(u32, f32)> {
    let mut weights = vec![0f32; numbers.places.len()];
    let mut steps = vec![adagrad.initial_squares; numbers.places.len()];
    let mut sums = vec![0f32; numbers.places.len()];
    let mut order: Vec<u32> = (0..choices.len() as u32).collect();
    let mut dice = Dice::new(7);
    let mut scores = Vec::new();
    for round in 0..adagrad.epochs {
        dice.shuffle(&mut order);
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
                let slope = (score / all - wanted) * choice.weight;
                if slope.abs() < 0.002 {
                    continue;
                }
                for feature in candidate {
                    let at = *feature as usize;
                    steps[at] += slope * slope;
                    let step = adagrad.step / steps[at].sqrt();
                    let weight = weights[at] - step * slope;
                    weights[at] = weight.signum() * (weight.abs() - step * adagrad.l1).max(0.0);
                }
            }
        }
        if round >= adagrad.epochs / 2 {
            sums.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += weight);
        }
    }
    let share = (adagrad.epochs - adagrad.epochs / 2) as f32;
    let mut pairs: Vec<(u32, f32)> =
        numbers.places.iter().zip(sums).map(|(place, sum)| (*place, sum / share)).collect();
    pairs.sort_by_key(|pair| pair.0);
    pairs
}

/// Weights in a byte each, those that become nothing or are weaker than `keep` left out.
pub fn rounded(pairs: &[(u32, f32)], unit: f32, keep: f32) -> Vec<(u32, i8)> {
    let round = |weight: f32| (weight / unit).round().clamp(-127.0, 127.0) as i8;
    let kept = pairs.iter().filter(|(_, weight)| weight.abs() >= keep);
    kept.map(|(place, weight)| (*place, round(*weight))).filter(|pair| pair.1 != 0).collect()
}
