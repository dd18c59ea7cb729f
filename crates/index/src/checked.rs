//! Slices of mapped sections whose blocks are compared with their digests before they are read.
//!
//! Reading a whole file to verify it would cost more than most queries, and remembering that a file was once intact says
//! nothing about bits that flip later. A reader therefore checks each block on the first access of the process. A
//! mismatch is recorded in the file: values are returned all the same, and the caller asks
//! [`Snapshot::intact`](crate::Snapshot::intact) before it gives an answer away.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};

use bytemuck::Pod;

use crate::sections::{SectionId, Sections};

/// Size of the blocks that are checked on access, in bytes: a few microseconds of hashing for a look-up, and eight bytes of
/// digest for 16 KiB of index.
pub(crate) const CHECK_BYTES: usize = 1 << CHECK_SHIFT;
const CHECK_SHIFT: usize = 14;

/// The values of a section, or of a part of it. Every way to read them checks the blocks that hold them.
#[derive(Debug)]
pub struct CheckedSlice<'a, T> {
    values: &'a [T],
    /// Offset of the values in the section in bytes, a multiple of their size.
    offset: usize,
    /// Blocks of the section that were compared with their digests; empty if there is nothing to check.
    checked: &'a [AtomicBool],
    source: Option<(&'a Sections, SectionId)>,
}

impl<T> Clone for CheckedSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for CheckedSlice<'_, T> {}

impl<T> Default for CheckedSlice<'_, T> {
    fn default() -> Self {
        CheckedSlice::plain(&[])
    }
}

impl<'a, T> CheckedSlice<'a, T> {
    /// Values in memory, which are not checked.
    pub(crate) const fn plain(values: &'a [T]) -> CheckedSlice<'a, T> {
        CheckedSlice { values, offset: 0, checked: &[], source: None }
    }

    /// The values of a section with the marks of its checked blocks.
    pub(crate) fn of_section(
        values: &'a [T],
        checked: &'a [AtomicBool],
        source: (&'a Sections, SectionId),
    ) -> CheckedSlice<'a, T> {
        CheckedSlice { values, offset: 0, checked, source: Some(source) }
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns true if there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    #[inline]
    fn check(&self, block: usize) {
        if let Some(is_checked) = self.checked.get(block)
            && !is_checked.load(Acquire)
        {
            self.compare(block);
        }
    }

    #[cold]
    #[inline(never)]
    fn compare(&self, block: usize) {
        if let Some((file, section)) = self.source {
            file.check_block(section, block);
        }
    }

    /// The values of a range; `None` if it is out of bounds.
    #[inline]
    pub fn slice(&self, range: Range<usize>) -> Option<&'a [T]> {
        let values = self.values.get(range.clone())?;
        if !values.is_empty() && !self.checked.is_empty() {
            let first = (self.offset + range.start * size_of::<T>()) >> CHECK_SHIFT;
            let last = (self.offset + range.end * size_of::<T>() - 1) >> CHECK_SHIFT;
            for block in first..=last {
                self.check(block);
            }
        }
        Some(values)
    }

    /// All values.
    pub fn all(&self) -> &'a [T] {
        self.slice(0..self.len()).expect("the range of all values is in bounds")
    }
}

impl<'a, T: Copy> CheckedSlice<'a, T> {
    /// The value at an index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        let value = *self.values.get(index)?;
        let at = self.offset + index * size_of::<T>();
        self.check(at >> CHECK_SHIFT);
        if !CHECK_BYTES.is_multiple_of(size_of::<T>()) {
            // A value may reach into the next block.
            self.check((at + size_of::<T>() - 1) >> CHECK_SHIFT);
        }
        Some(value)
    }

    /// The first index whose value does not fulfil a condition (binary search).
    #[inline]
    pub fn partition_point(&self, is_before: impl FnMut(T) -> bool) -> usize {
        self.partition_point_in(0..self.len(), is_before)
    }

    /// The same in a range; its end if all values of it fulfil the condition.
    #[inline]
    pub fn partition_point_in(&self, range: Range<usize>, mut is_before: impl FnMut(T) -> bool) -> usize {
        let (mut low, mut high) = (range.start, range.end.min(self.len()));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle) {
                Some(value) if is_before(value) => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// The index of a value among sorted ones.
    #[inline]
    pub fn find(&self, value: T) -> Option<usize>
    where
        T: Ord,
    {
        let index = self.partition_point(|known| known < value);
        self.get(index).filter(|found| *found == value).map(|_| index)
    }
}

