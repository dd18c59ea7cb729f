//! The poll schedule: when to poll each feed again.
//!
//! Polls are a budget to be spent where they reduce the delay most. If a feed publishes λ entries a day (a Poisson
//! process) and is polled every T days, its entries wait λ·T/2 days per day in total. For a given number of polls
//! the sum over all feeds is minimal when T = c/√λ, with the same c for all feeds. (An interval proportional to
//! the mean gap, the usual rule, is no better than a fixed interval.) The same holds within the day: a feed that
//! pauses at night is polled more by day.
//!
//! Three parts, none of which reads a clock or a file:
//!
//! - [`PublishingRate`]: the estimated rate of one feed by hour of the day, and the age of its window;
//! - [`PollPolicy`]: the c with which all feeds together meet the [`Budget`];
//! - [`server_hints`]: hints of servers (`Retry-After`, `Cache-Control`, `ttl`, `skipHours`) and the backoff after
//!   failures.
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
//! let next = policy.next_poll(&publishing, now, 1, &ServerHints::default());
//! assert!(next.due > now);
//! ```

mod poll_policy;
mod publishing_rate;
pub mod server_hints;
mod yield_weight;

pub use poll_policy::{Budget, NextPoll, PollPolicy};
pub use publishing_rate::{EntrySighting, PublishingRate};
pub use server_hints::{PollFailure, ServerHints};
pub use yield_weight::yield_weight;

use jiff::{SignedDuration, Timestamp};

const HOUR_S: f64 = 3600.0;
const DAY_S: f64 = 86_400.0;

/// Seconds from one time to another; negative if the other is earlier.
fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}

/// Adds seconds to a time, at most a year.
fn later(from: Timestamp, seconds: f64) -> Timestamp {
    let bounded = seconds.clamp(0.0, 366.0 * DAY_S);
    from.checked_add(SignedDuration::from_secs_f64(bounded)).unwrap_or(from)
}
