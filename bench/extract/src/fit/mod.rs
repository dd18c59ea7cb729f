//! Training of the extractor's model on annotated pages.

pub mod boost;
pub mod labels;
pub mod lift;
