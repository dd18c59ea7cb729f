//! Names of persons, organisations and places: spans `ne` with the canonical form of the document.
//!
//! A name is a run of proper nouns, joined over particles and prepositions of names. Capitals decide where the script
//! has them, together with tags and with the document's other uses of a word; tags alone where it has none. Forms of
//! one name get one canonical form per document: case endings are removed, surnames stand for the full name if only one
//! person has them, and acronyms for the expansion that the text gives. The type is given only if words in or before
//! the name, or lists of `languages/CODE/names.tsv`, make it sure.

mod canonical;
mod cased;
mod evidence;
mod kind;
mod uncased;
mod words;

use tidings_lang::Script;
use tidings_model::{Annotated, TokenSpan};

use evidence::Text;
use words::NameWords;

pub use kind::NameKind;

/// Version of the layer: increased whenever the same annotated document gives different spans.
pub const VERSION: u32 = 1;

/// Name of the spans.
pub const SPAN: &str = "ne";
/// The attribute with the canonical form.
pub const NAME: &str = "name";
/// The attribute with the [kind](NameKind), if it is sure.
pub const TYPE: &str = "type";

/// Longest name in tokens; longer runs of capitalised words are lists or titles.
const MAX_TOKENS: usize = 12;

/// An occurrence of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mention {
    start: usize,
    end: usize,
    kind: Option<NameKind>,
}

/// Finds the names of a document. Spans are in reading order and do not overlap; their attributes are `name`, the
/// canonical form, and `type` if it is sure (see [`NameKind`]).
pub fn names(document: &Annotated, language: &str) -> Vec<TokenSpan> {
    let words = NameWords::of(language);
    let mut text = Text::new(document, language, words);
    let mentions = match is_cased(language) {
        true => {
            // Full names of the first pass show which words are surnames.
            text.learn_surnames(&cased::mentions(&text));
            cased::mentions(&text)
        }
        false => uncased::mentions(&text),
    };
    canonical::spans(&text, &mentions)
}

/// Returns true if the usual script of a language has capitals; so is an unknown language.
fn is_cased(language: &str) -> bool {
    let script = tidings_lang::language(language).and_then(|known| known.scripts.first().copied());
    script.is_none_or(|script| matches!(script, Script::Latin | Script::Cyrillic | Script::Greek | Script::Armenian))
}
