//! Trends of all words, with control of the false discovery rate.
//!
//! A test selects words; the Theil–Sen estimator measures the slope of the selected ones.

use super::course::{Courses, Shape};
use super::discovery::false_discovery;
use super::kendall::{Kendall, mann_kendall};
use super::theil_sen::{sketch_engine_score, theil_sen};

/// Counts of words (rows) in bins of time (columns), and the tokens of each bin.
///
/// Documents with a word make better counts than its hits: one document that repeats a word is one
/// decision to use it.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// The counts, row by row.
    pub counts: &'a [u32],
    /// The tokens of each bin; 0 means not collected.
    pub tokens: &'a [f64],
}

impl<'a> Table<'a> {
    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &'a [u32]> {
        self.counts.chunks_exact(self.tokens.len().max(1))
    }
}

/// The trend test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Correlation of scores with three shapes, see [`super::course`].
    Courses,
    /// Mann–Kendall, as in Sketch Engine.
    MannKendall,
}

/// The parameters of trend detection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiseConfig {
    /// The trend test.
    pub test: Test,
    /// The minimum count; testing rarer words would only reduce the power of the others.
    pub min_count: u64,
    /// Bins with less than this share of the mean tokens are left out.
    pub thin_bin: f64,
    /// The false discovery rate to control.
    pub false_discovery_rate: f64,
}

impl Default for RiseConfig {
    fn default() -> Self {
        RiseConfig { test: Test::Courses, min_count: 30, thin_bin: 0.15, false_discovery_rate: 0.05 }
    }
}

/// A word with a trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// Its row.
    pub row: usize,
    /// Its count in the bins used.
    pub count: u64,
    /// The shape of the trend, if the test has one.
    pub shape: Option<Shape>,
    /// The p-value of the test.
    pub p: f64,
    /// The q-value among all words tested.
    pub q: f64,
    /// Mann–Kendall, for either test.
    pub kendall: Kendall,
    /// The Theil–Sen slope from the first bin to the last, relative to the word's mean rate.
    pub growth: f64,
    /// The growth as Sketch Engine shows it.
    pub score: f64,
    /// The binary logarithm of the rate at the end by that at the beginning.
    pub log_ratio: f64,
    /// Its standard error; infinite if the test has none.
    pub error: f64,
}

/// The sites whose text a test of trends rests on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mixture {
    /// Sites with text in enough bins for a slope.
    pub sites: usize,
    /// The share of all tokens that the other sites have.
    pub left_out: f64,
    /// The share of the tokens of sites with text in both halves of the time, in the half in which it is smaller.
    pub in_both_halves: f64,
}

/// The result for all words.
#[derive(Debug, Clone, PartialEq)]
pub struct Rises {
    /// The number of words tested.
    pub tested: usize,
    /// The bins used.
    pub bins: Vec<usize>,
    /// The words with a trend, by p-value.
    pub found: Vec<Rise>,
    /// The sites that the test rests on, if it knows them.
    pub mixture: Option<Mixture>,
}

/// A row that may have a trend.
struct Candidate {
    row: usize,
    count: u64,
    shape: Option<Shape>,
    p: f64,
}

