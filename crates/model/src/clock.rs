//! The wall clock of the process.
//!
//! This is the only place that reads the system time. The demo simulates ten years in a minute and tests simulate
//! a month: both set this clock instead of waiting. The clock of the demo stands still while it works, so that all times
//! in its files are the same on every machine. Durations are measured with a monotonic clock instead.

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

/// The time at which this clock stands, in milliseconds; [`RUNNING`] if it runs.
static STOPPED_AT: AtomicI64 = AtomicI64::new(RUNNING);
const RUNNING: i64 = i64::MIN;

/// A remembered time may be this far in the future before the clock counts as wrong: clocks are corrected by small
/// steps.
pub const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);

/// The current time.
pub fn now() -> Timestamp {
    let stopped_at = STOPPED_AT.load(Ordering::Acquire);
    if stopped_at != RUNNING {
        return Timestamp::from_millisecond(stopped_at).unwrap_or(Timestamp::MAX);
    }
    let ahead = SignedDuration::from_millis(AHEAD.load(Ordering::Acquire));
    Timestamp::now().checked_add(ahead).unwrap_or(Timestamp::MAX)
}

/// Sets the clock of this process, which then runs on from there.
pub fn set(time: Timestamp) {
    AHEAD.store(ahead_of_the_machine(time), Ordering::Release);
    STOPPED_AT.store(RUNNING, Ordering::Release);
}

/// Lets the clock of this process show the time of the machine again.
pub fn follow_machine() {
    AHEAD.store(0, Ordering::Release);
    STOPPED_AT.store(RUNNING, Ordering::Release);
}

/// Stops the clock of this process at a time, until the next call of this function or of [`set`].
pub fn stop_at(time: Timestamp) {
    STOPPED_AT.store(time.as_millisecond(), Ordering::Release);
}

fn ahead_of_the_machine(time: Timestamp) -> i64 {
    time.as_millisecond() - Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_clock_shows_one_time_until_it_is_set() {
        let then = Timestamp::constant(1_451_606_400, 0);
        stop_at(then);
        assert_eq!((now(), now()), (then, then));
        set(then);
        assert!((then..then + SignedDuration::from_hours(1)).contains(&now()));
        stop_at(then);
        follow_machine();
        assert!(now() > Timestamp::constant(1_700_000_000, 0));
    }
}
