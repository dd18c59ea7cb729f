//! The version of the extractor.

use std::sync::OnceLock;

use crate::article::evidence::Fnv1a;

/// The version of what this crate makes of a page, language, masks and quality gate included. It grows whenever the same page
/// gives another document; recipes name it, so that an upgrade makes documents again only then.
pub const BEHAVIOUR_VERSION: u32 = 1;

/// The release that first had this behaviour. Documents name it, so it changes with [`BEHAVIOUR_VERSION`] and not with
/// every release.
const RELEASE: &str = "0.1.0";

/// The learned weights, and a counter of the times that documents gained a field before there was a version.
const LEARNED: [&str; 5] = [
    "1: what the publisher says about use",
    include_str!("article/weights/names.tsv"),
    include_str!("article/weights/words.tsv"),
    include_str!("article/weights/first.forest"),
    include_str!("article/weights/second.forest"),
];

/// The data that shapes documents, by file, that of language identification included.
pub fn tables() -> Vec<(&'static str, &'static [u8])> {
    let [_, names, words, first, second] = LEARNED;
    let own = [
        ("names.tsv", names),
        ("words.tsv", words),
        ("first.forest", first),
        ("second.forest", second),
        ("languages.tsv", crate::gate::LANGUAGES_TSV),
    ];
    own.into_iter().map(|(name, text)| (name, text.as_bytes())).chain(tidings_lang::tables()).collect()
}

/// The name of the extractor with a digest of its weights, as documents carry it.
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hash = Fnv1a::new();
        LEARNED.iter().flat_map(|text| text.bytes().chain([0])).for_each(|byte| hash.byte(byte));
        format!("tidings-clean {RELEASE} {:08x}", hash.0 >> 32)
    })
}
