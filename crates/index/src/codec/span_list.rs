//! Span lists: starts and lengths of spans that may nest and overlap.
//!
//! Spans are sorted by start; several may start at one position. Blocks of 128 store the differences of starts and the
//! lengths, each bit-packed with the width of the largest one in the block. A block has an entry with its first start, the
//! offset of its data and the two widths.

use super::{BLOCK, read_packed, width_of, write_packed};
use crate::checked::CheckedSlice;

/// Entry of a block: first start, offset of its data in bytes, width of differences and of lengths.
pub(crate) type SpanBlock = [u32; 3];

/// Writer of a span list, block by block.
#[derive(Default)]
pub(crate) struct SpanListWriter {
    starts: Vec<u32>,
    lengths: Vec<u32>,
    blocks: Vec<SpanBlock>,
    offset: u64,
    packed: Vec<u8>,
}

impl SpanListWriter {
    /// Appends a span that does not start before the last one; returns the data of the block that it completes.
    pub(crate) fn push(&mut self, start: u32, end: u32) -> Option<&[u8]> {
        self.starts.push(start);
        self.lengths.push(end.saturating_sub(start).saturating_sub(1));
        if self.starts.len() == BLOCK { Some(self.block()) } else { None }
    }

    /// Returns the data of the last block.
    pub(crate) fn finish(&mut self) -> Option<&[u8]> {
        if self.starts.is_empty() { None } else { Some(self.block()) }
    }

    /// Entries of the blocks; `None` if the data is too large for 32-bit offsets.
    pub(crate) fn blocks(&self) -> Option<&[SpanBlock]> {
        u32::try_from(self.offset).ok().map(|_| &self.blocks[..])
    }

    fn block(&mut self) -> &[u8] {
        let first = self.starts[0];
        let mut before = first;
        for start in &mut self.starts {
            let gap = start.saturating_sub(before);
            before = *start;
            *start = gap;
        }
        let widths = [&self.starts, &self.lengths].map(|all| width_of(all.iter().copied().max().unwrap_or(0)));
        self.packed.clear();
        write_packed(&self.starts, widths[0], &mut self.packed);
        write_packed(&self.lengths, widths[1], &mut self.packed);
        self.blocks.push([first, self.offset as u32, widths[0] | widths[1] << 8]);
        self.offset += self.packed.len() as u64;
        self.starts.clear();
        self.lengths.clear();
        &self.packed
    }
}

/// A span in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedSpan {
    /// The first token.
    pub start: u32,
    /// The position after the last token.
    pub end: u32,
    /// Number of the span in its list.
    pub index: u32,
}

/// A list of spans, sorted by start.
#[derive(Debug, Clone, Copy)]
pub struct SpanList<'a> {
    blocks: CheckedSlice<'a, SpanBlock>,
    data: CheckedSlice<'a, u8>,
    len: u32,
}

impl<'a> SpanList<'a> {
    pub(crate) fn new(
        blocks: impl Into<CheckedSlice<'a, SpanBlock>>,
        data: impl Into<CheckedSlice<'a, u8>>,
        len: u32,
    ) -> SpanList<'a> {
        SpanList { blocks: blocks.into(), data: data.into(), len }
    }

    /// Number of blocks of a list.
    pub(crate) fn blocks_for(len: u32) -> usize {
        (len as usize).div_ceil(BLOCK)
    }

    /// Number of spans.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns true if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Calls `each` with the spans that start in `start..end`, in order; stops when it returns false.
    pub fn each_from(&self, start: u32, end: u32, mut each: impl FnMut(ListedSpan) -> bool) {
        // The block before the first that starts here may have spans of the range, too.
        let first = self.blocks.partition_point(|block| block[0] < start).saturating_sub(1);
        for number in first..self.blocks.len() {
            let Some([base, offset, widths]) = self.blocks.get(number).filter(|block| block[0] < end) else { return };
            let count = BLOCK.min((self.len as usize).saturating_sub(number * BLOCK));
            let widths = [widths & 255, widths >> 8].map(|width| width.min(32));
            let [starts_bytes, lengths_bytes] = widths.map(|width| (count * width as usize).div_ceil(8));
            let data_end = (offset as usize + starts_bytes + lengths_bytes).min(self.data.len());
            let data = self.data.slice(offset as usize..data_end).unwrap_or_default();
            let lengths = data.get(starts_bytes..).unwrap_or_default();
            let mut at = base;
            for index in 0..count {
                at = at.wrapping_add(read_packed(data, widths[0], index));
                if at < start {
                    continue;
                }
                if at >= end {
                    return;
                }
                let to = at.saturating_add(read_packed(lengths, widths[1], index)).saturating_add(1);
                if !each(ListedSpan { start: at, end: to, index: (number * BLOCK + index) as u32 }) {
                    return;
                }
            }
        }
    }

    /// Appends the spans that start in `start..end`.
    pub fn read(&self, start: u32, end: u32, into: &mut Vec<ListedSpan>) {
        self.each_from(start, end, |span| {
            into.push(span);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(spans: &[(u32, u32)]) -> (Vec<SpanBlock>, Vec<u8>) {
        let (mut writer, mut data) = (SpanListWriter::default(), Vec::new());
        for (start, end) in spans {
            data.extend(writer.push(*start, *end).unwrap_or_default());
        }
        data.extend(writer.finish().unwrap_or_default());
        (writer.blocks().expect("small").to_vec(), data)
    }

    proptest! {
        #[test]
        fn spans_of_any_range_are_read_back(
            gaps in proptest::collection::vec((0u32..40, 1u32..300), 0..600), from in 0u32..6000, len in 0u32..6000,
        ) {
            let mut at = 0;
            let spans: Vec<(u32, u32)> = gaps.iter().map(|(gap, length)| { at += gap / 4; (at, at + length) }).collect();
            let (blocks, data) = written(&spans);
            let list = SpanList::new(&blocks, &data, spans.len() as u32);
            prop_assert_eq!(blocks.len(), SpanList::blocks_for(list.len()));
            let mut read = Vec::new();
            list.read(from, from + len, &mut read);
            let expected: Vec<ListedSpan> = (0..).zip(&spans)
                .filter(|(_, (start, _))| (from..from + len).contains(start))
                .map(|(index, (start, end))| ListedSpan { start: *start, end: *end, index }).collect();
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn damaged_blocks_are_read_without_a_panic(blocks: Vec<[u32; 3]>, data: Vec<u8>, len in 0u32..2000, from: u32) {
            let list = SpanList::new(&blocks, &data, len);
            let mut read = Vec::new();
            list.read(from, u32::MAX, &mut read);
            prop_assert!(read.len() <= blocks.len() * BLOCK);
        }
    }
}
