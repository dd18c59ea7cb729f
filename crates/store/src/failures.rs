//! The failures of pages that may still be fetched: since when, how often, and why.
//!
//! The plan has the columns of FeedFetcher and no place for them. `state/failures.tsv` has a row for each page that
//! failed and is retried, under the fingerprint of its URL. A page that is stored, or fails for good, leaves the table.

use jiff::{SignedDuration, Timestamp};
use tidings_model::{
    FailureHistory, Fingerprint, FingerprintMap, FingerprintSet, Prospect, RetryPolicy, Row, Status, is_archive,
};
use tidings_model::{address, backoff, clock};

use crate::error::Result;
use crate::home::{Home, rfc3339};
use crate::hosts;
use crate::table::{self, columns};

/// A page that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageFailure {
    /// The fingerprint of its URL, in hexadecimal.
    pub page: String,
    /// The time of the first failure.
    pub first: String,
    /// The time of the last failure.
    pub last: String,
    /// Failures in a row, including those of the host.
    pub failures: u32,
    /// The details of the last failure.
    pub detail: String,
}

columns!(PageFailure { page, first, last, failures, detail });

impl PageFailure {
    fn fingerprint(&self) -> Option<Fingerprint> {
        u64::from_str_radix(&self.page, 16).ok().map(Fingerprint)
    }

    /// Returns true if its times come from a clock that was ahead of `now`.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        let is_after = |time: Timestamp| time.duration_since(now) > clock::TOLERANCE;
        self.history().is_some_and(|history| is_after(history.first) || is_after(history.last))
    }

    /// Its times; `None` if they are damaged, which counts as unknown.
    pub fn history(&self) -> Option<FailureHistory> {
        let (first, last) = (self.first.parse().ok()?, self.last.parse().ok()?);
        Some(FailureHistory { first, last, failures: self.failures.max(1) })
    }
}

/// The outcome of a page in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageOutcome {
    /// It failed and may be tried again.
    Failed {
        /// The time.
        at: Timestamp,
        /// The details.
        detail: String,
    },
    /// It is stored, or failed for good.
    Settled,
}

fn path(home: &Home) -> std::path::PathBuf {
    home.state("failures.tsv")
}

fn write(home: &Home, rows: &[PageFailure]) -> Result<()> {
    table::write(&path(home), rows.iter())
}

/// All rows of the table.
pub fn all(home: &Home) -> Result<Vec<PageFailure>> {
    let mut rows = Vec::new();
    table::read(&path(home), |row| rows.push(row))?;
    Ok(rows)
}

/// The failures of a page.
pub fn of_page(home: &Home, url: &str) -> Result<Option<PageFailure>> {
    let wanted = Fingerprint::of(url);
    let mut found = None;
    table::read(&path(home), |row: PageFailure| {
        if row.fingerprint() == Some(wanted) {
            found = Some(row);
        }
    })?;
    Ok(found)
}

/// Updates the table with the outcomes of a run. Applying them twice changes nothing more.
pub(crate) fn merge(home: &Home, mut outcomes: FingerprintMap<PageOutcome>) -> Result<()> {
    let mut changed = outcomes.values().any(|outcome| *outcome != PageOutcome::Settled);
    let mut rows = Vec::new();
    table::read(&path(home), |row: PageFailure| {
        let history = row.history();
        match row.fingerprint().and_then(|page| outcomes.remove(&page)) {
            None => rows.push(row),
            Some(PageOutcome::Settled) => changed = true,
            Some(PageOutcome::Failed { at, detail }) => {
                let history = history.map_or(FailureHistory::begin(at), |history| history.with_failure(at));
                rows.push(row_of(row.page, history, detail));
            }
        }
    })?;
    let mut new: Vec<(Fingerprint, PageOutcome)> = outcomes.into_iter().collect();
    new.sort_by_key(|(page, _)| *page);
    for (page, outcome) in new {
        if let PageOutcome::Failed { at, detail } = outcome {
            rows.push(row_of(format!("{:016x}", page.0), FailureHistory::begin(at), detail));
        }
    }
    if changed { write(home, &rows) } else { Ok(()) }
}

