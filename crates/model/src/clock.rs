//! The wall clock of the process.
//!
//! This is the only place that reads the system time. The demo simulates ten years in a minute and tests simulate
//! a month: both set this clock instead of waiting. Durations are measured with a monotonic clock instead.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

/// The offset of this clock from the system's, in milliseconds. In debug builds `TIDINGS_CLOCK` sets the initial
/// time, for tests that simulate weeks.
static AHEAD: LazyLock<AtomicI64> = LazyLock::new(|| {
    let wanted = || std::env::var("TIDINGS_CLOCK").ok()?.parse().ok();
    let wanted: Option<Timestamp> = if cfg!(debug_assertions) { wanted() } else { None };
    AtomicI64::new(wanted.map_or(0, ahead_of_the_machine))
});

/// A remembered time may be this far in the future before the clock counts as wrong: clocks are corrected by small
/// steps.
pub const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);

/// The current time.
pub fn now() -> Timestamp {
    let ahead = SignedDuration::from_millis(AHEAD.load(Ordering::Acquire));
    Timestamp::now().checked_add(ahead).unwrap_or(Timestamp::MAX)
}

/// Sets the clock of this process, which then runs on from there.
pub fn set(time: Timestamp) {
    AHEAD.store(ahead_of_the_machine(time), Ordering::Release);
}

fn ahead_of_the_machine(time: Timestamp) -> i64 {
    time.as_millisecond() - Timestamp::now().as_millisecond()
}
