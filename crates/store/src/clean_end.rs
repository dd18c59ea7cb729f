//! The mark of a round that ended without anything left to recover.
//!
//! The first lock of a process searches the home for what a crash may have left. Folders with an entry for each day are
//! listed for that, so that the search costs more every year. A round that ends well leaves a mark in
//! `state/clean-end`, and the next process to lock the home skips the search. The mark is deleted durably when the home
//! is locked: a crash leaves none. Once a day the home is searched anyway.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use tidings_model::clock;
use tidings_storage::file;

use crate::error::{Context, Result};
use crate::home::{Home, rfc3339};

/// A home is searched again after this time, whatever the mark says.
const SEARCH_AGE: SignedDuration = SignedDuration::from_hours(20);

/// The mark of a clean end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CleanEnd {
    /// The process that left it. Another one may have locked the home since, of a version that does not know the mark.
    pub(crate) process: String,
    /// The time of the last search.
    pub(crate) searched: Timestamp,
    /// Whether there are run logs in files of their own, as in homes of earlier versions.
    pub(crate) has_single_logs: bool,
}

impl CleanEnd {
    /// Reads and deletes the mark. The caller holds the lock.
    pub(crate) fn take(home: &Home) -> Result<Option<CleanEnd>> {
        let path = path(home);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.context("read", &path)?,
        };
        file::remove(&path)?;
        Ok(CleanEnd::parse(&text))
    }

    fn parse(text: &str) -> Option<CleanEnd> {
        let mut fields = text.strip_suffix('\n')?.split(' ');
        let (process, searched, logs) = (fields.next()?, fields.next()?, fields.next()?);
        Some(CleanEnd {
            process: process.to_owned(),
            searched: searched.parse().ok()?,
            has_single_logs: logs != "no-single-logs",
        })
    }

    /// Whether the home need not be searched, if this process held the lock last.
    pub(crate) fn is_valid(&self, holder: Option<&str>, now: Timestamp) -> bool {
        let age = now.duration_since(self.searched);
        holder == Some(&*self.process) && (SignedDuration::ZERO..SEARCH_AGE).contains(&age)
    }

    /// Leaves the mark. It is not synced: without it, the next process searches.
    pub(crate) fn leave(&self, home: &Home) -> Result<()> {
        let path = path(home);
        let logs = if self.has_single_logs { "single-logs" } else { "no-single-logs" };
        let text = format!("{} {} {logs}\n", self.process, rfc3339(self.searched));
        file::make_folder(file::parent(&path))?;
        Ok(file::create_scratch(&path)?.write_all(text.as_bytes()).context("write", &path)?)
    }
}

/// The current time, by which the age of a search is judged.
pub(crate) fn now() -> Timestamp {
    clock::now()
}

fn path(home: &Home) -> PathBuf {
    home.state("clean-end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    /// A file that a search deletes.
    fn leave_draft(home: &Home) -> PathBuf {
        let draft = home.state("feeds.tsv.tmp");
        fs::create_dir_all(draft.parent().unwrap()).unwrap();
        fs::write(&draft, "").unwrap();
        draft
    }

    /// The home as another process opens it.
    fn reopened(home: &Home) -> Home {
        Home::at(home.root()).unwrap()
    }

    fn end_cleanly(home: &Home) {
        let lock = home.lock().unwrap();
        crate::runs::recover(home).unwrap();
        home.end_cleanly(&lock).unwrap();
    }

    #[test]
    fn a_home_is_not_searched_after_a_clean_end() {
        let (_folder, home) = home();
        end_cleanly(&home);
        let draft = leave_draft(&home);
        let next = reopened(&home);
        drop(next.lock().unwrap());
        assert!(draft.exists() && !next.may_have_open_logs() && !path(&home).exists());
        drop(reopened(&home).lock().unwrap());
        assert!(!draft.exists(), "the process before left no mark");
    }

    #[test]
    fn a_process_that_locks_the_home_again_deletes_its_own_mark() {
        let (_folder, home) = home();
        end_cleanly(&home);
        drop(home.lock().unwrap());
        let draft = leave_draft(&home);
        drop(reopened(&home).lock().unwrap());
        assert!(!draft.exists(), "it may have crashed after that");
        end_cleanly(&home);
        drop(home.lock_shared().unwrap());
        assert!(!path(&home).exists());
    }

    #[test]
    fn the_mark_of_another_process_and_an_old_one_are_not_believed() {
        let (_folder, home) = home();
        let end = CleanEnd { process: "7".into(), searched: now(), has_single_logs: false };
        assert!(end.is_valid(Some("7"), now()));
        assert!(!end.is_valid(Some("8"), now()) && !end.is_valid(None, now()));
        assert!(!end.is_valid(Some("7"), now() + SEARCH_AGE));
        assert!(!end.is_valid(Some("7"), now() - SignedDuration::from_hours(1)), "the clock was set back");
        end.leave(&home).unwrap();
        let read = CleanEnd::take(&home).unwrap().unwrap();
        assert_eq!((read.process, read.has_single_logs), (end.process, end.has_single_logs));
        assert_eq!(CleanEnd::take(&home).unwrap(), None);
        for torn in ["", "7", "7 2026-03-01T00:00:00Z no-single-logs", "7 yesterday -\n"] {
            assert_eq!(CleanEnd::parse(torn), None, "{torn}");
        }
    }
}
