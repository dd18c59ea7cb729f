//! A segment: documents in the order of their days, immutable.
//!
//! It holds one number per token (the rank of its lexeme among those that occur in the segment), a list of positions per
//! lexeme, where sentences and paragraphs begin, what stands without a space, and columns about documents. Positions are
//! in the order of time, so that a period is a range of them.

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

/// Positions are 32-bit numbers, with room to spare.
pub const MAX_TOKENS: u64 = 1 << 31;

/// Lexemes from this frequency on have their counts by day stored; those of the others are counted from their lists,
/// which are short.
const COUNTED_FROM: u32 = 512;

/// What a segment says about itself.
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
    /// The first day, as a number.
    pub first_day: i32,
    /// The last day.
    pub last_day: i32,
    /// Tokens that stand without a space before them against the habit of their lexeme.
    pub odd_spaces: u32,
    /// Lexemes whose counts by day are stored.
    pub counted: u32,
    /// The fields of documents, with their numbers of distinct values.
    pub fields: Vec<(String, u32)>,
}
