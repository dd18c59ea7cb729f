//! Estimation of a feed's publishing rate.
//!
//! The rate is the posterior mean of a Gamma-Poisson model with exponential decay: entries and observed days lose
//! weight together, so the estimate follows gradual changes within days and abrupt ones within hours. The first
//! observation starts from the dates of the listed entries, usually weeks of history.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use tidings_model::{UpdateHints, UpdatePeriod};

use super::{DAY_S, HOUR_S, later, seconds_between};

/// Prior rate of an unknown feed, in entries per day.
const PRIOR_RATE: f64 = 0.3;
/// Weight of the prior, in observed days.
const PRIOR_DAYS: f64 = 1.0;
/// Half-life of the evidence about the rate.
const HALF_LIFE_DAYS: f64 = 10.0;
/// The share of the evidence kept after a surprising observation.
const SURPRISE_DECAY: f64 = 0.5;
/// The maximum age of entry dates that count as history.
const HISTORY_DAYS: f64 = 60.0;
/// The hourly profile is learned from about this many recent entries.
const HOURS_FROM_ENTRIES: f64 = 400.0;
/// Weight of the uniform prior of the hourly profile, in entries.
const HOURS_PRIOR: f64 = 12.0;
/// The share of the newest entries that determines the window age. The rest may be pinned entries.
const SCROLLING_SHARE: f64 = 0.8;
/// The maximum number of entries remembered from one poll to the next; the newest of a longer list.
const MAX_WINDOW: usize = 500;

/// An entry in a polled feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntrySighting {
    /// A hash of its identity; the lower 24 bits are kept.
    pub key: u32,
    /// The publication time, if declared.
    pub date: Option<Timestamp>,
}

/// The estimated publishing rate of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishingRate {
    /// Arrived entries, decayed.
    pub arrived: f64,
    /// Observed days, decayed likewise.
    pub watched_days: f64,
    /// Recent entries by hour of the day, in UTC.
    pub hours: [f64; 24],
    /// The age of the oldest listed entry, in seconds: an entry is lost if no poll happens in that time.
    pub window_age_s: Option<f64>,
    /// The entries listed last, as 24-bit hashes.
    pub window: Vec<u32>,
    /// The relative value of an entry: new clean text compared with an average feed.
    pub yield_weight: f64,
}

impl Default for PublishingRate {
    fn default() -> PublishingRate {
        PublishingRate {
            arrived: PRIOR_RATE * PRIOR_DAYS,
            watched_days: PRIOR_DAYS,
            hours: [0.0; 24],
            window_age_s: None,
            window: Vec::new(),
            yield_weight: 1.0,
        }
    }
}

impl PublishingRate {
    /// The mean rate, in entries per day.
    pub fn rate(&self) -> f64 {
        self.arrived / self.watched_days.max(1e-3)
    }

    /// The rate at each hour of the day, in entries per day.
    ///
    /// Hours are smoothed with their neighbours and shrunk towards the mean: ten entries are not a pattern yet.
    pub fn rates(&self) -> [f64; 24] {
        let total: f64 = self.hours.iter().sum();
        let mut rates = [self.rate(); 24];
        for (hour, rate) in rates.iter_mut().enumerate() {
            let near = |by: usize| self.hours[(hour + by) % 24];
            let smooth = (near(23) + 2.0 * near(0) + near(1)) / 4.0;
            *rate *= 24.0 * (smooth + HOURS_PRIOR / 24.0) / (total + HOURS_PRIOR);
        }
        rates
    }

