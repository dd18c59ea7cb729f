//! Documents become sentences of tokens, and tokens get lemmas and tags.
//!
//! Rules decide, from what `languages/CODE/rules.tsv` says about a language: which words keep their full stop, what an
//! apostrophe parts. Where annotated text of the language was there to learn from, a small model
//! corrects them (`models/`). Scripts without blanks go to ICU's dictionaries first.
//!
//! ```
//! use tidings_annotate::Segmenter;
//!
//! let text = "Am 3. Mai kam Dr. Weiß. Er blieb.";
//! let sentences = Segmenter::for_language("de").segment(text);
//! let first: Vec<&str> = sentences[0].words(text).collect();
//! assert_eq!(first, ["Am", "3.", "Mai", "kam", "Dr.", "Weiß", "."]);
//! assert_eq!(&text[sentences[1].span()], "Er blieb.");
//! ```

pub mod align;
mod chars;
mod codes;
mod dictionary;
mod document;
pub mod external;
mod hash;
mod layer;
mod line;
mod model;
mod segment;
mod sentences;
mod table;
pub mod tagger;
mod tokens;
mod version;
mod whole;

pub use document::{Labels, annotate, annotate_texts, attributes};
pub use layer::{Annotator, Annotators, Rules, enrich};
pub use model::{Model, TRUST, Weights};
pub use segment::{Segmenter, Sentence, Witness};
pub use tagger::{About, ModelError, Models, Part, Tagger, models};
pub use version::{BEHAVIOUR_VERSION, tables, version};
