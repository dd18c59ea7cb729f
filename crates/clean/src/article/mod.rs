//! Finds the article in a page.

pub mod blocks;
