//! The home on disk: paths, the lock, the plan, the journal, the shelf of pages, and what is
//! remembered about feeds and hosts.
//!
//! This is the one room that opens files. It promises that a power cut at any instant loses no
//! page that was acknowledged and no entry of the plan; [`fold`](mod@fold) tells how.

pub mod archive;
pub mod backup;
pub mod candidates;
pub mod census;
pub mod corpora;
pub mod digest;
pub mod disk;
pub mod docs;
pub mod doors;
mod dropped;
mod error;
pub mod feeds;
mod fetched;
pub mod find;
pub mod fold;
pub mod format;
mod frames;
pub mod hidden;
mod home;
pub mod hosts;
pub mod journal;
pub mod outlet;
pub mod pages;
pub mod plan;
pub mod probe;
pub mod removed;
pub mod rules;
pub mod runs;
pub mod seen;
mod shelves;
pub mod sorted;
mod stale;
mod table;
pub mod takedown;
pub mod text;
pub mod tokens;
pub mod warc;
mod work;
pub mod yields;

pub use disk::write_whole;
pub use error::{Cause, Error, Result, in_full};
pub use frames::{Packer, open_any};
pub use home::{Home, Lock, SETTINGS, rfc3339, stamp};
pub use stale::Stale;
pub use work::{Work, WorkDraft};
