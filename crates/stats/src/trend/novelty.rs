//! Evidence that a word is new: the exact conditional test of a constant rate.
//!
//! Most words are rare, and of many rare words some are first seen late by chance. The rate in the window in which a word
//! was found says nothing about that: the word was found because it is frequent there. Given the number of documents of a
//! word on each site, however, the probability that all of them fall into the window is known if the word always had the
//! same rate: the product of the site's shares of tokens in the window. The same probability of every other word tells
//! how many such words to expect by chance ([`super::discovery::discrete_discovery`]).
//!
//! Documents of one event are not independent: all those of one period count once, and the site with the strongest
//! evidence is left out, as an event of one site is no evidence.

use super::cells::{CellCount, SiteVolume};

/// The test of all words of a vocabulary, one by one.
#[derive(Debug)]
pub struct NoveltyTest {
    /// The logarithm of the share of each site's tokens that is in the window.
    log_shares: Vec<f64>,
    probabilities: Vec<f64>,
    /// Whether the site with the strongest evidence is left out.
    without_strongest: bool,
    /// The documents of the current word in each bin, and the sum of the logarithms of their sites.
    bins: Vec<(f64, f64)>,
}

impl NoveltyTest {
    /// Starts a test over the text of these sites, of which the first bins are before the window.
    /// Where words of a single site are accepted, its evidence counts too.
    pub fn new(volume: &SiteVolume, before: usize, accepts_single_sites: bool) -> NoveltyTest {
        let log_share = |tokens: &[f64]| {
            let all: f64 = tokens.iter().sum();
            if all > 0.0 { (tokens[before..].iter().sum::<f64>() / all).ln() } else { 0.0 }
        };
        NoveltyTest {
            log_shares: volume.tokens.chunks_exact(volume.bins.max(1)).map(log_share).collect(),
            probabilities: Vec::new(),
            without_strongest: !accepts_single_sites && volume.tokens.len() > volume.bins,
            bins: vec![(0.0, 0.0); volume.bins],
        }
    }

    /// Adds a word with its cells, sorted by site. Returns the probability that all its documents are in the window by
    /// chance: its p-value if they are.
    pub fn add(&mut self, cells: &[CellCount]) -> f64 {
        let left_out = self.strongest_site(cells);
        for cell in cells.iter().filter(|cell| Some(cell.site) != left_out) {
            let documents = f64::from(cell.documents);
            let (sum, logs) = &mut self.bins[cell.bin as usize];
            *sum += documents;
            *logs += documents * self.log_shares[cell.site as usize];
        }
        let mut log = 0.0;
        for cell in cells {
            let (documents, logs) = std::mem::take(&mut self.bins[cell.bin as usize]);
            log += if documents > 0.0 { logs / documents } else { 0.0 };
        }
        self.probabilities.push(log.exp());
        log.exp()
    }

    /// The site whose documents are the least likely to be in the window by chance; none if there is only one.
    fn strongest_site(&self, cells: &[CellCount]) -> Option<u32> {
        let log = |cells: &[CellCount]| {
            let documents: f64 = cells.iter().map(|cell| f64::from(cell.documents)).sum();
            (cells[0].site, documents * self.log_shares[cells[0].site as usize])
        };
        let sites = cells.chunk_by(|a, b| a.site == b.site).map(log);
        let strongest = sites.min_by(|a, b| a.1.total_cmp(&b.1));
        strongest.filter(|_| self.without_strongest).map(|(site, _)| site)
    }

