//! Compares rules that order the requests of a crawl, in simulated webs whose text is known.

pub mod graph;
pub mod oracle;
pub mod scale;
pub mod score;
pub mod sim;
pub mod world;
