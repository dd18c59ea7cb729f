//! From the text of a page to the text of a corpus: one spelling, a language, nothing private, and
//! good enough.
//!
//! The steps have an order. Spelling comes first ([`spell`], which the extractor does), because languages are told by letters; languages
//! before masks, because tokens such as `[PHONE]` belong to none; masks before the gate, because what
//! the gate judges is what people will read.

mod language;
mod normalise_unicode;
mod private;

use serde::{Deserialize, Serialize};
use tidings_lang::MaskRule;
use tidings_model::Document;

use crate::gate::{Gate, Refusal};
pub(crate) use language::take_out;
pub use normalise_unicode::normalise_unicode;

/// How documents are refined.
#[derive(Debug, Clone, Default)]
pub struct PostprocessOptions {
    /// What is masked.
    pub masks: Vec<MaskRule>,
    /// Languages that are wanted, as codes; none means all.
    pub languages: Vec<String>,
    /// What happens to paragraphs in another language than their document's.
    pub foreign: Foreign,
    /// What a text must be like to be kept.
    pub gate: Gate,
}

/// What happens to a paragraph in another language than its document's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Foreign {
    /// It stays, and says its language.
    #[default]
    Mark,
    /// It is taken out, and kept beside the text.
    Drop,
}

/// Refines a document that was spelled, or says which rule refuses it.
pub fn postprocess(document: &mut Document, postprocess_options: &PostprocessOptions) -> Result<(), Refusal> {
    // A text that comes from a corpus of ours was told its language when more was known about it.
    if document.about.language_score.is_none() {
        language::tell(document);
    }
    language::take_out_foreign(document, postprocess_options.foreign);
    let limits = postprocess_options.gate.limits(&document.language_code());
    crate::gate::take_out_bad_paragraphs(document, &limits);
    private::mask(document, &postprocess_options.masks);
    crate::gate::judge(document, &limits, &postprocess_options.languages)?;
    document.identify();
    Ok(())
}
