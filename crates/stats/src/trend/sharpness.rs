//! The difference between a step and a gradual change: least squares of two levels, and of ramps between two levels.
//!
//! Every trend has a change point, and two levels explain a change over two of ten years better than a straight line does. So
//! a step must be explained better by two levels than by the best of the ramps that take at least a sixth of the time. Root
//! rates have the same variance at each level (Anscombe 1948), and one that does not saturate, as ranks of frequent words do.

/// The best step of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepFit {
    /// The first point of the new level.
    pub at: usize,
    /// Twice the logarithm of the ratio of the likelihoods of the best step and of the best ramp.
    pub evidence: f64,
}

/// The evidence from which a change counts as a step.
const LEAST_EVIDENCE: f64 = 2.0;
/// The part of the series that the shortest ramp takes, and the least points of one.
const SHORTEST_RAMP: f64 = 1.0 / 6.0;
const LEAST_RAMP: f64 = 4.0;
/// Each ramp is longer than the one before by this factor, up to one that is straight over the whole series.
const LONGER: f64 = 1.5;
/// Ramps begin at each of these parts of their length.
const SHIFTS: f64 = 8.0;
/// The least sum of squares relative to that of the series, so that a perfect fit has a likelihood.
const LEAST_REST: f64 = 1e-9;

impl StepFit {
    /// True if the change is no ramp.
    pub fn is_step(&self) -> bool {
        self.evidence >= LEAST_EVIDENCE
    }
}

/// Root rates relative to their mean, with weights.
struct Roots {
    /// The weight of each point: its expected count.
    weights: Vec<f64>,
    /// Differences from the weighted mean.
    values: Vec<f64>,
    all: f64,
    squares: f64,
}

impl Roots {
    fn new(counts: &[f64], expected: &[f64]) -> Roots {
        let root = |(count, mean): (&f64, &f64)| ((count + 0.375) / mean.max(f64::MIN_POSITIVE)).sqrt();
        let mut values: Vec<f64> = counts.iter().zip(expected).map(root).collect();
        let weights = expected.to_vec();
        let all: f64 = weights.iter().sum();
        let mean = values.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>() / all;
        values.iter_mut().for_each(|value| *value -= mean);
        let squares = values.iter().zip(&weights).map(|(value, weight)| weight * value * value).sum();
        Roots { weights, values, all, squares }
    }

    /// The point at which two levels leave the least, and what they leave.
    fn best_step(&self) -> (usize, f64) {
        let (mut before, mut sum, mut best) = (0.0, 0.0, (0, 0.0));
        for at in 1..self.values.len() {
            before += self.weights[at - 1];
            sum += self.weights[at - 1] * self.values[at - 1];
            let explained = sum * sum * self.all / (before * (self.all - before)).max(f64::MIN_POSITIVE);
            if explained > best.1 {
                best = (at, explained);
            }
        }
        (best.0, self.squares - best.1)
    }

