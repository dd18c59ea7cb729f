//! Differences of word rates between two parts of a corpus.
//!
//! Rates over two parts depend on which sites the parts have, and a formula for independent hits calls every clump a
//! difference. Here rates are compared within the sites that have text in both parts, and the variance is that of the
//! data: of the residuals from period to period ([`SiteContrasts`]) or, where there are too few periods or no common
//! sites, from document to document ([`DocumentContrasts`]). The ratio beside the test is that of Mantel and Haenszel,
//! with the variance of Greenland and Robins (1985) times the dispersion.

use super::cells::{CellCount, Counted, SiteFit, SiteRegression, SiteVolume};
use super::course::z_of_student;
use super::discovery::weighted_discovery;
use super::moderate::{Dispersion, priors};
use crate::measure::bunching;
use crate::measure::special::normal_two_sided;

/// The part of a corpus that text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The part compared with.
    Before,
    /// The part whose rates rise or fall.
    After,
}

/// The difference of the rates of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The binary logarithm of the ratio of the rates, after by before.
    pub log_ratio: f64,
    /// Its standard error.
    pub error: f64,
    /// The p-value.
    pub p: f64,
    /// The q-value among all words tested.
    pub q: f64,
}

/// The documents with which a difference of a third is found; more documents give no more weight.
const DOCUMENTS_OF_A_DIFFERENCE: f64 = 500.0;

/// The ratio of Mantel and Haenszel over strata.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct RateRatio {
    after: f64,
    before: f64,
    /// The variance of either sum under equal rates, if hits were independent.
    variance: f64,
}

impl RateRatio {
    fn add(&mut self, hits: [f64; 2], tokens: [f64; 2]) {
        let all = tokens[0] + tokens[1];
        self.before += hits[0] * tokens[1] / all;
        self.after += hits[1] * tokens[0] / all;
        self.variance += (hits[0] + hits[1]) * tokens[0] * tokens[1] / (all * all);
    }

    /// The binary logarithm of the ratio and its standard error; half a hit stands for none.
    fn log_ratio(&self, dispersion: f64) -> (f64, f64) {
        let half = 0.5 * self.variance / (self.before + self.after);
        let (before, after) = (self.before.max(half), self.after.max(half));
        let error = (dispersion * self.variance / (before * after)).sqrt();
        ((after / before).log2(), error / std::f64::consts::LN_2)
    }
}

fn sum_documents(cells: &[CellCount]) -> f64 {
    cells.iter().map(|cell| f64::from(cell.documents)).sum()
}

/// Controls the false discovery rate. The documents of a word say whether a difference could be seen at all.
fn with_q(mut differences: Vec<Difference>, documents: &[f64]) -> Vec<Difference> {
    let p: Vec<f64> = differences.iter().map(|difference| difference.p).collect();
    let weights: Vec<f64> = documents.iter().map(|documents| documents.clamp(1.0, DOCUMENTS_OF_A_DIFFERENCE)).collect();
    differences.iter_mut().zip(weighted_discovery(&p, &weights)).for_each(|(difference, q)| difference.q = q);
    differences
}

/// Tests all words within sites, with periods as units. Collects the fits of words one by one.
#[derive(Debug)]
pub struct SiteContrasts {
    parts: Vec<Part>,
    /// The tokens of each site in each part, if the site has text in both.
    sites: Vec<Option<[f64; 2]>>,
    regression: SiteRegression<1>,
    fits: Vec<SiteFit<1>>,
    ratios: Vec<RateRatio>,
    documents: Vec<f64>,
    clumping: Vec<f64>,
}

impl SiteContrasts {
    /// Starts a test over the text of these sites. Each bin is a period of one part.
    pub fn new(volume: &SiteVolume, parts: &[Part]) -> SiteContrasts {
        let tokens_of = |tokens: &[f64]| {
            let mut sums = [0.0; 2];
            tokens.iter().zip(parts).for_each(|(tokens, part)| sums[*part as usize] += tokens);
            (sums[0] > 0.0 && sums[1] > 0.0).then_some(sums)
        };
        let heights: Vec<f64> = parts.iter().map(|part| *part as usize as f64).collect();
        SiteContrasts {
            parts: parts.to_vec(),
            sites: volume.tokens.chunks_exact(volume.bins.max(1)).map(tokens_of).collect(),
            regression: SiteRegression::with_heights([heights], volume, |tokens| tokens_of(tokens).is_some())
                .of_parts(cells_of_shorter_part(volume, parts)),
            fits: Vec::new(),
            ratios: Vec::new(),
            documents: Vec::new(),
            clumping: Vec::new(),
        }
    }

