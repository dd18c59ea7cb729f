//! Whether a word rises or falls, for words of any frequency in a corpus of any growth.
//!
//! Mann–Kendall compares rates, and two things about counts deceive it. Half of a corpus' words have
//! less than one hit in a bin: in a growing corpus more and more of their bins are not empty, which looks
//! like rising. And a word that rises only lately, or only at first, spends most pairs on saying nothing.
//!
//! Here every count first becomes a *place*: the share of what chance would make of this word in this bin
//! that lies below it (half of what is equal included). Whatever the bin's size, the mean place is one
//! half, and no burst is more than 1. The places are then laid beside three shapes. How wild chance is for
//! this word, its documents tell: the variance of the counts by their mean.

use crate::measure::special::{normal_below, normal_two_sided};

choices! {
    /// The period in which a word changes.
    pub enum Shape {
        /// All the time.
        Steady = "steady",
        /// In the last two fifths of the time.
        Late = "late",
        /// In the first two fifths of the time.
        Early = "early",
    }
}

const SHAPES: [Shape; 3] = [Shape::Steady, Shape::Late, Shape::Early];

impl Shape {
    /// What a word that only rises so is worth at a time between 0 and 1.
    fn height(self, when: f64) -> f64 {
        match self {
            Shape::Steady => when,
            Shape::Late => (when - 0.6).max(0.0),
            Shape::Early => when.min(0.4),
        }
    }
}

/// The outcome for one word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Course {
    /// The shape that fits best.
    pub shape: Shape,
    /// Standard deviations from no change, for that shape; negative if falling.
    pub z: f64,
    /// Probability by chance of the best of three shapes.
    pub p: f64,
}

/// The test for one time axis, to be used for any number of words.
#[derive(Debug, Clone)]
pub struct Courses {
    tokens: Vec<f64>,
    all_tokens: f64,
    /// Each shape less its mean, of length 1.
    shapes: Vec<(Shape, Vec<f64>)>,
    places: Vec<f64>,
}

impl Courses {
    /// For bins at these times, ascending, with so many tokens each.
    pub fn new(when: &[f64], tokens: &[f64]) -> Courses {
        let (first, last) = (when.first().copied().unwrap_or(0.0), when.last().copied().unwrap_or(0.0));
        // The middle of a bin stands for it.
        let share = |when: &f64| (when - first + 0.5) / (last - first + 1.0);
        let shapes = SHAPES.map(|shape| {
            let mut heights: Vec<f64> = when.iter().map(|when| shape.height(share(when))).collect();
            centre_and_scale(&mut heights);
            (shape, heights)
        });
        Courses {
            tokens: tokens.to_vec(),
            all_tokens: tokens.iter().sum(),
            shapes: shapes.to_vec(),
            places: vec![0.0; tokens.len()],
        }
    }

    /// Tests the counts of one word.
    pub fn test(&mut self, counts: &[f64]) -> Course {
        let bins = counts.len() as f64;
        let rate = counts.iter().sum::<f64>() / self.all_tokens;
        let nothing = Course { shape: Shape::Steady, z: 0.0, p: 1.0 };
        if bins < 4.0 || rate <= 0.0 {
            return nothing;
        }
        let wildness = wildness(counts, &self.tokens, rate);
        for ((place, count), tokens) in self.places.iter_mut().zip(counts).zip(&self.tokens) {
            *place = place_of(*count, rate * tokens, wildness);
        }
        let length = centre_and_scale(&mut self.places);
        // Chance alone would scatter places more than this. What follows its expectation to the last
        // document is no trend either, only because it cannot be distinguished from one.
        let steadiness = (length / (LEAST_VARIANCE * bins).sqrt()).min(1.0);
        // The distribution of a correlation in n points, as a normal variable (Wallace 1959).
        let freedom = bins - 2.0;
        let z_of = |r: f64| {
            let r2 = (r * r).min(1.0 - 1e-15);
            (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * (-freedom * (1.0 - r2).ln()).sqrt() * r.signum()
        };
        let correlation =
            |heights: &[f64]| heights.iter().zip(&self.places).map(|(a, b)| a * b).sum::<f64>() * steadiness;
        let fits = self.shapes.iter().map(|(shape, heights)| (*shape, z_of(correlation(heights))));
        let (shape, z) = fits.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).expect("there are three shapes");
        // One of three may have been lucky.
        Course { shape, z, p: (SHAPES.len() as f64 * normal_two_sided(z)).min(1.0) }
    }
}

/// Places of independent documents vary by 1/12, somewhat less where most bins are empty.
const LEAST_VARIANCE: f64 = 0.2 / 12.0;

