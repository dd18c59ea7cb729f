//! Reasons for which something derived is due to be made.

use std::fmt;

use serde::{Serialize, Serializer};

/// The reason for which a unit of work is due. Run logs keep its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stale {
    /// It was never made.
    New,
    /// Another version of the stage made it.
    Version,
    /// Other settings made it.
    Settings,
    /// Files of pages came.
    PagesAdded,
    /// Files of pages went.
    PagesRemoved,
    /// It was made of other documents.
    Inputs,
    /// Another annotator would be asked for one of its languages.
    Annotator,
    /// Files that it consists of are gone.
    Missing,
    /// No verdict was given yet.
    NothingJudged,
    /// Files of the deduplicator's memory are gone.
    MemoryMissing,
    /// A file of verdicts is gone.
    VerdictsMissing,
    /// Documents of a day that was judged have changed.
    DocumentsChanged,
    /// Days came.
    DaysAdded,
    /// Days went.
    DaysRemoved,
    /// Days came or went among those that were judged.
    DaysChanged,
    /// Files of text came.
    TextAdded,
    /// Files of text went.
    TextRemoved,
    /// It cannot be opened.
    Unreadable,
    /// The caller wants it checked.
    CheckWanted,
    /// The plan may hold pages to fetch.
    PlanMayHoldPages,
    /// The schedule of the feeds tells.
    Schedule,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stale::New => "it is new",
            Stale::Version => "the version of the stage is another",
            Stale::Settings => "the settings are others",
            Stale::PagesAdded => "pages were added",
            Stale::PagesRemoved => "pages were removed",
            Stale::Inputs => "its documents are others",
            Stale::Annotator => "the annotator of a language is another",
            Stale::Missing => "files are missing",
            Stale::NothingJudged => "nothing was judged yet",
            Stale::MemoryMissing => "files of the memory are missing",
            Stale::VerdictsMissing => "verdicts are missing",
            Stale::DocumentsChanged => "documents have changed",
            Stale::DaysAdded => "days were added",
            Stale::DaysRemoved => "days were removed",
            Stale::DaysChanged => "days were added or removed",
            Stale::TextAdded => "text was added",
            Stale::TextRemoved => "text was removed",
            Stale::Unreadable => "it cannot be opened",
            Stale::CheckWanted => "it is to be checked",
            Stale::PlanMayHoldPages => "the plan may hold some",
            Stale::Schedule => "their schedule says so",
        })
    }
}

/// The version of stages before recipes named one: that of release 0.1.0.
pub(crate) const FIRST_VERSION: u32 = 1;

/// The version of a stage in a recipe that names none.
pub(crate) fn first_version() -> u32 {
    FIRST_VERSION
}

/// Whether a recipe need not name its version.
pub(crate) fn is_first_version(version: &u32) -> bool {
    *version == FIRST_VERSION
}

impl Serialize for Stale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
