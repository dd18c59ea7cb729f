//! Questions to a corpus, and the arithmetic of their answers.
//!
//! [`cql`] reads what people ask; [`filter`] says of which documents.

pub mod cql;
pub mod filter;
mod syntax;

pub use cql::{Query, Rule};
pub use filter::Filter;
pub use syntax::{Logic, Matcher, Place, SyntaxError, Wanted, folded};
