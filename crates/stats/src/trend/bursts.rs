//! Bursts: words that are much more frequent in one week than in the half year before.
//!
//! The score is the log-likelihood ratio of the week's documents against those of the 26 weeks before;
//! documents, because an article that repeats a word thirty times is still one. Some words, such as names,
//! come and go with events all the time. The score is therefore divided by their overdispersion (the
//! variance-to-mean ratio) over two years; otherwise the same names would lead every week. For words
//! with little history it is shrunk towards [`PRIOR_OVERDISPERSION`].

use crate::measure::keyness::{Contrast, Keyness};
use crate::measure::special::chi_square_survival;

/// The parameters of burst detection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurstConfig {
    /// The number of bins before the burst that it is compared with.
    pub before: usize,
    /// The number of bins before the burst from which overdispersion is estimated.
    pub memory: usize,
    /// The minimum number of collected bins among those before.
    pub min_before: usize,
    /// The number of bins after the burst that decide whether the word stayed.
    pub after: usize,
    /// The minimum number of documents in the bin.
    pub min_documents: u32,
    /// The minimum ratio to the rate before.
    pub min_ratio: f64,
    /// The minimum number of sites on which the ratio is reached; fewer if fewer sites have text in the bin.
    pub min_sites: usize,
    /// The false discovery rate to control.
    pub false_discovery_rate: f64,
}

impl Default for BurstConfig {
    fn default() -> Self {
        BurstConfig {
            before: 26,
            memory: 104,
            min_before: 8,
            after: 26,
            min_documents: 5,
            min_ratio: 3.0,
            min_sites: 3,
            false_discovery_rate: 0.05,
        }
    }
}

/// Hits of a word in one bin. Bins without hits are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinCount {
    /// The number of the bin.
    pub bin: u32,
    /// Hits.
    pub hits: u32,
    /// Documents with hits.
    pub documents: u32,
}

/// The strongest burst of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// The bin.
    pub bin: u32,
    /// The log-likelihood ratio divided by the overdispersion.
    pub score: f64,
    /// Log2 of the ratio to the rate before.
    pub log_ratio: f64,
    /// Hits in the bin.
    pub hits: u32,
    /// Documents in the bin.
    pub documents: u32,
    /// The development after the burst.
    pub sequel: Sequel,
    /// The q-value among all words tested; 1 before they are.
    pub q: f64,
}

impl Burst {
    /// The p-value of the strongest of this many bins: half of the chi-square distribution, as only excesses count, with a
    /// Bonferroni correction for the choice of the bin.
    pub fn p(&self, bins: usize) -> f64 {
        (chi_square_survival(self.score.max(0.0), 1.0) / 2.0 * bins as f64).min(1.0)
    }
}

choices! {
    /// The course after a burst.
    pub enum Sequel {
        /// The word fell back towards its former rate.
        Fell = "fell",
        /// It stayed nearer to the height of the burst: a step, not a burst.
        Stayed = "stayed",
        /// Too little was collected since.
        Open = "open",
    }
}

/// The strongest burst of a word, if there is any. `counts` ascend by bin; `tokens_before` are the
/// cumulative tokens before each bin and after the last, or the documents expected from the sites of each bin.
pub fn burst(counts: &[BinCount], tokens_before: &[f64], config: &BurstConfig) -> Option<Burst> {
    let bins = tokens_before.len().saturating_sub(1);
    let tokens = |from: usize, to: usize| tokens_before[to] - tokens_before[from];
    let mut best: Option<Burst> = None;
    let (mut recent, mut memory) = (Window::default(), Window::default());
    for (i, count) in counts.iter().enumerate() {
        let bin = count.bin as usize;
        if bin >= bins {
            break;
        }
        let from = bin.saturating_sub(config.before);
        recent.drop_before(from, counts, tokens_before);
        memory.drop_before(bin.saturating_sub(config.memory), counts, tokens_before);
        let (here, there) = (tokens(bin, bin + 1), tokens(from, bin));
        let contrast = Contrast {
            focus: f64::from(count.documents),
            focus_tokens: here,
            reference: recent.documents as f64,
            reference_tokens: there,
        };
        let is_more = contrast.focus * there > contrast.reference * here;
        if count.documents >= config.min_documents && here > 0.0 && there > 0.0 && is_more {
            let likelihood = Keyness::LogLikelihood.score(&contrast);
            // Overdispersion is at least 1: the likelihood bounds the score, so that most bins need no estimate.
            if best.is_none_or(|best| likelihood > best.score) {
                let collected = |from: usize| (from..bin).filter(|bin| tokens(*bin, bin + 1) > 0.0).count();
                let since = bin.saturating_sub(config.memory);
                let score = likelihood / memory.overdispersion(tokens(since, bin), collected(since));
                if collected(from) >= config.min_before && best.is_none_or(|best| score > best.score) {
                    let log_ratio = Keyness::LogRatio.score(&contrast);
                    let sequel = sequel(&counts[i + 1..], bin, &contrast, tokens_before, config);
                    let BinCount { bin, hits, documents } = *count;
                    best = Some(Burst { bin, score, log_ratio, hits, documents, sequel, q: 1.0 });
                }
            }
        }
        recent.add(count, tokens_before);
        memory.add(count, tokens_before);
    }
    best
}

