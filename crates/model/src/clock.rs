//! The clock on the wall: the one place that reads it.
//!
//! The demo plays ten years in a minute, and tests play a month: both turn this clock instead of waiting. How long
//! something takes is never read from it; for that there are clocks that nobody sets.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

/// How far the clock of this process is ahead of the machine's, in milliseconds. `TIDINGS_CLOCK` starts a debug build
/// at another time, for tests that play the program through weeks.
static AHEAD: LazyLock<AtomicI64> = LazyLock::new(|| {
    let wanted = || std::env::var("TIDINGS_CLOCK").ok()?.parse().ok();
    let wanted: Option<Timestamp> = if cfg!(debug_assertions) { wanted() } else { None };
    AtomicI64::new(wanted.map_or(0, ahead_of_the_machine))
});

/// What time it is.
pub fn now() -> Timestamp {
    let ahead = SignedDuration::from_millis(AHEAD.load(Ordering::Acquire));
    Timestamp::now().checked_add(ahead).unwrap_or(Timestamp::MAX)
}

/// Turns the clock of this process to a time, from which it goes on.
pub fn turn_to(time: Timestamp) {
    AHEAD.store(ahead_of_the_machine(time), Ordering::Release);
}

fn ahead_of_the_machine(time: Timestamp) -> i64 {
    time.as_millisecond() - Timestamp::now().as_millisecond()
}
