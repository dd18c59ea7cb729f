//! What we know of each language.
//!
//! ```
//! let german = tidings_lang::stop_list("de-AT").expect("there is a list of German stop words");
//! assert!(german.contains("Und"));
//! assert!(!german.contains("Lawine"));
//! ```

mod months;
mod stop;

pub use months::{Month, month};
pub use stop::{StopList, languages, stop_list};
