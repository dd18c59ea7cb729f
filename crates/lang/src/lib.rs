//! Languages: identification, normalisation, masking of personal data, and data about each language.
//!
//! ```
//! let german = tidings_lang::stop_list("de-AT").expect("there is a list of German stop words");
//! assert!(german.contains("Und"));
//! assert!(!german.contains("Lawine"));
//! ```

mod calendar;
mod identify;
mod mask;
mod normalise;
mod registry;
mod stop;

pub use calendar::{Month, is_weekday, month};
pub use identify::tables;
pub use identify::{
    Guess, Guesses, Hints, Script, UNKNOWN, identifiable, identify, identify_lines, identify_paragraphs,
};
#[doc(hidden)]
pub use identify::{fast_line_features, features};
pub use mask::{MaskRule, Masked, mask};
pub use normalise::normalise;
pub use registry::{Language, StopWords, canonical, language, language_name, languages};
pub use stop::{StopList, stop_list};
