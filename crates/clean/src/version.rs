//! Version of the extractor.

use std::sync::OnceLock;

use crate::article::evidence::Fnv1a;

/// Version of the conversion from page to document, including language identification, masks and
/// quality gate. Increment it whenever the same page gives another document: recipes store it, so
/// that an upgrade rebuilds documents only then.
pub const BEHAVIOUR_VERSION: u32 = 5;

/// The release that introduced this extraction. Documents store it, so it changes when the extractor
/// gives another text for the same HTML, and not with every release or [`BEHAVIOUR_VERSION`].
const RELEASE: &str = "0.1.0";

/// The trained model, preceded by a change note from before [`BEHAVIOUR_VERSION`] existed. All of
/// it enters the digest in [`version`], so it must not change.
const LEARNED: [&str; 5] = [
    "1: what the publisher says about use",
    include_str!("article/weights/names.tsv"),
    include_str!("article/weights/words.tsv"),
    include_str!("article/weights/first.forest"),
    include_str!("article/weights/second.forest"),
];

/// The data files that affect documents, including those of language identification.
pub fn tables() -> Vec<(&'static str, &'static [u8])> {
    let [_, names, words, first, second] = LEARNED;
    let own = [("names.tsv", names), ("words.tsv", words), ("first.forest", first), ("second.forest", second)];
    let own = own.into_iter().chain(crate::gate::limit_tables()).map(|(name, text)| (name, text.as_bytes()));
    own.chain(tidings_lang::tables()).collect()
}

/// Name of the extractor with a digest of its model, as stored in documents.
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hash = Fnv1a::new();
        LEARNED.iter().flat_map(|text| text.bytes().chain([0])).for_each(|byte| hash.byte(byte));
        format!("tidings-clean {RELEASE} {:08x}", hash.0 >> 32)
    })
}
