//! Corpora with known truth in which something other than the words changes.
//!
//! Sites have topics, documents have gamma-distributed lengths, and the hits of a word in a document are
//! negative binomial, so that they clump. A scenario then changes the lengths of articles or the list of sites,
//! silences sites, or lets single sites report events. Only the planted words change their rate.

use fastrand::Rng;
use tidings_query::trend::{CellCount, SiteVolume};

/// Weeks of the corpus: forty quarters of thirteen weeks.
pub const WEEKS: usize = QUARTERS * WEEKS_PER_QUARTER;
/// Quarters of the corpus.
pub const QUARTERS: usize = 40;
const WEEKS_PER_QUARTER: usize = 13;
/// Sites.
pub const SITES: usize = 24;
const TOPICS: usize = 4;
/// Mean documents of a site in a week.
const DOCUMENTS_PER_WEEK: usize = 2;
/// Mean tokens of a document at the start.
const FIRST_LENGTH: f64 = 300.0;
/// The shape of the negative binomial distribution of hits in a document.
pub const CLUMPING: f64 = 0.35;

/// Words that do not change.
pub const FLAT: usize = 240;
/// Words that rise or fall 1.6-fold to 5-fold over the whole time.
pub const CHANGING: usize = 60;
/// Words that are fifteen to forty times as frequent on all sites in two weeks; about fifty documents a week show
/// no smaller burst.
pub const BURSTING: usize = 20;

/// What changes besides the planted words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scenario {
    /// The name.
    pub name: &'static str,
    /// The factor by which articles become longer.
    pub lengthening: f64,
    /// Half of the sites join in the middle.
    pub churn: bool,
    /// Half of the sites are silent for two years.
    pub outage: bool,
    /// The share of words that are in an event of one site, by site and quarter.
    pub events: f64,
}

/// A corpus in which nothing changes but the planted words.
pub const STEADY: Scenario = Scenario { name: "steady", lengthening: 1.0, churn: false, outage: false, events: 0.0 };

/// The scenarios.
pub const SCENARIOS: [Scenario; 6] = [
    STEADY,
    Scenario { name: "length", lengthening: 2.4, ..STEADY },
    Scenario { name: "churn", churn: true, ..STEADY },
    Scenario { name: "outage", outage: true, ..STEADY },
    Scenario { name: "bursts", events: 0.03, ..STEADY },
    Scenario { name: "all", lengthening: 2.4, churn: true, outage: true, events: 0.03 },
];

/// The course of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// Constant.
    Flat,
    /// Rises or falls over the whole time.
    Changing,
    /// Bursts in two weeks.
    Bursting,
}

/// The course of a word; the planted ones come first.
pub fn truth_of(word: usize) -> Truth {
    match word {
        0..CHANGING => Truth::Changing,
        _ if word < CHANGING + BURSTING => Truth::Bursting,
        _ => Truth::Flat,
    }
}

/// The simulated counts.
pub struct Simulated {
    /// The tokens and documents of each site in each week.
    pub weeks: SiteVolume,
    /// The hits and documents of each word by site and week.
    pub words: Vec<Vec<CellCount>>,
}

/// The documents of a site.
pub struct Site {
    topic: usize,
    /// The lengths of the documents of each week.
    pub weeks: Vec<Vec<f64>>,
}

impl Scenario {
    /// Draws a corpus.
    pub fn simulate(&self, seed: u64) -> Simulated {
        self.simulate_sites(seed, SITES)
    }

    /// Draws a corpus of some sites.
    pub fn simulate_sites(&self, seed: u64, count: usize) -> Simulated {
        let mut random = Rng::with_seed(seed);
        let sites = self.sites(count, &mut random);
        let each = |count: fn(&Vec<f64>) -> f64| sites.iter().flat_map(|site| site.weeks.iter().map(count)).collect();
        let weeks = SiteVolume {
            bins: WEEKS,
            tokens: each(|week| week.iter().sum()),
            documents: each(|week| week.len() as f64),
        };
        let words = (0..CHANGING + BURSTING + FLAT).map(|word| self.cells(word, &sites, &mut random)).collect();
        Simulated { weeks, words }
    }

    /// Draws the documents of some sites.
    pub fn sites(&self, count: usize, random: &mut Rng) -> Vec<Site> {
        (0..count).map(|number| self.site(number, random)).collect()
    }

    /// The hits and documents of a word by site and week.
    fn cells(&self, word: usize, sites: &[Site], random: &mut Rng) -> Vec<CellCount> {
        let mut cells: Vec<CellCount> = Vec::new();
        self.word(word, sites, random, |(site, week, _), hits| {
            let (site, bin) = (site as u32, week as u32);
            match cells.last_mut().filter(|cell| (cell.site, cell.bin) == (site, bin)) {
                Some(cell) => {
                    cell.hits += hits;
                    cell.documents += 1;
                }
                None => cells.push(CellCount { site, bin, hits, documents: 1 }),
            }
        });
        cells
    }

