//! Trends of all words within sites, with control of the false discovery rate.

use super::cells::{CellCount, SiteTrends, SiteVolume, TrendFit, site_courses};
use super::discovery::weighted_discovery;
use super::kendall::mann_kendall;
use super::rise::{Mixture, Rise, RiseConfig, Rises, Test, growth, thick_bins};
use super::theil_sen::sketch_engine_score;

/// The documents with which a doubling over the whole time is found; more documents give no more weight.
const DOCUMENTS_OF_A_DOUBLING: f64 = 500.0;

/// Collects the fits of words one by one, and then tests them together.
#[derive(Debug)]
pub struct SiteRises {
    config: RiseConfig,
    /// The bins used.
    bins: Vec<usize>,
    fitter: RiseFitter,
    rows: usize,
    words: Vec<Candidate>,
    /// The rates of each candidate relative to those expected from the sites of each bin.
    rates: Vec<f32>,
}

/// Fits trends to words, one at a time; several may do so at the same time.
#[derive(Debug, Clone)]
pub struct RiseFitter {
    min_count: u64,
    /// The index of each bin among those used.
    index: Vec<Option<u32>>,
    volume: SiteVolume,
    site_tokens: Vec<f64>,
    test: SiteTrends,
    cells: Vec<CellCount>,
}

/// The fit of a word, to be tested with those of the others.
#[derive(Debug)]
pub struct FittedRise {
    documents: u64,
    fit: TrendFit,
    rates: Vec<f32>,
}

#[derive(Debug)]
struct Candidate {
    row: usize,
    documents: u64,
    fit: TrendFit,
}

impl RiseFitter {
    /// Fits a word with its cells, sorted by site and bin; nothing if it has too few documents.
    pub fn fit(&mut self, cells: &[CellCount]) -> Option<FittedRise> {
        let index = |cell: &CellCount| self.index.get(cell.bin as usize).copied().flatten();
        self.cells.clear();
        self.cells.extend(cells.iter().filter_map(|cell| Some(CellCount { bin: index(cell)?, ..*cell })));
        let documents: u64 = self.cells.iter().map(|cell| u64::from(cell.documents)).sum();
        (documents >= self.min_count).then(|| FittedRise {
            documents,
            fit: self.test.fit(&self.cells),
            rates: self.rates(),
        })
    }

    /// The hits of each bin relative to those that its sites would have at their own rates.
    fn rates(&self) -> Vec<f32> {
        let width = self.volume.bins;
        let (mut hits, mut expected) = (vec![0.0; width], vec![0.0; width]);
        for cells in self.cells.chunk_by(|a, b| a.site == b.site) {
            let site = cells[0].site as usize;
            let sum: f64 = cells.iter().map(|cell| f64::from(cell.hits)).sum();
            let rate = sum / self.site_tokens[site];
            cells.iter().for_each(|cell| hits[cell.bin as usize] += f64::from(cell.hits));
            let tokens = &self.volume.tokens[site * width..][..width];
            expected.iter_mut().zip(tokens).for_each(|(expected, tokens)| *expected += rate * tokens);
        }
        let rate = |(hits, expected): (&f64, &f64)| if *expected > 0.0 { (hits / expected) as f32 } else { f32::NAN };
        hits.iter().zip(&expected).map(rate).collect()
    }
}

impl SiteRises {
    /// Starts a test over the text of these sites.
    pub fn new(volume: &SiteVolume, config: &RiseConfig) -> SiteRises {
        let bins = thick_bins(&volume.tokens_by_bin(), config.thin_bin);
        let mut index = vec![None; volume.bins];
        (0..).zip(&bins).for_each(|(number, bin)| index[*bin] = Some(number));
        let volume = volume.only(&bins);
        let when: Vec<f64> = bins.iter().map(|bin| *bin as f64).collect();
        let fitter = RiseFitter {
            min_count: config.min_count,
            index,
            test: SiteTrends::new(&when, &volume),
            site_tokens: volume.tokens.chunks_exact(bins.len().max(1)).map(|site| site.iter().sum()).collect(),
            volume,
            cells: Vec::new(),
        };
        SiteRises { config: *config, bins, fitter, rows: 0, words: Vec::new(), rates: Vec::new() }
    }

    /// Fits words for this test, for a thread of its own.
    pub fn fitter(&self) -> RiseFitter {
        self.fitter.clone()
    }

    /// Adds the next word with its cells, sorted by site and bin.
    pub fn add(&mut self, cells: &[CellCount]) {
        let fitted = self.fitter.fit(cells);
        self.push(fitted);
    }

    /// Adds the fit of the next word.
    pub fn push(&mut self, fitted: Option<FittedRise>) {
        let row = self.rows;
        self.rows += 1;
        if let Some(FittedRise { documents, fit, rates }) = fitted {
            self.words.push(Candidate { row, documents, fit });
            self.rates.extend(rates);
        }
    }