    /// Adds the next word with its cells, sorted by site and bin.
    pub fn add(&mut self, cells: &[CellCount]) {
        let mut ratio = RateRatio::default();
        let (mut all_hits, mut documents) = (0.0, 0.0);
        for cells in cells.chunk_by(|a, b| a.site == b.site) {
            let Some(tokens) = self.sites.get(cells[0].site as usize).copied().flatten() else { continue };
            let mut hits = [0.0; 2];
            cells.iter().for_each(|cell| hits[self.parts[cell.bin as usize] as usize] += f64::from(cell.hits));
            ratio.add(hits, tokens);
            all_hits += hits[0] + hits[1];
            documents += sum_documents(cells);
        }
        let (fit, counted) = self.regression.fit_counted(cells);
        self.fits.push(fit);
        self.ratios.push(ratio);
        self.documents.push(documents);
        self.clumping.push(match counted {
            Counted::Hits => 1.0,
            Counted::Documents => bunching(all_hits, documents),
        });
    }

    /// Tests all words; words without a hit on the sites have no difference.
    pub fn finish(self) -> Vec<Difference> {
        let dispersions: Vec<Dispersion> = self.fits.iter().map(SiteFit::dispersion).collect();
        let priors = priors(&dispersions);
        let difference = |word: usize| {
            let estimate = self.fits[word].difference(&priors[word]);
            let (Some(estimate), true) = (estimate, self.ratios[word].variance > 0.0) else {
                return Difference { log_ratio: 0.0, error: f64::INFINITY, p: 1.0, q: 1.0 };
            };
            let dispersion = estimate.dispersion * self.clumping[word];
            let (log_ratio, error) = self.ratios[word].log_ratio(dispersion);
            Difference { log_ratio, error, p: normal_two_sided(estimate.z), q: 1.0 }
        };
        with_q((0..self.fits.len()).map(difference).collect(), &self.documents)
    }
}

/// The number of cells with text of each site in the part that has fewer of them.
fn cells_of_shorter_part(volume: &SiteVolume, parts: &[Part]) -> Vec<usize> {
    let cells = |part: Part| -> Vec<usize> {
        let count =
            |tokens: &[f64]| tokens.iter().zip(parts).filter(|(tokens, of)| **tokens > 0.0 && **of == part).count();
        volume.tokens.chunks_exact(volume.bins.max(1)).map(count).collect()
    };
    let (before, after) = (cells(Part::Before), cells(Part::After));
    if before.iter().sum::<usize>() < after.iter().sum::<usize>() { before } else { after }
}

/// A document as a unit of comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentUnit {
    /// The number of its stratum: its site, or the same for all.
    pub stratum: u32,
    /// Its part.
    pub part: Part,
    /// Its tokens.
    pub tokens: f64,
}

/// Tests all words within strata, with documents as units.
///
/// The documents of one event count as independent here, so that a difference may be one of events; and without common
/// sites it may be one of sites.
#[derive(Debug)]
pub struct DocumentContrasts {
    units: Vec<DocumentUnit>,
    strata: Vec<Stratum>,
    differences: Vec<Difference>,
    documents: Vec<f64>,
    sums: Vec<[UnitSums; 2]>,
    touched: Vec<u32>,
}

/// The tokens of a stratum in each part, and the sums of their squares.
#[derive(Debug, Clone, Copy, Default)]
struct Stratum {
    tokens: [f64; 2],
    squares: [f64; 2],
}

/// Sums over the documents with a word: hits, their squares, and hits times tokens.
#[derive(Debug, Clone, Copy, Default)]
struct UnitSums {
    hits: f64,
    squares: f64,
    products: f64,
}

