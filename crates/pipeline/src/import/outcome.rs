//! The outcome of an import.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::display::{count, grouped, span_s};
use crate::outcome::{Outcome, Status};

/// Files of unknown format that an outcome names.
const MAX_NAMED: usize = 8;
/// The reason for skipping files of unknown format.
const UNKNOWN_FILE: &str = "unknown-file";
/// The reason for skipping unreadable records.
pub const DAMAGED: &str = "damaged";

/// The outcome of an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ImportOutcome {
    /// Whether every input was read completely.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Inputs that were read.
    pub files: u64,
    /// Inputs that were imported before.
    pub files_known: u64,
    /// Inputs that were not read to their ends.
    pub files_failed: Vec<String>,
    /// The first files in folders whose format is unknown.
    pub files_unknown: Vec<String>,
    /// Pages that were imported.
    pub pages: u64,
    /// Texts among them without a date, which are stored under the day of the import.
    #[serde(default)]
    pub undated: u64,
    /// Entries that are new in the plan.
    pub entries: u64,
    /// Records that yielded no page, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The time that it took.
    pub seconds: f64,
    /// Lines about lists of feeds and plans.
    #[serde(skip)]
    notes: Vec<String>,
}

impl ImportOutcome {
    /// The outcome of an import with these files of unknown format.
    pub(super) fn of_unknown(unknown: Vec<PathBuf>) -> ImportOutcome {
        let mut outcome = ImportOutcome::default();
        if !unknown.is_empty() {
            outcome.left_out.insert(UNKNOWN_FILE.to_owned(), unknown.len() as u64);
        }
        outcome.files_unknown = unknown.iter().take(MAX_NAMED).map(|path| path.display().to_string()).collect();
        outcome
    }

    /// Adds a line for people.
    pub(super) fn note(&mut self, line: String) {
        self.notes.push(line);
    }
}

impl Outcome for ImportOutcome {
    fn status(&self) -> Status {
        let is_whole = self.files_failed.is_empty() && !self.left_out.contains_key(DAMAGED);
        if is_whole { Status::Done } else { Status::Partly }
    }
}

impl fmt::Display for ImportOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notes.iter().try_for_each(|line| f.write_str(line))?;
        if self.notes.is_empty() || self.pages > 0 || !self.files_unknown.is_empty() {
            let what = if self.dry_run { "would be imported" } else { "imported" };
            write!(f, "{} read: {} {what}", count(self.files, "file"), count(self.pages, "page"))?;
            let left_out: u64 = self.left_out.values().sum();
            if left_out > 0 {
                let mut reasons: Vec<(&String, &u64)> = self.left_out.iter().collect();
                reasons.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), *name));
                let listed: Vec<String> = reasons.iter().map(|(name, n)| format!("{} {name}", grouped(**n))).collect();
                write!(f, ", {} skipped ({})", grouped(left_out), listed.join(", "))?;
            }
            if self.undated > 0 {
                write!(f, ", {} without a date under the day of the import", count(self.undated, "text"))?;
            }
            if self.files_known > 0 {
                write!(f, ", {} imported before", count(self.files_known, "file"))?;
            }
            writeln!(f, ", {}", span_s(self.seconds))?;
        }
        if !self.files_unknown.is_empty() {
            let all = self.left_out.get(UNKNOWN_FILE).copied().unwrap_or_default();
            let more = all.saturating_sub(self.files_unknown.len() as u64);
            let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
            writeln!(f, "{UNKNOWN_FILE}: {}{more}; give the format with --from", self.files_unknown.join(", "))?;
        }
        if !self.files_failed.is_empty() {
            writeln!(f, "not read completely: {}", self.files_failed.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcome_counts_imported_and_skipped_records() {
        let left_out = BTreeMap::from([("request".to_owned(), 3), ("empty".to_owned(), 1_000)]);
        let outcome = ImportOutcome { files: 2, pages: 1, files_known: 1, left_out, ..ImportOutcome::default() };
        assert_eq!(
            outcome.to_string(),
            "2 files read: 1 page imported, 1,003 skipped (1,000 empty, 3 request), 1 file imported before, 0.0 s\n"
        );
        assert_eq!(outcome.status(), Status::Done);
    }

    #[test]
    fn texts_without_a_date_are_counted() {
        let outcome = ImportOutcome { files: 1, pages: 5, undated: 2, ..ImportOutcome::default() };
        assert_eq!(
            outcome.to_string(),
            "1 file read: 5 pages imported, 2 texts without a date under the day of the import, 0.0 s\n"
        );
    }

    #[test]
    fn unknown_files_are_counted_and_the_first_are_listed() {
        let unknown: Vec<PathBuf> = (0..10).map(|number| format!("{number}.bin").into()).collect();
        let outcome = ImportOutcome::of_unknown(unknown);
        assert_eq!(outcome.left_out[UNKNOWN_FILE], 10);
        let text = outcome.to_string();
        assert!(text.ends_with("unknown-file: 0.bin, 1.bin, 2.bin, 3.bin, 4.bin, 5.bin, 6.bin, 7.bin and 2 more; give the format with --from\n"), "{text}");
    }

    #[test]
    fn damage_and_failures_make_an_import_partial() {
        let damaged = ImportOutcome { left_out: [(DAMAGED.to_owned(), 1)].into(), ..ImportOutcome::default() };
        assert_eq!(damaged.status(), Status::Partly);
        let failed = ImportOutcome { files_failed: vec!["a.warc".to_owned()], ..ImportOutcome::default() };
        assert_eq!(failed.status(), Status::Partly);
        assert!(failed.to_string().ends_with("not read completely: a.warc\n"));
    }

    #[test]
    fn an_import_of_a_feed_list_has_its_own_text() {
        let mut outcome = ImportOutcome::default();
        outcome.note("2 feeds read from a.opml: 2 added to feeds.txt\n".to_owned());
        assert_eq!(outcome.to_string(), "2 feeds read from a.opml: 2 added to feeds.txt\n");
    }
}