/// Takes the mean away and makes the length 1; gives the length there was.
fn centre_and_scale(values: &mut [f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
    length
}

/// How many times the variance exceeds that of independent hits, at least 1.
fn wildness(counts: &[f64], tokens: &[f64], rate: f64) -> f64 {
    let square = |(count, tokens): (&f64, &f64)| (count - rate * tokens).powi(2) / (rate * tokens);
    let sum: f64 = counts.iter().zip(tokens).map(square).sum();
    (sum / (counts.len() as f64 - 1.0)).max(1.0)
}

/// Means above this have a distribution that is normal enough.
const LARGE_MEAN: f64 = 40.0;
/// Below this wildness the distribution is Poisson's, of which the other is the limit.
const TAME: f64 = 1.01;

/// With such means, counts above this are all the same.
const FAR_ABOVE: f64 = 5000.0;

/// The share of what chance makes of this mean that lies below a count, with half of what is equal:
/// negative binomial with a variance of `wildness` times the mean.
fn place_of(count: f64, mean: f64, wildness: f64) -> f64 {
    if mean > LARGE_MEAN {
        return normal_below((count - mean) / (wildness * mean).sqrt());
    }
    let (size, ratio) = (mean / (wildness - 1.0), 1.0 - 1.0 / wildness);
    let is_tame = wildness < TAME;
    let mut share = if is_tame { (-mean).exp() } else { (-size * wildness.ln()).exp() };
    let (mut below, mut number) = (0.0, 0.0);
    while number < count.min(FAR_ABOVE) && below < 1.0 - 1e-9 {
        below += share;
        share *= if is_tame { mean / (number + 1.0) } else { (size + number) / (number + 1.0) * ratio };
        number += 1.0;
    }
    (below + share / 2.0).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(counts: &[f64], tokens: &[f64]) -> Course {
        let when: Vec<f64> = (0..counts.len()).map(|bin| bin as f64).collect();
        Courses::new(&when, tokens).test(counts)
    }

    #[test]
    fn the_mean_place_is_one_half_whatever_the_mean() {
        for mean in [0.1, 1.0, 7.0, 30.0] {
            // Poisson, by its own probabilities.
            let mut probability = f64::exp(-mean);
            let mut sum = 0.0;
            for count in 0..200 {
                sum += probability * place_of(f64::from(count), mean, 1.0);
                probability *= mean / f64::from(count + 1);
            }
            assert!((sum - 0.5).abs() < 1e-6, "{mean}: {sum}");
        }
    }

    #[test]
    fn places_are_shares_and_rise_with_the_count() {
        for (mean, wildness) in [(0.3, 1.0), (5.0, 3.0), (39.0, 8.0), (41.0, 8.0), (1e6, 30.0)] {
            let places: Vec<f64> =
                (0..100).map(|i| place_of((mean * f64::from(i) / 25.0).round(), mean, wildness)).collect();
            assert!(places.is_sorted() && places[0] >= 0.0 && places[99] <= 1.0, "{mean} {wildness}: {places:?}");
        }
    }

    #[test]
    fn shapes_are_told_apart() {
        let tokens = [1e6; 40];
        let series = |height: fn(f64) -> f64| -> Vec<f64> {
            (0..40)
                .map(|bin| (100.0 + 200.0 * height(f64::from(bin) / 39.0) + f64::from(bin * 7 % 5)).round())
                .collect()
        };
        let steady = test(&series(|when| when), &tokens);
        assert_eq!((steady.shape, steady.z > 5.0), (Shape::Steady, true), "{steady:?}");
        let late = test(&series(|when| (when - 0.7).max(0.0)), &tokens);
        assert_eq!((late.shape, late.z > 4.0), (Shape::Late, true), "{late:?}");
        let early = test(&series(|when| -when.min(0.2)), &tokens);
        assert_eq!((early.shape, early.z < -4.0), (Shape::Early, true), "{early:?}");
    }

    #[test]
    fn chance_is_as_rare_as_stated_also_for_rare_words_in_a_growing_corpus() {
        let mut random = fastrand::Rng::with_seed(9);
        let tokens: Vec<f64> = (0..40).map(|bin| 1e5 * (1.0 + f64::from(bin) / 4.0)).collect();
        let when: Vec<f64> = (0..40).map(f64::from).collect();
        let all: f64 = tokens.iter().sum();
        let (mut courses, mut scratch) = (Courses::new(&when, &tokens), Vec::new());
        let (mut by_course, mut by_kendall) = (0, 0);
        const WORDS: usize = 4000;
        for _ in 0..WORDS {
            let mut counts = vec![0.0; 40];
            for _ in 0..30 {
                let mut place = random.f64() * all;
                let bin = tokens.iter().position(|tokens| {
                    place -= tokens;
                    place < 0.0
                });
                counts[bin.unwrap_or(39)] += 1.0;
            }
            let rates: Vec<f64> = counts.iter().zip(&tokens).map(|(count, tokens)| count / tokens).collect();
            by_course += usize::from(courses.test(&counts).p < 0.05);
            by_kendall += usize::from(super::super::mann_kendall(&rates, &mut scratch).p() < 0.05);
        }
        let share = |found: usize| found as f64 / WORDS as f64;
        assert!((0.01..0.055).contains(&share(by_course)), "{}", share(by_course));
        assert!(share(by_kendall) > 0.1, "Mann–Kendall has learned to see through growth: {}", share(by_kendall));
    }

    #[test]
    fn one_burst_is_no_trend_and_nothing_is_no_trend() {
        let mut counts = [5.0; 40];
        (0..40).for_each(|bin| counts[bin] += (bin * 7 % 5) as f64);
        counts[39] = 5000.0;
        assert!(test(&counts, &[1e6; 40]).p > 0.01);
        assert_eq!(test(&[0.0; 40], &[1e6; 40]).p, 1.0);
        assert_eq!(test(&[3.0; 40], &[1e6; 40]).p, 1.0);
        assert_eq!(test(&[], &[]).p, 1.0);
    }
}
