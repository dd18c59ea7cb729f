//! Finds the article in a page.

pub mod blocks;
pub mod evidence;
pub mod features;
pub mod forest;
pub mod words;
