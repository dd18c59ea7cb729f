//! The few arithmetic moves that turn words into numbers.
//!
//! Numbers are written to disk and must mean the same for decades, so that this is ours and fixed: no
//! library may change it under us.

/// Odd, and without pattern in its bits.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads what is known over all bits; no two numbers become one.
#[inline]
pub(crate) fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    value = (value ^ (value >> 29)).wrapping_mul(0xA076_1D64_78BD_642F);
    value ^ (value >> 32)
}

/// A hash of bytes, for names of sites and text without words.
pub(crate) fn bytes(text: &[u8]) -> u64 {
    mix(text.iter().fold(text.len() as u64, |state, byte| (state.rotate_left(7) ^ u64::from(*byte)).wrapping_mul(STEP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memories on disk depend on these numbers.
    #[test]
    fn numbers_stay_what_they_are() {
        assert_eq!(mix(1), 0xE8BC15092A6ED3B9);
        assert_eq!(bytes(b"gazette.example"), 0xD4716EDA2B5043B1);
    }
}
