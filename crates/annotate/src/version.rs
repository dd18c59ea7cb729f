//! The version of the annotator.

use std::sync::OnceLock;

use xxhash_rust::xxh3::Xxh3;

use crate::{boundary_model, table};

/// The version of how text becomes sentences, tokens, lemmas and tags. It grows whenever the same document and models give
/// other text; recipes name it, so that an upgrade annotates again only then.
pub const BEHAVIOUR_VERSION: u32 = 1;

/// The release that first had this behaviour; it changes with [`BEHAVIOUR_VERSION`] and not with every release.
const RELEASE: &str = "0.1.0";

/// The data that shapes text, by name: rules and boundary models of languages, and the embedded taggers.
pub fn tables() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    boundary_model::files().chain(table::rows()).chain([("tags.bin", crate::tagger::models::EMBEDDED)])
}

/// The name of the segmenter with a digest of its tables and models: other tables make other tokens. Taggers are named in
/// recipes by language, see [`crate::Annotator::name`].
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
