//! Statistics of word counts.
//!
//! [`measure`] has the statistics of single counts: association, keyness, dispersion, confidence intervals. [`trend`] has
//! those of counts over time. All are pure functions, so that they are tested against published values and simulations
//! with known truth; `tidings-query` takes the counts from an index.
//!
//! ```
//! use tidings_stats::measure::{Association, Pair};
//!
//! let pair = Pair { together: 30.0, node: 100.0, collocate: 200.0, tokens: 1e6 };
//! assert!((Association::LogDice.score(&pair) - 11.678).abs() < 0.001);
//! ```

#[macro_use]
mod macros;

pub mod measure;
pub mod trend;

/// The name of a field in JSON, of its identifier in Rust.
#[doc(hidden)]
pub fn field_name(identifier: &'static str) -> &'static str {
    identifier.strip_prefix("r#").unwrap_or(identifier)
}
