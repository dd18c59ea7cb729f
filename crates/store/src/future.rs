//! Remembered times in the future: the trace of a clock that was ahead.
//!
//! A run under a clock a year ahead notes a year's worth of patience. Every reader of such a time bounds it by its rule
//! from now, so that the harvest goes on. This module counts the times for `status`, and deletes them for `doctor`.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tidings_model::clock;
use tidings_storage::AtomicFile;

use crate::error::Result;
use crate::home::{Home, rfc3339};
use crate::{failures, feeds, hosts, runs};

/// The numbers of remembered times in the future.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FutureTimes {
    /// Feeds polled in the future, or due too late.
    pub feeds: u64,
    /// Hosts contacted in the future, or blocked for too long.
    pub hosts: u64,
    /// Pages that failed in the future.
    pub pages: u64,
    /// Runs that began in the future.
    pub runs: u64,
    /// The latest of these runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<Timestamp>,
}

impl FutureTimes {
    /// Counts the times of a home that are in the future. A feed is never due later than `longest_poll_wait` from now.
    pub fn count(home: &Home, now: Timestamp, longest_poll_wait: SignedDuration) -> Result<FutureTimes> {
        let feeds = feeds::states(home)?.values().filter(|state| state.is_ahead_of(now, longest_poll_wait)).count();
        let mut found = FutureTimes { feeds: feeds as u64, ..FutureTimes::default() };
        hosts::read(home, |state| found.hosts += u64::from(state.is_ahead_of(now)))?;
        found.pages = failures::all(home)?.iter().filter(|page| page.is_ahead_of(now)).count() as u64;
        let known = acknowledged(home);
        let latest = now.checked_add(clock::TOLERANCE).unwrap_or(now).max(known.unwrap_or(Timestamp::MIN));
        for run in runs::newest_first(home)? {
            let began = run?.began();
            if began <= latest {
                break;
            }
            found.runs += 1;
            found.last_run = found.last_run.max(Some(began));
        }
        Ok(found)
    }

    /// Returns true if no remembered time is in the future.
    pub fn is_empty(&self) -> bool {
        self.feeds + self.hosts + self.pages + self.runs == 0
    }

    /// Deletes the times of a home that are in the future, and notes that its runs up to the latest are known to have
    /// a wrong date. Returns the number of times that were deleted. The home must be locked.
    pub fn repair(home: &Home, now: Timestamp, longest_poll_wait: SignedDuration) -> Result<FutureTimes> {
        let found = FutureTimes::count(home, now, longest_poll_wait)?;
        if found.feeds > 0 {
            feeds::forget_future(home, now, longest_poll_wait)?;
        }
        if found.hosts > 0 {
            hosts::forget_future(home, now)?;
        }
        if found.pages > 0 {
            failures::forget_future(home, now)?;
        }
        if let Some(last_run) = found.last_run {
            let mut draft = AtomicFile::create(&path(home))?;
            draft.write(format!("{}\n", rfc3339(last_run)).as_bytes())?;
            draft.publish()?;
        }
        Ok(found)
    }
}

fn path(home: &Home) -> std::path::PathBuf {
    home.state("clock.txt")
}

/// The start of the latest run that a repair found in the future.
fn acknowledged(home: &Home) -> Option<Timestamp> {
    std::fs::read_to_string(path(home)).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feeds::FeedState;
    use crate::hosts::HostState;
    use crate::journal::Record;
    use crate::testing::{home, write_journal};

    const WAIT: SignedDuration = SignedDuration::from_hours(48);

    #[test]
    fn a_repair_forgets_times_in_the_future_and_nothing_else() {
        let (_folder, home) = home();
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let ahead = now + SignedDuration::from_hours(24 * 365);
        let feed = |feed: &str, checked: Timestamp| {
            let due = rfc3339(checked + SignedDuration::from_hours(1));
            let state =
                FeedState { feed: feed.into(), checked: rfc3339(checked), due, failures: 2, ..FeedState::default() };
            Record::Poll(Box::new(state))
        };
        let host = |host: &str, last: Timestamp| {
            let last_request = rfc3339(last);
            Record::Host(Box::new(HostState { host: host.into(), last_request, ..HostState::default() }))
        };
        let records = vec![feed("f", now), feed("g", ahead), host("a.example", now), host("b.example", ahead)];
        write_journal(&home, "run", &[records]);
        crate::apply_journal::apply_journal(&home).unwrap();
        runs::RunLog::create(&home, "20270301T120000000Z-fetch").unwrap().publish().unwrap();

        let found = FutureTimes::count(&home, now, WAIT).unwrap();
        assert_eq!((found.feeds, found.hosts, found.pages, found.runs), (1, 1, 0, 1));
        assert!(FutureTimes::count(&home, ahead, WAIT).unwrap().is_empty());
        assert_eq!(FutureTimes::repair(&home, now, WAIT).unwrap(), found);
        assert!(FutureTimes::count(&home, now, WAIT).unwrap().is_empty());
        let states = feeds::states(&home).unwrap();
        assert_eq!((states["f"].due.is_empty(), states["g"].due.is_empty()), (false, true));
        assert_eq!((states["g"].checked.as_str(), states["g"].failures), ("2026-03-01T12:00:00.000Z", 2));
    }
}