fn row_of(page: String, history: FailureHistory, detail: String) -> PageFailure {
    let FailureHistory { first, last, failures } = history;
    PageFailure { page, first: rfc3339(first), last: rfc3339(last), failures, detail }
}

/// Deletes the rows of pages that are not among `pages`.
pub(crate) fn retain(home: &Home, pages: &FingerprintSet) -> Result<()> {
    let mut rows = all(home)?;
    let before = rows.len();
    rows.retain(|row| row.fingerprint().is_some_and(|page| pages.contains(&page)));
    if rows.len() < before { write(home, &rows) } else { Ok(()) }
}

/// Deletes rows with times after `now`, which come from a clock that was ahead; returns their number.
pub(crate) fn forget_future(home: &Home, now: Timestamp) -> Result<u64> {
    let mut rows = all(home)?;
    let before = rows.len();
    rows.retain(|row| !row.is_ahead_of(now));
    let forgotten = before - rows.len();
    if forgotten > 0 {
        write(home, &rows)?;
    }
    Ok(forgotten as u64)
}

/// The retry state of all entries of the plan.
pub struct Retries {
    policy: RetryPolicy,
    now: Timestamp,
    pages: FingerprintMap<FailureHistory>,
    /// Hosts that have failed for so long that their pages are given up, with the start of the failure.
    dead_hosts: std::collections::HashMap<String, Timestamp>,
}

impl Retries {
    /// Reads the state of pages and hosts.
    pub fn load(home: &Home, policy: RetryPolicy, now: Timestamp) -> Result<Retries> {
        let mut pages = FingerprintMap::default();
        table::read(&path(home), |row: PageFailure| {
            if let (Some(page), Some(history)) = (row.fingerprint(), row.history()) {
                pages.insert(page, history);
            }
        })?;
        let mut dead_hosts = std::collections::HashMap::new();
        hosts::read(home, |state| {
            if let Ok(since) = state.failing_since.parse::<Timestamp>()
                && now.duration_since(since) >= policy.host_patience()
            {
                dead_hosts.insert(state.host, since);
            }
        })?;
        Ok(Retries { policy, now, pages, dead_hosts })
    }

    /// What is to happen with an entry of the plan.
    pub fn prospect(&self, row: &Row<'_>) -> Prospect {
        // Most rows of a grown plan are finished, which the status shows.
        if row.status == "ok" {
            return Prospect::Settled;
        }
        let status: Status = row.status.parse().expect("any string is a status");
        let is_new = status == Status::New;
        let history = if is_new { None } else { self.pages.get(&Fingerprint::of(row.url)) };
        // No feed lists the entries of a backfill, so that verdicts on them are final.
        let is_listed = row.age == 0 && !is_archive(row.feed);
        let prospect = self.policy.prospect(&status, row.retries, is_listed, history, self.now);
        match prospect {
            Prospect::Due if history.is_none() && self.is_of_dead_host(row) => Prospect::GivenUp,
            prospect => prospect,
        }
    }

    /// Returns true if the host has failed for too long since the entry was listed.
    fn is_of_dead_host(&self, row: &Row<'_>) -> bool {
        if self.dead_hosts.is_empty() {
            return false;
        }
        let host = address::host(row.url).unwrap_or_default().to_ascii_lowercase();
        let Some(since) = self.dead_hosts.get(&host) else { return false };
        let waiting = row.seen.parse::<Timestamp>().map_or(*since, |seen| seen.max(*since));
        self.now.duration_since(waiting) >= self.policy.host_patience()
    }
}

