//! Corpus queries and statistics.
//!
//! [`cql`] parses queries and [`filter`] conditions on documents; [`engine`] evaluates both on an index;
//! [`measure`] and [`trend`] are pure functions of counts; [`answer`] has the types of results.
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

pub mod answer;
pub mod cql;
pub mod engine;
pub mod filter;
pub mod measure;
#[doc(hidden)]
pub mod oracle;
pub mod sketch;
mod syntax;
pub mod trend;

pub use cql::{MatchRule, Query};
pub use filter::Filter;
pub use syntax::{CompiledMatcher, Logic, Span, SyntaxError, ValueMatcher, folded};
