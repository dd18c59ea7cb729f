//! Page to document: main-content extraction, metadata, publication date, quality gate.
//!
//! [`extract()`] parses the HTML ([`tree`]), collects [`declared_metadata`], separates the article from
//! boilerplate ([`article`], or [`justext`]), and reads [`metadata`] and [`date`]. [`clean`] also
//! decodes the bytes ([`decode`]) and applies [`postprocess`] with the quality [`gate`].
//!
//! ```
//! use tidings_clean::{Options, HtmlInput, extract};
//!
//! let html = "<title>Rain</title><nav><a href=/>Home</a></nav><article><h1>Rain</h1>\
//!     <p>It rained for three days, and on the fourth the river came into the town.</p>\
//!     <p>People carried their chairs upstairs, and waited for the water to leave again.</p></article>";
//! let document = extract(&HtmlInput { html, ..HtmlInput::default() }, &Options::default()).unwrap();
//! assert!(document.text().contains("carried their chairs"));
//! ```

pub mod article;
pub mod date;
pub mod declared_metadata;
pub mod decode;
mod extract;
mod feed_text;
pub mod gate;
mod imported;
pub mod justext;
mod length;
pub mod links;
pub mod metadata;
mod not_article;
pub mod postprocess;
mod title_match;
pub mod tree;
mod version;

pub use extract::{DropReason, HtmlInput, Options, Preset, clean, clean_with_links, describe, extract, read};
pub use length::{MAX_TEXT_CHARS, TOO_LONG, check_length};
pub use not_article::{RedirectTarget, SAME_TEXT_LIMIT, Suspicion, suspicion};
pub use title_match::TitleMatch;
pub use version::{BEHAVIOUR_VERSION, tables, version};
