//! Bursts of all words, with control of the false discovery rate.
//!
//! One or two bins are compared with the bins before them. What is counted is the *evidence* of each site, which grows with
//! the logarithm of its hits (`evidence`): documents with a frequent word cannot become ten times as many, and sums of
//! hits are those of the loudest site. Sites come, go and fall silent, so a bin is measured not by its tokens but by the
//! evidence that its sites would have at their own rates (indirect standardisation). The likelihood ratio is divided by the
//! dispersion of the word in its other bins, moderated by words of similar frequency. A burst must be significant among all
//! words and bins, at least threefold in hits, and be seen on several sites: an event of one site is no burst of the word.

use super::bursts::{AFTERGLOW, BinCount, Burst, BurstConfig, sequel, tokens_before};
use super::cells::{CellCount, SiteVolume};
use super::discovery::weighted_discovery;
use super::moderate::{Dispersion, priors};
use crate::measure::keyness::{Contrast, Keyness};
use std::ops::Range;

/// The numbers of neighbouring bins that may be a burst together.
const WIDTHS: [usize; 2] = [1, 2];
/// The share of bins left out at the upper end when the dispersion is estimated: other bursts of the word.
const TRIM: f64 = 0.05;
/// The mean of a chi-square variable of one degree without its upper 5 %.
const TRIMMED_MEAN: f64 = 0.758;

/// The documents of a bin with which a threefold burst is found among all words; more documents give no more weight.
const DOCUMENTS_OF_A_BURST: f64 = 10.0;

/// The bend of the logarithm: one hit is worth 0.9, ten hits 2.8. With less of it, a few hits nearly count one by one, and
/// events of single sites become bursts; with more, sites with the word are counted, whatever they say of it.
const CURVE: f64 = 1.5;

/// What the hits of a site in a bin show: each doubling is worth about the same, so that an event of one site cannot stand
/// for many.
fn evidence(hits: u32) -> f64 {
    (CURVE * f64::from(hits)).ln_1p()
}

/// The variance and the mean of the evidence of independent hits (a Poisson variable).
fn independent_evidence(hits: f64) -> (f64, f64) {
    /// From here on the delta method is exact enough.
    const MANY: f64 = 60.0;
    if hits >= MANY {
        let slope = CURVE / (1.0 + CURVE * hits);
        return (slope * slope * hits, (CURVE * hits).ln_1p());
    }
    let (mut chance, mut mean, mut square) = ((-hits).exp(), 0.0, 0.0);
    for number in 1..(hits + 10.0 * hits.sqrt() + 10.0) as u32 {
        chance *= hits / f64::from(number);
        let worth = evidence(number);
        mean += chance * worth;
        square += chance * worth * worth;
    }
    (square - mean * mean, mean)
}

/// Collects the strongest burst of each word, and then tests them together.
#[derive(Debug)]
pub struct SiteBursts {
    config: BurstConfig,
    volume: SiteVolume,
    site_tokens: Vec<f64>,
    /// The bins of each site with text.
    site_bins: Vec<f64>,
    /// The sites with text in each bin.
    sites: Vec<usize>,
    /// The bins with text before each bin.
    collected_before: Vec<f64>,
    /// The documents with each word.
    rows: Vec<f64>,
    found: Vec<(usize, Burst)>,
    /// The dispersions of all words with enough documents, and that of independent hits.
    dispersions: Vec<(Dispersion, f64)>,
    /// The number of the dispersion of each burst.
    dispersion_of: Vec<usize>,
}

/// The strongest burst of a word, to be tested with those of the others.
#[derive(Debug)]
pub struct MeasuredBurst {
    documents: f64,
    /// The dispersion of a word with enough documents, and that of independent hits.
    dispersion: Option<(Dispersion, f64)>,
    /// A burst that is large and on enough sites.
    burst: Option<Burst>,
}

/// The counts of a word by bin, with those that the sites of each bin would have at their own rates.
struct Series {
    counts: Vec<BinCount>,
    documents_before: Vec<f64>,
    evidence_before: Vec<f64>,
    hits_before: Vec<f64>,
    expected_documents: Vec<f64>,
    expected_evidence: Vec<f64>,
    expected_hits: Vec<f64>,
}

