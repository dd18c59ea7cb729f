//! The dialects, each in its own file.
//!
//! The XML dialects share one walker, [`xml`], because feeds in the wild mix them: Atom links
//! stand in RSS channels and Dublin Core stands everywhere. What differs is element, so each
//! dialect is a table from the names of its elements to a [`ElementRole`](element::ElementRole), the little
//! language the walker understands. A new dialect is a new file and a line in [`element`].

mod atom;
mod collect;
mod entry_builder;
mod extension;
pub(crate) mod json;
mod rdf;
mod rss;
mod content;
mod element;
pub(crate) mod xml;
