//! The words that every room of Tidings speaks: feeds, entries, pages. Pure values, no input or output.

mod feed;

pub use feed::{Feed, FeedEntry, FeedFormat, Pace, Person, Repair, UpdatePeriod, Weekday};
