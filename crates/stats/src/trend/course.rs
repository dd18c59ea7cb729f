//! A trend test for words of any frequency in a corpus of any growth.
//!
//! Mann–Kendall on rates has two problems with counts. Half of the words of a corpus have less than one hit
//! per bin: in a growing corpus fewer and fewer of their bins are empty, which looks like a rise. And a word
//! that rises only late, or only early, is flat in most pairs.
//!
//! Here each count first becomes a score, its mid-probability: the probability of a smaller count plus half
//! that of an equal one under the null hypothesis of a constant rate (negative binomial, with the word's own
//! overdispersion). The mean score is one half for bins of any size, and a burst counts at most 1.
//! The scores are then correlated with three shapes.

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

pub(super) const SHAPES: [Shape; 3] = [Shape::Steady, Shape::Late, Shape::Early];

impl Shape {
    /// The share of the error probability (weighted Bonferroni correction): most trends are steady.
    pub(super) fn share(self) -> f64 {
        match self {
            Shape::Steady => 0.6,
            Shape::Late | Shape::Early => 0.2,
        }
    }

    /// The height of the shape at a time between 0 and 1.
    pub(super) fn height(self, when: f64) -> f64 {
        match self {
            Shape::Steady => when,
            Shape::Late => (when - 0.6).max(0.0),
            Shape::Early => when.min(0.4),
        }
    }
}

/// The result of the test of one word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Course {
    /// The shape that fits best.
    pub shape: Shape,
    /// Standard deviations from no change, for that shape; negative if falling.
    pub z: f64,
    /// The p-value, corrected for the choice among three shapes.
    pub p: f64,
}

/// The test for one time axis, reused for all words.
#[derive(Debug, Clone)]
pub struct Courses {
    tokens: Vec<f64>,
    all_tokens: f64,
    /// The shapes, centred and scaled to length 1.
    shapes: Vec<(Shape, Vec<f64>)>,
    scores: Vec<f64>,
}

impl Courses {
    /// Prepares the test for bins at these times, ascending, with the tokens of each.
    pub fn new(when: &[f64], tokens: &[f64]) -> Courses {
        let (first, last) = (when.first().copied().unwrap_or(0.0), when.last().copied().unwrap_or(0.0));
        // A bin is represented by its middle.
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
            scores: vec![0.0; tokens.len()],
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
        let overdispersion = overdispersion(counts, &self.tokens, rate);
        for ((score, count), tokens) in self.scores.iter_mut().zip(counts).zip(&self.tokens) {
            *score = mid_probability(*count, rate * tokens, overdispersion);
        }
        let length = centre_and_scale(&mut self.scores);
        // Scores that vary less than chance would make them carry no evidence; a perfect correlation of almost
        // constant scores is damped.
        let steadiness = (length / (LEAST_VARIANCE * bins).sqrt()).min(1.0);
        // Wallace's normal approximation (1959) of the distribution of a correlation coefficient.
        let freedom = bins - 2.0;
        let z_of = |r: f64| {
            let r2 = (r * r).min(1.0 - 1e-15);
            (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * (-freedom * (1.0 - r2).ln()).sqrt() * r.signum()
        };
        let correlation =
            |heights: &[f64]| heights.iter().zip(&self.scores).map(|(a, b)| a * b).sum::<f64>() * steadiness;
        let fits = self.shapes.iter().map(|(shape, heights)| (*shape, z_of(correlation(heights))));
        let (shape, z) = fits.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).expect("there are three shapes");
        // Bonferroni correction for three shapes.
        Course { shape, z, p: (SHAPES.len() as f64 * normal_two_sided(z)).min(1.0) }
    }
}

