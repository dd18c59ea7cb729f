//! Immutable segments: documents in the order of their days.
//!
//! A segment is a forward index (the token column: one number per token, the rank of its lexeme among those that occur in
//! the segment) and an inverted index (a posting list per lexeme), with the starts of sentences and paragraphs, spacing, and
//! columns of document metadata. Positions are in the order of time, so that a period is a range of positions.

mod batch;
mod documents;
mod merge;
mod read;
mod write;

pub use batch::Batch;
pub use documents::{DocumentView, Field};
pub use merge::{MergeSource, merge};
pub use read::{DayCounts, Segment};

use serde::{Deserialize, Serialize};

/// Number of a lexeme within a segment: its rank among the lexemes that occur there.
pub type LocalLexemeId = u32;

/// Limit of tokens: positions are 32-bit numbers, with space to spare.
pub const MAX_TOKENS: u64 = 1 << 31;

/// Frequency from which a lexeme's counts by day are stored; those of rarer ones are counted from their short posting lists.
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
    /// BitSet per token in the column.
    pub width: u32,
    /// Distinct days.
    pub days: u32,
    /// The first day, as a number.
    pub first_day: i32,
    /// The last day.
    pub last_day: i32,
    /// Tokens whose spacing differs from that of most tokens of their lexeme.
    #[serde(rename = "odd_spaces")]
    pub spacing_exceptions: u32,
    /// Lexemes whose counts by day are stored.
    pub counted: u32,
    /// The fields of documents, with their numbers of distinct values.
    pub fields: Vec<(String, u32)>,
}

#[cfg(test)]
mod tests;
