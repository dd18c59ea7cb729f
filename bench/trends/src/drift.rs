//! Planted words found and false discoveries in the scenarios of [`crate::scenario`].

use crate::oracle;
use crate::scenario::{BURSTING, CHANGING, QUARTERS, SCENARIOS, Scenario, Simulated, Truth, truth_of};
use tidings_query::measure::special::chi_square_survival;
use tidings_query::measure::{Contrast, Keyness, bunching};
use tidings_query::trend::{
    BurstConfig, Part, RiseConfig, SiteBursts, SiteContrasts, SiteRises, Table, false_discovery, rises,
};

/// Words that were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FoundWords {
    /// Planted ones.
    pub planted: usize,
    /// Others.
    pub others: usize,
}

/// The results of one scenario over all seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drift {
    /// The scenario.
    pub name: &'static str,
    /// The number of seeds.
    pub seeds: usize,
    /// Trends within sites.
    pub trends: FoundWords,
    /// Trends of documents by tokens over all sites.
    pub pooled: FoundWords,
    /// Bursts by week.
    pub bursts: FoundWords,
    /// Differences between the halves of the time, within sites.
    pub contrasts: FoundWords,
    /// The same by log-likelihood over all sites, divided by the bunching of hits in documents.
    pub pooled_contrasts: FoundWords,
}

impl FoundWords {
    fn add(&mut self, words: impl Iterator<Item = usize>, planted: Truth) {
        self.count(words, |word| truth_of(word) == planted);
    }

    /// Adds words by number.
    pub fn count(&mut self, words: impl Iterator<Item = usize>, is_planted: impl Fn(usize) -> bool) {
        for word in words {
            match is_planted(word) {
                true => self.planted += 1,
                false => self.others += 1,
            }
        }
    }

    /// The share of false ones.
    pub fn false_share(&self) -> f64 {
        self.others as f64 / (self.planted + self.others).max(1) as f64
    }
}

/// Simulates a scenario with some seeds and measures.
pub fn measure(scenario: &Scenario, seeds: std::ops::Range<u64>) -> Drift {
    let none = FoundWords::default();
    let count = (seeds.end - seeds.start) as usize;
    let mut drift = Drift {
        name: scenario.name,
        seeds: count,
        trends: none,
        pooled: none,
        bursts: none,
        contrasts: none,
        pooled_contrasts: none,
    };
    for seed in seeds {
        let simulated = scenario.simulate(seed);
        drift.trends.add(trends(&simulated).into_iter(), Truth::Changing);
        drift.pooled.add(pooled(&simulated).into_iter(), Truth::Changing);
        drift.bursts.add(bursts(&simulated).into_iter(), Truth::Bursting);
        drift.contrasts.add(contrasts(&simulated).into_iter().filter(is_of_halves), Truth::Changing);
        drift.pooled_contrasts.add(pooled_contrasts(&simulated).into_iter().filter(is_of_halves), Truth::Changing);
    }
    drift
}

/// Simulates a scenario with some seeds and measures the differences between halves only.
pub fn measure_halves(scenario: &Scenario, seeds: std::ops::Range<u64>) -> FoundWords {
    let mut found = FoundWords::default();
    for seed in seeds {
        found.add(contrasts(&scenario.simulate(seed)).into_iter().filter(is_of_halves), Truth::Changing);
    }
    found
}

/// Returns false for bursting words: a burst of two weeks, up to fortyfold, raises the rate of its half by a fifth, so that
/// they neither change nor stay.
pub fn is_of_halves(word: &usize) -> bool {
    truth_of(*word) != Truth::Bursting
}

fn trends(simulated: &Simulated) -> Vec<usize> {
    let mut test = SiteRises::new(&simulated.quarters(), &RiseConfig::default());
    (0..simulated.words.len()).for_each(|word| test.add(&simulated.quarter_cells(word)));
    test.finish().found.iter().map(|rise| rise.row).collect()
}

fn pooled(simulated: &Simulated) -> Vec<usize> {
    let mut documents = vec![0; simulated.words.len() * QUARTERS];
    for word in 0..simulated.words.len() {
        for cell in simulated.quarter_cells(word) {
            documents[word * QUARTERS + cell.bin as usize] += cell.documents;
        }
    }
    let table = Table { counts: &documents, tokens: &simulated.quarters().tokens_by_bin() };
    rises(&table, &RiseConfig::default()).found.iter().map(|rise| rise.row).collect()
}

fn bursts(simulated: &Simulated) -> Vec<usize> {
    let mut test = SiteBursts::new(&simulated.weeks, &BurstConfig::default());
    simulated.words.iter().for_each(|word| test.add(word));
    test.finish().into_iter().map(|(word, _)| word).collect()
}

/// The accepted share of false discoveries.
const RATE: f64 = 0.05;

fn contrasts(simulated: &Simulated) -> Vec<usize> {
    let half = QUARTERS / 2;
    let parts: Vec<Part> = (0..QUARTERS).map(|bin| if bin < half { Part::Before } else { Part::After }).collect();
    let mut test = SiteContrasts::new(&simulated.quarters(), &parts);
    (0..simulated.words.len()).for_each(|word| test.add(&simulated.quarter_cells(word)));
    let found = test.finish();
    (0..found.len()).filter(|word| found[*word].q <= RATE).collect()
}

fn pooled_contrasts(simulated: &Simulated) -> Vec<usize> {
    let half = QUARTERS / 2;
    let tokens = simulated.quarters().tokens_by_bin();
    let p = |word: usize| {
        let (mut hits, mut documents) = ([0.0; 2], 0.0);
        for cell in simulated.quarter_cells(word) {
            hits[usize::from(cell.bin as usize >= half)] += f64::from(cell.hits);
            documents += f64::from(cell.documents);
        }
        let contrast = Contrast {
            focus: hits[1],
            focus_tokens: tokens[half..].iter().sum(),
            reference: hits[0],
            reference_tokens: tokens[..half].iter().sum(),
        };
        let likelihood = Keyness::LogLikelihood.score(&contrast).abs();
        chi_square_survival(likelihood / bunching(hits[0] + hits[1], documents), 1.0)
    };
    let p: Vec<f64> = (0..simulated.words.len()).map(p).collect();
    let q = false_discovery(&p, p.len());
    (0..p.len()).filter(|word| q[*word] <= RATE).collect()
}

/// Measures all scenarios with eight seeds and prints a table.
pub fn print() {
    println!("\nplanted found in % / false discoveries in %\n");
    println!(
        "| scenario | trends within sites | pooled | bursts | bursts of the oracle | halves within sites | halves pooled |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: |");
    for scenario in &SCENARIOS {
        let drift = measure(scenario, 0..8);
        let show = |found: &FoundWords, planted: usize| {
            let share = found.planted as f64 / (planted * drift.seeds) as f64;
            format!("{:.1} / {:.1}", 100.0 * share, 100.0 * found.false_share())
        };
        let (trends, pooled) = (show(&drift.trends, CHANGING), show(&drift.pooled, CHANGING));
        let (halves, halves_pooled) = (show(&drift.contrasts, CHANGING), show(&drift.pooled_contrasts, CHANGING));
        let bursts = show(&drift.bursts, BURSTING);
        let possible = show(&oracle::measure(scenario, 0..8), BURSTING);
        println!("| {} | {trends} | {pooled} | {bursts} | {possible} | {halves} | {halves_pooled} |", drift.name);
    }
}
