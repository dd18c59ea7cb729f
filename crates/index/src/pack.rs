//! Numbers in few bits: the column of lexemes, lists of positions, small arrays.
//!
//! Columns and lists are cut into blocks of 128 numbers that SIMD unpacks. A column has one width, so that a single
//! number can be read where it lies. A list stores differences, with a skip entry per block (its last position, where it
//! lies, its width) and a short tail. Readers are given bytes that may be damaged: they may answer nonsense, but they
//! neither panic nor read elsewhere.

use bitpacking::{BitPacker, BitPacker4x};

/// Numbers in a block.
pub const BLOCK: usize = 128;
const LANES: usize = 4;
const SKIP_BYTES: usize = 8;

/// How many bits the largest of some numbers needs; at least one.
pub(crate) fn width_of(largest: u32) -> u32 {
    (u32::BITS - largest.leading_zeros()).max(1)
}

/// Packs a column block by block.
pub(crate) struct ColumnPacker {
    packer: BitPacker4x,
    width: u32,
    waiting: Vec<u32>,
    packed: Vec<u8>,
}

impl ColumnPacker {
    pub(crate) fn new(width: u32) -> ColumnPacker {
        let packed = vec![0; BLOCK * 4];
        ColumnPacker { packer: BitPacker4x::new(), width, waiting: Vec::with_capacity(BLOCK), packed }
    }

    /// Adds a number; gives the block that it fills.
    #[inline]
    pub(crate) fn push(&mut self, value: u32) -> Option<&[u8]> {
        self.waiting.push(value);
        if self.waiting.len() == BLOCK { Some(self.block()) } else { None }
    }

    /// What remains, filled up with zeros.
    pub(crate) fn finish(&mut self) -> Option<&[u8]> {
        if self.waiting.is_empty() {
            return None;
        }
        self.waiting.resize(BLOCK, 0);
        Some(self.block())
    }

    fn block(&mut self) -> &[u8] {
        let len = self.packer.compress(&self.waiting, &mut self.packed, self.width as u8);
        self.waiting.clear();
        &self.packed[..len]
    }
}

/// A packed column.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    words: &'a [u32],
    width: u32,
    len: u32,
}

