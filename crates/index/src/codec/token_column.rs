//! The forward index of a segment: bit-packed numbers of one width, one per token.
//!
//! Blocks of 128 numbers are packed in the SIMD layout of [`BitPacker4x`]. All blocks have one width, so a single number
//! is read in place without unpacking its block.

use bitpacking::{BitPacker, BitPacker4x};

use super::{BLOCK, LANES};
use crate::checked::CheckedSlice;

/// Writer of a token column, block by block.
pub(crate) struct TokenColumnWriter {
    packer: BitPacker4x,
    width: u32,
    pending: Vec<u32>,
    packed: Vec<u8>,
}

impl TokenColumnWriter {
    pub(crate) fn new(width: u32) -> TokenColumnWriter {
        let packed = vec![0; BLOCK * 4];
        TokenColumnWriter { packer: BitPacker4x::new(), width, pending: Vec::with_capacity(BLOCK), packed }
    }

    /// Appends a number; returns the block that it completes.
    #[inline]
    pub(crate) fn push(&mut self, value: u32) -> Option<&[u8]> {
        self.pending.push(value);
        if self.pending.len() == BLOCK { Some(self.block()) } else { None }
    }

    /// Returns the last block, padded with zeros.
    pub(crate) fn finish(&mut self) -> Option<&[u8]> {
        if self.pending.is_empty() {
            return None;
        }
        self.pending.resize(BLOCK, 0);
        Some(self.block())
    }

    fn block(&mut self) -> &[u8] {
        let len = self.packer.compress(&self.pending, &mut self.packed, self.width as u8);
        self.pending.clear();
        &self.packed[..len]
    }
}

/// A token column.
#[derive(Debug, Clone, Copy)]
pub struct TokenColumn<'a> {
    words: CheckedSlice<'a, u32>,
    width: u32,
    len: u32,
}

impl<'a> TokenColumn<'a> {
    pub(crate) fn new(words: impl Into<CheckedSlice<'a, u32>>, width: u32, len: u32) -> TokenColumn<'a> {
        TokenColumn { words: words.into(), width: width.clamp(1, 32), len }
    }

    /// Size of a column in words.
    pub(crate) fn words_for(len: usize, width: u32) -> usize {
        len.div_ceil(BLOCK) * LANES * width as usize
    }

    /// Number of values.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns true if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Upper bound (exclusive) of the values that its width can hold.
    pub fn bound(&self) -> usize {
        1usize << self.width
    }

    /// Value at an index; zero beyond the end.
    ///
    /// A block interleaves four streams of 32-bit words, one for each remainder of the index by four.
    #[inline]
    pub fn get(&self, at: u32) -> u32 {
        let (block, within) = (at as usize / BLOCK, at as usize % BLOCK);
        let bit = (within / LANES) * self.width as usize;
        let word = block * LANES * self.width as usize + bit / 32 * LANES + within % LANES;
        let shift = bit as u32 % 32;
        let low = self.words.get(word).unwrap_or(0);
        // The last row of a block never reaches into the next word, so it does not matter that this
        // word may belong to another block.
        let high = self.words.get(word + LANES).unwrap_or(0);
        let both = u64::from(low) | u64::from(high) << 32;
        ((both >> shift) & ((1u64 << self.width) - 1)) as u32
    }

    /// Unpacks a block; false beyond the end.
    #[inline]
    pub fn block(&self, block: usize, numbers: &mut [u32; BLOCK]) -> bool {
        let size = LANES * self.width as usize;
        match self.words.slice(block * size..(block + 1) * size) {
            Some(words) => {
                BitPacker4x::new().decompress(bytemuck::cast_slice(words), numbers, self.width as u8);
                true
            }
            None => false,
        }
    }

    /// Calls `each` with the values of a range in pieces of up to a block, in order, with the index of each piece.
    #[inline]
    pub fn scan(&self, start: u32, end: u32, mut each: impl FnMut(u32, &[u32])) {
        let end = end.min(self.len);
        let mut numbers = [0; BLOCK];
        let mut at = start;
        while at < end {
            let block = at as usize / BLOCK;
            if !self.block(block, &mut numbers) {
                return;
            }
            let from = at as usize % BLOCK;
            let to = BLOCK.min(end as usize - block * BLOCK);
            each(at, &numbers[from..to]);
            at = ((block + 1) * BLOCK) as u32;
        }
    }
}