/// The end of the backoff of a host that failed in this many crawls in a row, the last at `last`. A single failure may
/// be an accident and has none. A failure in the future comes from a clock that was ahead and counts for nothing.
pub fn host_backoff_until(failures: u32, last: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let wait = SignedDuration::try_from(backoff(failures.saturating_sub(1))).ok()?;
    let until = last.checked_add(wait).ok()?;
    (last.duration_since(now) <= clock::TOLERANCE && until > now).then_some(until)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    const POLICY: RetryPolicy = RetryPolicy { give_up_after: SignedDuration::from_hours(72), min_attempts: 3 };

    fn at(hours: i64) -> Timestamp {
        "2026-03-01T12:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_hours(hours)
    }

    fn put(home: &Home, url: &str, outcome: PageOutcome) {
        merge(home, [(Fingerprint::of(url), outcome)].into_iter().collect()).unwrap();
    }

    fn failed(hours: i64) -> PageOutcome {
        PageOutcome::Failed { at: at(hours), detail: format!("failure {hours}") }
    }

    fn row<'a>(url: &'a str, status: &'a str, retries: u32, seen: &'a str) -> Row<'a> {
        Row { age: 0, status, retries, seen, published: "", feed: "f", url, title: "" }
    }

    #[test]
    fn failures_are_counted_from_the_first_and_forgotten_when_the_page_is_stored() {
        let (_folder, home) = home();
        put(&home, "http://e.org/a", failed(0));
        put(&home, "http://e.org/b", failed(1));
        put(&home, "http://e.org/a", failed(2));
        put(&home, "http://e.org/a", failed(2));
        let page = of_page(&home, "http://e.org/a").unwrap().unwrap();
        assert_eq!(page.history(), Some(FailureHistory { first: at(0), last: at(2), failures: 2 }));
        assert_eq!(page.detail, "failure 2");
        put(&home, "http://e.org/a", PageOutcome::Settled);
        assert_eq!(of_page(&home, "http://e.org/a").unwrap(), None);
        retain(&home, &FingerprintSet::default()).unwrap();
        assert!(all(&home).unwrap().is_empty());
    }

    #[test]
    fn a_run_without_failures_writes_no_table() {
        let (_folder, home) = home();
        put(&home, "http://e.org/a", PageOutcome::Settled);
        assert!(!path(&home).exists());
    }

    #[test]
    fn an_entry_waits_for_its_backoff() {
        let (_folder, home) = home();
        put(&home, "http://e.org/a", failed(0));
        let prospect = |now| {
            Retries::load(&home, POLICY, now).unwrap().prospect(&row(
                "http://e.org/a",
                "500",
                1,
                "2026-03-01T00:00:00Z",
            ))
        };
        assert!(matches!(prospect(at(0)), Prospect::Waits(_)));
        assert_eq!(prospect(at(1)), Prospect::Due);
    }

    #[test]
    fn pages_of_a_dead_host_are_given_up_a_month_after_they_were_listed() {
        let (_folder, home) = home();
        let state = hosts::HostState {
            host: "dead.example".into(),
            failing_since: rfc3339(at(0)),
            failures: 9,
            ..hosts::HostState::default()
        };
        hosts::merge(&home, [(state.host.clone(), state)].into()).unwrap();
        let prospect =
            |url: &str, seen: &str, now| Retries::load(&home, POLICY, now).unwrap().prospect(&row(url, "new", 0, seen));
        let (old, new) = ("2026-02-01T00:00:00Z", "2026-03-30T00:00:00Z");
        assert_eq!(prospect("http://dead.example/a", old, at(29 * 24)), Prospect::Due);
        assert_eq!(prospect("http://DEAD.example/a", old, at(30 * 24)), Prospect::GivenUp);
        assert_eq!(prospect("http://dead.example/b", new, at(30 * 24)), Prospect::Due, "a host gets new chances");
        assert_eq!(prospect("http://alive.example/a", old, at(30 * 24)), Prospect::Due);
    }

    #[test]
    fn times_in_the_future_are_forgotten() {
        let (_folder, home) = home();
        put(&home, "http://e.org/a", failed(0));
        put(&home, "http://e.org/b", failed(9000));
        assert_eq!(forget_future(&home, at(1)).unwrap(), 1);
        assert_eq!(forget_future(&home, at(1)).unwrap(), 0);
        assert!(of_page(&home, "http://e.org/a").unwrap().is_some());
    }

    #[test]
    fn the_backoff_of_a_host_grows_and_ends() {
        assert_eq!(host_backoff_until(0, at(0), at(0)), None);
        let minutes = |failures| host_backoff_until(failures, at(0), at(0)).unwrap().duration_since(at(0)).as_mins();
        assert_eq!((minutes(2), minutes(3), minutes(20)), (15, 30, 1440));
        assert_eq!((host_backoff_until(1, at(0), at(0)), host_backoff_until(2, at(0), at(1))), (None, None));
        assert_eq!(host_backoff_until(3, at(9000), at(0)), None, "the clock was ahead");
    }
}
