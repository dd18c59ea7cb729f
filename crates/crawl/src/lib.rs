//! The heart of a crawl, without network and without clocks: which URLs are known, which wait, and which one is worth
//! the next request.
//!
//! A URL belongs to a registered domain and, within it, to a section: the host and the shape of the path
//! ([`shape::section`]). Sections are the arms among which a [`policy`] chooses by the text that their pages gave so
//! far. URLs that cannot be pages of text are refused before anything is remembered of them ([`trap`]).

mod backlog;
pub mod burstiness;
mod disk_queue;
mod error;
pub mod exchange;
pub mod fingerprint;
mod frame_log;
mod hash_cache;
pub mod hub;
pub mod inspect;
mod layout;
pub mod link_language;
pub mod policy;
pub mod queue;
mod rank;
mod record;
mod row_text;
pub mod saved;
mod section_table;
pub mod shape;
mod sieve;
mod state;
pub mod steward;
mod summary;
pub mod tables;
#[cfg(test)]
mod testing;
pub mod text;
pub mod trap;
mod u64_run;
mod url_line;
mod url_run;
pub mod url_words;

pub use disk_queue::{DiskQueue, MAX_WAITING};
pub use error::{Error, Result};
pub use record::{Done, Link, Record};
pub use sieve::Sieve;
pub use state::{CrawlState, TablePart};
pub use summary::{CrawlSummary, for_each_row};