/// Wallace's normal approximation (1959) of Student's t.
pub(super) fn z_of_student(t: f64, freedom: f64) -> f64 {
    (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * (freedom * (t * t / freedom).ln_1p()).sqrt() * t.signum()
}

/// The minimum variance of scores: those of independent documents have 1/12, less if most bins are empty.
const LEAST_VARIANCE: f64 = 0.2 / 12.0;

/// Subtracts the mean and scales to length 1; returns the previous length.
fn centre_and_scale(values: &mut [f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
    length
}

/// The overdispersion (variance-to-mean ratio), at least 1.
pub(super) fn overdispersion(counts: &[f64], tokens: &[f64], rate: f64) -> f64 {
    let square = |(count, tokens): (&f64, &f64)| (count - rate * tokens).powi(2) / (rate * tokens);
    let sum: f64 = counts.iter().zip(tokens).map(square).sum();
    (sum / (counts.len() as f64 - 1.0)).max(1.0)
}

/// The mean from which a normal approximation is used.
const LARGE_MEAN: f64 = 40.0;
/// The overdispersion below which the Poisson distribution is used, the limit of the negative binomial.
const POISSON_BELOW: f64 = 1.01;

/// The count above which the probability is 1 for such means.
const FAR_ABOVE: f64 = 5000.0;

/// The probability of a smaller count plus half that of an equal count, under a negative binomial distribution with
/// a variance of `overdispersion` times the mean.
pub(super) fn mid_probability(count: f64, mean: f64, overdispersion: f64) -> f64 {
    if mean > LARGE_MEAN {
        return normal_below((count - mean) / (overdispersion * mean).sqrt());
    }
    let (size, ratio) = (mean / (overdispersion - 1.0), 1.0 - 1.0 / overdispersion);
    let is_poisson = overdispersion < POISSON_BELOW;
    let mut share = if is_poisson { (-mean).exp() } else { (-size * overdispersion.ln()).exp() };
    let (mut below, mut number) = (0.0, 0.0);
    while number < count.min(FAR_ABOVE) && below < 1.0 - 1e-9 {
        below += share;
        share *= if is_poisson { mean / (number + 1.0) } else { (size + number) / (number + 1.0) * ratio };
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
    fn the_mean_score_is_one_half_for_any_mean() {
        for mean in [0.1, 1.0, 7.0, 30.0] {
            // Poisson, by its own probabilities.
            let mut probability = f64::exp(-mean);
            let mut sum = 0.0;
            for count in 0..200 {
                sum += probability * mid_probability(f64::from(count), mean, 1.0);
                probability *= mean / f64::from(count + 1);
            }
            assert!((sum - 0.5).abs() < 1e-6, "{mean}: {sum}");
        }
    }

    #[test]
    fn scores_are_probabilities_and_increase_with_the_count() {
        for (mean, overdispersion) in [(0.3, 1.0), (5.0, 3.0), (39.0, 8.0), (41.0, 8.0), (1e6, 30.0)] {
            let scores: Vec<f64> =
                (0..100).map(|i| mid_probability((mean * f64::from(i) / 25.0).round(), mean, overdispersion)).collect();
            assert!(scores.is_sorted() && scores[0] >= 0.0 && scores[99] <= 1.0, "{mean} {overdispersion}: {scores:?}");
        }
    }

    #[test]
    fn the_best_shape_is_chosen() {
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
    fn false_positives_are_as_rare_as_stated_also_for_rare_words_in_a_growing_corpus() {
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
                let mut score = random.f64() * all;
                let bin = tokens.iter().position(|tokens| {
                    score -= tokens;
                    score < 0.0
                });
                counts[bin.unwrap_or(39)] += 1.0;
            }
            let rates: Vec<f64> = counts.iter().zip(&tokens).map(|(count, tokens)| count / tokens).collect();
            by_course += usize::from(courses.test(&counts).p < 0.05);
            by_kendall += usize::from(super::super::mann_kendall(&rates, &mut scratch).p() < 0.05);
        }
        let share = |found: usize| found as f64 / WORDS as f64;
        assert!((0.01..0.055).contains(&share(by_course)), "{}", share(by_course));
        assert!(share(by_kendall) > 0.1, "Mann–Kendall rejects more often in a growing corpus: {}", share(by_kendall));
    }

    #[test]
    fn one_burst_or_no_hits_make_no_trend() {
        let mut counts = [5.0; 40];
        (0..40).for_each(|bin| counts[bin] += (bin * 7 % 5) as f64);
        counts[39] = 5000.0;
        assert!(test(&counts, &[1e6; 40]).p > 0.01);
        assert_eq!(test(&[0.0; 40], &[1e6; 40]).p, 1.0);
        assert_eq!(test(&[3.0; 40], &[1e6; 40]).p, 1.0);
        assert_eq!(test(&[], &[]).p, 1.0);
    }
}
