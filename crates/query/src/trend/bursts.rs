//! Which words burst: much more in one week than in the half year before, and in many documents.
//!
//! The log-likelihood ratio of the week against the 26 before, times documents by hits: a word that one
//! article repeats thirty times is worth no more than one hit.

use crate::measure::keyness::{Contrast, Keyness};
use serde::Serialize;

/// What counts as a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BurstConfig {
    /// How many bins before the burst it is compared with.
    pub before: usize,
    /// How many of them must have been collected.
    pub min_before: usize,
    /// How many bins behind the burst tell what became of it.
    pub behind: usize,
    /// In how many documents of the bin the word must stand.
    pub min_documents: u32,
}

impl Default for BurstConfig {
    fn default() -> Self {
        BurstConfig { before: 26, min_before: 8, behind: 26, min_documents: 5 }
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
    /// Log-likelihood times documents by hits.
    pub score: f64,
    /// How many times the rate before, log2.
    pub log_ratio: f64,
    /// Hits in the bin.
    pub hits: u32,
    /// Documents in the bin.
    pub documents: u32,
    /// What came then.
    pub sequel: Sequel,
}

/// What came after a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sequel {
    /// The word fell back towards what it was before.
    Fell,
    /// It stayed nearer to the height of the burst: a step, not a burst.
    Stayed,
    /// Too little was collected since.
    Open,
}

/// The strongest burst of a word in a series of bins, if there is any. `counts` ascend by bin;
/// `tokens_before` are the tokens of all bins before each, so that it has one entry more than there are
/// bins.
pub fn burst(counts: &[BinCount], tokens_before: &[f64], config: &BurstConfig) -> Option<Burst> {
    let bins = tokens_before.len().saturating_sub(1);
    let tokens = |from: usize, to: usize| tokens_before[to] - tokens_before[from];
    let mut best: Option<Burst> = None;
    let (mut oldest, mut hits_before) = (0, 0u64);
    for (i, count) in counts.iter().enumerate() {
        let bin = count.bin as usize;
        if bin >= bins {
            break;
        }
        let from = bin.saturating_sub(config.before);
        while counts[oldest].bin < from as u32 {
            hits_before -= u64::from(counts[oldest].hits);
            oldest += 1;
        }
        let reference = hits_before as f64;
        hits_before += u64::from(count.hits);
        let (here, there) = (tokens(bin, bin + 1), tokens(from, bin));
        let too_few = count.documents < config.min_documents || here <= 0.0 || there <= 0.0;
        if too_few || f64::from(count.hits) * there <= reference * here {
            continue;
        }
        let collected = (from..bin).filter(|bin| tokens(*bin, bin + 1) > 0.0).count();
        if collected < config.min_before {
            continue;
        }
        let contrast =
            Contrast { focus: f64::from(count.hits), focus_tokens: here, reference, reference_tokens: there };
        let dispersion = f64::from(count.documents) / f64::from(count.hits).max(1.0);
        let score = Keyness::LogLikelihood.score(&contrast) * dispersion;
        if best.is_none_or(|best| score > best.score) {
            let log_ratio = Keyness::LogRatio.score(&contrast);
            let sequel = sequel(&counts[i + 1..], bin, &contrast, tokens_before, config);
            best =
                Some(Burst { bin: count.bin, score, log_ratio, hits: count.hits, documents: count.documents, sequel });
        }
    }
    best
}

/// The bins right behind a burst belong to it and say nothing about what stays.
const AFTERGLOW: usize = 4;

fn sequel(later: &[BinCount], bin: usize, contrast: &Contrast, tokens_before: &[f64], config: &BurstConfig) -> Sequel {
    let from = bin + 1 + AFTERGLOW;
    let to = (bin + 1 + config.behind).min(tokens_before.len() - 1);
    if from >= to || tokens_before[to] - tokens_before[from] < 2.0 * contrast.focus_tokens {
        return Sequel::Open;
    }
    let inside = later.iter().filter(|count| (from..to).contains(&(count.bin as usize)));
    let rate_later = inside.map(|count| f64::from(count.hits)).sum::<f64>() / (tokens_before[to] - tokens_before[from]);
    let height = contrast.focus / contrast.focus_tokens;
    let ground = contrast.reference / contrast.reference_tokens;
    if rate_later > (height + ground) / 2.0 { Sequel::Stayed } else { Sequel::Fell }
}

/// The tokens of all bins before each.
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
    fn the_week_of_the_burst_is_found_and_its_height() {
        let mut hits: Vec<(u32, u32, u32)> = (0..60).map(|bin| (bin, 2, 2)).collect();
        hits[40] = (40, 64, 32);
        let found = strongest(&hits, 60).unwrap();
        assert_eq!((found.bin, found.hits, found.documents, found.sequel), (40, 64, 32, Sequel::Fell));
        assert!((found.log_ratio - 5.0).abs() < 1e-9);
        // 64 against 52 in 26 times as many tokens: 2 (64 ln (64·27/116) + 52 ln (52·27/(116·26))) / 2.
        let expected = 64.0 * (64.0f64 * 27.0 / 116.0).ln() + 52.0 * (52.0f64 * 27.0 / (116.0 * 26.0)).ln();
        assert!((found.score - expected).abs() < 1e-9);
    }

    #[test]
    fn one_article_is_no_burst() {
        let mut hits: Vec<(u32, u32, u32)> = (0..60).map(|bin| (bin, 2, 2)).collect();
        hits[40] = (40, 64, 1);
        assert!(strongest(&hits, 60).is_none_or(|burst| burst.bin != 40));
    }

    #[test]
    fn what_stays_is_a_step() {
        let hits: Vec<(u32, u32, u32)> =
            (0..80).map(|bin| if bin < 40 { (bin, 5, 5) } else { (bin, 50, 50) }).collect();
        let found = strongest(&hits, 80).unwrap();
        assert_eq!((found.bin, found.sequel), (40, Sequel::Stayed));
        assert_eq!(strongest(&hits[..42], 42).unwrap().sequel, Sequel::Open);
    }

    #[test]
    fn without_a_before_there_is_no_burst() {
        assert_eq!(strongest(&[(3, 50, 50)], 60), None);
        assert_eq!(strongest(&[(70, 50, 50)], 60), None);
        assert_eq!(strongest(&[], 0), None);
    }
}
