//! Immutable segments: documents sorted by day.
//!
//! A segment is a forward index (the token column with the local lexeme id of each token) and an
//! inverted index (a posting list per lexeme), with the starts of sentences and paragraphs,
//! spacing, and columns of document metadata. Positions are in chronological order, so that a
//! period is a range of positions.

mod batch;
mod documents;
mod merge;
mod pending_spans;
mod read;
mod spans;
mod write;

pub use batch::Batch;
pub use documents::{DocumentView, Field};
pub use merge::{MergeSource, merge};
pub use read::{DayCounts, Segment};
pub use spans::{SpanAttribute, SpanMeta, Spans};

use serde::{Deserialize, Serialize};

/// Number of a lexeme within a segment: its rank among the lexemes that occur in it.
pub type LocalLexemeId = u32;

/// Maximum number of tokens; positions are 32-bit numbers.
pub const MAX_TOKENS: u64 = 1 << 31;

/// Frequency from which counts by day are stored; those of rarer lexemes are computed from their
/// short posting lists.
const COUNTED_FROM: u32 = 512;

/// Header of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Tokens.
    pub tokens: u32,
    /// Documents.
    pub documents: u32,
    /// Sentences.
    pub sentences: u32,
    /// Paragraphs.
    pub paragraphs: u32,
    /// Distinct lexemes.
    pub lexemes: u32,
    /// All lexemes have numbers below this.
    pub lexeme_bound: u32,
    /// Bits per token in the column.
    pub width: u32,
    /// Distinct days.
    pub days: u32,
    /// First day, as a number.
    pub first_day: i32,
    /// Last day, as a number.
    pub last_day: i32,
    /// Tokens whose spacing differs from that of most tokens of their lexeme.
    #[serde(rename = "odd_spaces")]
    pub spacing_exceptions: u32,
    /// Lexemes whose counts by day are stored.
    pub counted: u32,
    /// Fields of documents with their numbers of distinct values.
    pub fields: Vec<(String, u32)>,
    /// Spans by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<SpanMeta>,
}

#[cfg(test)]
mod tests;
