//! Recall, false positives and CPU time.

use crate::plant::{Course, EACH, PLANTED, Setting, course_of, words};
use crate::world::World;
use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::time::Duration;
use tidings_query::measure::{Contrast, Keyness};
use tidings_query::trend::bursts::{BinCount, tokens_before};
use tidings_query::trend::{
    BurstConfig, CellCount, RiseConfig, Rises, SiteAxis, SiteRises, SiteVolume, Table, Test, burst, false_discovery,
    rises, season, shift,
};

/// The results.
#[derive(Debug, Default)]
pub struct Report {
    /// Words with enough hits to be tested.
    pub tested: usize,
    /// Words of each course with a trend, with control of the false discovery rate.
    pub rises: HashMap<Course, usize>,
    /// The same by the pooled test of documents, which ignores sites.
    pub pooled: HashMap<Course, usize>,
    /// The same by Mann–Kendall over hits.
    pub kendall: HashMap<Course, usize>,
    /// The same by Mann–Kendall over documents.
    pub kendall_documents: HashMap<Course, usize>,
    /// By Mann–Kendall over hits without control, at p < 0.01.
    pub uncontrolled: HashMap<Course, usize>,
    /// Level shifts by Pettitt's test, with the same control.
    pub shifts: HashMap<Course, usize>,
    /// Seasons, with the same control.
    pub seasons: HashMap<Course, usize>,
    /// The first 60 bursts.
    pub bursts: HashMap<Course, usize>,
    /// The first 60 bursts by the baseline.
    pub plain_bursts: HashMap<Course, usize>,
    /// CPU time of all trends.
    pub rises_cpu: Duration,
    /// CPU time of Mann–Kendall for all words.
    pub kendall_cpu: Duration,
    /// CPU time of all bursts.
    pub bursts_cpu: Duration,
    /// CPU time of all seasons.
    pub seasons_cpu: Duration,
}

/// The number of bursts that are evaluated.
pub const FIRST_BURSTS: usize = 60;

/// The CPU time of this thread.
pub fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn courses(found: impl Iterator<Item = usize>) -> HashMap<Course, usize> {
    let mut counts = HashMap::new();
    found.for_each(|word| *counts.entry(course_of(word)).or_default() += 1);
    counts
}

