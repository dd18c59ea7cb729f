//! Feed parsing, feed links, feed discovery and the poll schedule.
//!
//! One in six feeds on the web is malformed, and a monitor corpus that drops them loses a sixth of the news. One
//! lenient parser reads well-formed and malformed documents alike: it never rejects a feed, repairs what it can
//! and lists the repairs in [`Feed::repairs`]. Everything here is a pure function of its input: no files, no
//! network, no clock.
//!
//! ```
//! let body = b"<rss><channel><title>Gazette</title>
//!     <item><title>Salt & pepper</title><link>/salt</link></item></channel>";
//! let feed = tidings_feeds::read(body, None, "https://gazette.example/feed").unwrap();
//! assert_eq!(feed.entries[0].title, "Salt & pepper");
//! assert_eq!(feed.entries[0].link.as_deref(), Some("https://gazette.example/salt"));
//! assert!(!feed.repairs.is_empty()); // the ampersand, and the missing end tags
//! ```

mod address;
mod charset;
pub mod date;
pub mod discover;
mod entity;
mod format;
mod html;
mod json;
mod limits;
pub mod links;
mod markup;
mod read;
mod repairs;
pub mod schedule;

pub use format::sitemap;
pub use html::to_text as visible_text;
pub use limits::Limits;
pub use read::{NotAFeed, read, read_with};
pub use tidings_model::{Feed, FeedEntry, FeedFormat, Person, Repair, UpdateHints, UpdatePeriod, Weekday};
