//! CQL, the language in which corpora are asked: from text to a tree and back.
//!
//! The grammar and its differences to other dialects are in docs/notes/cql.md.
//!
//! ```
//! use tidings_query::cql;
//!
//! let query = cql::parse(r#""prime minister" []{0,3} [tag="VERB"] within <s/>"#).unwrap();
//! let text = query.to_string();
//! assert_eq!(cql::parse(&text).unwrap(), query);
//!
//! let text = r#"[lema="go"]"#;
//! let error = cql::parse(text).unwrap_err();
//! assert_eq!(error.render(text), "\
//! there is no attribute lema (did you mean lemma?)
//!   [lema=\"go\"]
//!    ^^^^");
//! ```

pub mod ast;
mod attribute;
mod check;
mod parse;
mod print;

pub use ast::{Attribute, Feature, MatchRule, Query};
pub use parse::parse;
pub(crate) use print::equality;

/// The longest query, in bytes.
pub const MAX_BYTES: usize = 16 * 1024;
/// The largest number behind a brace.
pub const MAX_REPEAT: u32 = 1000;
/// The most tokens a query may describe, counting each as often as it may be repeated.
pub const MAX_TOKENS: u64 = 2000;
