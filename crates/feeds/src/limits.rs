//! Limits of the parser.
//!
//! Feeds are untrusted input. Every loop of this crate is linear in the input, and these limits bound the rest: a
//! document that exceeds one is read up to it and the repair is noted.

/// Limits on one document. The defaults admit every legitimate feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes read of a document.
    pub max_bytes: usize,
    /// Entries kept: the newest by their dates, else the first ones.
    pub max_entries: usize,
    /// Nesting depth of elements or JSON values.
    pub max_depth: usize,
    /// Bytes of one title, summary or text.
    pub max_field_bytes: usize,
    /// Authors, categories or enclosures of one entry.
    pub max_list: usize,
    /// JSON values held in memory.
    pub max_values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_bytes: 128 << 20,
            max_entries: 50_000,
            max_depth: 200,
            max_field_bytes: 8 << 20,
            max_list: 500,
            max_values: 1_000_000,
        }
    }
}
