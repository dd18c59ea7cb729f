//! Hash functions of words and n-grams.
//!
//! Hashes are stored on disk and must never change, so they are defined here instead of in a library.

/// 2^64 divided by the golden ratio, an odd multiplier (Fibonacci hashing).
pub(crate) const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// A bijective finaliser: spreads the entropy over all bits without collisions.
#[inline]
pub(crate) fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    value = (value ^ (value >> 29)).wrapping_mul(0xA076_1D64_78BD_642F);
    value ^ (value >> 32)
}

/// Hashes bytes: names of sites, and text without words.
pub(crate) fn bytes(text: &[u8]) -> u64 {
    mix(text
        .iter()
        .fold(text.len() as u64, |state, byte| (state.rotate_left(7) ^ u64::from(*byte)).wrapping_mul(MULTIPLIER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores on disk depend on these values.
    #[test]
    fn numbers_stay_what_they_are() {
        assert_eq!(mix(1), 0xE8BC15092A6ED3B9);
        assert_eq!(bytes(b"gazette.example"), 0xD4716EDA2B5043B1);
    }
}
