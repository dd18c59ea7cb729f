//! Version of the annotator's behaviour.

use std::sync::OnceLock;

use xxhash_rust::xxh3::Xxh3;

use crate::{boundary_model, table};

/// Version of the output: increased whenever the same document and models give different sentences,
/// tokens, lemmas or tags. Recipes record it, so that an upgrade re-annotates only when it must.
pub const BEHAVIOUR_VERSION: u32 = 3;

/// The release that introduced this behaviour; changes together with [`BEHAVIOUR_VERSION`].
const RELEASE: &str = "0.1.0";

/// All embedded data that affects the output, by language: rules, boundary models and taggers.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    boundary_model::files().chain(table::rows()).chain(crate::embedded::TAGS.iter().copied())
}

/// Name of the segmenter with a digest of its rules and boundary models. Taggers are recorded in
/// recipes per language, see [`crate::Annotator::name`].
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hash = Xxh3::new();
        for (code, bytes) in boundary_model::files().chain(table::rows()) {
            hash.update(code.as_bytes());
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        format!("tidings-annotate {} {:08x}", RELEASE, hash.digest() >> 32)
    })
}
