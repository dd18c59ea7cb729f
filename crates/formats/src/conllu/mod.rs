//! CoNLL-U and CoNLL-U Plus, the exchange formats of treebanks and taggers.
//!
//! The [`Reader`] reads the surface tokens of a treebank; [`write`](fn@write) and [`write_plus`] write annotated
//! documents.

mod layers;
mod read;
mod write;

pub use layers::PlusLayers;
pub use read::Reader;
pub use write::{Numbers, misc, text_of, write, write_plus, write_sentence};
