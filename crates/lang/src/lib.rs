//! Languages: identification, normalisation, masking of personal data, and data about each language.
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
pub use identify::{
    Guess, Guesses, Hints, Script, UNKNOWN, identifiable, identify, identify_lines, identify_paragraphs,
};
#[doc(hidden)]
pub use identify::{fast_line_features, features};
pub use mask::{MaskRule, Masked, mask};
pub use months::{Month, month};
pub use names::{canonical, language_name, other_codes};
pub use normalise::normalise;
pub use stop::{StopList, languages, stop_list};