    /// The sites that the test rests on.
    fn mixture(&self) -> Mixture {
        let half = self.bins.len() / 2;
        let (mut all, mut of_both) = ([0.0; 2], [0.0; 2]);
        for site in self.fitter.volume.tokens.chunks_exact(self.bins.len().max(1)) {
            let halves = [&site[..half], &site[half..]].map(|tokens| tokens.iter().sum::<f64>());
            let is_both = halves[0] > 0.0 && halves[1] > 0.0;
            for (number, tokens) in halves.into_iter().enumerate() {
                all[number] += tokens;
                of_both[number] += if is_both { tokens } else { 0.0 };
            }
        }
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 1.0 };
        Mixture {
            sites: self.fitter.test.sites_used(),
            left_out: 1.0 - share(self.fitter.test.tokens_used(), all[0] + all[1]),
            in_both_halves: share(of_both[0], all[0]).min(share(of_both[1], all[1])),
        }
    }

    /// Tests all words.
    pub fn finish(self) -> Rises {
        let mixture = Some(self.mixture());
        let SiteRises { config, bins, words, rates, .. } = self;
        let fits: Vec<TrendFit> = words.iter().map(|word| word.fit).collect();
        let courses = site_courses(&fits);
        let mut scratch = Vec::new();
        // Bins in which none of the word's sites has text have no rate.
        let series = |word: usize| -> (Vec<f64>, Vec<f64>) {
            let rates = rates[word * bins.len()..][..bins.len()].iter().map(|rate| f64::from(*rate));
            bins.iter().map(|bin| *bin as f64).zip(rates).filter(|(_, rate)| rate.is_finite()).unzip()
        };
        let p: Vec<f64> = match config.test {
            Test::Courses => courses.iter().map(|found| found.course.p).collect(),
            Test::MannKendall => (0..words.len()).map(|word| mann_kendall(&series(word).1, &mut scratch).p()).collect(),
        };
        let weights: Vec<f64> =
            words.iter().map(|word| (word.documents as f64).clamp(1.0, DOCUMENTS_OF_A_DOUBLING)).collect();
        let q = weighted_discovery(&p, &weights);
        let passed = (0..words.len()).filter(|word| q[*word] <= config.false_discovery_rate);
        let mut found: Vec<Rise> = passed
            .map(|number| {
                let (when, rates) = series(number);
                let kendall = mann_kendall(&rates, &mut scratch);
                let growth = growth(&when, &rates, &mut scratch);
                Rise {
                    row: words[number].row,
                    count: words[number].documents,
                    shape: (config.test == Test::Courses).then_some(courses[number].course.shape),
                    p: p[number],
                    q: q[number],
                    kendall,
                    growth,
                    score: sketch_engine_score(growth),
                    log_ratio: courses[number].log_ratio,
                    error: courses[number].error,
                }
            })
            .collect();
        found.sort_by(|a, b| a.p.total_cmp(&b.p).then(b.count.cmp(&a.count)).then(a.row.cmp(&b.row)));
        Rises { tested: words.len(), bins, found, mixture }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words by site and bin, with a document for each hit.
    fn outcome(volume: &SiteVolume, words: &[&dyn Fn(u32, u32) -> u32]) -> Rises {
        let mut test = SiteRises::new(volume, &RiseConfig::default());
        let sites = (volume.tokens.len() / volume.bins) as u32;
        for word in words {
            let all = (0..sites).flat_map(|site| (0..volume.bins as u32).map(move |bin| (site, bin)));
            let cells =
                all.map(|(site, bin)| CellCount { site, bin, hits: word(site, bin), documents: word(site, bin) });
            test.add(&cells.filter(|cell| cell.hits > 0).collect::<Vec<_>>());
        }
        test.finish()
    }

    #[test]
    fn a_site_that_joins_makes_no_trend_and_a_rise_on_all_sites_does() {
        let has_text = |site: u32, bin: u32| site == 0 || bin >= 20;
        let tokens: Vec<f64> = (0..80).map(|cell| if has_text(cell / 40, cell % 40) { 1e5 } else { 0.0 }).collect();
        let volume = SiteVolume { bins: 40, tokens, documents: Vec::new() };
        let noise = |site: u32, bin: u32| (bin * 7 + site * 3) % 5;
        let joined = |site: u32, bin: u32| u32::from(has_text(site, bin)) * (10 + 60 * site + noise(site, bin));
        let rising = |site: u32, bin: u32| u32::from(has_text(site, bin)) * (10 + bin + noise(site, bin));
        let found = outcome(&volume, &[&joined, &rising]);
        assert_eq!((found.tested, found.found.len(), found.found[0].row), (2, 1, 1), "{found:?}");
        assert!(found.found[0].growth > 0.5, "{found:?}");
        // Ten at the beginning, fifty at the end.
        assert!((found.found[0].log_ratio - 5f64.log2()).abs() < 0.8 && found.found[0].error < 0.5, "{found:?}");
        assert_eq!(found.mixture, Some(Mixture { sites: 2, left_out: 0.0, in_both_halves: 0.5 }));
    }

    #[test]
    fn words_without_enough_documents_are_not_tested_but_keep_their_row() {
        let volume = SiteVolume { bins: 20, tokens: vec![1e5; 20], documents: Vec::new() };
        let found = outcome(&volume, &[&|_, bin| u32::from(bin == 3), &|_, bin| 2 * bin + bin % 3]);
        assert_eq!((found.tested, found.found[0].row), (1, 1));
        assert_eq!(SiteRises::new(&SiteVolume::default(), &RiseConfig::default()).finish().tested, 0);
    }
}