/// Tests all rows.
pub fn rises(table: &Table<'_>, config: &RiseConfig) -> Rises {
    let bins = thick_bins(table.tokens, config.thin_bin);
    let when: Vec<f64> = bins.iter().map(|bin| *bin as f64).collect();
    let tokens: Vec<f64> = bins.iter().map(|bin| table.tokens[*bin]).collect();
    // Division, so that equal rates are equal to the last digit and count as ties.
    let to_rates = |counts: &mut [f64]| counts.iter_mut().zip(&tokens).for_each(|(count, tokens)| *count /= tokens);

    let mut courses = Courses::new(&when, &tokens);
    let (mut series, mut scratch) = (Vec::with_capacity(bins.len()), Vec::new());
    let mut tested = 0;
    let mut candidates = Vec::new();
    for (row, counts) in table.rows().enumerate() {
        let count: u64 = bins.iter().map(|bin| u64::from(counts[*bin])).sum();
        if count < config.min_count {
            continue;
        }
        tested += 1;
        series.clear();
        series.extend(bins.iter().map(|bin| f64::from(counts[*bin])));
        let (shape, p) = match config.test {
            Test::Courses => {
                let course = courses.test(&series);
                (Some(course.shape), course.p)
            }
            Test::MannKendall => {
                to_rates(&mut series);
                (None, mann_kendall(&series, &mut scratch).p())
            }
        };
        // A p-value above the rate never passes, so skip its slope.
        if p <= config.false_discovery_rate {
            candidates.push(Candidate { row, count, shape, p });
        }
    }

    let p: Vec<f64> = candidates.iter().map(|candidate| candidate.p).collect();
    let q = false_discovery(&p, tested);
    let passed = candidates.into_iter().zip(q).filter(|(_, q)| *q <= config.false_discovery_rate);
    let width = table.tokens.len();
    let mut found: Vec<Rise> = passed
        .map(|(Candidate { row, count, shape, p }, q)| {
            let counts = &table.counts[row * width..][..width];
            series.clear();
            series.extend(bins.iter().map(|bin| f64::from(counts[*bin])));
            to_rates(&mut series);
            let kendall = mann_kendall(&series, &mut scratch);
            let growth = growth(&when, &series, &mut scratch);
            let score = sketch_engine_score(growth);
            let log_ratio = growth / std::f64::consts::LN_2;
            Rise { row, count, shape, p, q, kendall, growth, score, log_ratio, error: f64::INFINITY }
        })
        .collect();
    found.sort_by(|a, b| a.p.total_cmp(&b.p).then(b.count.cmp(&a.count)).then(a.row.cmp(&b.row)));
    Rises { tested, bins, found, mixture: None }
}

/// The Theil–Sen slope over the whole time, relative to the mean of the series.
pub fn growth(when: &[f64], rates: &[f64], scratch: &mut Vec<f64>) -> f64 {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    match (when.first(), when.last()) {
        (Some(first), Some(last)) if mean > 0.0 => theil_sen(when, rates, scratch) * (last - first) / mean,
        _ => 0.0,
    }
}

/// The bins with enough tokens for a rate.
pub fn thick_bins(tokens: &[f64], thin: f64) -> Vec<usize> {
    let collected = tokens.iter().filter(|tokens| **tokens > 0.0).count().max(1);
    let least = thin * tokens.iter().sum::<f64>() / collected as f64;
    (0..tokens.len()).filter(|bin| tokens[*bin] > 0.0 && tokens[*bin] >= least).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Test; 2] = [Test::Courses, Test::MannKendall];

    fn outcome(test: Test, counts: &[u32], tokens: &[f64]) -> Rises {
        rises(&Table { counts, tokens }, &RiseConfig { test, ..RiseConfig::default() })
    }

    #[test]
    fn bins_without_documents_are_not_zeros() {
        // Half of the time nothing was collected; taken as zeros, the word would seem to rise.
        let tokens: Vec<f64> = (0..40).map(|bin| if bin < 20 { 0.0 } else { 1e6 }).collect();
        let counts: Vec<u32> = (0..40).map(|bin| if bin < 20 { 0 } else { 50 + bin % 3 }).collect();
        for test in BOTH {
            let outcome = outcome(test, &counts, &tokens);
            assert_eq!((outcome.tested, outcome.bins.len()), (1, 20));
            assert!(outcome.found.is_empty());
        }
    }

    #[test]
    fn trends_are_those_of_rates_and_not_of_hits() {
        // The corpus grows fortyfold, and the word with it.
        let tokens: Vec<f64> = (1..=40).map(|bin| f64::from(bin) * 1e5).collect();
        let counts: Vec<u32> = (1..=40).map(|bin| bin * 100).collect();
        for test in BOTH {
            let outcome = outcome(test, &counts, &tokens);
            assert!(outcome.found.is_empty(), "{test:?}: {outcome:?}");
        }
    }

    #[test]
    fn growth_is_relative_to_the_mean() {
        let tokens = vec![1e6; 40];
        let counts: Vec<u32> = (0..40).map(|bin| 100 + 10 * bin).chain(vec![100; 40]).collect();
        for test in BOTH {
            let outcome = outcome(test, &counts, &tokens);
            let [rise] = outcome.found[..] else { panic!("{outcome:?}") };
            assert_eq!((rise.row, rise.count, rise.kendall.s), (0, 11_800, 780));
            assert!((rise.growth - 390.0 / 295.0).abs() < 1e-9);
            assert!((rise.score - 53f64.to_radians().tan()).abs() < 1e-9);
        }
    }

    #[test]
    fn an_empty_table_has_no_trends() {
        for test in BOTH {
            let outcome = outcome(test, &[], &[]);
            assert_eq!((outcome.tested, outcome.found.len()), (0, 0));
        }
    }
}
