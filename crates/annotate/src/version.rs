//! Which annotator made a text.

use std::sync::OnceLock;

use xxhash_rust::xxh3::Xxh3;

use crate::{model, table};

/// The annotator, its version, and a digest of its tables and models: another table makes other
/// tokens, and a corpus is made anew. Taggers are named in recipes by language, see [`crate::Annotator::name`].
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hash = Xxh3::new();
        for (code, bytes) in model::files().chain(table::rows()) {
            hash.update(code.as_bytes());
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        format!("tidings-annotate {} {:08x}", env!("CARGO_PKG_VERSION"), hash.digest() >> 32)
    })
}