    fn site(&self, number: usize, random: &mut Rng) -> Site {
        // Sites that join have other topics than those that stay.
        let joins = self.churn && number % 2 == 1;
        let topic = if joins { random.usize(0..TOPICS / 2) } else { random.usize(0..TOPICS) };
        let silent = if self.outage && number % 4 < 2 { 26 * WEEKS_PER_QUARTER..34 * WEEKS_PER_QUARTER } else { 0..0 };
        let first = if joins { WEEKS / 2 } else { 0 };
        let usual_length = FIRST_LENGTH * (0.6 + 0.8 * random.f64());
        let week = |week: usize| {
            if week < first || silent.contains(&week) {
                return Vec::new();
            }
            let length = usual_length * (1.0 + (self.lengthening - 1.0) * week as f64 / WEEKS as f64);
            let documents = random.usize(1..2 * DOCUMENTS_PER_WEEK);
            (0..documents).map(|_| gamma_of_three(length, random).max(20.0).round()).collect()
        };
        Site { topic, weeks: (0..WEEKS).map(week).collect() }
    }

    /// Draws the hits of a word and passes those of each document with some, by its site, week and number in the week.
    pub fn word(
        &self,
        word: usize,
        sites: &[Site],
        random: &mut Rng,
        mut each: impl FnMut((usize, usize, usize), u32),
    ) {
        self.draw(word, sites, random, |document, _, hits| {
            if hits > 0 {
                each(document, hits);
            }
        });
    }

    /// Draws the hits of a word and passes those of each document, with the hits expected if the word did not burst.
    pub fn draw(
        &self,
        word: usize,
        sites: &[Site],
        random: &mut Rng,
        mut each: impl FnMut((usize, usize, usize), f64, u32),
    ) {
        let truth = truth_of(word);
        let topic = random.usize(0..TOPICS);
        let rate = log_uniform(5e-5, 2e-3, random);
        let change = log_uniform(1.6, 5.0, random).powf(if random.bool() { 1.0 } else { -1.0 });
        let burst_week = random.usize(60..WEEKS - 60);
        let burst_height = log_uniform(15.0, 40.0, random);
        for (number, site) in sites.iter().enumerate() {
            let affinity = if site.topic == topic { 4.0 } else { 1.0 } * (0.5 + random.f64());
            let mut event = 1.0;
            for (week, documents) in site.weeks.iter().enumerate() {
                if week % WEEKS_PER_QUARTER == 0 {
                    event = if random.f64() < self.events { log_uniform(2.0, 20.0, random) } else { 1.0 };
                }
                let usual = match truth {
                    Truth::Changing => change.powf(week as f64 / WEEKS as f64 - 0.5),
                    Truth::Flat | Truth::Bursting => 1.0,
                };
                let is_burst = truth == Truth::Bursting && (burst_week..burst_week + 2).contains(&week);
                let height = if is_burst { burst_height } else { 1.0 };
                for (document, length) in documents.iter().enumerate() {
                    let expected = rate * affinity * usual * event * length;
                    each((number, week, document), expected, negative_binomial(expected * height, random));
                }
            }
        }
    }
}

impl Simulated {
    /// The tokens and documents of each site in each quarter.
    pub fn quarters(&self) -> SiteVolume {
        let sums = |weeks: &[f64]| weeks.chunks_exact(WEEKS_PER_QUARTER).map(|weeks| weeks.iter().sum()).collect();
        SiteVolume { bins: QUARTERS, tokens: sums(&self.weeks.tokens), documents: sums(&self.weeks.documents) }
    }

    /// The hits and documents of a word by site and quarter.
    pub fn quarter_cells(&self, word: usize) -> Vec<CellCount> {
        let quarter = |cell: &CellCount| (cell.site, cell.bin / WEEKS_PER_QUARTER as u32);
        let sums = self.words[word].chunk_by(|a, b| quarter(a) == quarter(b)).map(|weeks| CellCount {
            site: weeks[0].site,
            bin: quarter(&weeks[0]).1,
            hits: weeks.iter().map(|week| week.hits).sum(),
            documents: weeks.iter().map(|week| week.documents).sum(),
        });
        sums.collect()
    }
}

/// A gamma-distributed number of shape 3.
fn gamma_of_three(mean: f64, random: &mut Rng) -> f64 {
    let product: f64 = (0..3).map(|_| 1.0 - random.f64()).product();
    -product.ln() * mean / 3.0
}

/// A negative binomial number with the shape of clumping hits, by inversion.
pub fn negative_binomial(mean: f64, random: &mut Rng) -> u32 {
    let ratio = mean / (mean + CLUMPING);
    let mut left = random.f64();
    let mut share = (CLUMPING * (1.0 - ratio).ln()).exp();
    let mut number = 0;
    while left >= share && number < 10_000 {
        left -= share;
        share *= (CLUMPING + f64::from(number)) / f64::from(number + 1) * ratio;
        number += 1;
    }
    number
}

fn log_uniform(low: f64, high: f64, random: &mut Rng) -> f64 {
    low * (high / low).powf(random.f64())
}
