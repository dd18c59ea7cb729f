//! Outcomes: the results of runs as typed values.
//!
//! Every outcome is a serde type (read by programs as JSON) with a `Display` (read by people as text) and a [`Status`].

use std::fmt::Display;
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};

use crate::cancel::StopReason;
use crate::display::count;

/// Whether the work was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All of it.
    #[default]
    Done,
    /// All but some items, each of which was reported with its reason.
    Partly,
    /// Not all of it, without an error.
    NotDone,
}

/// The result of a piece of work.
pub trait Outcome: Serialize + Display {
    /// Whether the work was done.
    fn status(&self) -> Status {
        Status::Done
    }
}

/// Serialises a path as `Display` shows it: bytes that are not UTF-8, which JSON cannot hold, become U+FFFD.
///
/// Serde's own implementation returns an error for such a path, and an outcome must serialise.
pub fn serialize_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// The ending of a run over units of work.
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
    /// Whether the run did all it could: a time limit is a normal end, every other reason is not.
    pub fn is_done(&self) -> bool {
        matches!(self.reason, None | Some(StopReason::TimeLimit))
    }

    /// The text of a shard that had nothing to do while other shards have units due; `None` for other runs.
    pub fn idle_shard(&self) -> Option<String> {
        let others = (self.in_other_shards > 0).then_some(self.in_other_shards)?;
        Some(format!("nothing to do in this shard; {} due in others", count(others, "unit")))
    }

    /// The end of a sentence about a run over units with this name; empty if all units are done.
    pub fn text(&self, unit: &str) -> String {
        let left = match self.left {
            0 => String::new(),
            left => format!("; {} left for a later run", count(left, unit)),
        };
        self.after(left)
    }

    /// The same with the caller's own text about the remaining work.
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
    fn an_early_end_is_shown_with_the_number_of_units_left() {
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
    fn a_limit_reached_with_the_last_unit_is_shown_without_a_number() {
        let ending = Ending { left: 0, reason: Some(StopReason::TimeLimit), ..Ending::default() };
        assert_eq!(ending.text("day"), ", the time limit was reached");
    }

    #[test]
    fn callers_may_describe_the_remaining_work_themselves() {
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
    fn a_path_that_is_not_utf_8_serialises() {
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
