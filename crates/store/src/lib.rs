//! The home on disk: paths, the lock, the plan, the journal, the shelf of pages, and what is
//! remembered about feeds and hosts.
//!
//! This is the one room that opens files. It promises that a power cut at any instant loses no
//! page that was acknowledged and no entry of the plan; [`apply_journal`](mod@apply_journal) tells how.

pub mod apply_journal;
pub mod backup;
pub mod by_language;
pub mod candidates;
mod compat;
pub mod day_stats;
pub mod dedup_state;
pub mod digest;
pub mod docs;
mod error;
pub mod feeds;
mod fetched;
mod file_digest;
mod frames;
pub mod hidden;
mod home;
pub mod hosts;
pub mod import_log;
pub mod input_files;
pub mod journal;
pub mod output;
pub mod pages;
mod partition;
pub mod plan;
pub mod probe;
pub mod removed;
pub mod rules;
pub mod runs;
pub mod scan;
pub mod sorted;
mod table;
pub mod takedown;
pub mod text;
pub mod tokens;
pub mod virtual_corpora;
mod work;
pub mod yields;

pub use compat::*;
pub use error::{Error, Result};
pub use file_digest::FileDigest;
pub use frames::{FrameEncoder, open_any};
pub use home::{Home, Lock, SETTINGS, rfc3339, stamp};
pub use tidings_model::{Cause, in_full};
pub use work::{Work, WorkDraft};
