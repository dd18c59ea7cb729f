//! Annotated pages, and how an extraction is scored against them.

pub mod fit;
pub mod score;
pub mod sets;
