//! Content codings: valid, broken, and the gzip bomb.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress};

/// Compresses with gzip, quickly rather than well.
pub fn gzip(body: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::with_capacity(body.len() / 3 + 64), Compression::new(level));
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory cannot fail")
}

/// Compresses with Zstandard.
pub fn zstd(body: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(body, 3).expect("memory suffices for a page")
}

/// Wraps a body as Brotli without compression: stored blocks are a valid stream, which is enough to test a decoder.
pub fn brotli(body: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0, 1); // a window of 64 kB
    for block in body.chunks(1 << 16) {
        bits.push(0, 1); // not the last block
        bits.push(0, 2); // the length takes four hexadecimal digits
        bits.push(block.len() as u32 - 1, 16);
        bits.push(1, 1); // stored
        bits.align();
        bits.bytes.extend_from_slice(block);
    }
    bits.push(0b11, 2); // the last block, and empty
    bits.align();
    bits.bytes
}

/// A bit writer in the order of deflate and Brotli: the lowest bit first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    pending: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, value: u32, width: u32) {
        self.pending |= value << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    fn align(&mut self) {
        if self.count > 0 {
            let padding = 8 - self.count;
            self.push(0, padding);
        }
    }
}

/// Compresses with gzip and damages the middle, so that a reader fails after a valid start.
pub fn broken_gzip(body: &[u8]) -> Vec<u8> {
    let mut bytes = gzip(body, 6);
    let middle = bytes.len() / 2;
    for byte in bytes.iter_mut().skip(middle).take(32) {
        *byte ^= 0xA5;
    }
    bytes
}

/// A gzip stream that expands a thousandfold. It is sent in equal pieces, so that even a bomb of many gigabytes takes
/// no memory here.
#[derive(Debug)]
pub struct Bomb {
    /// The gzip header and the start of a page.
    pub start: Bytes,
    /// A megabyte of spaces, compressed so that it can be repeated.
    pub piece: Bytes,
    /// The number of repetitions.
    pub pieces: u64,
    /// The end of the stream, with the valid checksum and length.
    pub end: Bytes,
}

impl Bomb {
    const PIECE_BYTES: usize = 1 << 20;

    /// A bomb of about this size.
    pub fn new(expanded_bytes: u64) -> Self {
        let opening = b"<!DOCTYPE html><html><body><p>boom</p>";
        let filler = vec![b' '; Self::PIECE_BYTES];
        let pieces = expanded_bytes / Self::PIECE_BYTES as u64;
        // After a full flush nothing refers back, and the stream is at a byte boundary.
        let squeeze = |input: &[u8]| {
            let mut output = Vec::with_capacity(input.len() / 100 + 4096);
            let mut deflate = Compress::new(Compression::best(), false);
            deflate.compress_vec(input, &mut output, FlushCompress::Full).expect("the parameters are valid");
            output
        };
        let mut start = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];
        start.extend(squeeze(opening));
        let (mut whole, mut piece_sum) = (Crc::new(), Crc::new());
        whole.update(opening);
        piece_sum.update(&filler);
        for _ in 0..pieces {
            whole.combine(&piece_sum);
        }
        let length = opening.len() as u64 + pieces * Self::PIECE_BYTES as u64;
        let mut end = vec![3, 0]; // an empty last block
        end.extend(whole.sum().to_le_bytes());
        end.extend((length as u32).to_le_bytes());
        Bomb { start: start.into(), piece: squeeze(&filler).into(), pieces, end: end.into() }
    }

    /// Bytes on the wire.
    pub fn wire_bytes(&self) -> u64 {
        (self.start.len() + self.end.len()) as u64 + self.pieces * self.piece.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_bomb_is_valid_gzip_and_expands_to_its_size() {
        let bomb = Bomb::new(8 << 20);
        let mut wire = bomb.start.to_vec();
        for _ in 0..bomb.pieces {
            wire.extend(&bomb.piece);
        }
        wire.extend(&bomb.end);
        assert_eq!(wire.len() as u64, bomb.wire_bytes());
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(&wire[..]).read_to_end(&mut out).unwrap();
        assert!(out.len() > 8 << 20 && wire.len() < out.len() / 500);
    }

    #[test]
    fn broken_gzip_fails_after_a_valid_start() {
        let text: String = (0..2000).map(|number| format!("{} ", number * 7919)).collect();
        let wire = broken_gzip(text.as_bytes());
        let mut decoder = flate2::read::GzDecoder::new(&wire[..]).take(100);
        let mut first = String::new();
        decoder.read_to_string(&mut first).unwrap();
        assert!(text.starts_with(&first));
        let mut rest = Vec::new();
        assert!(decoder.into_inner().read_to_end(&mut rest).is_err());
    }
}
