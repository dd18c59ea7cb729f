//! Feed formats.
//!
//! The XML formats share one walker, [`xml`], because feeds mix them: Atom links occur in RSS channels, and Dublin Core
//! everywhere. The formats differ in element names, so each is a table from element names to
//! [`ElementRole`](element::ElementRole). A new format is a new file and a line in [`element`].

mod atom;
mod collect;
mod content;
mod element;
mod entry_builder;
mod extension;
pub(crate) mod json;
mod newest;
mod rdf;
mod rss;
pub mod sitemap;
pub(crate) mod xml;
