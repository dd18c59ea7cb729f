//! Which extractor made a document.

use std::sync::OnceLock;

use crate::article::evidence::Hash;

/// Everything that was learned: another forest is another extractor. So is one that keeps more of what a page says:
/// the first line counts the times that documents have gained something.
const LEARNED: [&str; 5] = [
    "1: what the publisher says about use",
    include_str!("article/weights/names.tsv"),
    include_str!("article/weights/words.tsv"),
    include_str!("article/weights/first.forest"),
    include_str!("article/weights/second.forest"),
];

/// The extractor, its version, and a digest of what it has learned. Documents carry it, and a
/// corpus is made anew when it changes.
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hash = Hash::new();
        LEARNED.iter().flat_map(|text| text.bytes().chain([0])).for_each(|byte| hash.byte(byte));
        format!("tidings-clean {} {:08x}", env!("CARGO_PKG_VERSION"), hash.0 >> 32)
    })
}