impl SiteBursts {
    /// Starts a test over the text of these sites.
    pub fn new(volume: &SiteVolume, config: &BurstConfig) -> SiteBursts {
        let by_site = || volume.tokens.chunks_exact(volume.bins.max(1));
        let sites: Vec<usize> = (0..volume.bins).map(|bin| by_site().filter(|site| site[bin] > 0.0).count()).collect();
        let collected: Vec<f64> = sites.iter().map(|sites| f64::from(u8::from(*sites > 0))).collect();
        SiteBursts {
            config: *config,
            site_tokens: by_site().map(|site| site.iter().sum()).collect(),
            site_bins: by_site().map(|site| site.iter().filter(|tokens| **tokens > 0.0).count() as f64).collect(),
            sites,
            collected_before: tokens_before(&collected),
            volume: volume.clone(),
            rows: Vec::new(),
            found: Vec::new(),
            dispersions: Vec::new(),
            dispersion_of: Vec::new(),
        }
    }

    /// Adds the next word with its cells, sorted by site and bin.
    pub fn add(&mut self, cells: &[CellCount]) {
        self.push(self.measure(cells));
    }

    /// Adds the next word.
    pub fn push(&mut self, MeasuredBurst { documents, dispersion, burst }: MeasuredBurst) {
        self.dispersions.extend(dispersion);
        if let Some(burst) = burst {
            self.dispersion_of.push(self.dispersions.len() - 1);
            self.found.push((self.rows.len(), burst));
        }
        self.rows.push(documents);
    }

    /// The strongest burst of a word with its cells, sorted by site and bin.
    pub fn measure(&self, cells: &[CellCount]) -> MeasuredBurst {
        let documents = cells.iter().map(|cell| f64::from(cell.documents)).sum();
        let mut measured = MeasuredBurst { documents, dispersion: None, burst: None };
        let mut counts: Vec<BinCount> =
            (0..self.volume.bins as u32).map(|bin| BinCount { bin, hits: 0, documents: 0 }).collect();
        for cell in cells {
            let count = &mut counts[cell.bin as usize];
            count.hits += cell.hits;
            count.documents += cell.documents;
        }
        // Most words have no bin with enough documents.
        if counts.iter().all(|count| count.documents < self.config.min_documents) {
            return measured;
        }
        let series = self.series(cells, counts);
        let strongest = self.strongest(&series);
        let burst =
            strongest.map(|(burst, width)| (burst.bin as usize).saturating_sub(width)..burst.bin as usize + width);
        let dispersion = self.dispersion(&series, documents, burst.unwrap_or_default());
        measured.dispersion = Some((dispersion, self.independent(cells)));
        let is_strong = |burst: &Burst, width: usize| {
            burst.log_ratio >= self.config.min_ratio.log2() && self.is_spread(cells, burst.bin as usize, width)
        };
        measured.burst = strongest.filter(|(burst, width)| is_strong(burst, *width)).map(|(burst, _)| burst);
        measured
    }

    fn series(&self, cells: &[CellCount], counts: Vec<BinCount>) -> Series {
        let mut of_bins = vec![0.0; self.volume.bins];
        cells.iter().for_each(|cell| of_bins[cell.bin as usize] += evidence(cell.hits));
        Series {
            documents_before: tokens_before(&counts.iter().map(|count| f64::from(count.documents)).collect::<Vec<_>>()),
            evidence_before: tokens_before(&of_bins),
            hits_before: tokens_before(&counts.iter().map(|count| f64::from(count.hits)).collect::<Vec<_>>()),
            counts,
            expected_documents: tokens_before(&self.expected(cells, |cell| f64::from(cell.documents))),
            expected_evidence: tokens_before(&self.expected(cells, |cell| evidence(cell.hits))),
            expected_hits: tokens_before(&self.expected(cells, |cell| f64::from(cell.hits))),
        }
    }

    /// The rate of a count on the site of these cells.
    fn rate(&self, cells: &[CellCount], count: fn(&CellCount) -> f64) -> f64 {
        cells.iter().map(count).sum::<f64>() / self.site_tokens[cells[0].site as usize]
    }

    /// The dispersion of the evidence that independent hits at the rates of the sites would have.
    fn independent(&self, cells: &[CellCount]) -> f64 {
        let (mut variance, mut mean) = (0.0, 0.0);
        for cells in cells.chunk_by(|a, b| a.site == b.site) {
            let bins = self.site_bins[cells[0].site as usize].max(1.0);
            let hits: f64 = cells.iter().map(|cell| f64::from(cell.hits)).sum();
            let (of_bin, mean_of_bin) = independent_evidence(hits / bins);
            variance += bins * of_bin;
            mean += bins * mean_of_bin;
        }
        if mean > 0.0 { variance / mean } else { 1.0 }
    }

