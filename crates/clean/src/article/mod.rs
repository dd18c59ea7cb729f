//! Finds the article in a page.
//!
//! The page is cut into [`blocks`], everything known of them is put in numbers by [`features`],
//! [`forest`]s weigh them, [`rules`] forbid, [`select`] decides, and [`render`] gives what was kept its structure.

pub mod blocks;
pub mod evidence;
pub mod features;
pub mod forest;
pub mod render;
pub mod rules;
pub mod select;
pub mod weights;
pub mod words;
