//! Words of one month against all others, in the scenarios of [`crate::scenario`] and with few sites.
//!
//! Planted are constant words that are three to twenty times as frequent in one month on all sites.

use crate::drift::FoundWords;
use crate::scenario::{BURSTING, CHANGING, SCENARIOS, Scenario, Simulated, Truth, WEEKS, negative_binomial, truth_of};
use fastrand::Rng;
use tidings_query::trend::{CellCount, Part, SiteContrasts, SiteVolume};

/// Words of the month.
pub const PLANTED: usize = 20;
const WEEKS_PER_MONTH: usize = 4;
const MONTHS: usize = WEEKS / WEEKS_PER_MONTH;
const MONTH: usize = 70;
const FIRST_PLANTED: usize = CHANGING + BURSTING;
/// The accepted share of false discoveries, and the minimum effect, as a binary logarithm.
const RATE: f64 = 0.05;
const EFFECT: f64 = 0.322;

/// Simulates a scenario with this many sites and some seeds, and measures.
pub fn measure(scenario: &Scenario, sites: usize, seeds: std::ops::Range<u64>) -> FoundWords {
    let mut found = FoundWords::default();
    for seed in seeds {
        let mut simulated = scenario.simulate_sites(seed, sites);
        let mut random = Rng::with_seed(seed + 1000);
        for word in FIRST_PLANTED..FIRST_PLANTED + PLANTED {
            let factor = 3.0 * (20f64 / 3.0).powf(random.f64());
            plant(&mut simulated, word, factor - 1.0, &mut random);
        }
        found.count(significant(&simulated).into_iter(), |word| word < FIRST_PLANTED + PLANTED);
    }
    found
}

/// Adds hits in the month, relative to the rate of the word on each site.
fn plant(simulated: &mut Simulated, word: usize, share: f64, random: &mut Rng) {
    let volume = &simulated.weeks;
    let cells = &mut simulated.words[word];
    let mut more = Vec::new();
    for of_site in cells.chunk_by(|a, b| a.site == b.site) {
        let start = of_site[0].site as usize * WEEKS;
        let hits: f64 = of_site.iter().map(|cell| f64::from(cell.hits)).sum();
        let rate = hits / volume.tokens[start..start + WEEKS].iter().sum::<f64>();
        for week in MONTH * WEEKS_PER_MONTH..(MONTH + 1) * WEEKS_PER_MONTH {
            let (tokens, documents) = (volume.tokens[start + week], volume.documents[start + week]);
            let mut cell = CellCount { site: of_site[0].site, bin: week as u32, hits: 0, documents: 0 };
            for _ in 0..documents as usize {
                let hits = negative_binomial(rate * share * tokens / documents, random);
                cell.hits += hits;
                cell.documents += u32::from(hits > 0);
            }
            more.extend((cell.hits > 0).then_some(cell));
        }
    }
    cells.extend(more);
    cells.sort_by_key(|cell| (cell.site, cell.bin));
}

/// The words that differ in the month, without those that change or burst.
fn significant(simulated: &Simulated) -> Vec<usize> {
    let sums = |weeks: &[f64]| weeks.chunks_exact(WEEKS_PER_MONTH).map(|weeks| weeks.iter().sum()).collect();
    let volume =
        SiteVolume { bins: MONTHS, tokens: sums(&simulated.weeks.tokens), documents: sums(&simulated.weeks.documents) };
    let parts: Vec<Part> = (0..MONTHS).map(|month| if month == MONTH { Part::After } else { Part::Before }).collect();
    let mut test = SiteContrasts::new(&volume, &parts);
    let words: Vec<usize> = (0..simulated.words.len()).filter(|word| truth_of(*word) == Truth::Flat).collect();
    for word in &words {
        let month = |cell: &CellCount| (cell.site, cell.bin / WEEKS_PER_MONTH as u32);
        let sums = simulated.words[*word].chunk_by(|a, b| month(a) == month(b)).map(|weeks| CellCount {
            site: weeks[0].site,
            bin: month(&weeks[0]).1,
            hits: weeks.iter().map(|week| week.hits).sum(),
            documents: weeks.iter().map(|week| week.documents).sum(),
        });
        test.add(&sums.collect::<Vec<_>>());
    }
    let found = words.into_iter().zip(test.finish());
    found.filter(|(_, found)| found.q <= RATE && found.log_ratio.abs() >= EFFECT).map(|(word, _)| word).collect()
}

/// Measures all scenarios with eight seeds and prints a table.
pub fn print() {
    println!("\nkeywords of a month: planted found in % / false discoveries in %\n");
    println!("| sites | {} |", SCENARIOS.map(|scenario| scenario.name).join(" | "));
    println!("| --: {}|", "| --: ".repeat(SCENARIOS.len()));
    for sites in [2, 3, 6, 12, 24] {
        let cell = |scenario: &Scenario| {
            let found = measure(scenario, sites, 0..8);
            let share = found.planted as f64 / (8 * PLANTED) as f64;
            format!("{:.0} / {:.1}", 100.0 * share, 100.0 * found.false_share())
        };
        println!("| {sites} | {} |", SCENARIOS.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
}
