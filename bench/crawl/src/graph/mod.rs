//! Crawls of the link graph of simweb with real pages, the real cleaner and the real links, on a virtual clock.

pub mod crawl;
pub mod oracle;
pub mod pages;
pub mod spending;
