//! How many of the planted words are found, how many others, and the time it takes.

use crate::plant::{Course, EACH, PLANTED, Setting, course_of, words};
use crate::world::World;
use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::time::Duration;
use tidings_query::trend::bursts::{BinCount, tokens_before};
use tidings_query::trend::{BurstConfig, RiseConfig, Table, burst, false_discovery, rises, season, shift};

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    /// Words with enough hits to be tested.
    pub tested: usize,
    /// Trends by Mann–Kendall with control of chance: words of each course.
    pub rises: HashMap<Course, usize>,
    /// The same without control, at p < 0.01.
    pub uncontrolled: HashMap<Course, usize>,
    /// Steps by Pettitt with control of chance.
    pub shifts: HashMap<Course, usize>,
    /// Seasons with control of chance.
    pub seasons: HashMap<Course, usize>,
    /// The first 60 bursts.
    pub bursts: HashMap<Course, usize>,
    /// CPU time of all trends.
    pub rises_cpu: Duration,
    /// CPU time of all bursts.
    pub bursts_cpu: Duration,
    /// CPU time of all seasons.
    pub seasons_cpu: Duration,
}

/// How many bursts are looked at.
pub const FIRST_BURSTS: usize = 60;

fn cpu() -> Duration {
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
    let mut report = Report::default();

    let mut counts = Vec::with_capacity(setting.words * by_quarter.len());
    let mut found_bursts = Vec::new();
    let (mut season_words, mut season_p) = (Vec::new(), Vec::new());
    for (word, days) in words(&world, setting) {
        let mut quarters = vec![0u32; by_quarter.len()];
        let mut months = vec![0.0; by_month.len()];
        let mut weeks: Vec<BinCount> = Vec::new();
        for (day, hits) in days.hits.iter().enumerate().filter(|(_, hits)| **hits > 0) {
            quarters[world.quarters[day] as usize] += hits;
            months[world.months[day] as usize] += f64::from(*hits);
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

        let before = cpu();
        let burst = burst(&weeks, &by_week, &BurstConfig::default());
        report.bursts_cpu += cpu() - before;
        found_bursts.extend(burst.map(|burst| (burst.score, word)));

        if months.iter().sum::<f64>() >= 100.0 {
            let before = cpu();
            let rates: Vec<f64> = months.iter().zip(&by_month).map(|(hits, tokens)| hits / tokens).collect();
            let season = season(&rates, 12.0);
            report.seasons_cpu += cpu() - before;
            season_words.push(word);
            season_p.push(season.map_or(1.0, |season| season.p));
        }
    }

    let table = Table { counts: &counts, tokens: &by_quarter };
    let before = cpu();
    let outcome = rises(&table, &RiseConfig::default());
    report.rises_cpu = cpu() - before;
    report.tested = outcome.tested;
    report.rises = courses(outcome.found.iter().map(|rise| rise.row));
    let loose = rises(&table, &RiseConfig { false_discovery_rate: 1.0, ..RiseConfig::default() });
    report.uncontrolled = courses(loose.found.iter().filter(|rise| rise.p < 0.01).map(|rise| rise.row));

    let (shift_words, shift_p): (Vec<usize>, Vec<f64>) = table
        .rows()
        .enumerate()
        .filter(|(_, row)| row.iter().sum::<u32>() >= 30)
        .map(|(word, row)| {
            let rates: Vec<f64> = row.iter().zip(&by_quarter).map(|(hits, tokens)| f64::from(*hits) / tokens).collect();
            (word, shift(&rates).map_or(1.0, |shift| shift.p))
        })
        .unzip();
    report.shifts = courses(controlled(&shift_words, &shift_p));
    report.seasons = courses(controlled(&season_words, &season_p));

    found_bursts.sort_by(|a, b| b.0.total_cmp(&a.0));
    report.bursts = courses(found_bursts.iter().take(FIRST_BURSTS).map(|(_, word)| *word));
    report
}

fn controlled<'a>(words: &'a [usize], p: &[f64]) -> impl Iterator<Item = usize> + 'a {
    words.iter().zip(false_discovery(p, p.len())).filter(|(_, q)| *q <= 0.05).map(|(word, _)| *word)
}

impl Report {
    /// The planted words that rise or fall and were found, and the share of all others among the found.
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

    /// The figures as a table.
    pub fn print(&self) {
        println!("| | {} | others |", PLANTED.map(|course| format!("{course:?} of {EACH}")).join(" | "));
        println!("| --- {}|", "| --: ".repeat(PLANTED.len() + 1));
        let row = |name: &str, counts: &HashMap<Course, usize>| {
            let count = |course: Course| counts.get(&course).copied().unwrap_or(0).to_string();
            println!("| {name} | {} | {} |", PLANTED.map(count).join(" | "), count(Course::Flat));
        };
        row("Mann–Kendall, 5 % false admitted", &self.rises);
        row("Mann–Kendall, p < 0.01", &self.uncontrolled);
        row("Pettitt, 5 % false admitted", &self.shifts);
        row("season, 5 % false admitted", &self.seasons);
        row("the first 60 bursts", &self.bursts);
        println!(
            "\n{} words tested: trends {:.3} s, bursts {:.3} s, seasons {:.3} s of CPU",
            self.tested,
            self.rises_cpu.as_secs_f64(),
            self.bursts_cpu.as_secs_f64(),
            self.seasons_cpu.as_secs_f64()
        );
    }
}
