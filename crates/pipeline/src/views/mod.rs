//! Views of what lies in a home, row by row.

pub mod pages;
pub mod plan;
