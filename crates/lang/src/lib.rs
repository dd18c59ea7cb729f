//! Languages: identification, normalisation, masking of personal data, and data about each language.
//!
//! ```
//! use tidings_lang::{Hints, MaskRule, identify, language, mask, normalise, stop_list};
//!
//! let text = normalise("Der Zug nach Wien f\u{e4}hrt heute sp\u{e4}ter\u{a0}ab; Fragen an info@example.org");
//! let masked = mask(&text, &MaskRule::ALL);
//! assert!(masked.text.ends_with("[EMAIL]"));
//!
//! let code = identify(&masked.text, Hints::default()).lang;
//! assert_eq!(language(code).map(|known| known.name), Some("German"));
//! assert!(stop_list(code).is_some_and(|words| words.contains("nach") && !words.contains("Lawine")));
//! ```
//!
//! What is known of a language by hand is in `languages/CODE/`, see [`Language`]; trained tables are in `data/`.

mod calendar;
mod han;
mod identify;
mod mask;
mod normalise;
mod registry;
mod stop;
mod url_language;
mod variant;
mod words;

pub use calendar::{Month, calendar_words, is_date_name, is_weekday, month};
pub use han::simplified;
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
pub use url_language::named_languages;
pub use variant::variant;
pub use words::{is_unspaced, word_count, words};
