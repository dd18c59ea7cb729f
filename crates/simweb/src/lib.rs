//! A web that is not there: thousands of sites on loopback, for tests, benchmarks and the demo.
//!
//! A harvester cannot be tried on the real web: it would be impolite, it would never give the same
//! result twice, and nobody could say what the right result is. This crate is a web of which
//! everything is known. It lives on loopback addresses (site 0 is 127.1.0.1, all sites share one
//! port), it follows from a seed, and it keeps a diary.
//!
//! **Sites.** Each has a language out of eleven, a feed that it offers in four formats (RSS 2.0,
//! RSS 1.0, Atom, JSON Feed), pages in one of four templates with all that surrounds an article in
//! life, robots.txt, a site map, validators for conditional requests, a character set, and its own
//! habits: how it writes addresses, whether its links carry tracking parameters or a fragment or
//! need a base. Text comes from generators, or from an archive of real articles
//! ([`Source::Archive`]).
//!
//! **Time.** Articles appear by a publishing clock that stands still until [`SimWeb::advance`] turns
//! it ([`Spec::clock_speed`] lets it run). Articles are computed when somebody looks at them, so a
//! large web with a long history costs hardly any memory.
//!
//! **Truth.** [`SimWeb::articles`] tells every article with its canonical address, date, title and
//! paragraphs; [`SimWeb::truth`] tells which words were planted, and how their frequency rises,
//! falls or bursts from day to day.
//!
//! **Faults.** [`Spec::with_fault`] makes sites ill in the ways of [`Fault`], on their pages, their
//! feed, their robots.txt or everywhere ([`Fault::on`]); [`SimWeb::set_fault`] changes that while
//! the web runs, and [`SimWeb::set_down`] switches the whole web off.
//!
//! **Hiding.** [`Spec::hiding`] makes sites hide their feeds in the ways of [`Hiding`] and set traps
//! for those who look for them; [`Site::hiding`] and [`Site::true_feed`] tell the truth.
//!
//! **The diary.** [`SimWeb::requests`] lists every request with its times; [`SimWeb::politeness`]
//! sums up what a test of manners wants to know: requests at once, gaps, forbidden fetches, requests
//! too early for `Crawl-delay` or `Retry-After`, and requests to hosts that a redirect should not
//! have led to ([`INTERNAL_HOST`]).
//!
//! **Benchmarks.** [`Spec::page_bytes`] serves prepared pages at a cost that does not disturb the
//! measurement; the `simweb` binary does so in a process of its own.
//!
//! The server runs on threads of its own and ends when the [`SimWeb`] is dropped, so that it can be
//! used from any test. It closes every connection that does not come from this machine.
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
//! // A client asks the first site for its robots.txt.
//! let mut stream = TcpStream::connect((web.site(0).address(), web.port()))?;
//! stream.write_all(b"GET /robots.txt HTTP/1.1\r\nConnection: close\r\n\r\n")?;
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK"));
//!
//! // The web knows that it was asked, and how.
//! assert_eq!(web.requests().len(), 1);
//! assert_eq!(web.politeness().max_in_flight, 1);
//!
//! // A day later there is more to read.
//! let before = web.articles().count();
//! web.advance(Duration::from_secs(86_400));
//! assert!(web.articles().count() > before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod article;
mod clock;
mod fault;
mod feed;
mod hiding;
mod log;
mod markup;
mod page;
mod politeness;
mod profile;
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
pub use fault::{Ailment, Fault, Part, UnknownFault};
pub use hiding::Hiding;
pub use log::{Host, Kind, Request};
pub use politeness::{HostManners, Politeness};
pub use profile::{FeedFormat, INTERNAL_HOST, SHARED_HOST};
pub use spec::{Source, Spec};
pub use text::{Block, BlockKind, Shape, Story, Trend};
pub use truth::Truth;
pub use web::{Error, SimWeb, Site};
