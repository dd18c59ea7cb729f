//! Packs embedded in the binary, chosen by the features of the crate (`build.rs`), and their registry.

include!(concat!(env!("OUT_DIR"), "/packs.rs"));

/// The registry of packs: a header, then a row of tab-separated fields per file.
pub const REGISTRY: &str = include_str!("../models/registry.tsv");

/// A row of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackRow<'r> {
    /// `tags` or `boundaries`.
    pub kind: &'r str,
    /// Language code.
    pub language: &'r str,
    /// File in `models/`.
    pub file: &'r str,
    /// `core` for the languages of a small binary, else `all`.
    pub set: &'r str,
    /// Size of the file.
    pub bytes: usize,
    /// Digest of the file (XXH3, 64 bits).
    pub digest: &'r str,
    /// Licences of the treebanks.
    pub licence: &'r str,
    /// Treebanks that it was trained on.
    pub treebanks: &'r str,
}

/// Rows of a registry; lines that cannot be read are left out.
pub fn rows(registry: &str) -> impl Iterator<Item = PackRow<'_>> {
    registry.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[kind, language, file, set, bytes, digest, licence, treebanks] = fields.as_slice() else { return None };
        Some(PackRow { kind, language, file, set, bytes: bytes.parse().ok()?, digest, licence, treebanks })
    })
}
