//! Views of the data of a home, row by row.

pub mod pages;
pub mod plan;
pub mod revisions;
