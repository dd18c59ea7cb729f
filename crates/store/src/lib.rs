//! The home on disk: lock, plan, journal, pages, documents, text, verdicts, and state tables of feeds and hosts.
//!
//! | subject | modules |
//! |---|---|
//! | the home and its storage | [`Home`], [`FileDigest`], [`probe`], [`backup`], [`digest`] |
//! | plan and journal | [`plan`], [`journal`], [`apply_journal`](mod@apply_journal), [`PendingEntries`] |
//! | pages, documents, text, verdicts | [`pages`], [`docs`], [`text`], [`dedup_state`], [`revisions`], [`scan`] |
//! | state tables | [`feeds`], [`candidates`], [`hosts`], [`failures`], [`revisits`], [`rules`], [`yields`], [`virtual_corpora`], [`hidden`], [`tokens`] |
//! | import, export, deletion | [`import_log`], [`by_language`], [`input_files`], [`output`], [`removed`], [`takedown`] |
//! | logs and figures | [`runs`], [`day_stats`] |
//!
//! A power failure at any time loses no acknowledged page and no entry of the plan; see
//! [`apply_journal`](mod@apply_journal). Callers refer to files by keys such as `docs/de/2026-03-01.jsonl.zst` and
//! never join paths of a home.
//!
//! ```
//! use tidings_store::Home;
//! use tidings_store::journal::{Journal, JournalBatch, Record};
//!
//! let folder = std::env::temp_dir().join(format!("tidings-store-{}", std::process::id()));
//! Home::create(&folder, "", "")?;
//! let home = Home::at(&folder)?;
//! let _lock = home.lock()?;
//! let mut batch = JournalBatch::default();
//! batch.push(&Record::Outcome { url: "http://e.org/".into(), status: "ok".into(), retries: 1, failure: None });
//! Journal::create(&home, "run")?.commit(batch)?;
//! assert_eq!(tidings_store::apply_journal::apply_journal(&home)?.map(|applied| applied.stored), Some(1));
//! # std::fs::remove_dir_all(&folder).ok();
//! # Ok::<(), tidings_store::Error>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod apply_journal;
pub mod archive;
pub mod backup;
pub mod by_language;
pub mod candidates;
pub mod claims;
mod clean_end;
pub mod clock_jump;
mod crash_search;
mod day_draft;
pub mod day_stats;
pub mod dedup_state;
pub mod digest;
pub mod docs;
pub mod document_pairs;
mod dropped;
mod error;
mod exclusion;
pub mod failures;
pub mod feed_texts;
pub mod feeds;
pub mod fetched;
mod file_digest;
pub mod file_frames;
mod frames;
pub mod fresh;
pub mod frozen;
pub mod future;
pub mod hidden;
pub mod history;
mod home;
pub mod hosts;
pub mod housekeeping;
pub mod import_log;
pub mod input_files;
pub mod journal;
mod lost_pages;
pub mod machines;
pub mod missing_logs;
pub mod neologisms;
mod object_output;
pub mod output;
pub mod pages;
mod partition;
mod pending;
pub mod plan;
pub mod plan_repair;
pub mod probe;
mod rebuild_draft;
pub mod recall;
mod recover_pages;
pub mod removed;
pub mod revisions;
pub mod revisits;
pub mod rules;
pub mod runs;
pub mod saved_searches;
pub mod scan;
pub mod scrub;
pub mod sorted;
mod sound_frames;
pub mod sources;
mod stale;
mod table;
pub mod takedown;
#[cfg(test)]
mod testing;
pub mod text;
pub mod text_growth;
pub mod tokens;
pub mod virtual_corpora;
pub mod yields;

pub use error::{Error, Result};
pub use exclusion::Exclusion;
pub use file_digest::FileDigest;
pub use frames::{FrameEncoder, open_any};
pub use home::{Home, Lock, SETTINGS, rfc3339, stamp};
pub use lost_pages::{DamagedPart, FaultyPages, PagesFault, faulty_pages};
pub use pending::{PendingDraft, PendingEntries};
pub use rebuild_draft::{OpenRebuild, RebuildDraft, abandon_rebuild};
pub use stale::Stale;
pub use tidings_model::{Cause, in_full};
