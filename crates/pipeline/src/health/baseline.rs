//! Detection of feeds that fall below their own baseline.
//!
//! A feed that drops from thirty pages a day to none is an alert; one with three pages a week and none since Monday is
//! not. The expected number follows from the past weeks of the feed, its weekdays, and the volume of all other feeds on
//! that day. The probability of the observed number is the lower tail of a negative binomial distribution, because
//! articles arrive in bursts. docs/notes/status.md has the formulas and measurements.

use std::collections::BTreeMap;

use jiff::civil::Date;

/// The length of the baseline in days.
pub const PAST_DAYS: usize = 56;
/// The minimum length of the baseline in days.
const LEAST_PAST: usize = 14;
/// Until each weekday was seen this many times, all weekdays are treated as equal.
const LEAST_WEEKS: usize = 3;
/// Lengths of the windows that are tested, in days up to the last one.
const WINDOWS: [usize; 5] = [1, 2, 4, 7, 14];
/// Expected number of false alarms over all feeds.
const FALSE_ALARMS: f64 = 0.02;
/// The minimum relative fall, regardless of significance.
const LEAST_FALL: f64 = 0.5;
/// Pages per day of all other feeds from which on they indicate the overall volume.
const ENOUGH_OTHERS: f64 = 50.0;
/// A day on which the other feeds listed less than this share of their usual number is an outage and ignored.
const OUTAGE: f64 = 0.3;
/// The number of pages at which the weekdays of a feed weigh as much as those of all feeds.
const WEEKDAY_PRIOR: f64 = 10.0;
/// The upper limit of the dispersion parameter: the variance of a day is at least mean + mean²/8.
const MOST_EVEN: f64 = 8.0;

/// The number of days at which the estimated dispersion has half of the weight.
const UNSURE_DAYS: f64 = 10.0;

/// Pages of feeds by day.
#[derive(Debug, Default)]
pub struct Past {
    /// The first day.
    first: Date,
    /// Pages of all feeds, a number for each day to the last.
    totals: Vec<u64>,
    /// Pages of each feed, the same.
    feeds: BTreeMap<String, Vec<u32>>,
}

/// A feed that lists less than its baseline.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Fall {
    /// The feed.
    pub feed: String,
    /// The length of the window in days.
    pub days: usize,
    /// Observed pages.
    pub came: u64,
    /// Pages that were to be expected.
    pub expected: f64,
    /// The probability of so few pages under the baseline.
    pub chance: f64,
}

impl Past {
    /// The past of this many whole days up to the last one.
    pub fn ending(last: Date, days: usize) -> Past {
        let first = last.saturating_sub(jiff::Span::new().days(days as i64 - 1));
        Past { first, totals: vec![0; days], feeds: BTreeMap::new() }
    }

    /// The first day.
    pub fn first(&self) -> Date {
        self.first
    }

    /// Adds pages; days outside the past do not count.
    pub fn add(&mut self, day: Date, feed: &str, pages: u64) {
        let at = (day - self.first).get_days();
        let Some(total) = usize::try_from(at).ok().and_then(|at| self.totals.get_mut(at)) else { return };
        *total += pages;
        let counts = match self.feeds.get_mut(feed) {
            Some(counts) => counts,
            None => self.feeds.entry(feed.to_owned()).or_insert(vec![0; self.totals.len()]),
        };
        counts[at as usize] += pages.min(u64::from(u32::MAX)) as u32;
    }

    /// The feeds below their baseline, those with most missing pages first.
    pub fn falls(&self) -> Vec<Fall> {
        let usual = self.usual_weekdays();
        let level = FALSE_ALARMS / (self.feeds.len().max(1) * WINDOWS.len()) as f64;
        let fallen = self.feeds.iter().filter_map(|(feed, counts)| {
            let history = FeedHistory::new(self, counts, &usual)?;
            let falls = WINDOWS.iter().filter_map(|days| history.window(*days));
            let most = falls.min_by(|a, b| a.chance.total_cmp(&b.chance))?;
            (most.chance < level).then(|| Fall { feed: feed.clone(), ..most })
        });
        let mut fallen: Vec<Fall> = fallen.collect();
        let missing = |fall: &Fall| (fall.expected - fall.came as f64) / fall.days as f64;
        fallen.sort_by(|a, b| missing(b).total_cmp(&missing(a)).then_with(|| a.feed.cmp(&b.feed)));
        fallen
    }