/// Simulates and measures.
pub fn measure(setting: &Setting) -> Report {
    let world = World::new(setting.tokens, &mut Rng::with_seed(setting.seed));
    let by_quarter = world.tokens_by(&world.quarters);
    let by_month = world.tokens_by(&world.months);
    let by_week = tokens_before(&world.tokens_by(&world.weeks));
    let [month_axis, quarter_axis] = [&by_month, &by_quarter].map(|tokens| SiteAxis::new(&one_site(tokens)));
    let mut report = Report::default();

    let mut counts = Vec::with_capacity(setting.words * by_quarter.len());
    let mut documents_table: Vec<u32> = Vec::new();
    let (mut found_bursts, mut plain_bursts) = (Vec::new(), Vec::new());
    let (mut season_words, mut season_p) = (Vec::new(), Vec::new());
    for (word, days) in words(&world, setting) {
        let mut quarters = vec![0u32; by_quarter.len()];
        let mut quarter_documents = vec![0u32; by_quarter.len()];
        let mut months = vec![0u32; by_month.len()];
        let mut month_documents = vec![0u32; by_month.len()];
        let mut weeks: Vec<BinCount> = Vec::new();
        for (day, hits) in days.hits.iter().enumerate().filter(|(_, hits)| **hits > 0) {
            quarters[world.quarters[day] as usize] += hits;
            quarter_documents[world.quarters[day] as usize] += days.documents[day];
            months[world.months[day] as usize] += hits;
            month_documents[world.months[day] as usize] += days.documents[day];
            let (bin, documents) = (world.weeks[day], days.documents[day]);
            match weeks.last_mut().filter(|last| last.bin == bin) {
                Some(last) => {
                    last.hits += hits;
                    last.documents += documents;
                }
                None => weeks.push(BinCount { bin, hits: *hits, documents }),
            }
        }
        counts.extend(quarters);
        documents_table.extend(quarter_documents);

        let before = cpu();
        let burst = burst(&weeks, &by_week, &BurstConfig::default());
        report.bursts_cpu += cpu() - before;
        found_bursts.extend(burst.map(|burst| (burst.score, word)));
        plain_bursts.extend(plain_burst(&weeks, &by_week).map(|score| (score, word)));

        if months.iter().sum::<u32>() >= 100 {
            let before = cpu();
            let series = month_axis.series(&cells_of_one_site(&months, &month_documents));
            let when: Vec<f64> = series.bins.iter().map(|bin| *bin as f64 + 0.5).collect();
            let season = season(&when, &series.scores, 12.0);
            report.seasons_cpu += cpu() - before;
            season_words.push(word);
            season_p.push(season.map_or(1.0, |season| season.p));
        }
    }

    let table = Table { counts: &documents_table, tokens: &by_quarter };
    let found = |table: &Table<'_>, config: RiseConfig, limit: f64| {
        let before = cpu();
        let outcome = rises(table, &config);
        let spent = cpu() - before;
        let rows = outcome.found.iter().filter(|rise| rise.p <= limit).map(|rise| rise.row);
        (courses(rows), outcome.tested, spent)
    };
    (report.pooled, ..) = found(&table, RiseConfig::default(), 1.0);
    let before = cpu();
    let outcome = rises_of_one_site(&counts, &documents_table, &by_quarter);
    report.rises_cpu = cpu() - before;
    (report.rises, report.tested) = (courses(outcome.found.iter().map(|rise| rise.row)), outcome.tested);
    let kendall = RiseConfig { test: Test::MannKendall, ..RiseConfig::default() };
    let hits = Table { counts: &counts, tokens: &by_quarter };
    (report.kendall, _, report.kendall_cpu) = found(&hits, kendall, 1.0);
    report.kendall_documents = found(&table, kendall, 1.0).0;
    report.uncontrolled = found(&hits, RiseConfig { false_discovery_rate: 1.0, ..kendall }, 0.01).0;
    let (shift_words, shift_p): (Vec<usize>, Vec<f64>) = hits
        .rows()
        .zip(table.rows())
        .enumerate()
        .filter(|(_, (_, documents))| documents.iter().sum::<u32>() >= 30)
        .map(|(word, (hits, documents))| {
            let series = quarter_axis.series(&cells_of_one_site(hits, documents));
            (word, shift(&series.scores).map_or(1.0, |shift| shift.p))
        })
        .unzip();
    report.shifts = courses(controlled(&shift_words, &shift_p));
    report.seasons = courses(controlled(&season_words, &season_p));

    report.bursts = courses(first(found_bursts));
    report.plain_bursts = courses(first(plain_bursts));
    report
}

/// The tokens of a corpus of one site whose articles keep their length.
fn one_site(tokens: &[f64]) -> SiteVolume {
    SiteVolume { bins: tokens.len(), tokens: tokens.to_vec(), documents: Vec::new() }
}

/// The counts of a word in the bins of that site.
fn cells_of_one_site(hits: &[u32], documents: &[u32]) -> Vec<CellCount> {
    let cells = (0..).zip(hits.iter().zip(documents)).filter(|(_, (hits, _))| **hits > 0);
    cells.map(|(bin, (hits, documents))| CellCount { site: 0, bin, hits: *hits, documents: *documents }).collect()
}

/// The trend test within that site.
fn rises_of_one_site(hits: &[u32], documents: &[u32], tokens: &[f64]) -> Rises {
    let width = tokens.len();
    let mut test = SiteRises::new(&one_site(tokens), &RiseConfig::default());
    for (hits, documents) in hits.chunks_exact(width).zip(documents.chunks_exact(width)) {
        test.add(&cells_of_one_site(hits, documents));
    }
    test.finish()
}

