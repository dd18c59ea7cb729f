//! Questions to a corpus, and the arithmetic of their answers.
//!
//! [`cql`] reads what people ask; [`filter`] says of which documents.

pub mod answer;
pub mod cql;
pub mod engine;
pub mod filter;
pub mod measure;
#[doc(hidden)]
pub mod oracle;
mod syntax;
pub mod trend;

pub use cql::{Query, Rule};
pub use filter::Filter;
pub use syntax::{Logic, Matcher, Place, SyntaxError, Wanted, folded};
