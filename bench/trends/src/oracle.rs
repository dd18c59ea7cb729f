//! The bursts that could be found at all: a test that knows what others must estimate.
//!
//! It knows the rate of each word on each site, how hits clump in documents, and all events of single sites; it does not
//! know which words burst, when, and how strongly. For each week and pair of weeks it has the likelihood ratio of the best
//! height (Neyman and Pearson's test against a grid of heights), with the same correction for weeks and words as the test of
//! the product. What it does not find is not in the counts.

use crate::drift::FoundWords;
use crate::scenario::{BURSTING, CHANGING, CLUMPING, FLAT, Scenario, Truth, WEEKS, truth_of};
use fastrand::Rng;
use tidings_query::measure::special::chi_square_survival;
use tidings_query::trend::weighted_discovery;

/// The heights that are tried, from threefold to sixtyfold.
const HEIGHTS: [f64; 8] = [3.0, 4.6, 7.1, 10.9, 16.7, 25.6, 39.2, 60.0];
/// The accepted share of false discoveries.
const RATE: f64 = 0.05;

/// The words that burst as far as the counts can show it, over some seeds.
pub fn measure(scenario: &Scenario, seeds: std::ops::Range<u64>) -> FoundWords {
    let mut found = FoundWords::default();
    for seed in seeds {
        found.count(bursts(scenario, seed).into_iter(), |word| truth_of(word) == Truth::Bursting);
    }
    found
}

fn bursts(scenario: &Scenario, seed: u64) -> Vec<usize> {
    let mut random = Rng::with_seed(seed);
    // The same draws as in `Scenario::simulate`.
    let sites = scenario.sites(crate::scenario::SITES, &mut random);
    let (mut p, mut documents) = (Vec::new(), Vec::new());
    for word in 0..CHANGING + BURSTING + FLAT {
        let mut weeks = vec![[0.0; HEIGHTS.len()]; WEEKS];
        let mut with_word = 0.0;
        scenario.draw(word, &sites, &mut random, |(_, week, _), expected, hits| {
            for (sum, height) in weeks[week].iter_mut().zip(HEIGHTS) {
                *sum += log_ratio(hits, expected, height);
            }
            with_word += f64::from(u8::from(hits > 0));
        });
        p.push(p_value(&weeks));
        documents.push(with_word);
    }
    let q = weighted_discovery(&p, &documents);
    (0..q.len()).filter(|word| q[*word] <= RATE).collect()
}

/// The log-likelihood ratio of a document if the rate is raised to a height: negative binomial with the known clumping.
fn log_ratio(hits: u32, expected: f64, height: f64) -> f64 {
    let raised = ((CLUMPING + expected) / (CLUMPING + height * expected)).ln();
    (f64::from(hits) + CLUMPING) * raised + f64::from(hits) * height.ln()
}

/// Half the chi-square tail of the best window and height, times the windows.
fn p_value(weeks: &[[f64; HEIGHTS.len()]]) -> f64 {
    let height = |height: usize| {
        let one = weeks.iter().map(|week| week[height]);
        let two = weeks.windows(2).map(|pair| pair[0][height] + pair[1][height]);
        one.chain(two).fold(0.0, f64::max)
    };
    let best = (0..HEIGHTS.len()).map(height).fold(0.0, f64::max);
    (chi_square_survival(2.0 * best, 1.0) / 2.0 * (2 * WEEKS) as f64).min(1.0)
}
