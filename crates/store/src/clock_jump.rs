//! Jumps of the clock ahead: the first run after a long pause may be a run under a wrong clock.
//!
//! Such a run goes on, but what it would delete by age may be young. A jump is therefore recorded, and until runs on
//! several days under the new date have confirmed it, nothing is deleted by age. `status` raises an alert as long.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tidings_storage::write_atomic;

use crate::error::Result;
use crate::home::{Home, rfc3339};
use crate::runs;
use crate::table::{self, columns};

/// A pause between two runs that is longer counts as a jump.
const LONGEST_PAUSE_DAYS: i32 = 45;
/// The number of days with runs that confirm the new date.
const CONFIRMING_DAYS: usize = 7;

/// A jump of the clock that is not confirmed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockJump {
    /// The last day with runs before the jump.
    pub from: Date,
    /// The start of the first run after it.
    pub to: Timestamp,
}

/// A row of `state/clock-jump.tsv`.
#[derive(Debug, Clone, Default)]
struct JumpRow {
    from: String,
    to: String,
}

columns!(JumpRow { from, to });

fn path(home: &Home) -> std::path::PathBuf {
    home.state("clock-jump.tsv")
}

fn day_of(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}

impl ClockJump {
    /// The recorded jump, even if the clock was set back since.
    fn recorded(home: &Home) -> Result<Option<ClockJump>> {
        let mut found = None;
        table::read(&path(home), |row: JumpRow| {
            found = row.from.parse().ok().zip(row.to.parse().ok()).map(|(from, to)| ClockJump { from, to });
        })?;
        Ok(found)
    }

    fn record(self, home: &Home) -> Result<()> {
        let row = JumpRow { from: self.from.to_string(), to: rfc3339(self.to) };
        Ok(write_atomic(&path(home), table::text([row].into_iter()).as_bytes())?)
    }

    /// The jump that is not confirmed at this time, if there is one.
    pub fn pending(home: &Home, now: Timestamp) -> Result<Option<ClockJump>> {
        Ok(ClockJump::recorded(home)?.filter(|jump| jump.to <= now))
    }

    /// Compares the clock with the days of earlier runs at the start of a run; records a jump, or that it is confirmed.
    /// Returns the jump that is not confirmed yet. The home must be locked.
    pub fn observe(home: &Home, now: Timestamp) -> Result<Option<ClockJump>> {
        let recorded = ClockJump::recorded(home)?;
        // Every run asks, and after a year the folder of logs has a file for each day.
        if recorded.is_none() && runs::has_day(home, day_of(now)) {
            return Ok(None);
        }
        let days = runs::days(home)?;
        if let Some(jump) = recorded.filter(|jump| jump.to <= now) {
            let confirming = days.iter().filter(|day| **day >= day_of(jump.to) && **day <= day_of(now)).count();
            if confirming < CONFIRMING_DAYS {
                return Ok(Some(jump));
            }
            tidings_storage::file::remove(&path(home))?;
            return Ok(None);
        }
        // Runs after a recorded jump have a wrong date: the clock was set back since.
        let is_trusted = |day: &&Date| **day <= day_of(now) && recorded.is_none_or(|jump| **day < day_of(jump.to));
        let Some(from) = days.iter().rev().find(is_trusted).copied() else { return Ok(None) };
        if (day_of(now) - from).get_days() <= LONGEST_PAUSE_DAYS {
            return Ok(None);
        }
        let jump = ClockJump { from, to: now };
        jump.record(home)?;
        Ok(Some(jump))
    }
}

impl fmt::Display for ClockJump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = (day_of(self.to) - self.from).get_days();
        write!(
            f,
            "the clock jumped {days} days ahead, from {} to {}: if it is wrong, set it right and run `tidings doctor \
             --repair`, because new pages are stored under a wrong day; until runs on {CONFIRMING_DAYS} days have \
             confirmed it, nothing is deleted by age",
            self.from,
            day_of(self.to)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    fn at(text: &str) -> Timestamp {
        format!("{text}T12:00:00Z").parse().unwrap()
    }

    /// A run at noon: what it is told about the clock.
    fn run(home: &Home, day: &str) -> Option<ClockJump> {
        let jump = ClockJump::observe(home, at(day)).unwrap();
        let name = format!("{}-fetch", crate::home::stamp(at(day)));
        if !runs::all(home).unwrap().iter().any(|run| run.name() == name) {
            runs::RunLog::create(home, &name).unwrap().publish().unwrap();
        }
        jump
    }

    #[test]
    fn a_pause_of_weeks_is_no_jump_and_one_of_months_is() {
        let (_folder, home) = home();
        for day in ["2026-03-01", "2026-03-02", "2026-04-15"] {
            assert_eq!(run(&home, day), None, "{day}");
        }
        let jump = run(&home, "2027-04-15").unwrap();
        assert_eq!((jump.from.to_string().as_str(), jump.to), ("2026-04-15", at("2027-04-15")));
        assert!(jump.to_string().starts_with("the clock jumped 365 days ahead, from 2026-04-15 to 2027-04-15: "));
        assert_eq!(ClockJump::pending(&home, at("2027-04-16")).unwrap(), Some(jump));
        assert_eq!(ClockJump::pending(&home, at("2026-04-16")).unwrap(), None);
    }

    #[test]
    fn runs_on_a_week_of_days_confirm_the_new_date() {
        let (_folder, home) = home();
        run(&home, "2026-03-01");
        for day in 10..17 {
            assert!(run(&home, &format!("2026-08-{day}")).is_some(), "{day}");
        }
        assert_eq!(run(&home, "2026-08-17"), None);
        assert_eq!(ClockJump::pending(&home, at("2026-08-18")).unwrap(), None);
    }

    #[test]
    fn runs_under_a_wrong_clock_do_not_hide_the_next_wrong_one() {
        let (_folder, home) = home();
        run(&home, "2026-03-01");
        assert!(run(&home, "2027-03-01").is_some());
        assert_eq!(run(&home, "2026-03-02"), None, "the clock is right again");
        assert!(run(&home, "2027-03-03").is_some());
        assert!(run(&home, "2026-09-01").is_some(), "another wrong date");
    }
}