    /// The counts expected in each bin from the rates of its sites.
    fn expected(&self, cells: &[CellCount], count: fn(&CellCount) -> f64) -> Vec<f64> {
        let width = self.volume.bins;
        let mut expected = vec![0.0; width];
        for cells in cells.chunk_by(|a, b| a.site == b.site) {
            let rate = self.rate(cells, count);
            let tokens = &self.volume.tokens[cells[0].site as usize * width..][..width];
            expected.iter_mut().zip(tokens).for_each(|(expected, tokens)| *expected += rate * tokens);
        }
        expected
    }

    /// The dispersion of the evidence of a word over bins outside of a burst and of its largest other bursts.
    fn dispersion(&self, series: &Series, documents: f64, burst: Range<usize>) -> Dispersion {
        let burst = burst.start..if burst.is_empty() { burst.end } else { burst.end + AFTERGLOW };
        let of_bin = |sums: &[f64], bin: usize| sums[bin + 1] - sums[bin];
        let at_rates = |bin: usize| of_bin(&series.expected_evidence, bin);
        let evidence = |bin: usize| of_bin(&series.evidence_before, bin);
        let bins = || (0..series.counts.len()).filter(|bin| !burst.contains(bin) && at_rates(*bin) > 0.0);
        let quiet: f64 = bins().map(evidence).sum();
        if quiet <= 0.0 {
            return Dispersion { own: 0.0, freedom: 0.0, clumping: 1.0, hits: documents };
        }
        let share = quiet / bins().map(at_rates).sum::<f64>();
        let square = |bin: usize| (evidence(bin) - share * at_rates(bin)).powi(2) / (share * at_rates(bin));
        let mut squares: Vec<f64> = bins().map(square).collect();
        let kept = squares.len() - (squares.len() as f64 * TRIM) as usize;
        if kept < squares.len() {
            squares.select_nth_unstable_by(kept, f64::total_cmp);
        }
        let own = squares[..kept].iter().sum::<f64>() / kept.max(1) as f64 / TRIMMED_MEAN;
        let with_word: f64 = bins().map(|bin| of_bin(&series.documents_before, bin)).sum();
        let mean = with_word / squares.len().max(1) as f64;
        // Pearson's residual of a mean of μ has the variance 2 + 1/μ: sparse bins tell little.
        let freedom = squares.len() as f64 * 2.0 * mean / (2.0 * mean + 1.0);
        Dispersion { own, freedom, clumping: 1.0, hits: documents }
    }

    /// The likeliest burst, with the number of its bins.
    fn strongest(&self, series: &Series) -> Option<(Burst, usize)> {
        let Series { counts, documents_before, hits_before, expected_documents, expected_hits, .. } = series;
        let between = |sums: &[f64], from: usize, to: usize| sums[to] - sums[from];
        let mut best: Option<(Burst, usize)> = None;
        for width in WIDTHS {
            for end in width..=counts.len() {
                let start = end - width;
                let from = start.saturating_sub(self.config.before);
                let contrast = |counts: &[f64], expected: &[f64]| Contrast {
                    focus: between(counts, start, end),
                    focus_tokens: between(expected, start, end),
                    reference: between(counts, from, start),
                    reference_tokens: between(expected, from, start),
                };
                let documents = contrast(documents_before, expected_documents);
                let evidence = contrast(&series.evidence_before, &series.expected_evidence);
                let is_more = evidence.focus * evidence.reference_tokens > evidence.reference * evidence.focus_tokens;
                let is_tested = documents.focus >= f64::from(self.config.min_documents)
                    && evidence.focus_tokens > 0.0
                    && evidence.reference_tokens > 0.0
                    && between(&self.collected_before, from, start) >= self.config.min_before as f64;
                if !is_tested || !is_more {
                    continue;
                }
                let score = Keyness::LogLikelihood.score(&evidence);
                if best.is_none_or(|(best, _)| score > best.score) {
                    let peak = (start..end).max_by_key(|bin| counts[*bin].documents).unwrap_or(start);
                    let BinCount { bin, hits, documents: of_bin } = counts[peak];
                    let log_ratio = Keyness::LogRatio.score(&contrast(hits_before, expected_hits));
                    let sequel = sequel(&counts[end..], end - 1, &documents, expected_documents, &self.config);
                    best = Some((Burst { bin, score, log_ratio, hits, documents: of_bin, sequel, q: 1.0 }, width));
                }
            }
        }
        best
    }