/// A sliding window of bins.
#[derive(Default)]
struct Window {
    /// The index of its first count.
    oldest: usize,
    documents: u64,
    /// Σ documents² / tokens.
    squares: f64,
}

impl Window {
    fn square(count: &BinCount, tokens_before: &[f64]) -> f64 {
        let bin = count.bin as usize;
        let tokens = tokens_before[bin + 1] - tokens_before[bin];
        if tokens > 0.0 { f64::from(count.documents).powi(2) / tokens } else { 0.0 }
    }

    fn add(&mut self, count: &BinCount, tokens_before: &[f64]) {
        self.documents += u64::from(count.documents);
        self.squares += Window::square(count, tokens_before);
    }

    /// Removes counts before a bin.
    fn drop_before(&mut self, bin: usize, counts: &[BinCount], tokens_before: &[f64]) {
        while (counts[self.oldest].bin as usize) < bin {
            let count = &counts[self.oldest];
            self.documents -= u64::from(count.documents);
            self.squares -= Window::square(count, tokens_before);
            self.oldest += 1;
        }
    }

    /// The overdispersion: Pearson's chi-square by the number of bins, Σ (x − rN)² / rN = Σ x² / rN − Σ x, shrunk
    /// towards the prior by pseudo-documents.
    fn overdispersion(&self, tokens: f64, collected: usize) -> f64 {
        let documents = self.documents as f64;
        let own = if self.documents > 0 && collected > 1 {
            ((self.squares * tokens / documents - documents) / (collected as f64 - 1.0)).max(1.0)
        } else {
            0.0
        };
        (documents * own + PRIOR_DOCUMENTS * PRIOR_OVERDISPERSION) / (documents + PRIOR_DOCUMENTS)
    }
}

/// The prior overdispersion of a word.
pub const PRIOR_OVERDISPERSION: f64 = 3.0;
/// The weight of the prior, in documents.
const PRIOR_DOCUMENTS: f64 = 10.0;

/// The number of bins right after a burst that still belong to it.
pub(super) const AFTERGLOW: usize = 4;

/// The course after a burst whose last bin is `bin`.
pub(super) fn sequel(
    later: &[BinCount],
    bin: usize,
    contrast: &Contrast,
    tokens_before: &[f64],
    config: &BurstConfig,
) -> Sequel {
    let from = bin + 1 + AFTERGLOW;
    let to = (bin + 1 + config.after).min(tokens_before.len() - 1);
    if from >= to || tokens_before[to] - tokens_before[from] < 2.0 * contrast.focus_tokens {
        return Sequel::Open;
    }
    let inside = later.iter().filter(|count| (from..to).contains(&(count.bin as usize)));
    let rate_later =
        inside.map(|count| f64::from(count.documents)).sum::<f64>() / (tokens_before[to] - tokens_before[from]);
    let height = contrast.focus / contrast.focus_tokens;
    let ground = contrast.reference / contrast.reference_tokens;
    if rate_later > (height + ground) / 2.0 { Sequel::Stayed } else { Sequel::Fell }
}

