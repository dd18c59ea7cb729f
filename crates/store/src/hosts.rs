//! The state of hosts between runs, so that delays hold across runs.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

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
    /// Consecutive runs in which it was unreachable.
    pub failures: u32,
    /// Requests sent to it in all.
    pub requests: u64,
}

columns!(HostState { host, last_request, not_before, failures, requests });

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

/// Updates the table with the hosts of a run. The request counts of the run are added.
pub(crate) fn merge(home: &Home, changed: HashMap<String, HostState>) -> Result<()> {
    let add = |old: HostState, new: HostState| HostState {
        requests: old.requests + new.requests,
        failures: if new.failures == 0 { 0 } else { old.failures + new.failures },
        // A Retry-After is recorded before the request that received it.
        last_request: if new.last_request.is_empty() { old.last_request } else { new.last_request },
        ..new
    };
    table::merge(&home.state("hosts.tsv"), changed, |state| state.host.clone(), add)
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
        HostState {
            host: "e.org".into(),
            last_request: last_request.into(),
            failures,
            requests,
            ..HostState::default()
        }
    }

    fn put(home: &Home, state: HostState) {
        merge(home, HashMap::from([(state.host.clone(), state)])).unwrap();
    }

    #[test]
    fn requests_are_summed_and_a_success_resets_failures() {
        let (_folder, home) = home();
        put(&home, state("2026-03-01", 1, 5));
        put(&home, state("2026-03-02", 1, 2));
        assert_eq!(all(&home), [state("2026-03-02", 2, 7)]);
        put(&home, state("", 0, 1));
        assert_eq!(all(&home), [state("2026-03-02", 0, 8)], "a state without a time keeps the last one");
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