impl DocumentContrasts {
    /// Starts a test over these documents.
    pub fn new(units: Vec<DocumentUnit>) -> DocumentContrasts {
        let count = units.iter().map(|unit| unit.stratum as usize + 1).max().unwrap_or(0);
        let mut strata = vec![Stratum::default(); count];
        for unit in &units {
            let stratum = &mut strata[unit.stratum as usize];
            stratum.tokens[unit.part as usize] += unit.tokens;
            stratum.squares[unit.part as usize] += unit.tokens * unit.tokens;
        }
        let sums = vec![Default::default(); count];
        DocumentContrasts { units, strata, differences: Vec::new(), documents: Vec::new(), sums, touched: Vec::new() }
    }

    /// Adds the next word with its hits in each document; the sites of the cells are the numbers of documents.
    pub fn add(&mut self, cells: &[CellCount]) {
        self.touched.clear();
        let mut documents = 0.0;
        for cell in cells {
            let Some(unit) = self.units.get(cell.site as usize) else { continue };
            let tokens = self.strata[unit.stratum as usize].tokens;
            if tokens[0] == 0.0 || tokens[1] == 0.0 {
                continue;
            }
            documents += 1.0;
            self.touched.push(unit.stratum);
            let sums = &mut self.sums[unit.stratum as usize][unit.part as usize];
            let hits = f64::from(cell.hits);
            sums.hits += hits;
            sums.squares += hits * hits;
            sums.products += hits * unit.tokens;
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        let mut ratio = RateRatio::default();
        let (mut sum, mut variance) = (0.0, 0.0);
        for stratum in self.touched.drain(..) {
            let sums = std::mem::take(&mut self.sums[stratum as usize]);
            let Stratum { tokens, squares } = self.strata[stratum as usize];
            let all = tokens[0] + tokens[1];
            let rate = (sums[0].hits + sums[1].hits) / all;
            ratio.add([sums[0].hits, sums[1].hits], tokens);
            for part in 0..2 {
                let weight = part as f64 - tokens[1] / all;
                let UnitSums { hits, squares: of_hits, products } = sums[part];
                sum += weight * hits;
                // Σ (y − λn)² = Σ y² − 2λ Σ yn + λ² Σ n², as most documents have no hit.
                variance += weight * weight * (of_hits - 2.0 * rate * products + rate * rate * squares[part]);
            }
        }
        self.documents.push(documents);
        self.differences.push(match variance > 0.0 && documents > 1.0 {
            true => {
                let z = z_of_student(sum / variance.sqrt(), documents - 1.0);
                let (log_ratio, error) = ratio.log_ratio(variance / ratio.variance);
                Difference { log_ratio, error, p: normal_two_sided(z), q: 1.0 }
            }
            false => Difference { log_ratio: 0.0, error: f64::INFINITY, p: 1.0, q: 1.0 },
        });
    }

    /// Tests all words.
    pub fn finish(self) -> Vec<Difference> {
        with_q(self.differences, &self.documents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINS: u32 = 20;

    /// The differences of words by site and bin; the second half of the bins is the second part.
    fn differences(has_text: impl Fn(u32, u32) -> bool, words: &[&dyn Fn(u32, u32) -> u32]) -> Vec<Difference> {
        let cells = || (0..6).flat_map(|site| (0..BINS).map(move |bin| (site, bin)));
        let tokens = cells().map(|(site, bin)| if has_text(site, bin) { 1e5 } else { 0.0 }).collect();
        let volume = SiteVolume { bins: BINS as usize, tokens, documents: Vec::new() };
        let parts: Vec<Part> = (0..BINS).map(|bin| if bin < BINS / 2 { Part::Before } else { Part::After }).collect();
        let mut test = SiteContrasts::new(&volume, &parts);
        for word in words {
            let counts = cells().filter(|(site, bin)| has_text(*site, *bin)).map(|(site, bin)| {
                let hits = word(site, bin);
                CellCount { site, bin, hits, documents: hits }
            });
            test.add(&counts.filter(|count| count.hits > 0).collect::<Vec<_>>());
        }
        test.finish()
    }

    #[test]
    fn sites_of_one_part_make_no_difference_and_a_doubling_within_sites_does() {
        let noise = |site: u32, bin: u32| (bin * 7 + site * 3) % 5;
        // Two sites join in the second part, and have a word five times as often.
        let has_text = |site: u32, bin: u32| site < 4 || bin >= BINS / 2;
        let of_new_sites = |site: u32, bin: u32| if site < 4 { 8 + noise(site, bin) } else { 50 };
        let doubling = |site: u32, bin: u32| (1 + bin / (BINS / 2)) * 10 + noise(site, bin);
        let found = differences(has_text, &[&of_new_sites, &doubling]);
        assert!(found[0].p > 0.05 && found[0].log_ratio.abs() < 0.2, "{found:?}");
        assert!(found[1].q < 1e-6 && (found[1].log_ratio - 1.0).abs() < 0.15, "{found:?}");
        assert!(found[1].error > 0.0 && found[1].error < 0.2, "{found:?}");
    }

    #[test]
    fn periods_that_vary_as_much_as_the_parts_are_no_difference() {
        let calm = |_: u32, bin: u32| if bin < BINS / 2 { 20 } else { 30 };
        let wild = |_: u32, bin: u32| calm(0, bin) + if bin.is_multiple_of(5) { 60 } else { 0 };
        let found = differences(|_, _| true, &[&calm, &wild]);
        assert!(found[0].q < 0.001 && found[1].q > 0.05, "{found:?}");
    }

    #[test]
    fn a_month_in_which_two_sites_report_an_event_is_one_and_that_of_one_site_is_none() {
        let volume = SiteVolume { bins: 120, tokens: vec![1e4; 240], documents: Vec::new() };
        let parts: Vec<Part> = (0..120).map(|bin| if bin == 70 { Part::After } else { Part::Before }).collect();
        let word = |hits_of_month: [u32; 2]| {
            let mut test = SiteContrasts::new(&volume, &parts);
            let cells = (0..240u32).map(|cell| {
                let (site, bin) = (cell / 120, cell % 120);
                let hits = if bin == 70 { hits_of_month[site as usize] } else { u32::from(cell * 7 % 15 < 8) };
                CellCount { site, bin, hits, documents: hits }
            });
            test.add(&cells.filter(|cell| cell.hits > 0).collect::<Vec<_>>());
            test.finish()[0]
        };
        let (of_both, of_one) = (word([60, 61]), word([0, 121]));
        assert!(of_both.p < 1e-6, "{of_both:?}");
        assert!(of_one.p > 1e-3, "{of_one:?}");
    }

    /// Documents of two parts with hits in some of them.
    fn by_document(count: usize, stratum: impl Fn(usize) -> u32, hits: impl Fn(usize) -> u32) -> Difference {
        let part = |number: usize| if number < count / 2 { Part::Before } else { Part::After };
        let unit = |number: usize| DocumentUnit { stratum: stratum(number), part: part(number), tokens: 500.0 };
        let mut test = DocumentContrasts::new((0..count).map(unit).collect());
        let cells =
            (0..count).map(|number| CellCount { site: number as u32, bin: 0, hits: hits(number), documents: 1 });
        test.add(&cells.filter(|cell| cell.hits > 0).collect::<Vec<_>>());
        test.finish()[0]
    }

    #[test]
    fn a_word_that_few_documents_repeat_is_no_difference() {
        let in_many = by_document(1000, |_| 0, |number| u32::from(number % if number < 500 { 50 } else { 10 } == 0));
        let in_few = by_document(1000, |_| 0, |number| if number == 700 { 40 } else { u32::from(number % 50 == 0) });
        assert!(in_many.p < 1e-4 && (in_many.log_ratio - 5f64.log2()).abs() < 1e-9, "{in_many:?}");
        assert!(in_few.p > 0.1, "{in_few:?}");
    }

    #[test]
    fn documents_are_compared_within_strata() {
        // Odd documents have the word, and the second part has more of them.
        let is_odd = |number: usize| number % 2 == 1 && (number < 500 || number % 4 == 3) || number > 700;
        let stratum = |number: usize| u32::from(is_odd(number));
        let hits = |number: usize| u32::from(is_odd(number));
        assert!(by_document(1000, |_| 0, hits).p < 0.01);
        assert!(by_document(1000, stratum, hits).p > 0.5);
    }

    #[test]
    fn words_without_hits_or_parts_without_text_have_no_difference() {
        let none = differences(|_, bin| bin < BINS / 2, &[&|_, _| 9, &|_, _| 0]);
        assert!(none.iter().all(|difference| difference.p == 1.0), "{none:?}");
        assert_eq!(by_document(10, |number| number as u32, |_| 1).p, 1.0);
        assert!(SiteContrasts::new(&SiteVolume::default(), &[]).finish().is_empty());
    }
}
