//! The retry policy: when a page that failed is requested again, and when it is given up.
//!
//! Time decides, not the number of runs: with hourly runs, an outage of four hours must not lose a page that a daily
//! run would have stored. Attempts follow each other with exponential backoff. A failure of the host, as opposed to the
//! page, is no attempt, because it says nothing about the page.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::{Status, clock};

/// The wait after a first failure; each further one doubles it.
const FIRST_WAIT: SignedDuration = SignedDuration::from_mins(15);
/// The longest wait between two attempts, and the time after which a verdict on a listed page is checked again.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(24);
/// How much longer than for its own failures a page is kept for failures of its host.
const HOST_PATIENCE: i32 = 10;

/// The wait after a number of failures in a row (exponential backoff, at most a day).
pub fn backoff(failures: u32) -> Duration {
    if failures == 0 {
        return Duration::ZERO;
    }
    let doublings = failures.saturating_sub(1).min(7);
    FIRST_WAIT.saturating_mul(1 << doublings).min(LONGEST_WAIT).unsigned_abs()
}

/// The failures of a page so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureHistory {
    /// The time of the first failure.
    pub first: Timestamp,
    /// The time of the last failure.
    pub last: Timestamp,
    /// Failures in a row, including those of the host.
    pub failures: u32,
}

impl FailureHistory {
    /// The history of a page that failed for the first time.
    pub fn begin(at: Timestamp) -> FailureHistory {
        FailureHistory { first: at, last: at, failures: 1 }
    }

    /// Adds a failure. Times after it come from a clock that was ahead, and are corrected.
    #[must_use]
    pub fn with_failure(self, at: Timestamp) -> FailureHistory {
        // The same failure is added twice if a journal is applied again after a crash.
        let failures = if at == self.last { self.failures } else { self.failures.saturating_add(1) };
        FailureHistory { first: self.first.min(at), last: at, failures }
    }
}

/// What is to happen with an entry of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prospect {
    /// It is requested by the next fetch.
    Due,
    /// It is requested again after this time.
    Waits(Timestamp),
    /// It failed for too long.
    GivenUp,
    /// It is stored, or its failure is permanent.
    Settled,
}

/// The rule by which pages are retried and given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// A page is given up if it still fails this long after its first failure.
    pub give_up_after: SignedDuration,
    /// A page is not given up for its own failures before as many attempts.
    pub min_attempts: u32,
}

impl RetryPolicy {
    /// The time for which pages of a host are kept that cannot be reached.
    pub fn host_patience(&self) -> SignedDuration {
        self.give_up_after.max(LONGEST_WAIT).saturating_mul(HOST_PATIENCE)
    }

    /// What is to happen with an entry, given its status, its number of attempts, whether its feed still lists it, and
    /// its failures, as far as they are known.
    pub fn prospect(
        &self,
        status: &Status,
        attempts: u32,
        is_listed: bool,
        history: Option<&FailureHistory>,
        now: Timestamp,
    ) -> Prospect {
        if *status == Status::New {
            return Prospect::Due;
        }
        if status.is_final() {
            return match history {
                _ if !status.is_checked_again() || !is_listed => Prospect::Settled,
                Some(history) => waits(history.last, LONGEST_WAIT, now),
                None => Prospect::Due,
            };
        }
        let Some(history) = history else {
            // Not requested yet because of its host, or an entry of a version that counted attempts only.
            let is_given_up = attempts >= self.min_attempts && !is_listed;
            return if is_given_up { Prospect::GivenUp } else { Prospect::Due };
        };
        // A failure in the future comes from a clock that was ahead.
        if history.last.duration_since(now) > clock::TOLERANCE {
            return Prospect::Due;
        }
        let failing_for = history.last.duration_since(history.first);
        let is_own = attempts >= self.min_attempts && failing_for >= self.give_up_after;
        if is_own || failing_for >= self.host_patience() {
            return Prospect::GivenUp;
        }
        // The host has a backoff of its own, so the page waits only if that does not help.
        let counted = history.failures - u32::from(status.is_host_trouble() && history.failures > 0);
        let wait = SignedDuration::try_from(backoff(counted)).unwrap_or(LONGEST_WAIT);
        waits(history.last, wait, now)
    }
}

