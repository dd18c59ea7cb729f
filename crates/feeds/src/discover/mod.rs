//! ProbeResult feeds: where to look next, and what an answer means.
//!
//! The number of known feeds limits a monitor corpus, and requests are what probe_result them costs. So
//! everything here is about asking little: a [`ProbeSequence`] climbs from the cheapest and best evidence
//! to the weakest and stops as soon as it has found something; a [`Filter`] thins out what a whole
//! crawl links to before anybody is asked; [`EvidencePriors`] order what is left by what each kind of
//! evidence has been worth so far. Nothing here opens a connection or a file.
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

mod filter;
mod probe_result;
mod probe_sequence;
mod opml;
mod known_paths;
mod evidence;
mod sightings;
mod site;
mod sitemap;

pub use filter::{Filter, RejectReason};
pub use probe_result::{FeedSummary, ProbeResult, PageSummary, is_substantial, own_address, reduce};
pub use probe_sequence::{FoundFeed, ProbeSequence, ProbeOptions, ProbeRequest, ProbeTier};
pub use opml::{Outline, read as read_opml, write as write_opml};
pub use known_paths::{Cms, common_paths};
pub use evidence::{EvidencePriors, Evidence};
pub use sightings::{FeedSighting, FeedSightings};
pub use site::{is_shared, languages_of_tld, registrable, site};
pub use sitemap::{SitemapSummary, in_robots};