fn first(mut bursts: Vec<(f64, usize)>) -> impl Iterator<Item = usize> {
    bursts.sort_by(|a, b| b.0.total_cmp(&a.0));
    bursts.into_iter().take(FIRST_BURSTS).map(|(_, word)| word)
}

/// The baseline: log-likelihood of the week's hits against the 26 weeks before, times documents by hits.
fn plain_burst(weeks: &[BinCount], tokens_before: &[f64]) -> Option<f64> {
    let tokens = |from: usize, to: usize| tokens_before[to] - tokens_before[from];
    let scores = weeks.iter().enumerate().filter(|(_, week)| week.documents >= 5 && week.bin >= 8).map(|(i, week)| {
        let bin = week.bin as usize;
        let from = bin.saturating_sub(26);
        let before = weeks[..i].iter().rev().take_while(|earlier| earlier.bin as usize >= from);
        let contrast = Contrast {
            focus: f64::from(week.hits),
            focus_tokens: tokens(bin, bin + 1),
            reference: before.map(|earlier| f64::from(earlier.hits)).sum(),
            reference_tokens: tokens(from, bin),
        };
        Keyness::LogLikelihood.score(&contrast) * f64::from(week.documents) / f64::from(week.hits)
    });
    scores.max_by(f64::total_cmp)
}

fn controlled<'a>(words: &'a [usize], p: &[f64]) -> impl Iterator<Item = usize> + 'a {
    words.iter().zip(false_discovery(p, p.len())).filter(|(_, q)| *q <= 0.05).map(|(word, _)| *word)
}

impl Report {
    /// The number of planted trends that were found, and the false discovery rate.
    pub fn trends_found(&self) -> (usize, f64) {
        let with_trend = [Course::Up, Course::LateUp, Course::Down, Course::Step];
        let right: usize = with_trend.iter().filter_map(|course| self.rises.get(course)).sum();
        let all: usize = self.rises.values().sum();
        (right, (all - right) as f64 / all.max(1) as f64)
    }

    /// The planted bursts among the first.
    pub fn bursts_found(&self) -> usize {
        self.bursts.get(&Course::Burst).copied().unwrap_or(0)
    }

    /// The planted seasons that were found.
    pub fn seasons_found(&self) -> usize {
        self.seasons.get(&Course::Seasonal).copied().unwrap_or(0)
    }

    /// Prints the results as a table.
    pub fn print(&self) {
        println!("| | {} | others |", PLANTED.map(|course| format!("{course:?} of {EACH}")).join(" | "));
        println!("| --- {}|", "| --: ".repeat(PLANTED.len() + 1));
        let row = |name: &str, counts: &HashMap<Course, usize>| {
            let count = |course: Course| counts.get(&course).copied().unwrap_or(0).to_string();
            println!("| {name} | {} | {} |", PLANTED.map(count).join(" | "), count(Course::Flat));
        };
        row("shape test within sites, FDR 5 %", &self.rises);
        row("shape test of documents, pooled, FDR 5 %", &self.pooled);
        row("Mann–Kendall of documents, FDR 5 %", &self.kendall_documents);
        row("Mann–Kendall of hits, FDR 5 %", &self.kendall);
        row("Mann–Kendall of hits, p < 0.01", &self.uncontrolled);
        row("Pettitt, FDR 5 %", &self.shifts);
        row("season, FDR 5 %", &self.seasons);
        row("the first 60 bursts", &self.bursts);
        row("the first 60 bursts by the baseline", &self.plain_bursts);
        println!(
            "\n{} words tested: trends {:.3} s (Mann–Kendall {:.3} s), bursts {:.3} s, seasons {:.3} s of CPU",
            self.tested,
            self.rises_cpu.as_secs_f64(),
            self.kendall_cpu.as_secs_f64(),
            self.bursts_cpu.as_secs_f64(),
            self.seasons_cpu.as_secs_f64()
        );
    }
}
