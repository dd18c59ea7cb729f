//! The HTTP crawler: frontier, robots.txt, politeness, decoding.
//!
//! A [`Crawler`] gets queues of jobs by host and fetches them politely: many hosts at once up to a limit, one request
//! at a time per host with a delay in between (rate limit) and per IP address with a shorter one, robots.txt first,
//! only public addresses, and limits of time, speed and size for every response. Results are sent to one channel as they arrive; records of all requests to
//! another.
//!
//! ```no_run
//! use std::sync::Arc;
//! use tidings_fetch::{CrawlStats, Crawler, FetchJob, HostQueue, JobSource, CrawlKind, Settings};
//!
//! struct Urls(Vec<String>);
//! impl JobSource for Urls {
//!     fn job(&mut self, id: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
//!         Ok(FetchJob { url: self.0[id as usize].clone(), headers: Vec::new() })
//!     }
//! }
//!
//! # async fn example() -> Result<(), tidings_fetch::Error> {
//! let (results, mut arriving) = tokio::sync::mpsc::channel(64);
//! let (events, _) = std::sync::mpsc::channel();
//! let (_keep, stop) = tokio::sync::watch::channel(false);
//! let crawler = Crawler {
//!     settings: Settings { user_agent: "Example/1.0 (+https://example.org)".into(), ..Settings::default() },
//!     kind: CrawlKind::Page,
//!     source: Urls(vec!["https://example.org/".into()]),
//!     results, events, stop,
//!     stats: Arc::new(CrawlStats::default()),
//!     file_limit: 256,
//!     all_hosts_idle_for: None,
//! };
//! let queue = HostQueue { host: "example.org".into(), jobs: vec![0], ..HostQueue::default() };
//! tokio::spawn(async move { while let Some(result) = arriving.recv().await { println!("{}", result.url) } });
//! let outcome = crawler.run(vec![queue], Vec::new()).await?;
//! # let _ = outcome; Ok(()) }
//! ```
//!
//! | module | subject |
//! |---|---|
//! | `crawl_loop` | the decisions, as a state machine without sockets and clocks |
//! | `frontier` | per-host queues and the order of turns |
//! | `address_slots` | one request at a time per IP address |
//! | `crawler` | the tokio driver of the loop |
//! | `policy`, [`robots`], [`rights`] | policies of origins |
//! | `client`, `connect`, `pool`, `body_budget`, [`decode`] | HTTP |
//! | [`Partition`] | the hosts that belong to this machine |
//! | [`guard`], [`reach`] | address filter, connectivity check |

mod address_slots;
mod body_budget;
mod client;
mod connect;
mod crawl_loop;
mod crawler;
pub mod decode;
mod frontier;
pub mod guard;
mod happy_eyeballs;
mod partition;
mod policy;
mod pool;
mod post;
pub mod reach;
mod request;
pub mod rights;
pub mod robots;
mod settings;
mod types;

use std::path::PathBuf;

pub use client::{HttpResponse, head_text};
pub use crawler::Crawler;
pub use partition::Partition;
pub use policy::{PolicyKind, PolicyResponse};
pub use post::{PostError, post_json};
pub use settings::Settings;
pub use types::{
    CrawlEvent, CrawlKind, CrawlOutcome, CrawlStats, FetchJob, FetchResult, HostNote, HostQueue, JobId, JobSource,
    Redirect, RequestRecord,
};

/// Product token by which robots.txt files address this crawler.
pub const PRODUCT: &str = tidings_model::AGENT;

/// Error that prevents or ends a crawl.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // See the messages.
pub enum Error {
    #[error("cannot read certificate authorities from {}: {fault}", path.display())]
    Roots { path: PathBuf, fault: String },
    #[error("the user agent `{given}` has characters that no HTTP header may have; use visible ASCII")]
    UserAgent { given: String },
    #[error("cannot load a fetch job: {0}")]
    JobSource(Box<dyn std::error::Error + Send + Sync>),
}

/// Raises this process's limit of open files as far as allowed, and returns the limit.
pub fn raise_file_limit() -> u64 {
    rlimit::increase_nofile_limit(u64::from(u32::MAX)).unwrap_or(1024)
}
