//! Finding feeds: where to look next, and what an answer means.
//!
//! The number of known feeds limits a monitor corpus, and requests are what finding them costs. So
//! everything here is about asking little: a [`Ladder`] climbs from the cheapest and best evidence
//! to the weakest and stops as soon as it has found something; a [`Filter`] thins out what a whole
//! crawl links to before anybody is asked; [`Beliefs`] order what is left by what each kind of
//! evidence has been worth so far. Nothing here opens a connection or a file.
//!
//! ```
//! use tidings_feeds::discover::{Ladder, Options, reduce};
//! let mut ladder = Ladder::new("https://gazette.example/2026/03/salt.html", Options::default()).unwrap();
//! let first = ladder.next();
//! assert_eq!(first[0].url, "https://gazette.example/2026/03/salt.html");
//! let page = br#"<html><link rel="alternate" type="application/rss+xml" href="/feed/"></html>"#;
//! ladder.learn(&first[0], &reduce(page, Some("text/html"), &first[0].url));
//! assert_eq!(ladder.next()[0].url, "https://gazette.example/feed/");
//! ```

mod filter;
mod finding;
mod ladder;
mod opml;
mod places;
mod rank;
mod sightings;
mod site;
mod sitemap;

pub use filter::{Filter, Unfit};
pub use finding::{FeedFound, Finding, PageFound, is_substantial, own_address, reduce};
pub use ladder::{Found, Ladder, Options, Question, Rung};
pub use opml::{Outline, read as read_opml, write as write_opml};
pub use places::{Cms, common_paths};
pub use rank::{Beliefs, Evidence};
pub use sightings::{Sighting, Sightings};
pub use site::{is_shared, languages_of_tld, registrable, site};
pub use sitemap::{SitemapFound, in_robots};
