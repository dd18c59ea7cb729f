//! False trends from a changing list of sites.
//!
//! There are six topics, and every word is typical of one. Half of the sites are collected all the time. The
//! others are added one by one, and most of them write about the first topic. For two quarters nothing is
//! collected. Only the planted words change: they rise fourfold on every site.

use crate::world::poisson;
use fastrand::Rng;
use tidings_query::trend::{RiseConfig, Table, alive_throughout, rises};

const SITES: usize = 120;
const BINS: usize = 40;
const TOPICS: usize = 6;
/// The number of words without a trend.
pub const FLAT: usize = 3000;
/// The number of rising words.
pub const RISING: usize = 100;
const OUTAGE: std::ops::Range<usize> = 21..23;

/// The words that were found: rising ones, and false positives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundWords {
    /// Of [`RISING`].
    pub rising: usize,
    /// Of [`FLAT`].
    pub flat: usize,
}

/// The results with all sites and with a fixed panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Churn {
    /// All sites.
    pub all_sites: FoundWords,
    /// Only sites that were collected all the time.
    pub panel: FoundWords,
    /// The number of sites of the panel.
    pub panel_sites: usize,
}

struct Site {
    topic: usize,
    joined: usize,
    tokens: f64,
}

/// Simulates and measures.
pub fn measure(seed: u64) -> Churn {
    let mut random = Rng::with_seed(seed);
    let sites: Vec<Site> = (0..SITES)
        .map(|i| Site {
            topic: if i >= SITES / 2 && random.f64() < 0.7 { 0 } else { random.usize(0..TOPICS) },
            joined: if i < SITES / 2 { 0 } else { random.usize(2..BINS) },
            tokens: 10_000.0 * 10f64.powf(random.f64()),
        })
        .collect();
    let tokens_of = |site: &Site, bin: usize| {
        if bin < site.joined || OUTAGE.contains(&bin) { 0.0 } else { site.tokens }
    };

    let documents: Vec<u32> =
        sites.iter().flat_map(|site| (0..BINS).map(move |bin| (tokens_of(site, bin) / 400.0) as u32)).collect();
    let panel = alive_throughout(&documents, BINS, 1);
    let tokens_by_bin = |chosen: &[usize]| -> Vec<f64> {
        (0..BINS).map(|bin| chosen.iter().map(|site| tokens_of(&sites[*site], bin)).sum()).collect()
    };
    let all_sites: Vec<usize> = (0..SITES).collect();
    let (all_tokens, panel_tokens) = (tokens_by_bin(&all_sites), tokens_by_bin(&panel));

    let (mut all_counts, mut panel_counts) = (Vec::new(), Vec::new());
    for word in 0..RISING + FLAT {
        let topic = random.usize(0..TOPICS);
        let rate = 2e-6 * 50f64.powf(random.f64());
        let (mut all, mut chosen) = ([0u32; BINS], [0u32; BINS]);
        for (number, site) in sites.iter().enumerate() {
            let affinity = if site.topic == topic { 5.0 } else { 1.0 } * (0.5 + random.f64());
            for bin in 0..BINS {
                let course = if word < RISING { 0.4 + 1.2 * bin as f64 / BINS as f64 } else { 1.0 };
                let count = poisson(rate * affinity * course * tokens_of(site, bin), &mut random) as u32;
                all[bin] += count;
                if panel.binary_search(&number).is_ok() {
                    chosen[bin] += count;
                }
            }
        }
        all_counts.extend(all);
        panel_counts.extend(chosen);
    }

    let found = |counts: &[u32], tokens: &[f64]| {
        let outcome = rises(&Table { counts, tokens }, &RiseConfig::default());
        let rising = outcome.found.iter().filter(|rise| rise.row < RISING).count();
        FoundWords { rising, flat: outcome.found.len() - rising }
    };
    Churn {
        all_sites: found(&all_counts, &all_tokens),
        panel: found(&panel_counts, &panel_tokens),
        panel_sites: panel.len(),
    }
}

impl Churn {
    /// Prints the results as a sentence.
    pub fn print(&self) {
        println!(
            "\nChanging list of sites: with all {SITES} sites {} of {RISING} rising words are found and {} of {FLAT} others; \
             with a fixed panel of {} sites {} and {}.",
            self.all_sites.rising, self.all_sites.flat, self.panel_sites, self.panel.rising, self.panel.flat
        );
    }
}
