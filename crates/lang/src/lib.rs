//! What we know of each language: which one it is, how it is spelled, what its small words are.
//!
//! ```
//! let german = tidings_lang::stop_list("de-AT").expect("there is a list of German stop words");
//! assert!(german.contains("Und"));
//! assert!(!german.contains("Lawine"));
//! ```

mod identify;
mod mask;
mod months;
mod names;
mod normalise;
mod stop;

pub use identify::tables;
pub use identify::{Guess, Guesses, Hints, Script, UNKNOWN, identifiable, identify, identify_paragraphs, tell_lines};
#[doc(hidden)]
pub use identify::{glanced, weighed};
pub use mask::{MaskRule, Masked, mask};
pub use months::{Month, month};
pub use names::{canonical, language_name, other_codes};
pub use normalise::normalise;
pub use stop::{StopList, languages, stop_list};
