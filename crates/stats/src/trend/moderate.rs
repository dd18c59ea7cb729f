//! Moderated dispersion: words lend each other evidence about how much counts vary.
//!
//! The dispersion of one word over forty bins is uncertain by a quarter, which costs power: Student's t has heavy
//! tails. All words together tell how dispersions are distributed around what clumping inside documents explains.
//! Empirical Bayes (Smyth 2004, *limma*) fits an inverse chi-square prior to them and gives each word the
//! posterior mean and additional degrees of freedom. Where words differ much the prior is weak, and each word
//! keeps its own estimate.

use crate::measure::special::{digamma, trigamma};

/// The estimated dispersion of one word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dispersion {
    /// The estimate from residuals over bins.
    pub own: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// The dispersion that clumping inside documents explains.
    pub clumping: f64,
    /// The hits of the word: words of similar frequency share a prior.
    pub hits: f64,
}

/// The prior of a group of words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The typical ratio of dispersion to clumping.
    pub ratio: f64,
    /// The degrees of freedom that the prior is worth.
    pub freedom: f64,
}

/// Words of a group; fewer have no prior.
const GROUP: usize = 250;
/// The maximum degrees of freedom of a prior: dispersions are never quite alike.
const MOST_FREEDOM: f64 = 60.0;

impl Prior {
    /// No prior knowledge.
    pub const NONE: Prior = Prior { ratio: 1.0, freedom: 0.0 };

    /// Fits the prior of a group by the mean and variance of the logarithms of its dispersions.
    pub fn fit(words: &[Dispersion]) -> Prior {
        let known = || words.iter().filter(|word| word.own > 0.0 && word.freedom > 0.0);
        let count = known().count() as f64;
        if count < GROUP as f64 / 5.0 {
            return Prior::NONE;
        }
        let log_ratio = |word: &Dispersion| {
            let half = word.freedom / 2.0;
            (word.own / word.clumping).ln() - digamma(half) + half.ln()
        };
        let mean = known().map(log_ratio).sum::<f64>() / count;
        let variance = known().map(|word| (log_ratio(word) - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let sampling = known().map(|word| trigamma(word.freedom / 2.0)).sum::<f64>() / count;
        let half = inverse_trigamma((variance - sampling).max(1e-6)).min(MOST_FREEDOM / 2.0);
        Prior { ratio: (mean + digamma(half) - half.ln()).exp(), freedom: 2.0 * half }
    }

    /// The posterior mean of a dispersion and its degrees of freedom.
    pub fn moderate(&self, own: f64, word: &Dispersion) -> (f64, f64) {
        let freedom = self.freedom + word.freedom;
        ((self.freedom * self.ratio * word.clumping + word.freedom * own) / freedom, freedom)
    }
}

/// The prior of each word, fitted to words of similar frequency.
pub fn priors(words: &[Dispersion]) -> Vec<Prior> {
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by(|a, b| words[*a].hits.total_cmp(&words[*b].hits));
    let groups = (words.len() / GROUP).clamp(1, 24);
    let mut priors = vec![Prior::NONE; words.len()];
    for group in order.chunks(words.len().div_ceil(groups).max(1)) {
        let members: Vec<Dispersion> = group.iter().map(|word| words[*word]).collect();
        let prior = Prior::fit(&members);
        group.iter().for_each(|word| priors[*word] = prior);
    }
    priors
}

/// The argument at which the trigamma function, which falls, has a value; by Newton's method on its reciprocal.
fn inverse_trigamma(value: f64) -> f64 {
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let found = trigamma(x);
        // Tetragamma by a central difference: six digits suffice for a step.
        let step = 1e-4 * x;
        let slope = (trigamma(x + step) - trigamma(x - step)) / (2.0 * step);
        let change = found * (1.0 - found / value) / slope;
        x = (x + change).max(1e-3);
        if change.abs() < 1e-9 * x {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dispersions of words whose true ones are equal, or differ up to thirtyfold.
    fn words(is_equal: bool) -> Vec<Dispersion> {
        let mut random = fastrand::Rng::with_seed(5);
        let mut chi_square = |freedom: usize| {
            let exponential = |_| -2.0 * (1.0 - random.f64()).ln();
            (0..freedom / 2).map(exponential).sum::<f64>()
        };
        let truth = |word: usize| if is_equal { 2.0 } else { 1.0 + (word % 30) as f64 };
        let word = |word: usize| Dispersion {
            own: truth(word) * chi_square(38) / 38.0,
            freedom: 38.0,
            clumping: 1.0,
            hits: 100.0,
        };
        (0..600).map(word).collect()
    }

    #[test]
    fn equal_dispersions_are_pooled_and_different_ones_are_not() {
        let (equal, different) = (Prior::fit(&words(true)), Prior::fit(&words(false)));
        assert!((equal.ratio - 2.0).abs() < 0.1 && equal.freedom > 50.0, "{equal:?}");
        assert!(different.freedom < 6.0, "{different:?}");
        let (dispersion, freedom) = equal.moderate(3.0, &words(true)[0]);
        assert!(dispersion > 2.0 && dispersion < 3.0 && freedom > 80.0);
    }

    #[test]
    fn few_words_have_no_prior() {
        assert_eq!(priors(&words(true)[..20]), vec![Prior::NONE; 20]);
        assert_eq!(priors(&[]), []);
        assert_eq!(Prior::NONE.moderate(3.0, &words(true)[0]), (3.0, 38.0));
    }

    #[test]
    fn trigamma_is_inverted() {
        for x in [0.3, 1.0, 5.0, 40.0] {
            assert!((inverse_trigamma(trigamma(x)) / x - 1.0).abs() < 1e-6, "{x}");
        }
    }
}
