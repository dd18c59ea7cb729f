//! Which words became more or less frequent: a test of every word, with control of chance.
//!
//! Mann–Kendall decides, for all words; Theil–Sen measures how much, for those that remain.

use super::discovery::false_discovery;
use super::kendall::mann_kendall;
use super::theil_sen::{sketch_engine_score, theil_sen};

/// Counts of words (rows) in bins of time (columns), and what was collected in each bin.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// Row after row.
    pub counts: &'a [u32],
    /// The tokens of each bin; none means not collected.
    pub tokens: &'a [f64],
}

impl<'a> Table<'a> {
    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &'a [u32]> {
        self.counts.chunks_exact(self.tokens.len().max(1))
    }
}

/// What counts as a trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiseConfig {
    /// Words with fewer hits are not tested: they could show nothing, and would cost the others power.
    pub min_hits: u64,
    /// Bins with less than this share of the mean tokens are left out, as too thin for a rate.
    pub thin_bin: f64,
    /// The share of false ones among the answers that is admitted.
    pub false_discovery_rate: f64,
}

impl Default for RiseConfig {
    fn default() -> Self {
        RiseConfig { min_hits: 30, thin_bin: 0.15, false_discovery_rate: 0.05 }
    }
}

/// A word that became more or less frequent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// Its row.
    pub row: usize,
    /// Its hits in the bins that were used.
    pub hits: u64,
    /// Mann–Kendall's z: positive if it rises.
    pub z: f64,
    /// Probability by chance.
    pub p: f64,
    /// The same among all words tested.
    pub q: f64,
    /// The Theil–Sen line from the first bin to the last, in means of the word's rate.
    pub growth: f64,
    /// The growth as Sketch Engine shows it.
    pub score: f64,
}

/// The outcome for all words.
#[derive(Debug, Clone, PartialEq)]
pub struct Rises {
    /// How many words were tested.
    pub tested: usize,
    /// The bins that were used.
    pub bins: Vec<usize>,
    /// The words with a trend, surest first.
    pub found: Vec<Rise>,
}

/// Tests all rows.
pub fn rises(table: &Table<'_>, config: &RiseConfig) -> Rises {
    let bins = thick_bins(table.tokens, config.thin_bin);
    let when: Vec<f64> = bins.iter().map(|bin| *bin as f64).collect();
    let tokens: Vec<f64> = bins.iter().map(|bin| table.tokens[*bin]).collect();
    let rates_of = |row: &[u32], rates: &mut Vec<f64>| {
        rates.clear();
        // Division, so that equal rates are equal to the last digit and count as ties.
        rates.extend(bins.iter().zip(&tokens).map(|(bin, tokens)| f64::from(row[*bin]) / tokens));
    };

    let (mut rates, mut scratch) = (Vec::new(), Vec::new());
    let mut tested = 0;
    let mut candidates = Vec::new();
    for (row, counts) in table.rows().enumerate() {
        let hits: u64 = bins.iter().map(|bin| u64::from(counts[*bin])).sum();
        if hits < config.min_hits {
            continue;
        }
        tested += 1;
        rates_of(counts, &mut rates);
        let outcome = mann_kendall(&rates, &mut scratch);
        let p = outcome.p();
        // Whatever the others are like, a larger p cannot pass; and its slope need not be known.
        if p <= config.false_discovery_rate {
            candidates.push(Rise { row, hits, z: outcome.z, p, q: 1.0, growth: 0.0, score: 0.0 });
        }
    }

    let p: Vec<f64> = candidates.iter().map(|rise| rise.p).collect();
    for (rise, q) in candidates.iter_mut().zip(false_discovery(&p, tested)) {
        rise.q = q;
    }
    candidates.retain(|rise| rise.q <= config.false_discovery_rate);
    let width = table.tokens.len();
    for rise in &mut candidates {
        rates_of(&table.counts[rise.row * width..][..width], &mut rates);
        rise.growth = growth(&when, &rates, &mut scratch);
        rise.score = sketch_engine_score(rise.growth);
    }
    candidates.sort_by(|a, b| a.p.total_cmp(&b.p).then(b.hits.cmp(&a.hits)).then(a.row.cmp(&b.row)));
    Rises { tested, bins, found: candidates }
}

/// The Theil–Sen line over the whole time, in means of the series.
pub fn growth(when: &[f64], rates: &[f64], scratch: &mut Vec<f64>) -> f64 {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    match (when.first(), when.last()) {
        (Some(first), Some(last)) if mean > 0.0 => theil_sen(when, rates, scratch) * (last - first) / mean,
        _ => 0.0,
    }
}

/// The bins that hold enough tokens for a rate.
pub fn thick_bins(tokens: &[f64], thin: f64) -> Vec<usize> {
    let collected = tokens.iter().filter(|tokens| **tokens > 0.0).count().max(1);
    let least = thin * tokens.iter().sum::<f64>() / collected as f64;
    (0..tokens.len()).filter(|bin| tokens[*bin] > 0.0 && tokens[*bin] >= least).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_without_documents_are_no_zeros() {
        // Half of the time nothing was collected. Were that a zero, the word would seem to rise.
        let tokens: Vec<f64> = (0..40).map(|bin| if bin < 20 { 0.0 } else { 1e6 }).collect();
        let counts: Vec<u32> = (0..40).map(|bin| if bin < 20 { 0 } else { 50 + bin % 3 }).collect();
        let outcome = rises(&Table { counts: &counts, tokens: &tokens }, &RiseConfig::default());
        assert_eq!((outcome.tested, outcome.bins.len()), (1, 20));
        assert!(outcome.found.is_empty());
    }

    #[test]
    fn rates_count_and_not_hits() {
        // The corpus grows tenfold, and the word with it.
        let tokens: Vec<f64> = (1..=40).map(|bin| f64::from(bin) * 1e5).collect();
        let counts: Vec<u32> = (1..=40).map(|bin| bin * 10).collect();
        assert!(rises(&Table { counts: &counts, tokens: &tokens }, &RiseConfig::default()).found.is_empty());
    }

    #[test]
    fn growth_is_measured_in_means() {
        let tokens = vec![1e6; 40];
        let counts: Vec<u32> = (0..40).map(|bin| 100 + 10 * bin).chain(vec![100; 40]).collect();
        let outcome = rises(&Table { counts: &counts, tokens: &tokens }, &RiseConfig::default());
        let [rise] = outcome.found[..] else { panic!("{outcome:?}") };
        assert_eq!((rise.row, rise.hits), (0, 11_800));
        assert!((rise.growth - 390.0 / 295.0).abs() < 1e-9);
        assert!((rise.score - 53f64.to_radians().tan()).abs() < 1e-9);
    }

    #[test]
    fn an_empty_table_has_no_trends() {
        let outcome = rises(&Table { counts: &[], tokens: &[] }, &RiseConfig::default());
        assert_eq!((outcome.tested, outcome.found.len()), (0, 0));
    }
}
