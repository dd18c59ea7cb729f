//! Simulated counts of a corpus of ten years: tokens and hits per day.
//!
//! Documents repeat their words, and several sites print the same agency report within days. Both make counts
//! overdispersed relative to a Poisson distribution, and are simulated: every event is a number of documents,
//! every document a number of hits.

use fastrand::Rng;
use jiff::civil::{Date, date};
use tidings_query::trend::Step;

/// The time axis and the volume of each day.
pub struct World {
    /// The tokens of each day.
    pub tokens: Vec<f64>,
    /// The number of the week of each day.
    pub weeks: Vec<u32>,
    /// The number of the quarter of each day.
    pub quarters: Vec<u32>,
    /// The number of the month of each day.
    pub months: Vec<u32>,
}

const FIRST_DAY: Date = date(2016, 1, 1);
const LAST_DAY: Date = date(2025, 12, 31);

impl World {
    /// Ten years with this many tokens. The corpus grows by two thirds, Sundays have fewer tokens, days vary.
    pub fn new(tokens: f64, random: &mut Rng) -> World {
        let days: Vec<Date> = Step::Day.bins(FIRST_DAY, LAST_DAY).into_iter().map(|bin| bin.first).collect();
        let weight = |(i, day): (usize, &Date)| {
            let growth = 0.75 + 0.5 * i as f64 / days.len() as f64;
            let weekend = if day.weekday().to_monday_zero_offset() >= 5 { 0.5 } else { 1.2 };
            growth * weekend * (0.85 + 0.3 * random.f64())
        };
        let weights: Vec<f64> = days.iter().enumerate().map(weight).collect();
        let all: f64 = weights.iter().sum();
        let numbers = |step: Step| -> Vec<u32> {
            let mut number = 0;
            let bins: Vec<_> = days.iter().map(|day| step.bin_of(*day)).collect();
            (0..bins.len())
                .map(|i| {
                    number += u32::from(i > 0 && bins[i] != bins[i - 1]);
                    number
                })
                .collect()
        };
        World {
            tokens: weights.iter().map(|weight| weight / all * tokens).collect(),
            weeks: numbers(Step::Week),
            quarters: numbers(Step::Quarter),
            months: numbers(Step::Month),
        }
    }

    /// The number of days.
    pub fn days(&self) -> usize {
        self.tokens.len()
    }

    /// The tokens of each bin of days.
    pub fn tokens_by(&self, bins: &[u32]) -> Vec<f64> {
        let mut sums = vec![0.0; bins.last().map_or(0, |last| *last as usize + 1)];
        bins.iter().zip(&self.tokens).for_each(|(bin, tokens)| sums[*bin as usize] += tokens);
        sums
    }
}

/// The distribution of a word.
#[derive(Debug, Clone, Copy)]
pub struct Distribution {
    /// The expected number of hits.
    pub hits: f64,
    /// Mean hits in a document that has the word.
    pub bunch: f64,
    /// Mean documents of an event.
    pub event: f64,
}

/// Hits and documents of a word on each day.
#[derive(Debug, Clone, Default)]
pub struct Days {
    /// Hits.
    pub hits: Vec<u32>,
    /// Documents.
    pub documents: Vec<u32>,
}

/// The expected number of events per day above which counts are drawn from a normal approximation.
const MANY_EVENTS: f64 = 20_000.0;

/// Draws the hits of a word. `course` has the relative weight of each day.
pub fn draw_days(distribution: &Distribution, course: &[f64], random: &mut Rng) -> Days {
    let mut days = Days { hits: vec![0; course.len()], documents: vec![0; course.len()] };
    let events = distribution.hits / (distribution.bunch * distribution.event);
    let sum: f64 = course.iter().sum();
    if events > MANY_EVENTS {
        for (day, weight) in course.iter().enumerate() {
            let documents = spread(distribution.hits / distribution.bunch * weight / sum, distribution.event, random);
            days.documents[day] = documents as u32;
            // The variance of a geometric number that is at least one is b (b − 1).
            let noise = (documents * distribution.bunch * (distribution.bunch - 1.0)).sqrt() * normal(random);
            days.hits[day] = (documents * distribution.bunch + noise).round().max(documents) as u32;
        }
        return days;
    }
    let mut up_to = 0.0;
    let cumulated: Vec<f64> = course
        .iter()
        .map(|weight| {
            up_to += weight;
            up_to
        })
        .collect();
    for _ in 0..poisson(events, random) {
        let place = random.f64() * sum;
        let day = cumulated.partition_point(|up_to| *up_to <= place).min(course.len() - 1);
        for _ in 0..copies(distribution.event, random) {
            // An event is reported for some days.
            let later = if distribution.event > 1.0 { random.usize(0..3) } else { 0 };
            let day = (day + later).min(course.len() - 1);
            days.documents[day] += 1;
            days.hits[day] += at_least_one(distribution.bunch, random);
        }
    }
    days
}

/// A count with this mean whose events come in groups of a mean size.
fn spread(mean: f64, group: f64, random: &mut Rng) -> f64 {
    // E n² / E n of a uniform number from 1 to 2 g − 1.
    let variance = mean * (4.0 * group - 1.0) / 3.0;
    (mean + variance.sqrt() * normal(random)).round().max(0.0)
}

/// The number of sites that print one agency report: uniform from one to twice the mean.
fn copies(mean: f64, random: &mut Rng) -> u32 {
    let most = 2.0 * mean - 1.0;
    (1.0 + random.f64() * most) as u32
}

/// A geometric number of at least one.
fn at_least_one(mean: f64, random: &mut Rng) -> u32 {
    if mean <= 1.0 {
        return 1;
    }
    1 + ((1.0 - random.f64()).ln() / (1.0 - 1.0 / mean).ln()) as u32
}

/// A Poisson number; for large means, by the normal approximation.
pub fn poisson(mean: f64, random: &mut Rng) -> u64 {
    if mean > 60.0 {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0) as u64;
    }
    let (limit, mut product, mut number) = ((-mean).exp(), random.f64(), 0);
    while product > limit {
        product *= random.f64();
        number += 1;
    }
    number
}

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}