impl<'a> Column<'a> {
    pub(crate) fn new(words: &'a [u32], width: u32, len: u32) -> Column<'a> {
        Column { words, width: width.clamp(1, 32), len }
    }

    /// How many words a column takes.
    pub(crate) fn words_for(len: usize, width: u32) -> usize {
        len.div_ceil(BLOCK) * LANES * width as usize
    }

    /// How many numbers it holds.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All numbers are below this.
    pub fn bound(&self) -> usize {
        1usize << self.width
    }

    /// The number at a place; zero beyond the end.
    ///
    /// A block interleaves four streams of 32-bit words, one for each remainder of the place by four.
    #[inline]
    pub fn get(&self, at: u32) -> u32 {
        let (block, within) = (at as usize / BLOCK, at as usize % BLOCK);
        let bit = (within / LANES) * self.width as usize;
        let word = block * LANES * self.width as usize + bit / 32 * LANES + within % LANES;
        let shift = bit as u32 % 32;
        let low = self.words.get(word).copied().unwrap_or(0);
        // The last row of a block never reaches into the next word, so that the word read here may be another block's.
        let high = self.words.get(word + LANES).copied().unwrap_or(0);
        let both = u64::from(low) | u64::from(high) << 32;
        ((both >> shift) & ((1u64 << self.width) - 1)) as u32
    }

    /// Unpacks one block; false beyond the end.
    #[inline]
    pub fn block(&self, block: usize, numbers: &mut [u32; BLOCK]) -> bool {
        let size = LANES * self.width as usize;
        match self.words.get(block * size..(block + 1) * size) {
            Some(words) => {
                BitPacker4x::new().decompress(bytemuck::cast_slice(words), numbers, self.width as u8);
                true
            }
            None => false,
        }
    }

    /// Gives the numbers of a range in pieces of up to a block, in order, with the place of each piece.
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

/// Appends a strictly ascending list to `bytes`. Its length is kept elsewhere.
pub(crate) fn write_list(positions: &[u32], bytes: &mut Vec<u8>) {
    let packer = BitPacker4x::new();
    let (blocks, tail) = positions.as_chunks::<BLOCK>();
    let skips_at = bytes.len();
    bytes.resize(skips_at + blocks.len() * SKIP_BYTES, 0);
    let data_at = bytes.len();
    let mut before = None;
    for (index, block) in blocks.iter().enumerate() {
        let width = packer.num_bits_strictly_sorted(before, block);
        let at = bytes.len();
        let place = ((at - data_at) / LANES / 4) as u32;
        let skip = skips_at + index * SKIP_BYTES;
        bytes[skip..skip + 4].copy_from_slice(&block[BLOCK - 1].to_le_bytes());
        bytes[skip + 4..skip + 8].copy_from_slice(&(place << 6 | u32::from(width)).to_le_bytes());
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
        write_small(&gaps, width, bytes);
    }
}

/// Appends numbers of one width, from the lowest bit up.
pub(crate) fn write_small(numbers: &[u32], width: u32, bytes: &mut Vec<u8>) {
    let (mut waiting, mut bits) = (0u64, 0);
    for number in numbers {
        waiting |= u64::from(*number) << bits;
        bits += width;
        while bits >= 8 {
            bytes.push(waiting as u8);
            waiting >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        bytes.push(waiting as u8);
    }
}

/// The number at a place of an array that [`write_small`] wrote; bits beyond the end are zero.
#[inline]
pub(crate) fn read_small(bytes: &[u8], width: u32, at: usize) -> u32 {
    let bit = at * width as usize;
    let from = bit / 8;
    let word = match bytes.get(from..from + 8) {
        Some(eight) => u64::from_le_bytes(eight.try_into().expect("eight bytes")),
        None => {
            let rest = bytes.get(from..).unwrap_or_default();
            rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
        }
    };
    ((word >> (bit % 8)) & ((1u64 << width.min(32)) - 1)) as u32
}

/// A list of positions, strictly ascending.
#[derive(Debug, Clone, Copy)]
pub struct List<'a> {
    bytes: &'a [u8],
    len: u32,
    /// The only position of a list that has one: it needs no bytes.
    only: Option<u32>,
}

impl<'a> List<'a> {
    pub(crate) fn new(bytes: &'a [u8], len: u32) -> List<'a> {
        List { bytes, len, only: None }
    }

    pub(crate) fn only(position: u32) -> List<'a> {
        List { bytes: &[], len: 1, only: Some(position) }
    }

    /// How many positions it has.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn blocks(&self) -> usize {
        (self.len as usize / BLOCK).min(self.bytes.len() / SKIP_BYTES)
    }

    fn last_of(&self, block: usize) -> u32 {
        match self.bytes.get(block * SKIP_BYTES..block * SKIP_BYTES + 4) {
            Some(bytes) => u32::from_le_bytes(bytes.try_into().expect("four bytes")),
            None => u32::MAX,
        }
    }

    /// Unpacks a block, or the tail behind the last one; says how many positions that gave.
    fn unpack(&self, block: usize, positions: &mut [u32; BLOCK]) -> usize {
        let blocks = self.blocks();
        let before = block.checked_sub(1).map(|block| self.last_of(block));
        let data = blocks * SKIP_BYTES;
        let place_of = |block: usize| {
            let bytes = self.bytes.get(block * SKIP_BYTES + 4..(block + 1) * SKIP_BYTES)?;
            let packed = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            Some((data + (packed >> 6) as usize * 16, packed & 63))
        };
        if block < blocks {
            let packed = place_of(block)
                .filter(|(_, width)| *width <= 32)
                .and_then(|(at, width)| Some((self.bytes.get(at..at + width as usize * BLOCK / 8)?, width)));
            let Some((packed, width)) = packed else { return 0 };
            BitPacker4x::new().decompress_strictly_sorted(before, packed, positions, width as u8);
            return BLOCK;
        }
        let tail = self.len as usize - blocks * BLOCK;
        let at = match blocks.checked_sub(1).map(place_of) {
            None => data,
            Some(Some((at, width))) => at + width as usize * BLOCK / 8,
            Some(None) => return 0,
        };
        let Some((width, bytes)) = self.bytes.get(at..).and_then(|bytes| bytes.split_first()) else { return 0 };
        if tail >= BLOCK || *width > 32 {
            return 0;
        }
        let mut floor = before.map_or(0, |last| last.wrapping_add(1));
        for (index, position) in positions[..tail].iter_mut().enumerate() {
            *position = floor.wrapping_add(read_small(bytes, u32::from(*width), index));
            floor = position.wrapping_add(1);
        }
        tail
    }

    /// Gives the positions from `start` up to `end` in pieces, in order.
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

    /// The first block whose last position is not before `position`; the tail if there is none.
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

    /// Appends all positions from `start` up to `end`.
    pub fn read(&self, start: u32, end: u32, into: &mut Vec<u32>) {
        self.pieces(start, end, |piece| into.extend_from_slice(piece));
    }

    /// The first position that is not before `position`.
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

    /// Whether a position is in the list.
    pub fn contains(&self, position: u32) -> bool {
        self.next_from(position) == Some(position)
    }
}

/// A set of numbers as bits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Room for the numbers below `bound`, none of them set.
    pub fn new(bound: usize) -> Bits {
        Bits { words: vec![0; bound.div_ceil(64)] }
    }

