//! Pages to documents: the article's text, its structure, and what is said about it.

pub mod article;
pub mod facts;
pub mod justext;
pub mod tree;
