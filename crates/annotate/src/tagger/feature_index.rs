//! Index from hashed features to weight rows: a bitmap with rank support.
//!
//! Most features of a text are in no model, so a negative lookup must cost one bit test. The rank
//! counts are stored apart from the bitmap, which keeps more of the bitmap in the CPU cache.

use crate::hash::Hash;
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};

/// Maximum size of a bitmap as a power of two.
const MAX_BITS: u32 = 24;

/// Set of hashed features, numbered in slot order.
#[derive(Debug)]
pub struct FeatureIndex {
    bits: Vec<u64>,
    /// Number of set bits before each 64-bit word.
    rank_before: Vec<u32>,
    shift: u32,
    count: usize,
}

/// The empty set: one word of the bitmap, so that every hash has a slot and none is in the set.
impl Default for FeatureIndex {
    fn default() -> FeatureIndex {
        FeatureIndex::new(6, vec![0])
    }
}

impl FeatureIndex {
    /// Slot of a hash in a bitmap of 2^`bits` bits.
    pub fn slot(hash: Hash, bits: u32) -> u32 {
        (hash >> (64 - bits)) as u32
    }

    /// Builds the index from a bitmap of 2^`bits` bits.
    fn new(bits: u32, words: Vec<u64>) -> FeatureIndex {
        let mut rank_before = Vec::with_capacity(words.len() + 1);
        let mut count = 0;
        rank_before.push(0);
        rank_before.extend(words.iter().map(|word| {
            count += word.count_ones();
            count
        }));
        FeatureIndex { bits: words, rank_before, shift: 64 - bits, count: count as usize }
    }

    /// Returns true if a feature is in the set.
    #[inline]
    pub fn contains(&self, hash: Hash) -> bool {
        let slot = hash >> self.shift;
        self.bits[(slot >> 6) as usize] >> (slot & 63) & 1 == 1
    }

    /// Returns the number of a feature in the set.
    #[inline]
    pub fn find(&self, hash: Hash) -> Option<usize> {
        self.contains(hash).then(|| self.number(hash >> self.shift))
    }

    /// Calls `each` with the numbers of the features in the set. Membership is unpredictable, so
    /// the loop that tests it has no branches.
    #[inline]
    pub fn find_all<const COUNT: usize>(&self, hashes: &[Hash; COUNT], mut each: impl FnMut(usize)) {
        let mut known = [0; COUNT];
        let mut count = 0;
        for hash in hashes {
            known[count] = hash >> self.shift;
            count += usize::from(self.contains(*hash));
        }
        known[..count].iter().for_each(|slot| each(self.number(*slot)));
    }

    #[inline]
    fn number(&self, slot: u64) -> usize {
        let word = (slot >> 6) as usize;
        self.rank_before[word] as usize + (self.bits[word] & ((1 << (slot & 63)) - 1)).count_ones() as usize
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Serialises the set: ascending slots, delta-encoded.
    pub fn write(bits: u32, slots: &[u32], out: &mut Vec<u8>) {
        put_number(bits, out);
        put_number(slots.len() as u32, out);
        let mut before = 0;
        for slot in slots {
            put_number(slot - before, out);
            before = *slot;
        }
    }

    /// Reads the output of [`FeatureIndex::write`].
    pub fn read(reader: &mut Reader<'_>) -> Result<FeatureIndex, ModelError> {
        let bits = reader.number()?;
        if !(6..=MAX_BITS).contains(&bits) {
            return Err(ModelError::Damaged("a feature index has an invalid size"));
        }
        let count = reader.count()?;
        let mut words = vec![0u64; 1 << (bits - 6)];
        let mut slot = 0u32;
        for number in 0..count {
            let difference = reader.number()?;
            slot = slot.checked_add(difference).filter(|slot| *slot < 1 << bits).ok_or(UNORDERED)?;
            if number > 0 && difference == 0 {
                return Err(UNORDERED);
            }
            words[(slot >> 6) as usize] |= 1 << (slot & 63);
        }
        Ok(FeatureIndex::new(bits, words))
    }
}

const UNORDERED: ModelError = ModelError::Damaged("feature slots are out of range or not ascending");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_numbered_in_slot_order() {
        let slots = [3, 64, 65, 4095];
        let mut bytes = Vec::new();
        FeatureIndex::write(12, &slots, &mut bytes);
        let index = FeatureIndex::read(&mut Reader::new(&bytes)).unwrap();
        let find = |slot: u64| index.find(slot << 52);
        assert_eq!((find(3), find(64), find(65), find(4095)), (Some(0), Some(1), Some(2), Some(3)));
        assert_eq!((find(0), find(66), index.len()), (None, None, 4));
    }

    #[test]
    fn slots_out_of_range_are_rejected() {
        let mut bytes = Vec::new();
        FeatureIndex::write(6, &[63], &mut bytes);
        assert!(FeatureIndex::read(&mut Reader::new(&bytes)).is_ok());
        bytes[2] = 64;
        assert!(FeatureIndex::read(&mut Reader::new(&bytes)).is_err());
        assert!(FeatureIndex::read(&mut Reader::new(&[60, 0])).is_err());
    }
}