    /// From words, the lowest bit first.
    pub fn from_words(words: Vec<u64>) -> Bits {
        Bits { words }
    }

    /// Adds a number below the bound.
    #[inline]
    pub fn set(&mut self, number: u32) {
        if let Some(word) = self.words.get_mut(number as usize / 64) {
            *word |= 1 << (number % 64);
        }
    }

    /// Adds the numbers of a range, as far as they are below the bound.
    pub fn set_range(&mut self, range: std::ops::Range<u32>) {
        let mut at = range.start;
        while at < range.end {
            let count = (64 - at % 64).min(range.end - at);
            if let Some(word) = self.words.get_mut(at as usize / 64) {
                *word |= (u64::MAX >> (64 - count)) << (at % 64);
            }
            at += count;
        }
    }

    /// Whether a number is in it.
    #[inline]
    pub fn get(&self, number: u32) -> bool {
        bit(&self.words, number)
    }

    /// How many numbers are in it.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                (word != 0).then(|| {
                    word &= word - 1;
                    index as u32 * 64 + bit
                })
            })
        })
    }

    /// The words, the lowest bit first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words, to combine sets of one bound.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

/// Whether a bit is set; none is beyond the end.
#[inline]
pub fn bit(words: &[u64], number: u32) -> bool {
    words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

/// The first set bit in `start..end`.
#[inline]
pub fn next_bit(words: &[u64], start: u32, end: u32) -> Option<u32> {
    if start >= end {
        return None;
    }
    let mut index = start as usize / 64;
    let mut word = words.get(index)? & (u64::MAX << (start % 64));
    loop {
        if word != 0 {
            let found = index as u32 * 64 + word.trailing_zeros();
            return Some(found).filter(|found| *found < end);
        }
        index += 1;
        if index as u64 * 64 >= u64::from(end) {
            return None;
        }
        word = *words.get(index)?;
    }
}

/// The last set bit in `start..=end`.
#[inline]
pub fn last_bit(words: &[u64], start: u32, end: u32) -> Option<u32> {
    let mut index = end as usize / 64;
    let mut word = words.get(index)? & (u64::MAX >> (63 - end % 64));
    loop {
        if word != 0 {
            let found = index as u32 * 64 + 63 - word.leading_zeros();
            return Some(found).filter(|found| *found >= start);
        }
        if index as u32 * 64 <= start {
            return None;
        }
        index -= 1;
        word = words[index];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(values: &[u32], width: u32) -> Vec<u32> {
        let mut packer = ColumnPacker::new(width);
        let mut bytes = Vec::new();
        for value in values {
            bytes.extend(packer.push(*value).unwrap_or_default());
        }
        bytes.extend(packer.finish().unwrap_or_default());
        bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect()
    }

    proptest! {
        #[test]
        fn a_column_gives_back_what_it_was_given(width in 1u32..=32, seed: u64, len in 0usize..600) {
            let mut random = fastrand::Rng::with_seed(seed);
            let values: Vec<u32> = (0..len).map(|_| (random.u64(..) & ((1 << width) - 1)) as u32).collect();
            let words = packed(&values, width);
            prop_assert_eq!(words.len(), Column::words_for(len, width));
            let column = Column::new(&words, width, len as u32);
            let one_by_one: Vec<u32> = (0..len as u32).map(|at| column.get(at)).collect();
            prop_assert_eq!(&one_by_one, &values);
            let (start, end) = (random.usize(0..=len), random.usize(0..=len));
            let mut scanned = Vec::new();
            column.scan(start as u32, end as u32, |_, piece| scanned.extend_from_slice(piece));
            prop_assert_eq!(scanned, values.get(start..end).unwrap_or_default());
        }

        #[test]
        fn a_list_gives_back_what_it_was_given(seed: u64, len in 0usize..700, spread in 1u32..9_000) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut at = 0;
            let positions: Vec<u32> = (0..len).map(|_| { at += random.u32(1..=spread); at - 1 }).collect();
            let mut bytes = vec![7; random.usize(0..5)];
            let from = bytes.len();
            write_list(&positions, &mut bytes);
            let list = List::new(&bytes[from..], len as u32);
            let (start, end) = (random.u32(0..=at + 1), random.u32(0..=at + 1));
            let mut read = Vec::new();
            list.read(start, end, &mut read);
            let expected: Vec<u32> = positions.iter().copied().filter(|at| (start..end).contains(at)).collect();
            prop_assert_eq!(read, expected);
            prop_assert_eq!(list.next_from(start), positions.iter().copied().find(|at| *at >= start));
            if !positions.is_empty() {
                prop_assert!(list.contains(positions[len / 2]));
            }
        }

        #[test]
        fn a_damaged_list_gives_nonsense_but_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), len: u32) {
            let list = List::new(&bytes, len % 1000);
            let mut read = Vec::new();
            list.read(0, u32::MAX, &mut read);
            list.read(77, 5_000, &mut read);
            list.next_from(99);
        }

        #[test]
        fn small_numbers_come_back(width in 1u32..=32, numbers in proptest::collection::vec(any::<u32>(), 0..40)) {
            let numbers: Vec<u32> = numbers.iter().map(|number| (u64::from(*number) & ((1 << width) - 1)) as u32).collect();
            let mut bytes = Vec::new();
            write_small(&numbers, width, &mut bytes);
            let read: Vec<u32> = (0..numbers.len()).map(|at| read_small(&bytes, width, at)).collect();
            prop_assert_eq!(read, numbers);
        }

        #[test]
        fn bits_are_found_from_both_sides(numbers in proptest::collection::btree_set(0u32..300, 0..20), start in 0u32..300, end in 0u32..300) {
            let mut bits = Bits::new(300);
            numbers.iter().for_each(|number| bits.set(*number));
            prop_assert_eq!(bits.iter().collect::<Vec<_>>(), numbers.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(next_bit(bits.words(), start, end), numbers.iter().copied().find(|at| *at >= start && *at < end));
            let last = numbers.iter().copied().rfind(|at| *at <= end && *at >= start);
            prop_assert_eq!(last_bit(bits.words(), start, end), last);
            let mut range = Bits::new(300);
            range.set_range(start..end);
            prop_assert_eq!(range.iter().collect::<Vec<_>>(), (start..end).collect::<Vec<_>>());
        }
    }
}
