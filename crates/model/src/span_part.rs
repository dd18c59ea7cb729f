//! Spans of imported documents, whose tokens are stored by paragraph.

use serde::{Deserialize, Serialize};

use crate::layer::TokenSpan;

/// A span of a paragraph, or the part of a longer span in one of its paragraphs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanPart {
    /// The span; positions count from the start of the paragraph.
    #[serde(flatten)]
    pub span: TokenSpan,
    /// The number of the span that it is a part of, the same in all paragraphs; 0 if it is whole.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub part_of: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The number of kept tokens before each position, given a flag for each token; one more than there are tokens.
pub fn kept_before(is_kept: &[bool]) -> Vec<u32> {
    let mut kept = 0;
    let mut positions = Vec::with_capacity(is_kept.len() + 1);
    positions.push(kept);
    for is_kept in is_kept {
        kept += u32::from(*is_kept);
        positions.push(kept);
    }
    positions
}

impl TokenSpan {
    /// Moves the span to [new positions](kept_before) of its tokens; false if none of them is left.
    pub fn move_to(&mut self, positions: &[u32]) -> bool {
        let end = positions.last().copied().unwrap_or(0);
        let moved = |position: u32| positions.get(position as usize).copied().unwrap_or(end);
        (self.start, self.end) = (moved(self.start), moved(self.end));
        self.start < self.end
    }
}
