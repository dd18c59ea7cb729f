//! Checksums of the blocks and buckets of fingerprint files.
//!
//! A block is a few hundred bytes and is read at random, so each has a checksum of its own: the lower half of its XXH3
//! of 64 bits. The number of the block is the seed, so that a sound block in the place of another one is damage, too.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The size of a checksum.
pub(crate) const CHECKSUM_BYTES: usize = 4;

/// The checksum of the block or bucket with this number.
pub(crate) fn checksum(number: u64, bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    (xxh3_64_with_seed(bytes, number) as u32).to_le_bytes()
}

/// The bytes before the checksum at their end; `None` if it does not match.
pub(crate) fn checked(number: u64, bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, found) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    (checksum(number, bytes) == *found).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_and_a_block_in_the_wrong_place_do_not_match() {
        let mut bytes = b"block".to_vec();
        bytes.extend(checksum(7, b"block"));
        assert_eq!(checked(7, &bytes), Some(&b"block"[..]));
        assert_eq!(checked(8, &bytes), None);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(checked(7, &damaged), None, "byte {at}");
        }
        assert_eq!(checked(7, b"abc"), None);
    }
}
