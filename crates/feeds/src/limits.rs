//! How much of a document we are willing to read.
//!
//! Feeds come from strangers. Every loop in this room is linear in the input, and these numbers
//! bound the rest: a document that exceeds one is read up to it and says so.

/// Bounds on one document. The defaults let every honest feed through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a document that are looked at.
    pub max_bytes: usize,
    /// Entries that are kept.
    pub max_entries: usize,
    /// Elements or JSON values inside one another that are told apart.
    pub max_depth: usize,
    /// Bytes of one title, summary or text.
    pub max_field_bytes: usize,
    /// Authors, categories or enclosures of one entry.
    pub max_list: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_bytes: 128 << 20, max_entries: 200_000, max_depth: 200, max_field_bytes: 8 << 20, max_list: 500 }
    }
}