impl<'a> CheckedSlice<'a, u8> {
    /// The bytes from an offset on; none beyond the end.
    #[inline]
    pub(crate) fn skip(&self, bytes: usize) -> CheckedSlice<'a, u8> {
        let values = self.values.get(bytes..).unwrap_or_default();
        CheckedSlice { values, offset: self.offset + bytes, ..*self }
    }
}

impl<'a, T: Pod> From<&'a [T]> for CheckedSlice<'a, T> {
    fn from(values: &'a [T]) -> CheckedSlice<'a, T> {
        CheckedSlice::plain(values)
    }
}

impl<'a, T: Pod> From<&'a Vec<T>> for CheckedSlice<'a, T> {
    fn from(values: &'a Vec<T>) -> CheckedSlice<'a, T> {
        CheckedSlice::plain(values)
    }
}

impl<'a, T: Pod, const N: usize> From<&'a [T; N]> for CheckedSlice<'a, T> {
    fn from(values: &'a [T; N]) -> CheckedSlice<'a, T> {
        CheckedSlice::plain(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::{FileKind, SectionWriter};
    use std::path::Path;

    /// A file whose section has three blocks of twelve-byte values, the last of them damaged.
    fn damaged(folder: &Path) -> (Sections, Vec<[u32; 3]>) {
        let values: Vec<[u32; 3]> = (0..3 * CHECK_BYTES as u32 / 12).map(|number| [number, 7, 9]).collect();
        let path = folder.join("file");
        let mut file = SectionWriter::create(&path, FileKind::Segment).expect("created");
        file.section("values", &values).expect("written");
        file.publish().expect("published");
        let mut bytes = std::fs::read(&path).expect("read");
        bytes[32 + 2 * CHECK_BYTES + 500] ^= 1;
        std::fs::write(&path, bytes).expect("written");
        (Sections::open(&path, FileKind::Segment).expect("opened"), values)
    }

    #[test]
    fn a_value_is_checked_in_both_blocks_that_it_lies_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, values) = damaged(folder.path());
        let checked: CheckedSlice<'_, [u32; 3]> = file.numbers(file.find("values").expect("there"));
        let last_intact = 2 * CHECK_BYTES / 12 - 1;
        assert_eq!(checked.get(last_intact), Some(values[last_intact]));
        assert!(file.intact().is_ok());
        assert_eq!(checked.get(last_intact + 1), Some(values[last_intact + 1]), "it reaches into the damaged block");
        assert!(file.intact().is_err());
        assert_eq!((checked.get(values.len()), checked.slice(1..values.len() + 1)), (None, None));
    }

    #[test]
    fn a_part_of_bytes_is_checked_at_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, _) = damaged(folder.path());
        let bytes = file.bytes(file.find("values").expect("there"));
        assert_eq!(bytes.skip(CHECK_BYTES).slice(0..CHECK_BYTES).map(<[u8]>::len), Some(CHECK_BYTES));
        assert!(file.intact().is_ok());
        bytes.skip(CHECK_BYTES).slice(CHECK_BYTES - 1..CHECK_BYTES + 1);
        assert!(file.intact().is_err());
        assert!(bytes.skip(usize::MAX).is_empty());
    }

    #[test]
    fn searches_agree_with_those_of_slices() {
        let values: Vec<u32> = (0..100).map(|number| number * 3).collect();
        let checked = CheckedSlice::from(&values);
        for value in 0..310 {
            let expected = values.partition_point(|known| *known < value);
            assert_eq!(checked.partition_point(|known| known < value), expected);
            assert_eq!(checked.partition_point_in(10..20, |known| known < value), expected.clamp(10, 20));
            assert_eq!(checked.find(value), values.binary_search(&value).ok());
        }
    }
}
