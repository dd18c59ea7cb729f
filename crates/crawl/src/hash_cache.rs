//! Hashes that were met lately, in a table of fixed size.
//!
//! The table has buckets of eight entries, the latest first; a new entry drives out the last one of its bucket. Memory is
//! that of the entries alone, without pointers and queues, and what is not used is not resident.

/// Entries of a bucket.
const WAYS: usize = 8;

/// A table from hashes to values that forgets the oldest beyond its capacity, about. The hash 0 is never held.
#[derive(Debug, Clone)]
pub(crate) struct HashCache<V> {
    hashes: Vec<u64>,
    values: Vec<V>,
    /// Bits of a hash that do not choose the bucket.
    shift: u32,
}

impl<V: Copy + Default> HashCache<V> {
    /// An empty table of about `capacity` entries, rounded up to a power of two.
    pub(crate) fn new(capacity: usize) -> HashCache<V> {
        let buckets = capacity.div_ceil(WAYS).next_power_of_two();
        HashCache {
            hashes: vec![0; buckets * WAYS],
            values: vec![V::default(); buckets * WAYS],
            shift: 64 - buckets.trailing_zeros(),
        }
    }

    /// The place of the first entry of a bucket.
    fn bucket(&self, hash: u64) -> usize {
        // Sampled hashes have equal low bits; multiplication spreads the others (Fibonacci hashing).
        let spread = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        spread.checked_shr(self.shift).unwrap_or(0) as usize * WAYS
    }

    /// The value of a hash, which counts as met now.
    pub(crate) fn get(&mut self, hash: u64) -> Option<&mut V> {
        let first = self.bucket(hash);
        let way = self.hashes[first..first + WAYS].iter().position(|known| *known == hash && hash != 0)?;
        self.hashes[first..=first + way].rotate_right(1);
        self.values[first..=first + way].rotate_right(1);
        Some(&mut self.values[first])
    }

    /// Adds a hash that is not known.
    pub(crate) fn insert(&mut self, hash: u64, value: V) {
        let first = self.bucket(hash);
        self.hashes[first..first + WAYS].rotate_right(1);
        self.values[first..first + WAYS].rotate_right(1);
        (self.hashes[first], self.values[first]) = (hash, value);
    }

    /// The hashes with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, V)> + '_ {
        self.hashes.iter().copied().zip(self.values.iter().copied()).filter(|(hash, _)| *hash != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn hash(number: u32) -> u64 {
        xxh3_64(&number.to_le_bytes()) & !63
    }

    #[test]
    fn hashes_are_found_with_their_values() {
        let mut cache = HashCache::new(1 << 12);
        (1..1000).for_each(|number| cache.insert(hash(number), number));
        assert!((1..1000).all(|number| cache.get(hash(number)) == Some(&mut { number })));
        assert!(cache.get(hash(1000)).is_none() && cache.get(0).is_none());
        assert_eq!(cache.iter().count(), 999);
    }

    #[test]
    fn the_oldest_are_forgotten_and_what_is_met_again_stays() {
        let mut cache = HashCache::new(1 << 10);
        cache.insert(hash(0), ());
        for number in 1..100_000 {
            cache.insert(hash(number), ());
            assert!(cache.get(hash(0)).is_some(), "{number}");
        }
        assert_eq!(cache.iter().count(), 1 << 10);
        let late = (99_500..100_000).filter(|number| cache.get(hash(*number)).is_some()).count();
        assert!(late > 450, "{late} of 500");
    }

    #[test]
    fn a_table_of_one_bucket_holds_eight() {
        let mut cache = HashCache::new(1);
        (1..20).for_each(|number| cache.insert(number, ()));
        assert_eq!(cache.iter().map(|(number, ())| number).collect::<Vec<_>>(), (12..20).rev().collect::<Vec<_>>());
    }
}
