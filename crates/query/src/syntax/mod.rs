//! What CQL and filters have in common: places in the text, errors that point at them, strings, and the
//! logic of conditions. One reader for both, so that `within <doc …/>` and `--filter` cannot drift apart.

mod cursor;
mod error;
mod logic;
mod wanted;

pub(crate) use cursor::Cursor;
pub use error::{Place, SyntaxError};
pub use logic::Logic;
pub(crate) use logic::read_logic;
pub(crate) use wanted::unescape;
pub use wanted::{Matcher, Wanted, folded};
