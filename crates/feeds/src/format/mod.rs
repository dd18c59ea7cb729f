//! The dialects, each in its own file.
//!
//! The XML dialects share one walker, [`xml`], because feeds in the wild mix them: Atom links
//! stand in RSS channels and Dublin Core stands everywhere. What differs is vocabulary, so each
//! dialect is a table from the names of its elements to a [`Word`](vocabulary::Word), the little
//! language the walker understands. A new dialect is a new file and a line in [`vocabulary`].

mod atom;
mod collect;
mod draft;
mod extension;
pub(crate) mod json;
mod rdf;
mod rss;
mod value;
mod vocabulary;
pub(crate) mod xml;