    /// The part of the sum of squares that a ramp from `start` over `length` points explains.
    fn explained(&self, start: f64, length: f64) -> f64 {
        let (mut along, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for (at, (weight, value)) in self.weights.iter().zip(&self.values).enumerate() {
            let height = ((at as f64 + 0.5 - start) / length).clamp(0.0, 1.0);
            along += weight * value * height;
            mean += weight * height;
            squares += weight * height * height;
        }
        let spread = squares - mean * mean / self.all;
        if spread > 1e-9 * self.all { along * along / spread } else { 0.0 }
    }

    /// The least that a ramp leaves.
    fn best_ramp(&self) -> f64 {
        let points = self.values.len() as f64;
        let mut length = (points * SHORTEST_RAMP).max(LEAST_RAMP);
        let mut best: f64 = 0.0;
        while length <= 2.0 * points {
            let places = ((points + length) / length * SHIFTS).ceil() as usize;
            for place in 1..places {
                best = best.max(self.explained(place as f64 * length / SHIFTS - length, length));
            }
            length *= LONGER;
        }
        self.squares - best
    }
}

/// Fits a step and ramps to counts, of which as many are expected at a constant rate; `None` if there is nothing to fit.
pub fn step_fit(counts: &[f64], expected: &[f64]) -> Option<StepFit> {
    let roots = Roots::new(counts, expected);
    let is_constant = roots.squares.is_nan() || roots.squares <= f64::EPSILON * roots.all;
    if counts.len() < 2 || is_constant {
        return None;
    }
    let (at, rest) = roots.best_step();
    let least = LEAST_REST * roots.squares;
    let ratio = roots.best_ramp().max(least) / rest.max(least);
    Some(StepFit { at, evidence: counts.len() as f64 * ratio.ln() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Poisson variable by counting exponential waiting times (Knuth).
    fn poisson(random: &mut fastrand::Rng, mean: f64) -> f64 {
        let (mut count, mut product) = (0u32, random.f64());
        while product > (-mean).exp() {
            count += 1;
            product *= random.f64();
        }
        f64::from(count)
    }

    /// The share of words that count as steps among words whose rate changes by a factor over some of 120 points.
    fn listed(seed: u64, mean: f64, factor: f64, length: f64) -> f64 {
        const WORDS: usize = 200;
        let mut random = fastrand::Rng::with_seed(seed);
        let steps = (0..WORDS).filter(|_| {
            let middle = 36.0 + 48.0 * random.f64();
            let height = |at: usize| ((at as f64 + 0.5 - middle) / length.max(1e-9) + 0.5).clamp(0.0, 1.0);
            let rates: Vec<f64> = (0..120).map(|at| mean * factor.powf(height(at))).collect();
            let counts: Vec<f64> = rates.iter().map(|rate| poisson(&mut random, *rate)).collect();
            let expected = vec![counts.iter().sum::<f64>() / 120.0; 120];
            step_fit(&counts, &expected).is_some_and(|fit| fit.is_step())
        });
        steps.count() as f64 / WORDS as f64
    }

    #[test]
    fn planted_steps_are_told_from_planted_gradual_changes_for_every_seed() {
        for seed in 1..=6 {
            for (mean, factor, least) in [(5.0, 2.0, 0.6), (5.0, 3.0, 0.85), (20.0, 2.0, 0.95), (40.0, 3.0, 0.99)] {
                let found = listed(seed, mean, factor, 0.0);
                assert!(found >= least, "seed {seed}, {mean} × {factor}: {found} of the steps");
            }
            for (mean, factor) in [(5.0, 3.0), (20.0, 2.0), (40.0, 3.0)] {
                for (length, most) in [(24.0, 0.15), (60.0, 0.05), (120.0, 0.05)] {
                    let found = listed(seed, mean, factor, length);
                    assert!(found <= most, "seed {seed}, {mean} × {factor} over {length}: {found}");
                }
            }
        }
    }

    #[test]
    fn a_step_is_where_it_was_planted() {
        let counts: Vec<f64> = (0..40).map(|at| if at < 15 { 10.0 } else { 30.0 }).collect();
        let fit = step_fit(&counts, &[22.5; 40]).unwrap();
        assert!(fit.at == 15 && fit.is_step(), "{fit:?}");
        let falling: Vec<f64> = counts.iter().rev().copied().collect();
        assert_eq!(step_fit(&falling, &[22.5; 40]).unwrap().at, 25);
    }

    #[test]
    fn nothing_is_fitted_to_nothing() {
        assert_eq!(step_fit(&[], &[]), None);
        assert_eq!(step_fit(&[1.0], &[1.0]), None);
        assert_eq!(step_fit(&[3.0; 20], &[3.0; 20]), None);
        assert!(step_fit(&[0.0, 5.0, 0.0], &[0.0, 1.0, 0.0]).is_none_or(|fit| fit.evidence.is_finite()));
    }
}
