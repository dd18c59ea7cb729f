//! The state of hosts between runs, so that delays hold across runs.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tidings_model::clock;

use crate::error::Result;
use crate::home::{Home, rfc3339};
use crate::table::{self, columns};

/// A host, as `state/hosts.tsv` remembers it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    /// Its name, without port.
    pub host: String,
    /// The end of the last response.
    pub last_request: String,
    /// The time before which the host wants no request (Retry-After).
    pub not_before: String,
    /// Consecutive crawls of pages in which it failed and served none.
    pub failures: u32,
    /// Requests sent to it in all.
    pub requests: u64,
    /// The time of the first of these failures; empty if it does not fail.
    #[serde(default)]
    pub failing_since: String,
    /// The time of the last of these failures, from which its backoff is counted.
    #[serde(default)]
    pub last_failure: String,
    /// The reason of the last failure.
    #[serde(default)]
    pub error: String,
    /// Whether it served a page or a feed in this run, which ends its failures. In the journal only.
    #[serde(default)]
    pub served: bool,
}

columns!(HostState { host, last_request, not_before, failures, requests, failing_since, last_failure, error });

/// Calls `see` with the state of every known host.
pub fn read(home: &Home, see: impl FnMut(HostState)) -> Result<()> {
    table::read(&home.state("hosts.tsv"), see)
}

/// The name of the row for all hosts.
pub const ALL_HOSTS: &str = "*";

/// Records that any host may have been contacted until now, because a crash lost the last requests.
pub(crate) fn note_all_hosts(home: &Home, now: Timestamp) -> Result<()> {
    let state = HostState { host: ALL_HOSTS.to_owned(), last_request: rfc3339(now), ..HostState::default() };
    merge(home, HashMap::from([(state.host.clone(), state)]))
}

/// Updates the table with the hosts of a run. The request counts and failures of the run are added. A host that served
/// nothing and did not fail keeps its failures: it was contacted for a policy file or a feed only.
pub(crate) fn merge(home: &Home, changed: HashMap<String, HostState>) -> Result<()> {
    let add = |old: HostState, new: HostState| {
        let was_failing = if new.served { HostState::default() } else { old.clone() };
        let fails = new.failures > 0;
        // The start of the failure; a start after the last failure comes from a clock that was ahead.
        let earlier = Some(was_failing.failing_since).filter(|since| !since.is_empty());
        let since = earlier.filter(|since| !fails || *since <= new.last_failure).unwrap_or(new.failing_since);
        HostState {
            requests: old.requests + new.requests,
            failures: was_failing.failures + new.failures,
            failing_since: since,
            last_failure: if fails { new.last_failure } else { was_failing.last_failure },
            error: if fails { new.error } else { was_failing.error },
            // A Retry-After is recorded before the request that received it.
            last_request: if new.last_request.is_empty() { old.last_request } else { new.last_request },
            served: false,
            host: new.host,
            not_before: new.not_before,
        }
    };
    table::merge(&home.state("hosts.tsv"), changed, |state| state.host.clone(), add)
}

/// Deletes times after a bound, which come from a clock that was ahead; returns the number of hosts.
pub(crate) fn forget_future(home: &Home, now: Timestamp) -> Result<u64> {
    let mut rows = Vec::new();
    read(home, |state| rows.push(state))?;
    let mut forgotten = 0;
    for state in &mut rows {
        if state.is_ahead_of(now) {
            forgotten += 1;
            for time in [&mut state.last_request, &mut state.not_before] {
                time.clear();
            }
            (state.failures, state.failing_since, state.last_failure) = (0, String::new(), String::new());
        }
    }
    if forgotten > 0 {
        table::write(&home.state("hosts.tsv"), rows.iter())?;
    }
    Ok(forgotten)
}

/// The longest time for which a host may ask for patience.
pub const LONGEST_BLOCK: SignedDuration = SignedDuration::from_hours(24);

impl HostState {
    /// The time before which the host must not be contacted, if it has not passed. A host cannot ask for more than a
    /// day, so a later time, or one noted by a run in the future, comes from a clock that was ahead and is ignored.
    pub fn blocked_until(&self, now: Timestamp) -> Option<Timestamp> {
        let until = self.not_before.parse::<Timestamp>().ok()?;
        (until > now && !self.is_ahead_of(now)).then_some(until)
    }

