//! The one room that calls out.
//!
//! A [`Harvest`] is given queues of errands by host and asks for them politely: all hosts at once
//! up to a limit, each host one request at a time with a pause, robots.txt first, nothing that is
//! not on the public Internet, no server with the power to keep the others waiting. What comes
//! back goes to a channel as it arrives; what was asked goes to another, as the record that proves
//! politeness.

mod connect;
pub mod decode;
mod exchange;
pub mod guard;
mod harvest;
mod hosts;
pub mod reach;
pub mod rights;
pub mod robots;
mod rules;
mod settings;
mod terms;
mod trip;

use std::path::PathBuf;

pub use exchange::{Answer, head_text};
pub use harvest::Harvest;
pub use rules::{RulesFound, RulesKind};
pub use settings::Settings;
pub use terms::{Asked, Delivery, Desk, Errand, Event, Gauge, HostNote, Kind, Outcome, Queue, Redirect};

/// The name under which robots.txt files may address us.
pub const PRODUCT: &str = "tidings";

/// Why a harvest cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say it.
pub enum Error {
    #[error("cannot read certificate authorities from {}: {fault}", path.display())]
    Roots { path: PathBuf, fault: String },
    #[error("the user agent `{given}` has characters that no header may have")]
    UserAgent { given: String },
    #[error("cannot load an errand: {0}")]
    Desk(Box<dyn std::error::Error + Send + Sync>),
}

/// Raises this process's limit of open files as far as it may, and gives the limit.
pub fn raise_file_limit() -> u64 {
    rlimit::increase_nofile_limit(u64::from(u32::MAX)).unwrap_or(1024)
}