    fn weekday(&self, at: usize) -> usize {
        (self.first.weekday().to_monday_zero_offset() as usize + at) % 7
    }

    /// The first day of the home.
    fn born(&self) -> usize {
        self.totals.iter().position(|total| *total > 0).unwrap_or(self.totals.len())
    }

    /// The weekday factors of all feeds together.
    fn usual_weekdays(&self) -> [f64; 7] {
        let mut days: [Vec<f64>; 7] = Default::default();
        (self.born()..self.totals.len()).for_each(|at| days[self.weekday(at)].push(self.totals[at] as f64));
        if days.iter().any(|days| days.len() < LEAST_WEEKS) {
            return [1.0; 7];
        }
        // Medians, because an outage must not look like a weekend.
        let medians = days.map(median);
        let mean = medians.iter().sum::<f64>() / 7.0;
        medians.map(|of_day| if mean > 0.0 { (of_day / mean).max(0.02) } else { 1.0 })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.is_empty() { 0.0 } else { values[values.len() / 2] }
}

/// A feed's past under the lens.
struct FeedHistory<'a> {
    counts: &'a [u32],
    /// The first day with a page.
    born: usize,
    /// The volume of the other feeds on each day, 0 to 1; `None` on a day of outage.
    harvest: Vec<Option<f64>>,
    /// The weekday of each day.
    weekdays: Vec<usize>,
    usual: &'a [f64; 7],
}

impl<'a> FeedHistory<'a> {
    fn new(past: &Past, counts: &'a [u32], usual: &'a [f64; 7]) -> Option<FeedHistory<'a>> {
        let born = counts.iter().position(|count| *count > 0)?;
        let weekdays: Vec<usize> = (0..counts.len()).map(|at| past.weekday(at)).collect();
        // The other feeds indicate the volume; if there are few, every day counts in full.
        let others = |at: usize| (past.totals[at] - u64::from(counts[at])) as f64 / usual[weekdays[at]];
        let typical = median((past.born()..counts.len()).map(others).collect());
        let harvest = (0..counts.len()).map(|at| match typical < ENOUGH_OTHERS {
            true => Some(1.0),
            false => Some((others(at) / typical).min(1.0)).filter(|share| *share >= OUTAGE),
        });
        let harvest = harvest.collect();
        Some(FeedHistory { counts, born, harvest, weekdays, usual })
    }

    /// Compares the last days with those before. Returns the fall without a significance test.
    fn window(&self, days: usize) -> Option<Fall> {
        let end = self.counts.len().checked_sub(days)?;
        let past: Vec<usize> = (self.born..end).filter(|at| self.harvest[*at].is_some()).collect();
        let now: Vec<usize> = (end..self.counts.len()).filter(|at| self.harvest[*at].is_some()).collect();
        if past.len() < LEAST_PAST || now.is_empty() {
            return None;
        }
        let count = |at: &usize| f64::from(self.counts[*at]);
        let came: f64 = now.iter().map(count).sum();
        let weekdays = self.own_weekdays(&past);
        let weight = |at: &usize| self.harvest[*at].unwrap_or(0.0) * weekdays[self.weekdays[*at]];
        let rate = |days: &[usize]| {
            let weights: f64 = days.iter().map(weight).sum();
            days.iter().map(count).sum::<f64>() / weights.max(f64::MIN_POSITIVE)
        };
        // A feed that has slowly become quieter is compared with its recent level.
        let rate = rate(&past).min(rate(&past[past.len() - LEAST_PAST..]));
        let mean = |at: &usize| rate * weight(at);
        let expected: f64 = now.iter().map(mean).sum();
        if expected <= 0.0 || came >= expected * LEAST_FALL {
            return None;
        }
        // A drop that has happened before is not an alarm.
        let lowest = past.windows(now.len()).map(|days| days.iter().map(count).sum::<f64>());
        if lowest.fold(f64::INFINITY, f64::min) <= came {
            return None;
        }
        let squares = |days: &[usize]| days.iter().map(|at| mean(at).powi(2)).sum::<f64>();
        let excess: f64 = past.iter().map(|at| (count(at) - mean(at)).powi(2) - mean(at)).sum();
        // A short baseline has seen few bad days, so the dispersion is estimated more cautiously.
        let sureness = past.len() as f64 / (past.len() as f64 + UNSURE_DAYS);
        let size = (squares(&past) / excess.max(f64::MIN_POSITIVE)).min(MOST_EVEN) * sureness;
        let size = size * expected.powi(2) / squares(&now);
        let chance = at_most(came as u64, expected, size);
        Some(Fall { feed: String::new(), days, came: came as u64, expected, chance })
    }

    /// The weekday factors of the feed, shrunk towards those of all feeds.
    fn own_weekdays(&self, past: &[usize]) -> [f64; 7] {
        let mut came = [0.0; 7];
        let mut weights = [0.0; 7];
        for at in past {
            came[self.weekdays[*at]] += f64::from(self.counts[*at]);
            weights[self.weekdays[*at]] += self.harvest[*at].unwrap_or(0.0) * self.usual[self.weekdays[*at]];
        }
        let rate = came.iter().sum::<f64>() / weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        std::array::from_fn(|day| {
            let usual = rate * weights[day];
            self.usual[day] * (came[day] + WEEKDAY_PRIOR) / (usual + WEEKDAY_PRIOR)
        })
    }
}

