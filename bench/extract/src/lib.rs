//! Benchmark of main-content extraction: annotated pages, scores, runners for extractors, and
//! training.

pub mod fit;
pub mod gate;
pub mod hostile;
pub mod run;
pub mod score;
pub mod sets;
pub mod table;
