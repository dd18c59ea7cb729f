//! Sets of numbers as bits, and searches in bit maps.

use crate::checked::CheckedSlice;

/// A set of numbers below a bound, as bits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// An empty set of numbers below `bound`.
    pub fn new(bound: usize) -> BitSet {
        BitSet { words: vec![0; bound.div_ceil(64)] }
    }

    /// From words, the lowest bit first.
    pub fn from_words(words: Vec<u64>) -> BitSet {
        BitSet { words }
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

    /// Returns true if a number is a member.
    #[inline]
    pub fn get(&self, number: u32) -> bool {
        bit(&self.words, number)
    }

    /// Number of members.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Members, ascending.
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

/// Returns true if a bit is set; bits beyond the end are not.
#[inline]
pub fn bit<'a>(words: impl Into<CheckedSlice<'a, u64>>, number: u32) -> bool {
    words.into().get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

/// First set bit in `start..end`.
#[inline]
pub fn next_bit<'a>(words: impl Into<CheckedSlice<'a, u64>>, start: u32, end: u32) -> Option<u32> {
    let words = words.into();
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
        word = words.get(index)?;
    }
}

/// Last set bit in `start..=end`.
#[inline]
pub fn last_bit<'a>(words: impl Into<CheckedSlice<'a, u64>>, start: u32, end: u32) -> Option<u32> {
    let words = words.into();
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
        word = words.get(index)?;
    }
}
