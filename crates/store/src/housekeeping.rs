//! The time of the last housekeeping, which a round does once a day.

use jiff::{SignedDuration, Timestamp};
use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::{Home, rfc3339};

/// The interval. Less than a day, so that a daily round that starts a little earlier is not left out.
const EVERY: SignedDuration = SignedDuration::from_hours(20);

fn path(home: &Home) -> std::path::PathBuf {
    home.state("housekeeping.txt")
}

/// Whether the last housekeeping was long ago, or in the future by a clock that was set back since.
pub fn is_due(home: &Home, now: Timestamp) -> Result<bool> {
    let last: Option<Timestamp> = std::fs::read_to_string(path(home)).ok().and_then(|text| text.trim().parse().ok());
    Ok(last.is_none_or(|last| last > now || now.duration_since(last) >= EVERY))
}

/// Records that it was done. The caller holds the lock.
pub fn record(home: &Home, now: Timestamp) -> Result<()> {
    Ok(write_atomic(&path(home), format!("{}\n", rfc3339(now)).as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn housekeeping_is_due_after_most_of_a_day_and_after_a_clock_was_set_back() {
        let (_folder, home) = crate::testing::home();
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let due = |hours| is_due(&home, now + SignedDuration::from_hours(hours)).unwrap();
        assert!(due(0));
        record(&home, now).unwrap();
        assert_eq!([due(0), due(19), due(20), due(-1)], [false, false, true, true]);
    }
}
