//! The pipeline of Tidings as a library: feeds → plan → pages → documents → verdicts → text → index.
//!
//! A [`Pipeline`] is a home opened for work. [`stage`] holds the one table of stages; [`driver`] runs any of them:
//! it locks the home, recovers, processes the units that are due, reports events and returns a typed outcome.
//!
//! ```no_run
//! use std::path::Path;
//! use tidings_pipeline::Pipeline;
//! use tidings_pipeline::stage::StageId;
//!
//! fn main() -> anyhow::Result<()> {
//!     let pipeline = Pipeline::open(Path::new("news"))?;
//!     for stage in StageId::ALL {
//!         print!("{stage}: {}", pipeline.run(stage.stage().as_ref())?);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`stage`], [`driver`], [`round`], [`rebuild`], [`merge`] | stages and the code that runs them |
//! | [`config`] | settings |
//! | [`import`] | data of other programs → pages |
//! | [`export`] | documents → formats of other programs |
//! | [`corpus`] | an index opened for queries |
//! | [`ingest`] | HTTP responses → journal and pages |
//! | [`crawl`], [`harvest`] | crawls that follow links, harvests on several machines |
//! | [`discover`] | feed discovery |
//! | [`archive`] | backfill: old articles of sites |
//! | [`health`], [`report`], [`doctor`] | state and checks of a home |
//! | [`why`], [`audit`], [`digest`], [`views`] | traces of pages, checks, checksums, listings |
//! | [`takedown`], [`prune`], [`backup`], [`init`] | takedown, pruning, backup, new homes |
//! | [`tokens`], [`virtual_corpora`], [`comparable`], [`document_pairs`], [`frozen`], [`neologisms`] | access tokens, named filters, these in all languages, pairs of translations, frozen states, decisions about new words |
//! | [`extract`], [`filter`], [`http_get`] | tools for single files, streams of JSON lines and addresses |
//! | [`shard`], [`shard_round`], [`shard_rebuild`], [`shard_view`] | parts of the work for several processes |
//! | [`cancel`], [`reporter`], [`outcome`] | control and observation of a run |
//! | [`parallel`], [`lines`], [`guard`] | ordered parallelism, panic guard |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod archive;
pub mod audit;
pub mod backup;
pub mod cancel;
pub mod comparable;
pub mod config;
pub mod context;
pub mod corpus;
pub mod crawl;
pub mod digest;
pub mod discover;
pub mod display;
pub mod doctor;
pub mod document_pairs;
pub mod driver;
pub mod export;
pub mod extract;
pub mod extract_guarded;
pub mod filter;
pub mod first_run;
mod freshness;
pub mod frozen;
pub mod guard;
pub mod harvest;
pub mod health;
pub mod http_get;
pub mod import;
pub mod ingest;
pub mod init;
pub mod lines;
pub mod merge;
pub mod neologisms;
pub mod outcome;
pub mod parallel;
mod pipeline;
pub mod prune;
pub mod rebuild;
pub mod repair;
pub mod report;
pub mod reporter;
pub mod round;
pub mod scrub;
pub mod searches;
mod settled;
pub mod shard;
pub mod shard_rebuild;
pub mod shard_round;
pub mod shard_view;
pub mod stage;
pub mod takedown;
#[cfg(test)]
mod test_home;
#[cfg(test)]
mod testing;
pub mod tokens;
mod turns;
pub mod usage_error;
pub mod views;
pub mod virtual_corpora;
pub mod webhooks;
pub mod why;

pub use pipeline::Pipeline;

use jiff::civil::Date;

/// The program and its version, as recipes name it.
pub fn program() -> String {
    format!("tidings {}", env!("CARGO_PKG_VERSION"))
}

/// A day as a number: days since 1970-01-01.
pub fn day_number(day: Date) -> i64 {
    Date::constant(1970, 1, 1).until(day).map_or(0, |span| i64::from(span.get_days()))
}