    /// Returns true if its times come from a clock that was ahead of `now`.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        let is_after =
            |time: &str, slack| time.parse::<Timestamp>().is_ok_and(|time: Timestamp| time.duration_since(now) > slack);
        is_after(&self.not_before, LONGEST_BLOCK)
            || [&self.last_request, &self.failing_since, &self.last_failure]
                .into_iter()
                .any(|time| is_after(time, clock::TOLERANCE))
    }
}

/// Copies the states of hosts to another home, so that delays hold across both. The later times are kept.
pub fn share(from: &Home, to: &Home) -> Result<()> {
    let mut changed = HashMap::new();
    read(from, |state| {
        changed.insert(state.host.clone(), state);
    })?;
    // Timestamps of the same form sort chronologically as text.
    let later = |old: HostState, new: HostState| if new.last_request > old.last_request { new } else { old };
    table::merge(&to.state("hosts.tsv"), changed, |state| state.host.clone(), later)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    fn all(home: &Home) -> Vec<HostState> {
        let mut all = Vec::new();
        read(home, |state| all.push(state)).unwrap();
        all
    }

    fn state(last_request: &str, failures: u32, requests: u64) -> HostState {
        let failing_since = if failures > 0 { last_request.to_owned() } else { String::new() };
        HostState {
            host: "e.org".into(),
            last_request: last_request.into(),
            failures,
            requests,
            last_failure: failing_since.clone(),
            failing_since,
            ..HostState::default()
        }
    }

    fn put(home: &Home, state: HostState) {
        merge(home, HashMap::from([(state.host.clone(), state)])).unwrap();
    }

    #[test]
    fn requests_are_summed_and_only_a_served_request_ends_failures() {
        let (_folder, home) = home();
        put(&home, state("2026-03-01", 1, 5));
        put(&home, state("2026-03-02", 1, 2));
        let failing = HostState { failing_since: "2026-03-01".into(), ..state("2026-03-02", 2, 7) };
        assert_eq!(all(&home), std::slice::from_ref(&failing));
        put(&home, state("", 0, 1));
        assert_eq!(all(&home), [HostState { requests: 8, ..failing }], "a state without a time keeps the last one");
        put(&home, HostState { served: true, ..state("2026-03-03", 0, 1) });
        assert_eq!(all(&home), [state("2026-03-03", 0, 9)]);
        put(&home, HostState { served: true, ..state("2026-03-04", 1, 1) });
        assert_eq!(all(&home), [state("2026-03-04", 1, 10)]);
    }

    #[test]
    fn a_time_to_wait_for_is_bounded_and_one_of_a_clock_that_was_ahead_is_ignored() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let blocked = |last: &str, until: &str| {
            let state = HostState { not_before: until.into(), ..state(last, 0, 1) };
            state.blocked_until(now).map(|until| until.to_string())
        };
        assert_eq!(blocked("2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z").as_deref(), Some("2026-03-01T13:00:00Z"));
        assert_eq!(blocked("2026-03-01T11:00:00Z", "2026-03-01T11:30:00Z"), None);
        assert_eq!(blocked("", "2027-03-01T11:30:00Z"), None);
        assert_eq!(blocked("2026-03-01T17:00:00Z", "2026-03-01T18:00:00Z"), None);
    }

    #[test]
    fn times_in_the_future_are_forgotten_and_requests_kept() {
        let (_folder, home) = home();
        put(&home, state("2027-03-01T12:00:00Z", 1, 5));
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(forget_future(&home, now).unwrap(), 1);
        assert_eq!(all(&home), [state("", 0, 5)]);
        assert_eq!(forget_future(&home, now).unwrap(), 0);
    }

    #[test]
    fn the_later_request_is_kept_when_homes_share_their_hosts() {
        let ((_one, from), (_two, to)) = (home(), home());
        put(&from, state("2026-03-02", 0, 5));
        put(&to, state("2026-03-03", 0, 7));
        share(&from, &to).unwrap();
        assert_eq!(all(&to), [state("2026-03-03", 0, 7)]);
        share(&to, &from).unwrap();
        assert_eq!(all(&from), [state("2026-03-03", 0, 7)]);
    }
}
