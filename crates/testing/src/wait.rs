//! Waiting for a condition instead of for a time.

use std::time::{Duration, Instant};

/// The time after which a test that waits is hung. It bounds failures only: no passing test comes near it.
pub const WATCHDOG: Duration = Duration::from_secs(300);

/// The pause between two looks at a condition.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Waits until a condition holds.
///
/// # Panics
/// If it does not hold within [`WATCHDOG`]; the message names `what`.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < WATCHDOG, "waited {} s in vain until {what}", WATCHDOG.as_secs());
        std::thread::sleep(LOOK_EVERY);
    }
}
