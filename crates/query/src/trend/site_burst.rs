//! Bursts of all words, with control of the false discovery rate.
//!
//! The documents of a bin are compared with those of the bins before it. Sites come, go and fall silent, so a bin
//! is measured not by its tokens but by the documents with the word that its sites would have at their own rates
//! (indirect standardisation). A burst must be significant among all words and bins, at least threefold, and be
//! seen on several sites: an event of one site is no burst of the word.

use super::bursts::{BinCount, Burst, BurstConfig, burst, tokens_before};
use super::cells::{CellCount, SiteVolume};
use super::discovery::false_discovery;

/// Collects the strongest burst of each word, and then tests them together.
#[derive(Debug)]
pub struct SiteBursts {
    config: BurstConfig,
    volume: SiteVolume,
    site_tokens: Vec<f64>,
    /// The sites with text in each bin.
    sites: Vec<usize>,
    rows: usize,
    found: Vec<(usize, Burst)>,
}

impl SiteBursts {
    /// Starts a test over the text of these sites.
    pub fn new(volume: &SiteVolume, config: &BurstConfig) -> SiteBursts {
        let by_site = || volume.tokens.chunks_exact(volume.bins.max(1));
        SiteBursts {
            config: *config,
            site_tokens: by_site().map(|site| site.iter().sum()).collect(),
            sites: (0..volume.bins).map(|bin| by_site().filter(|site| site[bin] > 0.0).count()).collect(),
            volume: volume.clone(),
            rows: 0,
            found: Vec::new(),
        }
    }

    /// Adds the next word with its cells, sorted by site and bin.
    pub fn add(&mut self, cells: &[CellCount]) {
        let row = self.rows;
        self.rows += 1;
        let mut counts: Vec<BinCount> =
            (0..self.volume.bins as u32).map(|bin| BinCount { bin, hits: 0, documents: 0 }).collect();
        for cell in cells {
            let count = &mut counts[cell.bin as usize];
            count.hits += cell.hits;
            count.documents += cell.documents;
        }
        // Most words have no bin with enough documents.
        if counts.iter().all(|count| count.documents < self.config.min_documents) {
            return;
        }
        counts.retain(|count| count.documents > 0);
        let before = tokens_before(&self.expected(cells));
        let Some(burst) = burst(&counts, &before, &self.config) else { return };
        if burst.log_ratio >= self.config.min_ratio.log2() && self.is_spread(cells, &burst) {
            self.found.push((row, burst));
        }
    }

    /// The documents with the word of a site for each of its tokens.
    fn rate(&self, cells: &[CellCount]) -> f64 {
        let documents: f64 = cells.iter().map(|cell| f64::from(cell.documents)).sum();
        documents / self.site_tokens[cells[0].site as usize]
    }

    /// The documents expected in each bin from the rates of its sites.
    fn expected(&self, cells: &[CellCount]) -> Vec<f64> {
        let width = self.volume.bins;
        let mut expected = vec![0.0; width];
        for cells in cells.chunk_by(|a, b| a.site == b.site) {
            let rate = self.rate(cells);
            let tokens = &self.volume.tokens[cells[0].site as usize * width..][..width];
            expected.iter_mut().zip(tokens).for_each(|(expected, tokens)| *expected += rate * tokens);
        }
        expected
    }

    /// Returns true if the burst is seen on enough sites.
    fn is_spread(&self, cells: &[CellCount], burst: &Burst) -> bool {
        let bursting = cells.chunk_by(|a, b| a.site == b.site).filter(|cells| {
            let Some(cell) = cells.iter().find(|cell| cell.bin == burst.bin) else { return false };
            let tokens = self.volume.tokens[cell.site as usize * self.volume.bins + cell.bin as usize];
            f64::from(cell.documents) >= self.config.min_ratio * self.rate(cells) * tokens
        });
        bursting.count() >= self.config.min_sites.min(self.sites[burst.bin as usize])
    }

    /// The rows with significant bursts.
    pub fn finish(self) -> Vec<(usize, Burst)> {
        let bins = self.sites.iter().filter(|sites| **sites > 0).count();
        let p: Vec<f64> = self.found.iter().map(|(_, burst)| burst.p(bins)).collect();
        let q = false_discovery(&p, self.rows);
        let found = self.found.into_iter().zip(q);
        found.filter(|(_, q)| *q <= self.config.false_discovery_rate).map(|(found, _)| found).collect()
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
    fn a_burst_is_seen_on_several_sites() {
        let everywhere = bursts(|_, bin| if bin == 45 { 40 } else { 2 });
        assert_eq!(everywhere.iter().map(|(row, burst)| (*row, burst.bin)).collect::<Vec<_>>(), [(0, 45)]);
        assert!(bursts(|site, bin| if bin == 45 && site == 1 { 160 } else { 2 }).is_empty());
    }
}