/// The cumulative tokens before each bin and after the last.
pub fn tokens_before(tokens: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain(tokens.iter().map(|tokens| {
            sum += tokens;
            sum
        }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(hits: &[(u32, u32, u32)]) -> Vec<BinCount> {
        hits.iter().map(|&(bin, hits, documents)| BinCount { bin, hits, documents }).collect()
    }

    fn strongest(hits: &[(u32, u32, u32)], bins: usize) -> Option<Burst> {
        burst(&series(hits), &tokens_before(&vec![1e6; bins]), &BurstConfig::default())
    }

    #[test]
    fn the_week_and_height_of_a_burst_are_found() {
        let mut hits: Vec<(u32, u32, u32)> = (0..60).map(|bin| (bin, 2, 2)).collect();
        hits[40] = (40, 64, 32);
        let found = strongest(&hits, 60).unwrap();
        assert_eq!((found.bin, found.hits, found.documents, found.sequel), (40, 64, 32, Sequel::Fell));
        assert!((found.log_ratio - 4.0).abs() < 1e-9);
        // 32 against 52 in 26 times as many tokens, in weeks that were all alike.
        // Eighty documents have overdispersion 1, ten pseudo-documents that of the prior.
        let overdispersion = (80.0 + PRIOR_DOCUMENTS * PRIOR_OVERDISPERSION) / (80.0 + PRIOR_DOCUMENTS);
        let expected =
            2.0 / overdispersion * (32.0 * (32.0f64 * 27.0 / 84.0).ln() + 52.0 * (52.0f64 * 27.0 / (84.0 * 26.0)).ln());
        assert!((found.score - expected).abs() < 1e-9);
    }

    #[test]
    fn one_article_does_not_make_a_burst() {
        let mut hits: Vec<(u32, u32, u32)> = (0..60).map(|bin| (bin, 2, 2)).collect();
        hits[40] = (40, 64, 1);
        assert!(strongest(&hits, 60).is_none_or(|burst| burst.bin != 40));
    }

    #[test]
    fn an_overdispersed_word_scores_lower() {
        let calm: Vec<(u32, u32, u32)> = (0..40).map(|bin| (bin, 10, 10)).chain([(40, 40, 40)]).collect();
        let wild: Vec<(u32, u32, u32)> =
            (0..40).map(|bin| (bin, 10, if bin % 2 == 0 { 19 } else { 1 })).chain([(40, 40, 40)]).collect();
        let score = |hits: &[(u32, u32, u32)]| {
            let found = burst(&series(hits), &tokens_before(&[1e6; 41]), &BurstConfig::default()).unwrap();
            assert_eq!(found.bin, 40);
            found.score
        };
        assert!(score(&wild) < score(&calm) / 5.0);
    }

    #[test]
    fn weeks_without_collection_do_not_change_the_overdispersion() {
        let hits: Vec<(u32, u32, u32)> =
            (0..80).map(|bin| (2 * bin, 1, if bin % 2 == 0 { 19 } else { 1 })).chain([(160, 40, 40)]).collect();
        let score = |hits: &[(u32, u32, u32)], tokens: &[f64], before| {
            let config = BurstConfig { before, memory: 4 * before, ..BurstConfig::default() };
            burst(&series(hits), &tokens_before(tokens), &config).unwrap().score
        };
        let every_other: Vec<f64> = (0..161).map(|bin| if bin % 2 == 0 { 1e6 } else { 0.0 }).collect();
        let without_gaps: Vec<(u32, u32, u32)> =
            hits.iter().map(|&(bin, hits, documents)| (bin / 2, hits, documents)).collect();
        let difference = score(&hits, &every_other, 26) - score(&without_gaps, &[1e6; 81], 13);
        assert!(difference.abs() < 1e-9, "{difference}");
    }

    #[test]
    fn a_rate_that_stays_is_reported_as_stayed() {
        let hits: Vec<(u32, u32, u32)> =
            (0..80).map(|bin| if bin < 40 { (bin, 5, 5) } else { (bin, 50, 50) }).collect();
        let found = strongest(&hits, 80).unwrap();
        assert_eq!((found.bin, found.sequel), (40, Sequel::Stayed));
        assert_eq!(strongest(&hits[..42], 42).unwrap().sequel, Sequel::Open);
    }

    #[test]
    fn there_is_no_burst_without_history() {
        assert_eq!(strongest(&[(3, 50, 50)], 60), None);
        assert_eq!(strongest(&[(70, 50, 50)], 60), None);
        assert_eq!(strongest(&[], 0), None);
    }
}
