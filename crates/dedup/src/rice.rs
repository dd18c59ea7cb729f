//! Rice coding of ascending integers.
//!
//! Hashes are uniform, so the gaps between sorted hashes are geometrically distributed. Rice codes (quotient in
//! unary, `low` low bits verbatim) are within half a bit of the entropy for such gaps.

/// Packs bits into bytes.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    pending: u128,
    filled: u32,
}

impl BitWriter {
    /// Appends the lowest `width` bits of a value; at most 56.
    #[inline]
    pub(crate) fn push(&mut self, value: u64, width: u32) {
        debug_assert!(width <= 56 && value < 1 << width);
        self.pending |= u128::from(value) << self.filled;
        self.filled += width;
        if self.filled >= 64 {
            self.bytes.extend_from_slice(&(self.pending as u64).to_le_bytes());
            self.pending >>= 64;
            self.filled -= 64;
        }
    }

    /// Appends a number as a Rice code.
    #[inline]
    pub(crate) fn push_rice(&mut self, value: u64, low: u32) {
        let mut high = value >> low;
        while high >= 32 {
            self.push(0, 32);
            high -= 32;
        }
        self.push(1 << high, high as u32 + 1);
        self.push(value & ((1 << low) - 1), low);
    }

    /// Pads the last byte and returns all bytes.
    pub(crate) fn finish(&mut self) -> &[u8] {
        let rest = (self.pending as u64).to_le_bytes();
        self.bytes.extend_from_slice(&rest[..self.filled.div_ceil(8) as usize]);
        (self.pending, self.filled) = (0, 0);
        &self.bytes
    }

    /// Empties the buffer.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// Reads bits from bytes. Bits past the end are ones, so decoding damaged input terminates.
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// At least 57 bits from the current position.
    #[inline]
    fn peek(&self) -> u64 {
        let byte = self.at / 8;
        let word = match self.bytes.get(byte..byte + 8) {
            Some(eight) => u64::from_le_bytes(eight.try_into().expect("eight bytes")),
            None => {
                let mut eight = [0xFF; 8];
                let rest = self.bytes.get(byte..).unwrap_or_default();
                eight[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(eight)
            }
        };
        word >> (self.at % 8)
    }

    /// The next `width` bits; at most 56.
    #[inline]
    pub(crate) fn take(&mut self, width: u32) -> u64 {
        let value = self.peek() & ((1 << width) - 1);
        self.at += width as usize;
        value
    }

    /// Decodes the next Rice code.
    #[inline]
    pub(crate) fn take_rice(&mut self, low: u32) -> u64 {
        let mut high = 0u64;
        loop {
            let zeros = self.peek().trailing_zeros().min(56);
            high += u64::from(zeros);
            self.at += zeros as usize;
            if zeros < 56 {
                break;
            }
        }
        self.at += 1;
        (high << low).wrapping_add(self.take(low))
    }
}

/// The optimal number of low bits for `count` uniform numbers below `2^width`.
pub(crate) fn low_bits(width: u32, count: u64) -> u32 {
    // The optimum is log2(ln 2 times the mean gap); ln 2 is about 177/256.
    let gap = ((1u128 << width) * 177 / 256 / u128::from(count.max(1))).max(1);
    gap.ilog2().min(width).min(56)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop::collection::vec((0u64..1 << 50, 0u32..57), 0..200)) {
            let mut writer = BitWriter::default();
            for (number, low) in &numbers {
                // A gap far above the mean takes many bits but must still be correct.
                let low = (*low).max(40);
                writer.push_rice(*number, low);
                writer.push(number & 0x3FF, 10);
            }
            let bytes = writer.finish();
            let mut reader = BitReader::new(bytes);
            for (number, low) in &numbers {
                prop_assert_eq!(reader.take_rice((*low).max(40)), *number);
                prop_assert_eq!(reader.take(10), number & 0x3FF);
            }
        }

        #[test]
        fn nonsense_ends(bytes in prop::collection::vec(any::<u8>(), 0..64), low in 0u32..57) {
            let mut reader = BitReader::new(&bytes);
            for _ in 0..200 {
                reader.take_rice(low);
            }
        }
    }
}
