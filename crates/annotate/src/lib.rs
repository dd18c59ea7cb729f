//! Documents become sentences of tokens, and tokens get lemmas and tags.
//!
//! Rules decide, from what `data/` says about a language: which words keep their full stop, what an
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
mod annotator;
mod boundary_model;
mod chars;
mod codes;
mod dictionary;
mod document;
pub mod external;
mod hash;
mod keep_together;
mod segment;
mod sentences;
mod table;
pub mod tagger;
mod text_line;
mod tokens;
mod version;

pub use annotator::{Annotator, Annotators, LowercaseLemmas, enrich};
pub use boundary_model::{BoundaryModel, BoundaryWeights, RULE_WEIGHT};
pub use document::{Labels, annotate, annotate_texts, attributes};
pub use segment::{DecisionHook, Segmenter, Sentence};
pub use tagger::{ModelError, ModelInfo, Models, Tagger, WordPart, models};
pub use version::{BEHAVIOUR_VERSION, tables, version};
