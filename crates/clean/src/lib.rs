//! Pages to documents: the article's text, its structure, and what is said about it.
//!
//! ```
//! use tidings_clean::{Options, Source, extract};
//!
//! let html = "<title>Rain</title><nav><a href=/>Home</a></nav><article><h1>Rain</h1>\
//!     <p>It rained for three days, and on the fourth the river came into the town.</p>\
//!     <p>People carried their chairs upstairs, and waited for the water to leave again.</p></article>";
//! let document = extract(&Source { html, ..Source::default() }, &Options::default()).unwrap();
//! assert!(document.text().contains("carried their chairs"));
//! ```

pub mod article;
pub mod date;
pub mod declared_metadata;
pub mod decode;
mod extract;
pub mod gate;
mod imported;
pub mod justext;
pub mod metadata;
pub mod postprocess;
pub mod tree;
mod version;

pub use extract::{DropReason, Options, Preset, Source, clean, describe, extract, read};
pub use version::{BEHAVIOUR_VERSION, tables, version};