    /// The probabilities of all words added.
    pub fn finish(self) -> Vec<f64> {
        self.probabilities
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trend::discovery::discrete_discovery;

    /// Sites with the same text in each of 40 bins, of which 30 are before the window.
    const BINS: u32 = 40;
    const BEFORE: u32 = 30;
    const SITES: u32 = 20;

    fn test() -> NoveltyTest {
        let tokens = vec![1000.0; (SITES * BINS) as usize];
        NoveltyTest::new(&SiteVolume { bins: BINS as usize, tokens, documents: Vec::new() }, BEFORE as usize, false)
    }

    /// A document for each site and bin.
    fn cells(places: impl IntoIterator<Item = (u32, u32)>) -> Vec<CellCount> {
        let mut places: Vec<(u32, u32)> = places.into_iter().collect();
        places.sort_unstable();
        places.iter().map(|(site, bin)| CellCount { site: *site, bin: *bin, hits: 1, documents: 1 }).collect()
    }

    #[test]
    fn the_evidence_is_the_probability_that_all_documents_are_in_the_window() {
        let spread = |documents: u32| test().add(&cells((0..documents).map(|number| (number, BEFORE + number % 10))));
        // One of the sites is left out.
        assert!((spread(6) / 0.25f64.powi(5) - 1.0).abs() < 1e-9);
        assert!(spread(10) < 1e-5 && spread(20) == spread(11));
    }

    #[test]
    fn neither_the_event_of_a_week_nor_that_of_a_site_is_evidence() {
        let of_week = test().add(&cells((0..SITES).map(|site| (site, BEFORE + 3))));
        let of_site = test().add(&cells((BEFORE..BINS).map(|bin| (7, bin)).chain([(1, BINS - 1), (2, BEFORE)])));
        assert!((of_week - 0.25).abs() < 1e-9 && of_site > 0.05, "{of_week} {of_site}");
    }

    #[test]
    fn a_site_without_earlier_text_is_no_evidence_and_one_without_later_text_excludes_chance() {
        let mut tokens = vec![1000.0; 3 * BINS as usize];
        tokens[..BEFORE as usize].fill(0.0);
        tokens[(BINS + BEFORE) as usize..2 * BINS as usize].fill(0.0);
        let volume = SiteVolume { bins: BINS as usize, tokens, documents: Vec::new() };
        let mut test = NoveltyTest::new(&volume, BEFORE as usize, false);
        assert_eq!(test.add(&cells((BEFORE..BINS).flat_map(|bin| [(0, bin)]))), 1.0);
        let of_old_site = test.add(&cells((0..BEFORE).map(|bin| (1, bin)).chain([(2, 0), (2, 9), (2, 20), (2, 35)])));
        assert!(of_old_site < 1.0);
    }

    #[test]
    fn the_evidence_of_a_single_site_counts_where_words_of_one_site_are_accepted() {
        let volume = SiteVolume { bins: BINS as usize, tokens: vec![1000.0; 2 * BINS as usize], documents: Vec::new() };
        let of_one = cells((BEFORE..BEFORE + 6).map(|bin| (1, bin)));
        assert_eq!(NoveltyTest::new(&volume, BEFORE as usize, false).add(&of_one), 1.0);
        let p = NoveltyTest::new(&volume, BEFORE as usize, true).add(&of_one);
        assert!((p / 0.25f64.powi(6) - 1.0).abs() < 1e-9, "{p}");
    }

    #[test]
    fn rare_words_of_constant_text_are_seldom_called_new_and_planted_ones_are_found() {
        let (mut false_ones, mut planted_ones) = (0, 0);
        for seed in 0..8 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut test = test();
            let mut new = Vec::new();
            // Zipf's law: the word of rank r has 200,000 / r documents, down to four.
            for rank in 1..50_000u32 {
                let documents = (200_000 / rank).min(400);
                // A third of the words come in events: four documents on four sites within a bin.
                let event = if rank % 3 == 0 { 4 } else { 1 };
                let mut places = Vec::new();
                while places.len() < documents as usize {
                    let (site, bin) = (random.u32(..SITES), random.u32(..BINS));
                    places.extend((0..event).map(|number| ((site + number) % SITES, bin)));
                }
                let is_new = places.iter().all(|(_, bin)| *bin >= BEFORE);
                let p = test.add(&cells(places));
                if is_new {
                    new.push((false, p));
                }
            }
            for _ in 0..30 {
                let first = random.u32(BEFORE..BEFORE + 5);
                let place = |_| (random.u32(..SITES), random.u32(first..BINS));
                new.push((true, test.add(&cells((0..40).map(place).collect::<Vec<_>>()))));
            }
            let p: Vec<f64> = new.iter().map(|(_, p)| *p).collect();
            let q = discrete_discovery(&p, &test.finish());
            let found = new.iter().zip(q).filter(|(_, q)| *q <= 0.05).map(|((planted, _), _)| *planted);
            found.for_each(|planted| if planted { planted_ones += 1 } else { false_ones += 1 });
        }
        assert!(planted_ones >= 8 * 30 * 95 / 100, "{planted_ones}");
        assert!(false_ones * 20 <= planted_ones, "{false_ones} of {planted_ones}");
    }
}
