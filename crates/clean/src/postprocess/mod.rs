//! Postprocessing of extracted documents: language identification, masking, quality gate.
//!
//! The order matters. [Unicode normalisation](normalise_unicode) comes first and is done by the
//! extractor, because languages are identified by letters; languages come before masks, because
//! offsets such as `[PHONE]` belong to no language; masks come before the gate, because the gate
//! checks the text that users will read.

mod language;
mod mask;
mod mask_tokens;
mod normalise_unicode;

use serde::{Deserialize, Serialize};
use tidings_lang::MaskRule;
use tidings_model::Document;

use crate::gate::{Gate, Rejection};
pub(crate) use language::leave_out;
pub use normalise_unicode::normalise_unicode;

/// Options for postprocessing.
#[derive(Debug, Clone, Default)]
pub struct PostprocessOptions {
    /// Masks to apply.
    pub masks: Vec<MaskRule>,
    /// Codes of the wanted languages; empty means all.
    pub languages: Vec<String>,
    /// Handling of paragraphs in another language than their document.
    pub foreign: ForeignParagraphs,
    /// Quality gate.
    pub gate: Gate,
}

/// Handling of paragraphs in another language than their document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignParagraphs {
    /// Keep them, marked with their language.
    #[default]
    Mark,
    /// Move them to the left-out paragraphs.
    Drop,
}

/// Identifies the language of a document and of its paragraphs, unless it was imported with one that was
/// identified with more context.
pub fn identify_language(document: &mut Document) {
    if document.about.language_score.is_none() {
        language::identify(document);
    }
}

/// Postprocesses a document with normalised text. Fails if the quality gate rejects it.
pub fn postprocess(document: &mut Document, options: &PostprocessOptions) -> Result<(), Rejection> {
    identify_language(document);
    language::leave_out_foreign(document, options.foreign);
    let limits = options.gate.limits(&document.language_code());
    crate::gate::drop_bad_paragraphs(document, &limits);
    mask::mask(document, &options.masks);
    crate::gate::check(document, &limits, &options.languages)?;
    document.identify();
    Ok(())
}
