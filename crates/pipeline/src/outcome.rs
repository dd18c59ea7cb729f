//! Outcomes: what a piece of work did, as a value.
//!
//! Every outcome is a serde type (programs read it as JSON) with a `Display` (people read it as text), and tells
//! whether the work was done.

use std::fmt::Display;
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};

use crate::cancel::StopReason;
use crate::display::count;

/// Whether some work was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All of it.
    #[default]
    Done,
    /// All but some items, each of which was named with its reason.
    Partly,
    /// Not all of it, although nothing is broken.
    NotDone,
}

/// What came of some work.
pub trait Outcome: Serialize + Display {
    /// Whether the work was done.
    fn status(&self) -> Status {
        Status::Done
    }
}

/// Serialises a path as `Display` shows it: bytes that are not UTF-8, which JSON cannot hold, become U+FFFD.
///
/// Serde's own way is an error for such a path, and an outcome must serialise.
pub fn serialize_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// How a run over units of work ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// Units that are left for a later run.
    pub left: u64,
    /// The reason, if it ended early.
    pub reason: Option<StopReason>,
    /// `store.min_free_mib`, for the message about a full disk.
    pub min_free_mib: u64,
    /// Units that are due and belong to other shards.
    pub in_other_shards: u64,
}

impl Ending {
    /// Whether the run did what it could: a time limit is an ordinary end, everything else is not.
    pub fn is_done(&self) -> bool {
        matches!(self.reason, None | Some(StopReason::TimeLimit))
    }

    /// The text of a shard that had nothing to do although other shards have; nothing for any other run.
    pub fn idle_shard(&self) -> Option<String> {
        let others = (self.in_other_shards > 0).then_some(self.in_other_shards)?;
        Some(format!("nothing to do in this shard; {} due in others", count(others, "unit")))
    }

    /// The end of a sentence about a run whose units have this name; empty if all was done.
    pub fn text(&self, unit: &str) -> String {
        let left = match self.left {
            0 => String::new(),
            left => format!("; {} left for a later run", count(left, unit)),
        };
        self.after(left)
    }

    /// The same after words of the caller's own about what is left.
    pub fn after(&self, left: String) -> String {
        match &self.reason {
            None | Some(StopReason::Failure) => left,
            Some(StopReason::TimeLimit) => format!("{left}, the time limit was reached"),
            Some(StopReason::Cancelled(cause)) => format!("{left}, stopped by {cause}"),
            Some(StopReason::DiskFull) => {
                let least = self.min_free_mib;
                format!("{left}, stopped because the disk has less than {least} MiB free (store.min_free_mib)")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_end_is_said_with_what_is_left() {
        let ending = |left, reason| Ending { left, reason, min_free_mib: 512, ..Ending::default() };
        assert_eq!(ending(0, None).text("day"), "");
        let late = ending(2, Some(StopReason::TimeLimit));
        assert_eq!(late.text("day"), "; 2 days left for a later run, the time limit was reached");
        assert!(late.is_done());
        let stopped = ending(1, Some(StopReason::Cancelled("SIGINT".into())));
        assert_eq!(stopped.text("day"), "; 1 day left for a later run, stopped by SIGINT");
        assert!(!stopped.is_done());
        assert!(ending(0, Some(StopReason::DiskFull)).text("day").contains("less than 512 MiB"));
    }

    #[test]
    fn a_failure_adds_nothing_to_the_sentence_because_its_error_is_shown() {
        let ending = Ending { left: 1, reason: Some(StopReason::Failure), ..Ending::default() };
        assert_eq!(ending.text("day"), "; 1 day left for a later run");
        assert!(!ending.is_done());
    }

    #[test]
    fn a_limit_reached_with_the_last_unit_is_said_without_a_rest() {
        let ending = Ending { left: 0, reason: Some(StopReason::TimeLimit), ..Ending::default() };
        assert_eq!(ending.text("day"), ", the time limit was reached");
    }

    #[test]
    fn callers_may_say_themselves_what_is_left() {
        let ending = Ending { left: 9, reason: Some(StopReason::Cancelled("SIGTERM".into())), ..Ending::default() };
        assert_eq!(ending.after("; 9 hosts wait".into()), "; 9 hosts wait, stopped by SIGTERM");
    }

    #[test]
    fn the_worst_status_is_the_greatest() {
        assert_eq!([Status::Partly, Status::NotDone, Status::Done].into_iter().max(), Some(Status::NotDone));
        assert_eq!([Status::Partly, Status::Done].into_iter().max(), Some(Status::Partly));
    }

    #[test]
    fn a_status_is_spelt_in_kebab_case() {
        let spelt = |status| serde_json::to_string(&status).unwrap();
        assert_eq!(
            [Status::Done, Status::Partly, Status::NotDone].map(spelt),
            ["\"done\"", "\"partly\"", "\"not-done\""]
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_utf_8_still_serialises() {
        use std::os::unix::ffi::OsStrExt as _;

        #[derive(Serialize)]
        struct Written<'a> {
            #[serde(serialize_with = "serialize_path")]
            path: &'a Path,
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xffb"));
        assert_eq!(serde_json::to_string(&Written { path }).unwrap(), "{\"path\":\"a\u{fffd}b\"}");
    }
}
