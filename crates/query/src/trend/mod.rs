//! Words in time: bins of the calendar, and what changes from one to the next.

pub mod calendar;

pub use calendar::{Bin, Step};

use serde::Serialize;

/// Whether a new word stayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Nearly all of its hits came within a few days.
    Burst,
    /// It is still used, a good while after it came.
    Lasting,
    /// It came too recently to tell.
    Open,
}
