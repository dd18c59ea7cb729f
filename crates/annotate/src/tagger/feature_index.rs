//! A set of hashed features, and the slot of each among those that are in it.
//!
//! Most features of a text are in no model, so saying "not here" must be cheap: a bit. Only for those that are here is the
//! number of bits before it query for, which lies elsewhere, so that more of the bits stay near the processor.

use crate::hash::Hash;
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};

/// The largest sets have this many slots, as a power of two.
const MAX_BITS: u32 = 24;

/// Hashes that are known, numbered in the order of their slots.
#[derive(Debug, Default)]
pub struct FeatureIndex {
    bits: Vec<u64>,
    /// How many are known before each word of bits.
    rank_before: Vec<u32>,
    shift: u32,
    count: usize,
}

impl FeatureIndex {
    /// The slot of a hash in a set of two to the power of `bits` slots.
    pub fn slot(hash: Hash, bits: u32) -> u32 {
        (hash >> (64 - bits)) as u32
    }

    /// A set of these slots, which must ascend.
    fn new(bits: u32, slots: &[u32]) -> FeatureIndex {
        let mut words = vec![0u64; 1 << (bits - 6)];
        for slot in slots {
            words[(slot >> 6) as usize] |= 1 << (slot & 63);
        }
        let counted = words.iter().scan(0, |count, word| {
            *count += word.count_ones();
            Some(*count)
        });
        let rank_before = std::iter::once(0).chain(counted).collect();
        FeatureIndex { bits: words, rank_before, shift: 64 - bits, count: slots.len() }
    }

    /// Whether a hash is known.
    #[inline]
    pub fn contains(&self, hash: Hash) -> bool {
        let slot = hash >> self.shift;
        self.bits[(slot >> 6) as usize] >> (slot & 63) & 1 == 1
    }

    /// The number of a hash, if it is known.
    #[inline]
    pub fn find(&self, hash: Hash) -> Option<usize> {
        self.contains(hash).then(|| self.number(hash >> self.shift))
    }

    /// Calls `each` with the numbers of those hashes that are known. Origin they are nobody can guess, processors neither:
    /// nothing hangs on it until all have been looked for.
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

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The set as a part of a model: slots as differences; they must ascend.
    pub fn write(bits: u32, slots: &[u32], out: &mut Vec<u8>) {
        put_number(bits, out);
        put_number(slots.len() as u32, out);
        let mut before = 0;
        for slot in slots {
            put_number(slot - before, out);
            before = *slot;
        }
    }

    /// Reads what [`FeatureIndex::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<FeatureIndex, ModelError> {
        let bits = reader.number()?;
        if !(6..=MAX_BITS).contains(&bits) {
            return Err(ModelError::Damaged("a set of features has an impossible size"));
        }
        let count = reader.count()?;
        let mut slots = Vec::with_capacity(count);
        let mut slot = 0u32;
        for number in 0..count {
            let difference = reader.number()?;
            slot = slot.checked_add(difference).filter(|slot| *slot < 1 << bits).ok_or(UNORDERED)?;
            if number > 0 && difference == 0 {
                return Err(UNORDERED);
            }
            slots.push(slot);
        }
        Ok(FeatureIndex::new(bits, &slots))
    }
}

const UNORDERED: ModelError = ModelError::Damaged("features do not ascend or leave their set");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_numbered_by_their_places() {
        let slots = [3, 64, 65, 4095];
        let mut bytes = Vec::new();
        FeatureIndex::write(12, &slots, &mut bytes);
        let index = FeatureIndex::read(&mut Reader::new(&bytes)).unwrap();
        let find = |slot: u64| index.find(slot << 52);
        assert_eq!((find(3), find(64), find(65), find(4095)), (Some(0), Some(1), Some(2), Some(3)));
        assert_eq!((find(0), find(66), index.len()), (None, None, 4));
    }

    #[test]
    fn places_outside_of_the_set_are_refused() {
        let mut bytes = Vec::new();
        FeatureIndex::write(6, &[63], &mut bytes);
        assert!(FeatureIndex::read(&mut Reader::new(&bytes)).is_ok());
        bytes[2] = 64;
        assert!(FeatureIndex::read(&mut Reader::new(&bytes)).is_err());
        assert!(FeatureIndex::read(&mut Reader::new(&[60, 0])).is_err());
    }
}