/// Waits from a past time on; a time in the future comes from a clock that was ahead and counts for nothing.
fn waits(from: Timestamp, wait: SignedDuration, now: Timestamp) -> Prospect {
    match from.checked_add(wait) {
        Ok(until) if from.duration_since(now) <= clock::TOLERANCE && until > now => Prospect::Waits(until),
        _ => Prospect::Due,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: SignedDuration = SignedDuration::from_hours(1);
    const POLICY: RetryPolicy = RetryPolicy { give_up_after: SignedDuration::from_hours(72), min_attempts: 3 };

    fn start() -> Timestamp {
        "2026-03-01T12:00:00Z".parse().unwrap()
    }

    /// A page in virtual time: requested by a run every `every`, it fails with `status` until it is healed or given up.
    /// Returns the times of the attempts in hours and the last prospect.
    fn attempts(status: &Status, every: SignedDuration, healed_after: SignedDuration) -> (Vec<f64>, Prospect) {
        let (mut tried, mut attempts, mut history) = (Vec::new(), 0, None::<FailureHistory>);
        let mut now = start();
        let mut is = Status::New;
        loop {
            match POLICY.prospect(&is, attempts, true, history.as_ref(), now) {
                Prospect::Due => {
                    let since = now.duration_since(start());
                    tried.push(since.as_secs_f64() / 3600.0);
                    if since >= healed_after {
                        return (tried, Prospect::Settled);
                    }
                    is = status.clone();
                    attempts += u32::from(!status.is_host_trouble());
                    history = Some(history.map_or(FailureHistory::begin(now), |history| history.with_failure(now)));
                }
                Prospect::Waits(until) => assert!(until > now && until <= now + LONGEST_WAIT),
                end => return (tried, end),
            }
            now += every;
        }
    }

    #[test]
    fn the_wait_doubles_up_to_a_day() {
        let minutes = |failures| backoff(failures).as_secs() / 60;
        assert_eq!([0, 1, 2, 3, 4, 7, 8, u32::MAX].map(minutes), [0, 15, 30, 60, 120, 960, 1440, 1440]);
    }

    #[test]
    fn an_outage_of_hours_or_days_gives_nothing_up_however_often_runs_come() {
        for every in [SignedDuration::from_mins(1), HOUR, HOUR * 24] {
            for status in ["500", "503", "429", "timeout", "dns", "cut"] {
                for hours in [4, 24, 60] {
                    let (tried, end) = attempts(&status.parse().unwrap(), every, HOUR * hours);
                    assert_eq!(end, Prospect::Settled, "{status}, every {every:?}, {hours} h: {tried:?}");
                    assert!(tried.len() < 12, "{tried:?}");
                }
            }
        }
    }

    #[test]
    fn a_page_that_fails_for_days_is_given_up_and_the_distances_grow() {
        let (tried, end) = attempts(&Status::Http(500), HOUR, HOUR * 10_000);
        assert_eq!(
            (tried.as_slice(), end),
            (&[0.0, 1.0, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 57.0, 81.0][..], Prospect::GivenUp)
        );
    }

    #[test]
    fn rare_runs_still_make_the_least_number_of_attempts() {
        let (tried, end) = attempts(&Status::Http(500), HOUR * 24 * 7, HOUR * 10_000);
        assert_eq!((tried.len(), end), (3, Prospect::GivenUp));
    }

    #[test]
    fn failures_of_the_host_end_after_a_month() {
        let (tried, end) = attempts(&Status::Http(503), HOUR, HOUR * 10_000);
        assert_eq!(end, Prospect::GivenUp);
        assert!((720.0..760.0).contains(tried.last().unwrap()), "{tried:?}");
    }

    #[test]
    fn robots_and_private_are_checked_again_after_a_day_while_listed() {
        let history = FailureHistory::begin(start());
        for word in ["robots", "private"] {
            let status: Status = word.parse().unwrap();
            let of = |listed, hours| POLICY.prospect(&status, 1, listed, Some(&history), start() + HOUR * hours);
            assert_eq!(of(true, 1), Prospect::Waits(start() + HOUR * 24));
            assert_eq!(
                (of(true, 24), of(false, 24), of(true, 10_000)),
                (Prospect::Due, Prospect::Settled, Prospect::Due)
            );
        }
        let settled = POLICY.prospect(&Status::Http(404), 1, true, Some(&history), start() + HOUR * 48);
        assert_eq!(settled, Prospect::Settled);
    }

    #[test]
    fn entries_of_versions_that_counted_attempts_are_given_up_only_if_not_listed() {
        let of = |attempts, listed| POLICY.prospect(&Status::failed("timeout"), attempts, listed, None, start());
        assert_eq!((of(2, false), of(3, false), of(3, true)), (Prospect::Due, Prospect::GivenUp, Prospect::Due));
    }

    #[test]
    fn a_failure_under_a_clock_that_was_ahead_does_not_give_up_and_does_not_wait() {
        let ahead = start() + HOUR * 24 * 365;
        let history = FailureHistory::begin(start()).with_failure(ahead);
        let of = |history: &FailureHistory| POLICY.prospect(&Status::Http(500), 9, true, Some(history), start() + HOUR);
        assert_eq!(of(&history), Prospect::Due);
        let corrected = history.with_failure(start() + HOUR);
        assert_eq!((corrected.first, corrected.failures), (start(), 3));
        assert!(matches!(of(&corrected), Prospect::Waits(_)));
        let began_ahead = FailureHistory::begin(ahead).with_failure(start());
        assert_eq!((began_ahead.first, began_ahead.last), (start(), start()));
    }

    #[test]
    fn the_same_failure_counts_once() {
        let once = FailureHistory::begin(start());
        assert_eq!(once.with_failure(start()), once);
    }
}
