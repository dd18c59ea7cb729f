//! Posting lists: delta-coded, bit-packed positions with skip entries.
//!
//! A list is divided into blocks of 128 positions. A block stores deltas, bit-packed with the width
//! of the largest one, and has a skip entry with its last position, offset and width. The remaining
//! positions form a tail of one width.

use bitpacking::{BitPacker, BitPacker4x};

use super::{BLOCK, LANES, read_packed, width_of, write_packed};
use crate::checked::CheckedSlice;

/// Bytes of a skip entry: last position (u32), then offset in units of 16 bytes (26 bits) and width (6 bits).
const SKIP_BYTES: usize = 8;

/// Appends a posting list of strictly ascending positions to `bytes`. Its length is stored by the caller.
pub(crate) fn write_postings(positions: &[u32], bytes: &mut Vec<u8>) {
    let packer = BitPacker4x::new();
    let (blocks, tail) = positions.as_chunks::<BLOCK>();
    let skips_at = bytes.len();
    bytes.resize(skips_at + blocks.len() * SKIP_BYTES, 0);
    let data_at = bytes.len();
    let mut before = None;
    for (index, block) in blocks.iter().enumerate() {
        let width = packer.num_bits_strictly_sorted(before, block);
        let at = bytes.len();
        let offset = ((at - data_at) / LANES / 4) as u32;
        let skip = skips_at + index * SKIP_BYTES;
        bytes[skip..skip + 4].copy_from_slice(&block[BLOCK - 1].to_le_bytes());
        bytes[skip + 4..skip + 8].copy_from_slice(&(offset << 6 | u32::from(width)).to_le_bytes());
        bytes.resize(at + width as usize * BLOCK / 8, 0);
        packer.compress_strictly_sorted(before, block, &mut bytes[at..], width);
        before = Some(block[BLOCK - 1]);
    }
    let mut floor = before.map_or(0, |last| last + 1);
    let gaps: Vec<u32> = tail
        .iter()
        .map(|position| {
            let gap = position - floor;
            floor = position + 1;
            gap
        })
        .collect();
    if !gaps.is_empty() {
        let width = width_of(gaps.iter().copied().max().unwrap_or(0));
        bytes.push(width as u8);
        write_packed(&gaps, width, bytes);
    }
}

/// A posting list: strictly ascending positions.
#[derive(Debug, Clone, Copy)]
pub struct PostingList<'a> {
    bytes: CheckedSlice<'a, u8>,
    len: u32,
    /// Position of a list of length one, which has no bytes.
    only: Option<u32>,
}

impl<'a> PostingList<'a> {
    pub(crate) fn new(bytes: impl Into<CheckedSlice<'a, u8>>, len: u32) -> PostingList<'a> {
        PostingList { bytes: bytes.into(), len, only: None }
    }

    pub(crate) fn only(position: u32) -> PostingList<'a> {
        PostingList { bytes: CheckedSlice::default(), len: 1, only: Some(position) }
    }

    /// Number of positions.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns true if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn blocks(&self) -> usize {
        (self.len as usize / BLOCK).min(self.bytes.len() / SKIP_BYTES)
    }

    fn last_of(&self, block: usize) -> u32 {
        match self.bytes.slice(block * SKIP_BYTES..block * SKIP_BYTES + 4) {
            Some(bytes) => u32::from_le_bytes(bytes.try_into().expect("four bytes")),
            None => u32::MAX,
        }
    }

    /// Unpacks a block, or the tail after the last one; returns the number of positions.
    fn unpack(&self, block: usize, positions: &mut [u32; BLOCK]) -> usize {
        let blocks = self.blocks();
        let before = block.checked_sub(1).map(|block| self.last_of(block));
        let data = blocks * SKIP_BYTES;
        let offset_of = |block: usize| {
            let bytes = self.bytes.slice(block * SKIP_BYTES + 4..(block + 1) * SKIP_BYTES)?;
            let packed = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            Some((data + (packed >> 6) as usize * 16, packed & 63))
        };
        if block < blocks {
            let packed = offset_of(block)
                .filter(|(_, width)| *width <= 32)
                .and_then(|(at, width)| Some((self.bytes.slice(at..at + width as usize * BLOCK / 8)?, width)));
            let Some((packed, width)) = packed else { return 0 };
            BitPacker4x::new().decompress_strictly_sorted(before, packed, positions, width as u8);
            return BLOCK;
        }
        let tail = self.len as usize - blocks * BLOCK;
        let at = match blocks.checked_sub(1).map(offset_of) {
            None => data,
            Some(Some((at, width))) => at + width as usize * BLOCK / 8,
            Some(None) => return 0,
        };
        let Some(width) = self.bytes.get(at).map(u32::from) else { return 0 };
        if tail >= BLOCK || width > 32 {
            return 0;
        }
        let end = (at + 1 + (tail * width as usize).div_ceil(8)).min(self.bytes.len());
        let packed = self.bytes.slice(at + 1..end).unwrap_or_default();
        let mut floor = before.map_or(0, |last| last.wrapping_add(1));
        for (index, position) in positions[..tail].iter_mut().enumerate() {
            *position = floor.wrapping_add(read_packed(packed, width, index));
            floor = position.wrapping_add(1);
        }
        tail
    }

    /// Calls `each` with the positions in `start..end` in pieces, in order.
    #[inline]
    pub fn pieces(&self, start: u32, end: u32, mut each: impl FnMut(&[u32])) {
        if start >= end || self.len == 0 {
            return;
        }
        if let Some(only) = self.only {
            if (start..end).contains(&only) {
                each(&[only]);
            }
            return;
        }
        let mut positions = [0; BLOCK];
        let blocks = self.blocks();
        let mut block = self.block_with(start);
        while block <= blocks {
            let count = self.unpack(block, &mut positions);
            let piece = &positions[..count];
            let is_last = piece.last().is_none_or(|last| *last >= end - 1);
            let from = if piece.first().is_some_and(|first| *first < start) {
                piece.partition_point(|position| *position < start)
            } else {
                0
            };
            let to = if is_last { piece.partition_point(|position| *position < end) } else { count };
            if from < to {
                each(&piece[from..to]);
            }
            if is_last {
                return;
            }
            block += 1;
        }
    }

    /// Binary search in the skip entries: the first block whose last position is not before `position`, or the tail.
    fn block_with(&self, position: u32) -> usize {
        if position == 0 {
            return 0;
        }
        let (mut low, mut high) = (0, self.blocks());
        while low < high {
            let middle = (low + high) / 2;
            if self.last_of(middle) < position { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Appends the positions in `start..end`.
    pub fn read(&self, start: u32, end: u32, into: &mut Vec<u32>) {
        self.pieces(start, end, |piece| into.extend_from_slice(piece));
    }

    /// First position that is not before `position`.
    pub fn next_from(&self, position: u32) -> Option<u32> {
        let mut found = None;
        if let Some(only) = self.only {
            return Some(only).filter(|only| *only >= position);
        }
        let mut positions = [0; BLOCK];
        for block in self.block_with(position)..=self.blocks() {
            let count = self.unpack(block, &mut positions);
            found = positions[..count].iter().copied().find(|found| *found >= position);
            if found.is_some() {
                break;
            }
        }
        found
    }

    /// Returns true if a position is in the list.
    pub fn contains(&self, position: u32) -> bool {
        self.next_from(position) == Some(position)
    }
}