/// The probability of at most this many events, for a negative binomial distribution with this mean and size.
fn at_most(most: u64, mean: f64, size: f64) -> f64 {
    let share = mean / (size + mean);
    let mut term = (size * (size / (size + mean)).ln()).exp();
    let mut sum = term;
    for number in 0..most {
        term *= (number as f64 + size) / (number as f64 + 1.0) * share;
        sum += term;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of a Gamma distribution with this shape (at least 1) and mean 1 (Marsaglia and Tsang, 2000).
    fn gamma(chance: &mut fastrand::Rng, shape: f64) -> f64 {
        let (d, c) = (shape - 1.0 / 3.0, 1.0 / (9.0 * (shape - 1.0 / 3.0)).sqrt());
        loop {
            let normal = (-2.0 * chance.f64().max(1e-300).ln()).sqrt() * (std::f64::consts::TAU * chance.f64()).cos();
            let v = (1.0 + c * normal).powi(3);
            if v > 0.0 && chance.f64().ln() < normal * normal / 2.0 + d - d * v + d * v.ln() {
                return d * v / shape;
            }
        }
    }

    fn poisson(chance: &mut fastrand::Rng, mean: f64) -> u64 {
        let (mut left, mut number) = (mean, 0);
        // Sums exponential gaps; means are small here.
        loop {
            left += chance.f64().max(1e-300).ln();
            if left < 0.0 {
                return number;
            }
            number += 1;
        }
    }

    /// A simulated home: feeds with different rates, bursts, weekends, and days of outage.
    fn simulate(seed: u64, feeds: usize, factor: impl Fn(usize, usize) -> f64) -> (Past, Vec<f64>) {
        let mut chance = fastrand::Rng::with_seed(seed);
        let last: Date = "2026-03-15".parse().unwrap();
        let mut past = Past::ending(last, PAST_DAYS);
        let outage: Vec<f64> =
            (0..PAST_DAYS).map(|_| if chance.f64() < 0.05 { chance.f64() * 0.8 } else { 1.0 }).collect();
        let mut rates = Vec::new();
        for feed in 0..feeds {
            let rate = 10f64.powf(chance.f64() * 3.0 - 1.0);
            let (weekend, bunching) = (chance.f64(), 1.5 + chance.f64() * 20.0);
            for (at, harvest) in outage.iter().enumerate() {
                let weekday = if past.weekday(at) >= 5 { weekend } else { 1.0 };
                let mean = rate * weekday * harvest * gamma(&mut chance, bunching) * factor(feed, at);
                let day = past.first.saturating_add(jiff::Span::new().days(at as i64));
                past.add(day, &format!("{feed:04}"), poisson(&mut chance, mean));
            }
            rates.push(rate);
        }
        (past, rates)
    }

    #[test]
    fn the_tail_is_that_of_the_distribution() {
        // Poisson for an even feed, geometric for size 1.
        assert!((at_most(0, 10.0, 1e9) - (-10f64).exp()).abs() < 1e-9);
        assert!((at_most(3, 2.0, 1e9) - 0.857123).abs() < 1e-5);
        assert!((at_most(2, 3.0, 1.0) - (1.0 - 0.75f64.powi(3))).abs() < 1e-12);
    }

    #[test]
    fn unchanged_feeds_raise_few_alarms() {
        let homes = 40;
        let false_alarms: usize = (0..homes).map(|seed| simulate(seed, 250, |_, _| 1.0).0.falls().len()).sum();
        // Ten thousand feeds were tested.
        assert!(false_alarms <= 4, "{false_alarms} false alarms in {homes} tests of 250 feeds");
    }

    #[test]
    fn silent_feeds_are_detected_the_sooner_the_higher_their_rate() {
        let noticed = |silent_days: usize, least: f64, most: f64| {
            let (mut fell, mut found) = (0, 0);
            for seed in 0..10 {
                let dead = |feed: usize, at: usize| {
                    f64::from(u8::from(!feed.is_multiple_of(10) || at + silent_days < PAST_DAYS))
                };
                let (past, rates) = simulate(100 + seed, 200, dead);
                let falls = past.falls();
                for feed in (0..200).step_by(10).filter(|feed| (least..most).contains(&rates[*feed])) {
                    fell += 1;
                    found += usize::from(falls.iter().any(|fall| fall.feed == format!("{feed:04}")));
                }
                let wrong = falls.iter().filter(|fall| !fall.feed.ends_with('0')).count();
                assert!(wrong <= 1, "{wrong} active feeds were reported");
            }
            (found as f64 / fell as f64 * 100.0).round()
        };
        let table =
            [2, 4, 7, 14].map(|days| [noticed(days, 30.0, 100.0), noticed(days, 5.0, 30.0), noticed(days, 1.0, 5.0)]);
        eprintln!("detected after 2, 4, 7, 14 days (%), by pages a day (30-100, 5-30, 1-5): {table:?}");
        assert!(table[1][0] >= 90.0 && table[1][1] >= 75.0 && table[3][2] >= 55.0, "{table:?}");
        // A feed of a page a week is never missed by chance alone.
        assert_eq!(noticed(7, 0.1, 0.3), 0.0);
    }

    #[test]
    fn an_outage_of_all_feeds_is_not_a_fall_of_one() {
        let (past, _) = simulate(7, 200, |_, at| if at + 3 >= PAST_DAYS { 0.02 } else { 1.0 });
        assert_eq!(past.falls(), []);
        let (past, _) = simulate(8, 200, |_, at| if at + 3 >= PAST_DAYS { 0.5 } else { 1.0 });
        assert!(past.falls().len() <= 1, "{:?}", past.falls());
    }

    #[test]
    fn a_young_home_raises_few_alarms_at_weekends() {
        let young = |at: usize| f64::from(u8::from(at + 25 >= PAST_DAYS));
        let false_alarms: usize =
            (0..20).map(|seed| simulate(300 + seed, 100, |_, at| young(at)).0.falls().len()).sum();
        assert!(false_alarms <= 2, "{false_alarms} false alarms in 20 tests of 100 feeds");
        let (past, _) =
            simulate(400, 100, |feed, at| if feed == 7 && at + 5 >= PAST_DAYS { 0.0 } else { young(at) * 3.0 });
        assert!(past.falls().iter().any(|fall| fall.feed == "0007"), "{:?}", past.falls());
    }

    #[test]
    fn a_new_feed_and_one_without_weekends_raise_no_alarm() {
        // The 15th of March 2026 is a Sunday.
        let mut past = Past::ending("2026-03-15".parse().unwrap(), PAST_DAYS);
        for at in 0..PAST_DAYS {
            let day = past.first.saturating_add(jiff::Span::new().days(at as i64));
            if past.weekday(at) < 5 {
                past.add(day, "office", 40);
            }
            if (50..54).contains(&at) {
                past.add(day, "new", 100);
            }
            past.add(day, "steady", if at < 53 { 20 } else { 0 });
        }
        let falls = past.falls();
        assert_eq!(falls.iter().map(|fall| fall.feed.as_str()).collect::<Vec<_>>(), ["steady"]);
        assert_eq!(falls[0].came, 0);
    }
}
