//! What is learned about a feed from what it shows.
//!
//! The rate is a Gamma-Poisson estimate whose evidence fades: old entries and old days of watching
//! lose weight together, so that a feed which changes its habits is believed within days, and one
//! that changes them abruptly within hours. It starts from the dates of the entries at the
//! first sight, which is usually weeks of history for nothing.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use tidings_model::{UpdateHints, UpdatePeriod};

use super::{DAY_S, HOUR_S, later, seconds_between};

/// What is assumed of a feed about which nothing is known: entries a day.
const PRIOR_RATE: f64 = 0.3;
/// How firmly: as if it had been watched for this long.
const PRIOR_DAYS: f64 = 1.0;
/// Evidence about the rate has lost half its weight after this long.
const HALF_LIFE_DAYS: f64 = 10.0;
/// The part of the evidence that is kept when a feed does something else than expected.
const SURPRISE_DECAY: f64 = 0.5;
/// Dates of entries count as history as far back as this.
const HISTORY_DAYS: f64 = 60.0;
/// The hours of the day are learned from about the last so many entries.
const HOURS_FROM_ENTRIES: f64 = 400.0;
/// So many entries that came at no particular hour are assumed before the first one is seen.
const HOURS_PRIOR: f64 = 12.0;
/// The share of a document whose age tells how long it remembers. The rest may be entries that
/// somebody pinned to it years ago.
const SCROLLING_SHARE: f64 = 0.8;
/// As many entries are recognised from one poll to the next; the newest of a longer list.
const MAX_WINDOW: usize = 500;

/// An entry as the schedule sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntrySighting {
    /// A hash of what identifies it; its lower 24 bits are remembered.
    pub key: u32,
    /// When it was published, if the feed says so.
    pub date: Option<Timestamp>,
}

/// What is known about how a feed publishes.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishingRate {
    /// Entries that arrived, older ones counting less.
    pub arrived: f64,
    /// Days it has been watched, older ones counting less in the same measure.
    pub watched_days: f64,
    /// Recent entries by the hour of the day, in UTC.
    pub hours: [f64; 24],
    /// Seconds its document reaches back.
    pub window_age_s: Option<f64>,
    /// Entries that it listed last, as 24-bit hashes.
    pub window: Vec<u32>,
    /// What one of its entries is worth, compared with others: clean words that are new.
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
    /// Entries a day, on the whole.
    pub fn rate(&self) -> f64 {
        self.arrived / self.watched_days.max(1e-3)
    }

    /// Entries a day at each hour of the day.
    ///
    /// Each hour borrows from its neighbours, and all of them from the mean: ten entries are no
    /// habit yet.
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

    /// Learns from a document that lists these entries. `since` is the last good look at the feed;
    /// gives how many entries are new since then.
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
            // What was watched before keys were remembered, or forgotten, starts anew as well.
            Some(since) if !known.is_empty() => {
                let elapsed_s = seconds_between(since, now).max(0.0);
                self.update(now, elapsed_s, f64::from(arrived));
                self.count_hours(new.iter().map(|entry| entry.1), Some(since), now);
                self.window_age_s = window_age_by_dates(now, &newest).or(match arrived {
                    0 => self.window_age_s.map(|age| age + elapsed_s),
                    // Without dates: if so many came in that time, the whole list came in this.
                    _ => Some(elapsed_s * newest.len() as f64 / f64::from(arrived)),
                });
            }
            _ => self.initialise(now, &newest, hints),
        }
        self.window = newest.iter().map(|entry| entry.0).collect();
        arrived
    }

    /// Learns that nothing has changed since the last good look.
    pub fn observe_unchanged(&mut self, now: Timestamp, since: Option<Timestamp>) {
        let Some(since) = since else { return };
        let elapsed_s = seconds_between(since, now).max(0.0);
        self.update(now, elapsed_s, 0.0);
        self.window_age_s = self.window_age_s.map(|age| age + elapsed_s);
    }

    /// The first sight: its dates are a history.
    fn initialise(&mut self, now: Timestamp, newest: &[(u32, Option<Timestamp>)], hints: &UpdateHints) {
        *self = PublishingRate { arrived: declared_rate(hints) * PRIOR_DAYS, yield_weight: self.yield_weight, ..PublishingRate::default() };
        self.window_age_s = window_age_by_dates(now, newest);
        let Some(window_age_s) = self.window_age_s else { return };
        let days = (window_age_s / DAY_S).min(HISTORY_DAYS);
        let dates = || newest.iter().filter_map(|entry| entry.1);
        let age_days = |date: Timestamp| seconds_between(date, now) / DAY_S;
        // The first of them opened the stretch that is measured, so it does not count itself.
        let counted: f64 = dates().map(age_days).filter(|age| *age < days).map(decay).sum();
        self.arrived += counted;
        self.watched_days += HALF_LIFE_DAYS / std::f64::consts::LN_2 * (1.0 - decay(days));
        self.count_hours(dates().filter(|date| age_days(*date) < days).map(Some), None, now);
    }

    /// Takes in that so many entries arrived in so much time.
    fn update(&mut self, now: Timestamp, elapsed_s: f64, arrived: f64) {
        let expected = self.expected(now, elapsed_s);
        // What is far from expected tells that the feed has changed, and old evidence is about the
        // feed as it was.
        let surprise = (arrived - expected).abs() > 3.0 * (expected + 1.0).sqrt();
        let kept = decay(elapsed_s / DAY_S) * if surprise { SURPRISE_DECAY } else { 1.0 };
        self.arrived = self.arrived * kept + arrived;
        self.watched_days = self.watched_days * kept + elapsed_s / DAY_S;
    }

    /// Entries to be expected in the time before a moment.
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

    /// Counts entries by their hours. Those without a credible date may have come at any time
    /// since the last look.
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

/// The entries with short keys, each once, the newest first where dates tell, and not too many.
/// No entry is from the future, whatever it says.
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

/// How far back the list reaches, by its dates.
fn window_age_by_dates(now: Timestamp, newest: &[(u32, Option<Timestamp>)]) -> Option<f64> {
    let dates: Vec<Timestamp> = newest.iter().filter_map(|entry| entry.1).collect();
    if dates.len() < 2 || dates.len() * 2 < newest.len() {
        return None;
    }
    let last = dates.len() - 1;
    let at = (last as f64 * SCROLLING_SHARE).ceil() as usize;
    Some(seconds_between(dates[at], now).max(0.0) * last as f64 / at as f64)
}

/// What a feed promises by `sy:updatePeriod`: programs write "hourly" into every feed they make,
/// so it is worth a first guess and no more.
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
