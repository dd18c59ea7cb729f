//! The search of a process for what crashed runs left, and what is known since.
//!
//! After the search, a process knows what it leaves itself, so that the folders with an entry for each day are listed
//! once. A round that ends well passes this on to the next process, see [`crate::clean_end`].

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use jiff::Timestamp;

use crate::clean_end::CleanEnd;
use crate::error::Result;
use crate::home::{Home, Lock};

/// The search of this process for the files of crashed runs.
#[derive(Debug, Default)]
pub(crate) struct CrashSearch {
    /// Whether the home was searched.
    pub(crate) is_done: AtomicBool,
    /// Whether unpublished files of pages were found that are not recovered yet.
    pub(crate) has_parts: AtomicBool,
    /// Whether there is no run log that a run of another process left open.
    pub(crate) has_no_open_logs: AtomicBool,
    /// The run logs that this process has created and not published.
    open_logs: AtomicUsize,
    /// Whether there are no run logs in files of their own, as in homes of earlier versions.
    pub(crate) has_no_single_logs: AtomicBool,
    /// Whether there can be no mark of a clean end.
    has_no_mark: AtomicBool,
    /// The time of the search, or of the last one before a clean end.
    searched: Mutex<Option<Timestamp>>,
}

impl CrashSearch {
    /// Records the time of a search.
    pub(crate) fn note_search(&self, at: Timestamp) {
        *self.searched.lock().expect("no panic while held") = Some(at);
    }
}

impl Home {
    /// Takes the mark of a clean end, which this process or, if `may_be_of_other`, another one may have left.
    pub(crate) fn take_mark(&self, may_be_of_other: bool) -> Result<Option<CleanEnd>> {
        if !may_be_of_other && self.crashes.has_no_mark.load(Ordering::Acquire) {
            return Ok(None);
        }
        let end = CleanEnd::take(self)?;
        self.crashes.has_no_mark.store(true, Ordering::Release);
        Ok(end)
    }

    /// Takes over what is known after a clean end: there is nothing to recover.
    pub(crate) fn skip_search(&self, end: &CleanEnd) {
        self.crashes.note_search(end.searched);
        self.crashes.has_parts.store(false, Ordering::Release);
        self.crashes.has_no_single_logs.store(!end.has_single_logs, Ordering::Release);
        self.note_no_open_logs();
    }

    /// Leaves a mark that all runs of this process ended and left nothing to recover, so that the next process need not
    /// search the home. The caller holds the lock and does nothing more under it.
    pub fn end_cleanly(&self, _lock: &Lock) -> Result<()> {
        let searched = *self.crashes.searched.lock().expect("no panic while held");
        let Some(searched) = searched.filter(|_| !self.may_have_open_logs() && !self.has_parts()) else {
            return Ok(());
        };
        let (process, has_single_logs) = (std::process::id().to_string(), self.may_have_single_logs());
        self.crashes.has_no_mark.store(false, Ordering::Release);
        CleanEnd { process, searched, has_single_logs }.leave(self)
    }

    /// Whether the last search found files of pages that a crash left unpublished.
    pub(crate) fn has_parts(&self) -> bool {
        self.crashes.has_parts.load(Ordering::Acquire)
    }

    /// Records that a finished file of pages could not be published.
    pub(crate) fn note_unpublished(&self) {
        self.crashes.has_parts.store(true, Ordering::Release);
        self.crashes.is_done.store(false, Ordering::Release);
    }

    /// Records that the files of pages that a crash left are published.
    pub(crate) fn forget_parts(&self) {
        self.crashes.has_parts.store(false, Ordering::Release);
    }

    /// Whether a run may have left its log open: a folder with a file for each day need not be searched by every run.
    pub(crate) fn may_have_open_logs(&self) -> bool {
        !self.crashes.has_no_open_logs.load(Ordering::Acquire) || self.crashes.open_logs.load(Ordering::Acquire) > 0
    }

    /// Records that this process has created a run log.
    pub(crate) fn note_created_log(&self) {
        self.crashes.open_logs.fetch_add(1, Ordering::AcqRel);
    }

    /// Records that it has published the run log.
    pub(crate) fn note_published_log(&self) {
        // A search in between may have published it and forgotten the count.
        let _ = self.crashes.open_logs.fetch_update(Ordering::AcqRel, Ordering::Acquire, |logs| logs.checked_sub(1));
    }

    /// Records that no run log is open.
    pub(crate) fn note_no_open_logs(&self) {
        self.crashes.has_no_open_logs.store(true, Ordering::Release);
        self.crashes.open_logs.store(0, Ordering::Release);
    }

    /// Whether there may be run logs in files of their own.
    pub(crate) fn may_have_single_logs(&self) -> bool {
        !self.crashes.has_no_single_logs.load(Ordering::Acquire)
    }

    /// Records that there are no run logs in files of their own; this version writes none.
    pub(crate) fn note_no_single_logs(&self) {
        self.crashes.has_no_single_logs.store(true, Ordering::Release);
    }
}
