//! Reasons why a derived unit is due.

use std::fmt;

use serde::{Serialize, Serializer};

/// The reason why a unit of work is due. Run logs contain its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stale {
    /// It was never built.
    New,
    /// It was built by another version of the stage.
    Version,
    /// It was built with other settings.
    Settings,
    /// Files of pages were added.
    PagesAdded,
    /// Files of pages went, which the user accepts.
    PagesRemoved,
    /// Files of pages are missing.
    PagesLost,
    /// A damaged file of pages was replaced.
    PagesRestored,
    /// The pages of earlier days show other texts to be no articles.
    Walls,
    /// It was built from other documents.
    Inputs,
    /// One of its languages has another annotator now.
    Annotator,
    /// Some of its files are missing.
    Missing,
    /// Nothing was judged yet.
    NothingJudged,
    /// Fingerprint files are missing.
    MemoryMissing,
    /// A file of verdicts is missing.
    VerdictsMissing,
    /// Documents of a judged day have changed.
    DocumentsChanged,
    /// Days were added.
    DaysAdded,
    /// Days went.
    DaysRemoved,
    /// Days were added or removed among the judged ones.
    DaysChanged,
    /// Text files were added.
    TextAdded,
    /// Files of text went.
    TextRemoved,
    /// It cannot be opened.
    Unreadable,
    /// The caller requests a check.
    CheckWanted,
    /// The plan may hold pages to fetch.
    PlanMayHoldPages,
    /// Depends on the schedule of the feeds.
    Schedule,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stale::New => "new",
            Stale::Version => "the stage has a new version",
            Stale::Settings => "the settings have changed",
            Stale::PagesAdded => "pages were added",
            Stale::PagesRemoved => "pages were removed",
            Stale::PagesLost => "pages are missing",
            Stale::PagesRestored => "damaged pages were restored",
            Stale::Walls => "earlier days show other texts to be no articles",
            Stale::Inputs => "its documents have changed",
            Stale::Annotator => "the annotator of a language has changed",
            Stale::Missing => "files are missing",
            Stale::NothingJudged => "not deduplicated yet",
            Stale::MemoryMissing => "fingerprint files are missing",
            Stale::VerdictsMissing => "verdicts are missing",
            Stale::DocumentsChanged => "documents have changed",
            Stale::DaysAdded => "days were added",
            Stale::DaysRemoved => "days were removed",
            Stale::DaysChanged => "days were added or removed",
            Stale::TextAdded => "text was added",
            Stale::TextRemoved => "text was removed",
            Stale::Unreadable => "cannot be opened",
            Stale::CheckWanted => "check requested",
            Stale::PlanMayHoldPages => "the plan may contain pending pages",
            Stale::Schedule => "polls may be due",
        })
    }
}

/// The version of stages whose recipes have none: that of release 0.1.0.
pub(crate) const FIRST_VERSION: u32 = 1;

/// The version of a stage in a recipe that names none.
pub(crate) fn first_version() -> u32 {
    FIRST_VERSION
}

/// Whether a recipe omits its version.
pub(crate) fn is_first_version(version: &u32) -> bool {
    *version == FIRST_VERSION
}

impl Serialize for Stale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
