//! Annotated pages, how an extraction is scored against them, and how extractors are run.

pub mod fit;
pub mod gate;
pub mod hostile;
pub mod run;
pub mod score;
pub mod sets;
pub mod table;
