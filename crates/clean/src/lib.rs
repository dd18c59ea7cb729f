//! Pages to documents: the article's text, its structure, and what is said about it.

pub mod about;
pub mod facts;
pub mod tree;
