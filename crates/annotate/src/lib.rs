//! Splits documents into sentences and tokens, and adds lemmas, part-of-speech tags and
//! morphological features.
//!
//! Segmentation is rule-based: `languages/CODE/rules.tsv` lists the abbreviations, clitics and writing conventions of
//! each language. For languages with a treebank, a small linear model (`models/`) corrects the
//! rules. Scripts written without spaces are first segmented by ICU. Tags come from a linear-chain
//! CRF ([`tagger::crf`]), lemmas from ranked edit scripts ([`tagger::lemma`]), both trained on
//! Universal Dependencies by `tidings-train`.
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
pub mod chain;
mod chars;
mod codes;
mod dictionary;
mod document;
pub mod embedded;
pub mod external;
mod hash;
mod imported_layers;
mod keep_together;
pub mod layers;
mod segment;
mod sentences;
mod table;
pub mod tagger;
mod text_line;
mod tokens;
mod version;

pub use annotator::{Annotator, Annotators, LowercaseLemmas, SentenceLayers, enrich};
pub use boundary_model::{BoundaryModel, BoundaryWeights, RULE_WEIGHT};
pub use document::{Labels, annotate, annotate_texts, attributes};
pub use segment::{DecisionHook, Segmenter, Sentence};
pub use tagger::{ModelError, ModelInfo, Models, Tagger, WordPart, models};
pub use version::{BEHAVIOUR_VERSION, tables, version};
