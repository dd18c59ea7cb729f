//! Fits the weights of the extractor to annotated pages.

pub mod boost;
pub mod labels;
pub mod log_odds;
