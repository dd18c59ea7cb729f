//! Layers made from annotated tokens: each is a pure function from a document to spans.

pub mod foreign;
pub mod names;
pub mod quotations;
mod stop_word_index;
