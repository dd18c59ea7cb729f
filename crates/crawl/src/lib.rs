//! The heart of a crawl, without network and without clocks: which URLs are known, which wait, and which one is worth
//! the next request.
//!
//! A URL belongs to a registered domain and, within it, to a section: the host and the shape of the path
//! ([`shape::section`]). Sections are the arms among which a [`policy`] chooses by the text that their pages gave so
//! far. URLs that cannot be pages of text are refused before anything is remembered of them ([`trap`]).

pub mod hub;
pub mod policy;
pub mod queue;
pub mod shape;
pub mod trap;
