//! When to ask a feed again.
//!
//! Polls are a budget, and the question is where they do most good. If a feed publishes λ entries
//! a day and is asked every T days, its entries wait λ·T/2 days a day in all; the sum over all
//! feeds is smallest, for a given number of polls, when T = c/√λ with one c for everybody. (An
//! interval in proportion to the mean gap, the usual rule, is exactly as slow as one interval for
//! all.) The same holds within the day: a newsroom that sleeps at night is asked more by day.
//!
//! Three parts, none of which knows a clock or a file:
//!
//! - a [`PublishingRate`] is what was learned about one feed: how much it publishes, at which hours, and
//!   how long its document remembers;
//! - a [`PollPolicy`] is the c that makes all feeds together meet the [`Budget`];
//! - [`hints`] are the wishes of servers, and how patience grows with failures.
//!
//! ```
//! use tidings_feeds::schedule::{Budget, ServerHints, PublishingRate, EntrySighting, PollPolicy};
//!
//! let now: jiff::Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
//! let shown: Vec<EntrySighting> = (1..=20i64)
//!     .map(|n| EntrySighting { key: n as u32, date: Some(now - jiff::SignedDuration::from_hours(n)) })
//!     .collect();
//! let mut publishing = PublishingRate::default();
//! publishing.observe_entries(now, None, &shown, &Default::default());
//! let policy = PollPolicy::fit(Budget::default(), &[&publishing]);
//! let turn = policy.next_poll(&publishing, now, 1, &ServerHints::default());
//! assert!(turn.due > now);
//! ```

pub mod server_hints;
mod publishing_rate;
mod poll_policy;
mod yield_weight;

pub use server_hints::{PollFailure, ServerHints};
pub use publishing_rate::{PublishingRate, EntrySighting};
pub use poll_policy::{Budget, PollPolicy, NextPoll};
pub use yield_weight::yield_weight;

use jiff::{SignedDuration, Timestamp};

const HOUR_S: f64 = 3600.0;
const DAY_S: f64 = 86_400.0;

/// Seconds from one moment to another; negative if the other came first.
fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}

/// A moment some seconds later. No schedule reaches beyond a year.
fn later(from: Timestamp, seconds: f64) -> Timestamp {
    let bounded = seconds.clamp(0.0, 366.0 * DAY_S);
    from.checked_add(SignedDuration::from_secs_f64(bounded)).unwrap_or(from)
}
