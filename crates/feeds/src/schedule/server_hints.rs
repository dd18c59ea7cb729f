//! Polling hints of servers, and the backoff after failures.
//!
//! Hints are respected within limits: half of them come from templates, and a `ttl` of a week must not cost a week of
//! entries. Only `Retry-After` is binding.

use jiff::Timestamp;
use tidings_model::{UpdateHints, Weekday};

use super::{DAY_S, HOUR_S, later, seconds_between};

/// The maximum delay by a hint.
const MAX_HINT_S: f64 = DAY_S;
/// The maximum backoff: a feed that recovers is found within a month.
pub(super) const MAX_BACKOFF_S: f64 = 30.0 * DAY_S;
/// Backoff per failure that may be transient.
const TRANSIENT_STEP_S: f64 = HOUR_S;
/// Backoff per failure that needs a fix by the publisher.
const PERMANENT_STEP_S: f64 = 12.0 * HOUR_S;
/// This many failures in a row are treated as transient.
const TRANSIENT_FAILURES: u32 = 2;

/// Hints of a server about the next poll.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerHints {
    /// The freshness lifetime of the response, in seconds.
    pub fresh_s: Option<f64>,
    /// The `Retry-After` delay, in seconds.
    pub retry_after_s: Option<f64>,
    /// Hours of the day without new entries, in UTC.
    pub skip_hours: Vec<u8>,
    /// Days of the week without new entries.
    pub skip_days: Vec<Weekday>,
}

impl ServerHints {
    /// Adds the hints declared in the feed.
    pub fn with_update_hints(mut self, hints: &UpdateHints) -> ServerHints {
        if let Some(minutes) = hints.ttl_minutes {
            self.fresh_s = Some(self.fresh_s.unwrap_or(0.0).max(f64::from(minutes) * 60.0));
        }
        self.skip_hours.clone_from(&hints.skip_hours);
        self.skip_days.clone_from(&hints.skip_days);
        self
    }

    /// The earliest time for the next poll. `safe_s` is the longest interval without loss of entries.
    pub(super) fn not_before(&self, now: Timestamp, safe_s: f64) -> Timestamp {
        let fresh_s = self.fresh_s.unwrap_or(0.0).min(MAX_HINT_S).min(safe_s);
        let asked_s = self.retry_after_s.unwrap_or(0.0).min(MAX_BACKOFF_S);
        later(now, fresh_s.max(asked_s))
    }

    /// The first time from `due` on that is in no skipped hour or day, but not after `latest`, when entries may be
    /// lost.
    pub(super) fn outside_skipped(&self, due: Timestamp, latest: Timestamp) -> Timestamp {
        let skipped = |at: Timestamp| {
            let hours = at.as_second().div_euclid(3600);
            let hour = hours.rem_euclid(24) as u8;
            // 1 January 1970 was a Thursday.
            let day = (hours.div_euclid(24) + 3).rem_euclid(7) as usize;
            const DAYS: [Weekday; 7] = [
                Weekday::Monday,
                Weekday::Tuesday,
                Weekday::Wednesday,
                Weekday::Thursday,
                Weekday::Friday,
                Weekday::Saturday,
                Weekday::Sunday,
            ];
            self.skip_hours.iter().any(|skip| skip % 24 == hour) || self.skip_days.contains(&DAYS[day])
        };
        if self.skip_hours.is_empty() && self.skip_days.is_empty() {
            return due;
        }
        let mut at = due;
        for _ in 0..72 {
            if !skipped(at) {
                return at.min(latest.max(due));
            }
            let into_hour = at.as_second().rem_euclid(3600) as f64;
            at = later(at, HOUR_S - into_hour);
        }
        // A feed that skips the whole week is ignored.
        due
    }
}

/// The freshness lifetime by `Cache-Control`, `Age` and `Expires`, in seconds (RFC 9111).
pub fn fresh_s(cache_control: Option<&str>, age: Option<&str>, expires: Option<&str>, now: Timestamp) -> Option<f64> {
    let age: f64 = age.and_then(|age| age.trim().parse::<u32>().ok()).map_or(0.0, f64::from);
    if let Some(control) = cache_control {
        let mut max_age = None;
        for directive in control.split(',') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "no-cache" | "no-store" | "must-understand" => return None,
                "max-age" => max_age = value.trim().trim_matches('"').parse::<u64>().ok(),
                _ => {}
            }
        }
        if let Some(max_age) = max_age {
            return Some(max_age as f64 - age).filter(|fresh| *fresh > 0.0);
        }
    }
    let until = crate::date::parse(expires?)?;
    Some(seconds_between(now, until)).filter(|fresh| *fresh > 0.0)
}

/// The delay of a `Retry-After` header, in seconds.
pub fn retry_after_s(value: Option<&str>, now: Timestamp) -> Option<f64> {
    let value = value?.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => seconds as f64,
        // A number beyond 64 bits is a long time, not none.
        Err(_) if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => MAX_BACKOFF_S,
        Err(_) => seconds_between(now, crate::date::parse(value)?),
    };
    Some(wait).filter(|wait| *wait > 0.0)
}

/// A failed poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollFailure {
    /// The number of consecutive failures, including this one.
    pub times: u32,
    /// True if the failure seems permanent and needs a fix by the publisher.
    pub hard: bool,
}

impl PollFailure {
    /// Returns true if the failure may be transient: servers under maintenance return any status.
    pub(super) fn may_be_transient(self) -> bool {
        self.times <= TRANSIENT_FAILURES
    }

    /// The backoff, in seconds. It grows linearly: short outages cost hours, and a dead server costs next to nothing.
    pub(super) fn backoff_s(self) -> f64 {
        let times = f64::from(self.times.max(1));
        let soft = TRANSIENT_STEP_S * times;
        if self.hard && !self.may_be_transient() {
            soft.max(PERMANENT_STEP_S * (times - f64::from(TRANSIENT_FAILURES)))
        } else {
            soft
        }
    }
}
