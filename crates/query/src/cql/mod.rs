//! CQL, the corpus query language: parser, syntax tree and canonical text.
//!
//! Each operator has a file in `operator/`. The grammar and the differences from other dialects are in
//! docs/notes/cql.md.
//!
//! ```
//! use tidings_query::cql;
//!
//! let query = cql::parse(r#""prime minister" []{0,3} [tag="VERB"] within <s/>"#).unwrap();
//! let text = query.to_string();
//! assert_eq!(cql::parse(&text).unwrap(), query);
//!
//! let text = r#"[Lemma="go"]"#;
//! let error = cql::parse(text).unwrap_err();
//! assert_eq!(error.render(text), "\
//! unknown attribute Lemma (did you mean lemma?)
//!   [Lemma=\"go\"]
//!    ^^^^^");
//! ```

pub mod ast;
mod attribute;
mod foreign;
mod list;
mod name;
pub(crate) mod operator;
mod parse;

pub use ast::{Attribute, Feature, MatchRule, Name, Query};
pub use list::split_queries;
pub use operator::{OperatorDoc, operator_docs, reference};
pub use parse::parse;

/// The maximum length of a query, in bytes.
pub const MAX_BYTES: usize = 16 * 1024;
/// The maximum number of repetitions in braces.
pub const MAX_REPEAT: u32 = 1000;
/// The maximum number of tokens of a query with its repetitions unrolled, that is, of NFA states.
pub const MAX_TOKENS: u64 = 2000;
