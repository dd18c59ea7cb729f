//! Integer codecs: the token column, posting lists, small packed arrays and bit sets.
//!
//! Readers may get damaged bytes. They may then return wrong numbers (digests detect that, see
//! [`crate::Snapshot::intact`]), but neither panic nor read out of bounds.

mod bit_set;
mod posting_list;
mod span_list;
mod token_column;

pub use bit_set::{BitSet, bit, last_bit, next_bit};
pub use posting_list::PostingList;
pub(crate) use posting_list::write_postings;
pub use span_list::{ListedSpan, SpanList};
pub(crate) use span_list::{SpanBlock, SpanListWriter};
pub use token_column::TokenColumn;
pub(crate) use token_column::TokenColumnWriter;

use crate::checked::CheckedSlice;

/// Numbers in a block.
pub const BLOCK: usize = 128;
/// Interleaved streams of the SIMD layout.
const LANES: usize = 4;

/// Number of bits of a number; at least one.
pub(crate) fn width_of(largest: u32) -> u32 {
    (u32::BITS - largest.leading_zeros()).max(1)
}

/// Appends numbers of one width, little-endian by bit.
pub(crate) fn write_packed(numbers: &[u32], width: u32, bytes: &mut Vec<u8>) {
    let (mut pending, mut bits) = (0u64, 0);
    for number in numbers {
        pending |= u64::from(*number) << bits;
        bits += width;
        while bits >= 8 {
            bytes.push(pending as u8);
            pending >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        bytes.push(pending as u8);
    }
}

/// Number at an index of an array of [`write_packed`]; bits beyond the end are zero.
#[inline]
pub(crate) fn read_packed<'a>(bytes: impl Into<CheckedSlice<'a, u8>>, width: u32, at: usize) -> u32 {
    let bytes = bytes.into();
    let bit = at * width as usize;
    let from = bit / 8;
    let near = bytes.slice(from..bytes.len().min(from + 8)).unwrap_or_default();
    let word = match near.try_into() {
        Ok(eight) => u64::from_le_bytes(eight),
        Err(_) => near.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    ((word >> (bit % 8)) & ((1u64 << width.min(32)) - 1)) as u32
}

#[cfg(test)]
mod tests;