    /// Returns true if a burst with its peak in a bin is seen on enough sites.
    fn is_spread(&self, cells: &[CellCount], peak: usize, width: usize) -> bool {
        let near = peak.saturating_sub(width - 1)..peak + width;
        let bursting = cells.chunk_by(|a, b| a.site == b.site).filter(|cells| {
            let rate = self.rate(cells, |cell| f64::from(cell.hits));
            cells.iter().filter(|cell| near.contains(&(cell.bin as usize))).any(|cell| {
                let tokens = self.volume.tokens[cell.site as usize * self.volume.bins + cell.bin as usize];
                f64::from(cell.hits) >= self.config.min_ratio * rate * tokens
            })
        });
        bursting.count() >= self.config.min_sites.min(self.sites[peak])
    }

    /// The rows with significant bursts.
    pub fn finish(mut self) -> Vec<(usize, Burst)> {
        let bins = self.sites.iter().filter(|sites| **sites > 0).count();
        let dispersions: Vec<Dispersion> = self.dispersions.iter().map(|(own, _)| *own).collect();
        let priors = priors(&dispersions);
        for ((_, burst), number) in self.found.iter_mut().zip(&self.dispersion_of) {
            let (own, independent) = &self.dispersions[*number];
            let (dispersion, freedom) = priors[*number].moderate(own.own, own);
            burst.score /= if freedom > 0.0 { dispersion.max(*independent) } else { *independent };
        }
        let mut p = vec![1.0; self.rows.len()];
        self.found.iter().for_each(|(row, burst)| p[*row] = burst.p(bins * WIDTHS.len()));
        // The documents of a word say whether a burst could be seen at all.
        let most = DOCUMENTS_OF_A_BURST * bins.max(1) as f64;
        let weights: Vec<f64> = self.rows.iter().map(|documents| documents.clamp(1.0, most)).collect();
        let q = weighted_discovery(&p, &weights);
        let tested = self.found.into_iter().map(|(row, burst)| (row, Burst { q: q[row], ..burst }));
        tested.filter(|(_, burst)| burst.q <= self.config.false_discovery_rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bursts of a word with 4 sites of 60 weeks, of which the last two join in week 30.
    fn bursts(documents: impl Fn(u32, u32) -> u32) -> Vec<(usize, Burst)> {
        let cells = || (0..4u32).flat_map(|site| (0..60u32).map(move |bin| (site, bin)));
        let has_text = |(site, bin): (u32, u32)| site < 2 || bin >= 30;
        let tokens: Vec<f64> = cells().map(|cell| if has_text(cell) { 1e5 } else { 0.0 }).collect();
        let volume = SiteVolume { bins: 60, tokens, documents: Vec::new() };
        let mut test = SiteBursts::new(&volume, &BurstConfig::default());
        let cells = cells().filter(|cell| has_text(*cell)).map(|(site, bin)| {
            let documents = documents(site, bin);
            CellCount { site, bin, hits: documents, documents }
        });
        test.add(&cells.filter(|cell| cell.documents > 0).collect::<Vec<_>>());
        test.finish()
    }

    #[test]
    fn sites_that_join_make_no_burst() {
        assert!(bursts(|site, _| if site < 2 { 1 } else { 40 }).is_empty());
    }

    #[test]
    fn the_evidence_of_independent_hits_has_the_moments_of_a_poisson_variable() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut poisson = |mean: f64| {
            let (mut number, mut product) = (0, 1.0 - random.f64());
            while product > (-mean).exp() {
                number += 1;
                product *= 1.0 - random.f64();
            }
            number
        };
        for mean in [0.05, 1.0, 12.0, 100.0] {
            let drawn: Vec<f64> = (0..40_000).map(|_| evidence(poisson(mean))).collect();
            let average = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let variance = drawn.iter().map(|drawn| (drawn - average).powi(2)).sum::<f64>() / drawn.len() as f64;
            let (expected_variance, expected) = independent_evidence(mean);
            assert!((average / expected - 1.0).abs() < 0.05, "{mean}: {average} {expected}");
            assert!((variance / expected_variance - 1.0).abs() < 0.05, "{mean}: {variance} {expected_variance}");
        }
    }

    #[test]
    fn a_burst_is_seen_on_several_sites() {
        let everywhere = bursts(|_, bin| if bin == 45 { 40 } else { 2 });
        assert_eq!(everywhere.iter().map(|(row, burst)| (*row, burst.bin)).collect::<Vec<_>>(), [(0, 45)]);
        assert!(bursts(|site, bin| if bin == 45 && site == 1 { 160 } else { 2 }).is_empty());
    }
}
