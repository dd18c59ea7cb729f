//! Series of words within sites, for tests of seasons and level shifts.
//!
//! The counts of a bin are compared with those that the sites of the bin would have at their own rates, so that sites that
//! join or fall silent change nothing. Each count becomes its mid-probability, as in [`super::course`]: the mean is one half
//! for bins of any size, and an event counts at most 1.

use super::cells::{CellCount, Counted, SiteTrends, SiteVolume};
use super::course::{mid_probability, overdispersion};
use super::rise::thick_bins;

/// Bins with less than this share of the mean tokens are left out.
const THIN_BIN: f64 = 0.15;

/// The bins with enough text, and the text of each site in them; reused for all words.
#[derive(Debug, Clone)]
pub struct SiteAxis {
    bins: Vec<usize>,
    /// The index of each bin among those used.
    index: Vec<Option<usize>>,
    volume: SiteVolume,
    counted: Counted,
}

/// A word over time. Bins in which none of its sites has text are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordSeries {
    /// The bins.
    pub bins: Vec<usize>,
    /// The counts in each bin.
    pub counts: Vec<f64>,
    /// The counts that the sites of each bin would have at their own rates.
    pub expected: Vec<f64>,
    /// The mid-probability of each count.
    pub scores: Vec<f64>,
    /// The documents with the word in all bins.
    pub documents: u64,
}

impl SiteAxis {
    /// The axis of the text of some sites.
    pub fn new(volume: &SiteVolume) -> SiteAxis {
        let bins = thick_bins(&volume.tokens_by_bin(), THIN_BIN);
        let mut index = vec![None; volume.bins];
        bins.iter().enumerate().for_each(|(at, bin)| index[*bin] = Some(at));
        let volume = volume.only(&bins);
        let when: Vec<f64> = bins.iter().map(|bin| *bin as f64).collect();
        let counted = SiteTrends::new(&when, &volume).counted();
        SiteAxis { bins, index, volume, counted }
    }

    /// The bins used.
    pub fn bins(&self) -> &[usize] {
        &self.bins
    }

    /// The tokens of each bin used.
    pub fn tokens(&self) -> Vec<f64> {
        self.volume.tokens_by_bin()
    }

    /// The number of sites with text.
    pub fn sites(&self) -> usize {
        self.volume.tokens.chunks_exact(self.bins.len().max(1)).filter(|site| site.iter().any(|n| *n > 0.0)).count()
    }

    /// The series of a word with its cells, sorted by site and bin.
    pub fn series(&self, cells: &[CellCount]) -> WordSeries {
        let width = self.bins.len();
        let (mut counts, mut expected) = (vec![0.0; width], vec![0.0; width]);
        let mut documents = 0;
        for cells in cells.chunk_by(|a, b| a.site == b.site) {
            let mut sum = 0.0;
            for (cell, at) in cells.iter().filter_map(|cell| Some((cell, (*self.index.get(cell.bin as usize)?)?))) {
                let count = match self.counted {
                    Counted::Hits => cell.hits,
                    Counted::Documents => cell.documents,
                };
                counts[at] += f64::from(count);
                sum += f64::from(count);
                documents += u64::from(cell.documents);
            }
            let tokens = self.volume.tokens.get(cells[0].site as usize * width..).unwrap_or_default();
            let all: f64 = tokens.iter().take(width).sum();
            if all > 0.0 {
                expected.iter_mut().zip(tokens).for_each(|(expected, tokens)| *expected += sum / all * tokens);
            }
        }
        let known: Vec<usize> = (0..width).filter(|at| expected[*at] > 0.0).collect();
        let counts: Vec<f64> = known.iter().map(|at| counts[*at]).collect();
        let expected: Vec<f64> = known.iter().map(|at| expected[*at]).collect();
        let spread = if counts.len() > 1 { overdispersion(&counts, &expected, 1.0) } else { 1.0 };
        let scores = counts.iter().zip(&expected).map(|(count, mean)| mid_probability(*count, *mean, spread)).collect();
        WordSeries { bins: known.iter().map(|at| self.bins[*at]).collect(), counts, expected, scores, documents }
    }
}

impl WordSeries {
    /// The binary logarithm of the relative rate of some points by that of the others. Half a count is added to each, so
    /// that no rate is zero.
    pub fn log_ratio(&self, is_inside: impl Fn(usize) -> bool) -> f64 {
        let (mut counts, mut expected) = ([0.5; 2], [0.5; 2]);
        for at in 0..self.counts.len() {
            let part = usize::from(is_inside(at));
            counts[part] += self.counts[at];
            expected[part] += self.expected[at];
        }
        (counts[1] / expected[1] / (counts[0] / expected[0])).log2()
    }
}

/// The share of the points of a series that are independent, from the lag-1 autocorrelation of what a model leaves over: an
/// event that lasts several bins is one observation.
pub(super) fn independent_share(residuals: &[f64]) -> f64 {
    let variance: f64 = residuals.iter().map(|x| x * x).sum();
    if variance <= 0.0 {
        return 1.0;
    }
    let lag: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // Independent points have a correlation by chance, whose standard error is 1/√n.
    let is_by_chance = lag / variance < 2.0 / (residuals.len() as f64).sqrt();
    let correlation = if is_by_chance { 0.0 } else { (lag / variance).min(0.9) };
    (1.0 - correlation) / (1.0 + correlation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_that_joins_leaves_scores_at_one_half() {
        // The second site has text from the tenth bin on and uses the word seven times as often.
        let has_text = |cell: usize| cell < 20 || cell % 20 >= 10;
        let tokens: Vec<f64> = (0..40).map(|cell| if has_text(cell) { 1e5 } else { 0.0 }).collect();
        let axis = SiteAxis::new(&SiteVolume { bins: 20, tokens, documents: Vec::new() });
        let cell = |cell: u32| {
            let count = if cell < 20 { 10 } else { 70 };
            CellCount { site: cell / 20, bin: cell % 20, hits: count, documents: count }
        };
        let cells: Vec<CellCount> = (0..40).filter(|cell| has_text(*cell as usize)).map(cell).collect();
        let series = axis.series(&cells);
        assert_eq!((series.bins.len(), series.documents, axis.sites()), (20, 900, 2));
        assert!(series.scores.iter().all(|score| (score - 0.5).abs() < 0.06), "{series:?}");
        assert!(series.log_ratio(|at| at >= 10).abs() < 1e-9);
    }

    #[test]
    fn bins_without_text_of_the_sites_of_a_word_are_left_out() {
        let tokens = vec![1e5, 1e5, 1e5, 0.0, 0.0, 1e5];
        let axis = SiteAxis::new(&SiteVolume { bins: 3, tokens, documents: Vec::new() });
        let cells = [CellCount { site: 1, bin: 2, hits: 4, documents: 2 }];
        assert_eq!(axis.series(&cells).bins, [2]);
        assert_eq!(axis.series(&[]), WordSeries::default());
    }

    #[test]
    fn events_that_last_are_fewer_observations() {
        let mut random = fastrand::Rng::with_seed(1);
        let noise: Vec<f64> = (0..200).map(|_| random.f64() - 0.5).collect();
        let lasting: Vec<f64> = noise.windows(4).map(|window| window.iter().sum()).collect();
        assert!(independent_share(&noise) > 0.7 && independent_share(&lasting) < 0.25);
        assert_eq!(independent_share(&[0.0; 5]), 1.0);
    }
}
