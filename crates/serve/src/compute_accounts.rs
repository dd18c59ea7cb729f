//! Computing time that clients have used lately.
//!
//! Quick questions run at normal priority, because most take a few milliseconds. A client whose questions take long again
//! and again has its next ones at low priority, before they slow down those of others.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::window_limiter::ClientId;

/// The computing time that a client may use at once at normal priority.
const BURST: Duration = Duration::from_millis(300);
/// The share of a core that it may use for ever.
const RATE: f64 = 0.25;
/// The number of accounts; those that are settled are dropped when there are more.
const MAX_ACCOUNTS: usize = 10_000;

/// A leaky bucket of computing time for each client.
#[derive(Debug, Default)]
pub(crate) struct ComputeAccounts(Mutex<HashMap<ClientId, Account>>);

#[derive(Debug, Clone, Copy)]
struct Account {
    used: Duration,
    at: Instant,
}

impl Account {
    fn used_at(self, now: Instant) -> Duration {
        self.used.saturating_sub(now.saturating_duration_since(self.at).mul_f64(RATE))
    }
}

impl ComputeAccounts {
    /// Adds computing time that a client has used.
    pub fn charge(&self, client: &ClientId, time: Duration, now: Instant) {
        let mut accounts = self.0.lock().expect("no panic while held");
        if accounts.len() >= MAX_ACCOUNTS && !accounts.contains_key(client) {
            accounts.retain(|_, account| !account.used_at(now).is_zero());
            if accounts.len() >= MAX_ACCOUNTS {
                return;
            }
        }
        let account = accounts.entry(client.clone()).or_insert(Account { used: Duration::ZERO, at: now });
        *account = Account { used: account.used_at(now) + time, at: now };
    }

    /// Returns `true` if a client has used more than it may at normal priority.
    pub fn is_exhausted(&self, client: &ClientId, now: Instant) -> bool {
        let accounts = self.0.lock().expect("no panic while held");
        accounts.get(client).is_some_and(|account| account.used_at(now) > BURST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_exhausted_after_a_burst_and_recovers() {
        let (accounts, start) = (ComputeAccounts::default(), Instant::now());
        let [one, other] = ["a", "b"].map(|name| ClientId::Named(name.to_owned()));
        accounts.charge(&one, BURST * 2, start);
        assert!(accounts.is_exhausted(&one, start) && !accounts.is_exhausted(&other, start));
        assert!(accounts.is_exhausted(&one, start + Duration::from_secs(1)));
        assert!(!accounts.is_exhausted(&one, start + Duration::from_secs(2)));
    }

    #[test]
    fn a_share_of_a_core_is_never_exhausted() {
        let (accounts, start) = (ComputeAccounts::default(), Instant::now());
        let client = ClientId::Named("a".to_owned());
        for second in 0..100 {
            accounts.charge(&client, Duration::from_millis(240), start + Duration::from_secs(second));
        }
        assert!(!accounts.is_exhausted(&client, start + Duration::from_secs(99)));
    }
}
