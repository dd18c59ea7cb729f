//! Feed discovery: which URLs to probe, and the meaning of responses.
//!
//! The number of known feeds limits a monitor corpus, and requests are the cost of finding them. A [`ProbeSequence`]
//! goes from the best evidence to the weakest and stops at the first feed; a [`Filter`] rejects candidates from a crawl
//! before any request; [`EvidencePriors`] order the rest by the success rate of their evidence. Nothing here opens a
//! connection or a file.
//!
//! ```
//! use tidings_feeds::discover::{ProbeSequence, ProbeOptions, reduce};
//! let mut sequence = ProbeSequence::new("https://gazette.example/2026/03/salt.html", ProbeOptions::default()).unwrap();
//! let first = sequence.next();
//! assert_eq!(first[0].url, "https://gazette.example/2026/03/salt.html");
//! let page = br#"<html><link rel="alternate" type="application/rss+xml" href="/feed/"></html>"#;
//! sequence.record(&first[0], &reduce(page, Some("text/html"), &first[0].url));
//! assert_eq!(sequence.next()[0].url, "https://gazette.example/feed/");
//! ```

mod evidence;
mod filter;
mod known_paths;
mod opml;
mod probe_result;
mod probe_sequence;
mod sightings;
mod site;
mod sitemap;

pub use evidence::{Evidence, EvidencePriors};
pub use filter::{Filter, RejectReason};
pub use known_paths::{Cms, common_paths};
pub use opml::{Outline, read as read_opml, write as write_opml};
pub use probe_result::{FeedSummary, PageSummary, ProbeResult, is_substantial, own_address, reduce, reduce_with};
pub use probe_sequence::{FoundFeed, ProbeOptions, ProbeRequest, ProbeSequence, ProbeTier};
pub use sightings::{FeedSighting, FeedSightings};
pub use site::{is_shared, languages_of_tld, registrable, site};
pub use sitemap::{SitemapSummary, in_robots};