    /// Updates the estimate from a listing. `since` is the last successful poll. Returns the number of new entries.
    pub fn observe_entries(
        &mut self,
        now: Timestamp,
        since: Option<Timestamp>,
        entries: &[EntrySighting],
        hints: &UpdateHints,
    ) -> u32 {
        let newest = newest_first(now, entries);
        let known: HashSet<u32> = self.window.drain(..).collect();
        let new: Vec<&(u32, Option<Timestamp>)> = newest.iter().filter(|entry| !known.contains(&entry.0)).collect();
        let arrived = new.len() as u32;
        match since {
            // Without remembered entries, even after earlier polls, the estimate starts over.
            Some(since) if !known.is_empty() => {
                let elapsed_s = seconds_between(since, now).max(0.0);
                self.update(now, elapsed_s, f64::from(arrived));
                self.count_hours(new.iter().map(|entry| entry.1), Some(since), now);
                self.window_age_s = window_age_by_dates(now, &newest).or(match arrived {
                    0 => self.window_age_s.map(|age| age + elapsed_s),
                    // Without dates: extrapolate from the share of new entries to the whole list.
                    _ => Some(elapsed_s * newest.len() as f64 / f64::from(arrived)),
                });
            }
            _ => self.initialise(now, &newest, hints),
        }
        self.window = newest.iter().map(|entry| entry.0).collect();
        arrived
    }

    /// Updates the estimate from the links of a page. Pages rotate: a link that returns after it was gone is not new, so
    /// the window remembers links that are no longer listed, and dates do not count, because paths have days at best.
    pub fn observe_links(&mut self, now: Timestamp, since: Option<Timestamp>, keys: &[u32]) -> u32 {
        let before = std::mem::take(&mut self.window);
        let known: HashSet<u32> = before.iter().copied().collect();
        let mut unique = HashSet::new();
        let listed: Vec<u32> = keys.iter().map(|key| key & 0xff_ffff).filter(|key| unique.insert(*key)).collect();
        let arrived = listed.iter().filter(|key| !known.contains(key)).count() as u32;
        match since {
            Some(since) if !known.is_empty() => {
                let elapsed_s = seconds_between(since, now).max(0.0);
                self.update(now, elapsed_s, f64::from(arrived));
                self.count_hours((0..arrived).map(|_| None), Some(since), now);
                self.window_age_s = match arrived {
                    0 => self.window_age_s.map(|age| age + elapsed_s),
                    _ => Some(elapsed_s * listed.len() as f64 / f64::from(arrived)),
                };
            }
            _ => self.initialise(now, &[], &UpdateHints::default()),
        }
        self.window = listed;
        self.window.extend(before.into_iter().filter(|key| !unique.contains(key)));
        self.window.truncate(MAX_WINDOW);
        arrived
    }

    /// Updates the estimate: nothing has changed since the last successful poll.
    pub fn observe_unchanged(&mut self, now: Timestamp, since: Option<Timestamp>) {
        let Some(since) = since else { return };
        let elapsed_s = seconds_between(since, now).max(0.0);
        self.update(now, elapsed_s, 0.0);
        self.window_age_s = self.window_age_s.map(|age| age + elapsed_s);
    }

    /// Initialises the estimate from the dates of the first listing.
    fn initialise(&mut self, now: Timestamp, newest: &[(u32, Option<Timestamp>)], hints: &UpdateHints) {
        *self = PublishingRate {
            arrived: declared_rate(hints) * PRIOR_DAYS,
            yield_weight: self.yield_weight,
            ..PublishingRate::default()
        };
        self.window_age_s = window_age_by_dates(now, newest);
        let Some(window_age_s) = self.window_age_s else { return };
        let days = (window_age_s / DAY_S).min(HISTORY_DAYS);
        let dates = || newest.iter().filter_map(|entry| entry.1);
        let age_days = |date: Timestamp| seconds_between(date, now) / DAY_S;
        // The oldest entry marks the start of the interval and is not counted.
        let counted: f64 = dates().map(age_days).filter(|age| *age < days).map(decay).sum();
        self.arrived += counted;
        self.watched_days += HALF_LIFE_DAYS / std::f64::consts::LN_2 * (1.0 - decay(days));
        self.count_hours(dates().filter(|date| age_days(*date) < days).map(Some), None, now);
    }

    /// Adds an observation of `arrived` entries in `elapsed_s` seconds.
    fn update(&mut self, now: Timestamp, elapsed_s: f64, arrived: f64) {
        let expected = self.expected(now, elapsed_s);
        // A count more than three standard deviations off means that the feed has changed; discount old evidence.
        let surprise = (arrived - expected).abs() > 3.0 * (expected + 1.0).sqrt();
        let kept = decay(elapsed_s / DAY_S) * if surprise { SURPRISE_DECAY } else { 1.0 };
        self.arrived = self.arrived * kept + arrived;
        self.watched_days = self.watched_days * kept + elapsed_s / DAY_S;
    }

