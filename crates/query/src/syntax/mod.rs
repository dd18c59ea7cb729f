//! The syntax that CQL and filters share: spans, errors with carets, strings and the logic of conditions. There is
//! one parser for both, so that `within <doc …/>` and `--filter` cannot drift apart.

mod cursor;
mod error;
mod logic;
mod suggest;
mod value_matcher;

pub(crate) use cursor::Cursor;
pub use error::{Span, SyntaxError};
pub use logic::Logic;
pub(crate) use logic::read_logic;
pub(crate) use suggest::{advice, closest};
pub(crate) use value_matcher::unescape;
pub use value_matcher::{CompiledMatcher, ValueMatcher, folded};
