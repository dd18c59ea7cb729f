//! A simulated web: thousands of sites on loopback, for tests, benchmarks and the demo.
//!
//! A crawler cannot be tested on the real web: it would be impolite and not reproducible, and the correct result would
//! be unknown. This crate simulates a web with known ground truth. It uses loopback addresses (site 0 is 127.1.0.1, all
//! sites share one port), is determined by a seed, and logs all requests.
//!
//! **Sites.** Each has one of eleven languages, a feed in four formats (RSS 2.0, RSS 1.0, Atom, JSON Feed), pages in
//! one of four templates with realistic boilerplate, robots.txt, a sitemap, validators for conditional requests, a
//! character set, and its own URL style: tracking parameters, fragments, or relative links with a base. The text is
//! generated, or comes from an archive of real articles ([`TextSource::Archive`]).
//!
//! **Time.** Articles are published by a clock that is stopped until [`SimWeb::advance`] advances it
//! ([`Spec::clock_speed`] lets it run). Articles are computed on request, so a large web with a long history needs
//! hardly any memory.
//!
//! **Ground truth.** [`SimWeb::articles`] returns every article with its canonical URL, date, title and paragraphs;
//! [`SimWeb::truth`] returns the planted words and the curves of their frequencies over time.
//!
//! **Changes.** [`SimWeb::revise`] gives a published article another title and text, and a later `updated` in Atom and
//! JSON feeds; [`SimWeb::set_restless`] makes a feed claim that every article has just been updated.
//!
//! **Faults.** [`Spec::with_fault`] adds a [`Fault`] to sites, on their pages, their feed, their robots.txt or
//! everywhere ([`Fault::on`]); [`SimWeb::set_fault`] changes that while the web runs, and [`SimWeb::set_down`]
//! simulates an outage of the whole web.
//!
//! **Hidden feeds.** [`Spec::hiding`] makes sites hide their feeds in the ways of [`Hiding`] and adds decoys;
//! [`Site::hiding`] and [`Site::true_feed`] return the ground truth.
//!
//! **History.** [`Spec::histories`] gives sites the ways of [`HistoryAccess`] to show old articles: sitemaps of every
//! quality, pages of months, lists with pages; [`Site::history`] returns the way of a site.
//!
//! **Request log.** [`SimWeb::requests`] lists every request with its times; [`SimWeb::politeness`] returns statistics
//! for tests: concurrent requests, delays, disallowed requests, violations of `Crawl-delay` or `Retry-After`, and
//! requests to hosts that a redirect must not lead to ([`INTERNAL_HOST`]).
//!
//! **Link graph.** [`graph`] is a second kind of web, for crawls: sites of many classes that link to each other, with
//! sections, traps, mirrors and link farms, and the truth about every URL.
//!
//! **Benchmarks.** [`Spec::page_bytes`] serves prepared pages at a cost that does not disturb the measurement; the
//! `simweb` binary does so in a separate process.
//!
//! The server runs on its own threads and ends when the [`SimWeb`] is dropped. It closes every connection that does not
//! come from this machine.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//! use std::time::Duration;
//! use tidings_simweb::{Fault, SimWeb, Spec};
//!
//! let spec = Spec { seed: 7, sites: 10, items_per_feed: 5, ..Spec::default() };
//! let web = SimWeb::start(spec.with_fault(Fault::TooMany, 2))?;
//! assert_eq!(web.feeds().len(), 10);
//!
//! // A client requests the robots.txt of the first site.
//! let mut stream = TcpStream::connect((web.site(0).address(), web.port()))?;
//! stream.write_all(b"GET /robots.txt HTTP/1.1\r\nConnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK"));
//!
//! // The request was logged.
//! assert_eq!(web.requests().len(), 1);
//! assert_eq!(web.politeness().max_in_flight, 1);
//!
//! // A day later there are more articles.
//! let before = web.articles().count();
//! web.advance(Duration::from_secs(86_400));
//! assert!(web.articles().count() > before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod article;
mod clock;
mod country;
mod fault;
mod feed;
pub mod graph;
mod hiding;
mod history;
mod log;
mod markup;
mod page;
mod politeness;
mod profile;
mod revision;
mod rng;
mod robots;
mod server;
mod spec;
mod state;
mod text;
mod truth;
mod web;
mod world;

pub use archive::ArchiveError;
pub use article::Article;
pub use country::{BEGINS, ENDS, OUTLETS, Outlet};
pub use fault::{Fault, SiteFault, SitePart, UnknownFault};
pub use hiding::Hiding;
pub use history::HistoryAccess;
pub use log::{Host, Request, RequestKind};
pub use politeness::{HostPoliteness, Politeness};
pub use profile::{FeedFormat, INTERNAL_HOST, SHARED_HOST};
pub use spec::{Spec, TextSource};
pub use text::{Block, BlockKind, Story, Trend, TrendShape};
pub use truth::Truth;
pub use web::{Error, SimWeb, Site};
