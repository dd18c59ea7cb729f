//! Corpus queries and statistics.
//!
//! [`cql`] parses queries and [`filter`] conditions on documents; [`engine`] evaluates both on an index;
//! [`measure`] and [`trend`] (`tidings-stats`) are pure functions of counts; [`question`] has the requests and answers of all
//! questions, for the command line and the API alike; [`translate`] reads the query languages of other tools.
//!
//! ```
//! use tidings_query::{Filter, cql, measure::{Association, Pair}};
//!
//! let query = cql::parse("climate [tag=\"NOUN\"] within <doc topic=politics/>").unwrap();
//! assert_eq!(query.to_string(), r#"[word=="climate"%c] [tag="NOUN"] within <doc topic=="politics"/>"#);
//!
//! let spring: Filter = "date>=2026-03 date<2026-06".parse().unwrap();
//! assert_eq!(spring.to_string(), r#"date>="2026-03" & date<"2026-06""#);
//!
//! let pair = Pair { together: 30.0, node: 100.0, collocate: 200.0, tokens: 1e6 };
//! assert!((Association::LogDice.score(&pair) - 11.678).abs() < 0.001);
//! ```

#[macro_use]
extern crate tidings_stats;

pub mod cql;
pub mod engine;
pub mod filter;
mod merge;
#[doc(hidden)]
pub mod oracle;
pub mod question;
pub mod sketch;
mod syntax;
pub mod terms;
pub mod translate;

pub use cql::{MatchRule, Query};
pub use filter::Filter;
pub use merge::Merge;
pub use syntax::{CompiledMatcher, Logic, Span, SyntaxError, ValueMatcher, folded};
pub use tidings_stats::{answer, choices, measure, trend};
