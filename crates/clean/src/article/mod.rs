//! Main-content extraction: separates the article of a page from its boilerplate.
//!
//! The page is segmented into [`blocks`]; [`features`] describes each block as a row of numbers;
//! two gradient-boosted [`forest`]s predict the probability that a block is article text;
//! [`select`] picks a threshold and applies the exclusion [`rules`]; [`render`] restores headings,
//! lists, quotes and tables. The task is known as boilerplate removal (Kohlschütter et al. 2010,
//! "Boilerplate Detection using Shallow Text Features"). The design and its measurements are in
//! docs/notes/extraction.md.

pub mod blocks;
mod comment_names;
pub mod containers;
mod context;
pub mod declared_text;
pub mod evidence;
pub mod features;
pub mod forest;
pub mod page_type;
pub mod reader_comments;
pub mod render;
pub mod rules;
pub mod runs;
pub mod script_state;
pub mod select;
mod threads;
pub mod weights;
pub mod words;
