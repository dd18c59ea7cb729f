//! A set of hashed features, and the place of each among those that are in it.
//!
//! Most features of a text are in no model, so saying "not here" must be cheap: a bit. Only for those that are here is the
//! number of bits before it asked for, which lies elsewhere, so that more of the bits stay near the processor.

use crate::hash::Hash;
use crate::tagger::ModelError;
use crate::tagger::bytes::{Reader, put_number};

/// The largest sets have this many places, as a power of two.
const MOST_BITS: u32 = 24;

/// Hashes that are known, numbered in the order of their places.
#[derive(Debug, Default)]
pub struct Sparse {
    bits: Vec<u64>,
    /// How many are known before each word of bits.
    before: Vec<u32>,
    shift: u32,
    count: usize,
}

impl Sparse {
    /// The place of a hash in a set of two to the power of `bits` places.
    pub fn place(hash: Hash, bits: u32) -> u32 {
        (hash >> (64 - bits)) as u32
    }

    /// A set of these places, which must ascend.
    fn new(bits: u32, places: &[u32]) -> Sparse {
        let mut words = vec![0u64; 1 << (bits - 6)];
        for place in places {
            words[(place >> 6) as usize] |= 1 << (place & 63);
        }
        let counted = words.iter().scan(0, |count, word| {
            *count += word.count_ones();
            Some(*count)
        });
        let before = std::iter::once(0).chain(counted).collect();
        Sparse { bits: words, before, shift: 64 - bits, count: places.len() }
    }

    /// Whether a hash is known.
    #[inline]
    pub fn has(&self, hash: Hash) -> bool {
        let place = hash >> self.shift;
        self.bits[(place >> 6) as usize] >> (place & 63) & 1 == 1
    }

    /// The number of a hash, if it is known.
    #[inline]
    pub fn find(&self, hash: Hash) -> Option<usize> {
        self.has(hash).then(|| self.number(hash >> self.shift))
    }

    /// Calls `each` with the numbers of those hashes that are known. Which they are nobody can guess, processors neither:
    /// nothing hangs on it until all have been looked for.
    #[inline]
    pub fn find_all<const COUNT: usize>(&self, hashes: &[Hash; COUNT], mut each: impl FnMut(usize)) {
        let mut known = [0; COUNT];
        let mut count = 0;
        for hash in hashes {
            known[count] = hash >> self.shift;
            count += usize::from(self.has(*hash));
        }
        known[..count].iter().for_each(|place| each(self.number(*place)));
    }

    #[inline]
    fn number(&self, place: u64) -> usize {
        let word = (place >> 6) as usize;
        self.before[word] as usize + (self.bits[word] & ((1 << (place & 63)) - 1)).count_ones() as usize
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The set as a part of a model: places as differences; they must ascend.
    pub fn write(bits: u32, places: &[u32], out: &mut Vec<u8>) {
        put_number(bits, out);
        put_number(places.len() as u32, out);
        let mut before = 0;
        for place in places {
            put_number(place - before, out);
            before = *place;
        }
    }

    /// Reads what [`Sparse::write`] wrote.
    pub fn read(reader: &mut Reader<'_>) -> Result<Sparse, ModelError> {
        let bits = reader.number()?;
        if !(6..=MOST_BITS).contains(&bits) {
            return Err(ModelError::Odd("a set of features has an impossible size"));
        }
        let count = reader.count()?;
        let mut places = Vec::with_capacity(count);
        let mut place = 0u32;
        for number in 0..count {
            let difference = reader.number()?;
            place = place.checked_add(difference).filter(|place| *place < 1 << bits).ok_or(UNORDERED)?;
            if number > 0 && difference == 0 {
                return Err(UNORDERED);
            }
            places.push(place);
        }
        Ok(Sparse::new(bits, &places))
    }
}

const UNORDERED: ModelError = ModelError::Odd("features do not ascend or leave their set");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_numbered_by_their_places() {
        let places = [3, 64, 65, 4095];
        let mut bytes = Vec::new();
        Sparse::write(12, &places, &mut bytes);
        let sparse = Sparse::read(&mut Reader::new(&bytes)).unwrap();
        let find = |place: u64| sparse.find(place << 52);
        assert_eq!((find(3), find(64), find(65), find(4095)), (Some(0), Some(1), Some(2), Some(3)));
        assert_eq!((find(0), find(66), sparse.len()), (None, None, 4));
    }

    #[test]
    fn places_outside_of_the_set_are_refused() {
        let mut bytes = Vec::new();
        Sparse::write(6, &[63], &mut bytes);
        assert!(Sparse::read(&mut Reader::new(&bytes)).is_ok());
        bytes[2] = 64;
        assert!(Sparse::read(&mut Reader::new(&bytes)).is_err());
        assert!(Sparse::read(&mut Reader::new(&[60, 0])).is_err());
    }
}