    /// The expected number of entries in the seconds before `now`.
    fn expected(&self, now: Timestamp, elapsed_s: f64) -> f64 {
        if elapsed_s >= DAY_S {
            return self.rate() * elapsed_s / DAY_S;
        }
        let rates = self.rates();
        let (mut sum, mut left, mut at) = (0.0, elapsed_s, now);
        while left > 0.0 {
            let step = left.min(HOUR_S);
            sum += rates[hour_of(at)] * step / DAY_S;
            left -= step;
            at = at.checked_sub(SignedDuration::from_secs_f64(step)).unwrap_or(at);
        }
        sum
    }

    /// Adds entries to the hourly profile. Entries without a credible date are spread over the hours since the
    /// last poll.
    fn count_hours(
        &mut self,
        dates: impl Iterator<Item = Option<Timestamp>> + Clone,
        since: Option<Timestamp>,
        now: Timestamp,
    ) {
        let count = dates.clone().count() as f64;
        let kept = (1.0 - 1.0 / HOURS_FROM_ENTRIES).powf(count);
        self.hours.iter_mut().for_each(|hour| *hour *= kept);
        for date in dates {
            match (date.filter(|date| since.is_none_or(|since| *date > since)), since) {
                (Some(date), _) => self.hours[hour_of(date)] += 1.0,
                (None, Some(since)) => {
                    let hours = (seconds_between(since, now) / HOUR_S).ceil().clamp(1.0, 24.0);
                    for step in 0..hours as u32 {
                        self.hours[hour_of(later(since, f64::from(step) * HOUR_S))] += 1.0 / hours;
                    }
                }
                (None, None) => {}
            }
        }
    }
}

fn decay(days: f64) -> f64 {
    (-days / HALF_LIFE_DAYS).exp2()
}

fn hour_of(at: Timestamp) -> usize {
    (at.as_second().div_euclid(3600).rem_euclid(24)) as usize
}

/// Unique short keys of the entries, newest first if dated, truncated. Future dates are set to now.
fn newest_first(now: Timestamp, entries: &[EntrySighting]) -> Vec<(u32, Option<Timestamp>)> {
    let mut unique = HashSet::new();
    let mut newest: Vec<(u32, Option<Timestamp>)> = entries
        .iter()
        .map(|entry| (entry.key & 0xff_ffff, entry.date.map(|date| date.min(now))))
        .filter(|entry| unique.insert(entry.0))
        .collect();
    newest.sort_by_key(|entry| std::cmp::Reverse(entry.1));
    newest.truncate(MAX_WINDOW);
    newest
}

/// The window age by the dates of the entries.
fn window_age_by_dates(now: Timestamp, newest: &[(u32, Option<Timestamp>)]) -> Option<f64> {
    let dates: Vec<Timestamp> = newest.iter().filter_map(|entry| entry.1).collect();
    if dates.len() < 2 || dates.len() * 2 < newest.len() {
        return None;
    }
    let last = dates.len() - 1;
    let at = (last as f64 * SCROLLING_SHARE).ceil() as usize;
    Some(seconds_between(dates[at], now).max(0.0) * last as f64 / at as f64)
}

/// The rate declared by `sy:updatePeriod`. Many programs write "hourly" into every feed, so it is only a first guess.
fn declared_rate(hints: &UpdateHints) -> f64 {
    let per_day = match hints.update_period {
        None => return PRIOR_RATE,
        Some(UpdatePeriod::Hourly) => 24.0,
        Some(UpdatePeriod::Daily) => 1.0,
        Some(UpdatePeriod::Weekly) => 1.0 / 7.0,
        Some(UpdatePeriod::Monthly) => 1.0 / 30.0,
        Some(UpdatePeriod::Yearly) => 1.0 / 365.0,
    };
    (per_day * f64::from(hints.update_frequency.unwrap_or(1))).clamp(0.03, 3.0)
}
