//! Files of gzip members: archives compress every record separately, so that each can be read alone.
//!
//! A member does not contain its compressed length, which the fastest decompression needs. But the next member starts
//! with three known bytes, and the four bytes before them are the decompressed length: this is a guess of the end,
//! which decompression with its checksum confirms or refutes. Wrong guesses are rare unless a file provokes them; then,
//! and for members too large for memory, streaming decompression is used.

use std::io::{self, BufRead, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use libdeflater::Decompressor;
use memchr::memmem::Finder;

/// The first bytes of a member: the magic number and the only method.
pub const MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];

/// The minimum size of a member: header, empty block, checksum and length.
const LEAST_BYTES: usize = 20;
/// Larger compressed members are decompressed in pieces.
const MOST_PACKED: usize = 16 << 20;
/// Members with a larger declared length are decompressed in pieces too.
const MOST_UNPACKED: usize = 64 << 20;
/// Bytes that are read from the file at once.
const READ_BYTES: usize = 1 << 20;
/// Pieces of a large member.
const PIECE_BYTES: usize = 256 << 10;
/// The number of guesses before streaming decompression is used.
const MOST_GUESSES: usize = 4;

/// The number of member starts tried after damage; more of them are an attack.
const MOST_TRIED: usize = 10_000;

/// Decompresses the members of a file one after the other.
pub struct MemberReader<R> {
    input: R,
    packed: Vec<u8>,
    /// The offset in the compressed bytes of the next member, or of the rest of this one.
    start: usize,
    /// The offset of the compressed bytes in the input.
    offset: u64,
    input_ended: bool,
    unpacked: Vec<u8>,
    /// The number of decompressed bytes, and of those returned.
    filled: usize,
    used: usize,
    /// The offset in the input of the member that was decompressed last.
    member: u64,
    /// True if no byte of that member was returned before these bytes.
    at_start: bool,
    decompressor: Decompressor,
    slow: Option<(Decompress, Crc)>,
    finder: Finder<'static>,
}

impl<R: Read> MemberReader<R> {
    /// A reader of an input that is at `offset` in its file.
    pub fn new(input: R, offset: u64) -> MemberReader<R> {
        MemberReader {
            input,
            packed: Vec::new(),
            start: 0,
            offset,
            input_ended: false,
            unpacked: Vec::new(),
            filled: 0,
            used: 0,
            member: offset,
            at_start: true,
            decompressor: Decompressor::new(),
            slow: None,
            finder: Finder::new(&MAGIC),
        }
    }

    /// The offset of the member whose first byte is returned next; `None` within a member.
    pub fn boundary(&self) -> Option<u64> {
        match self.used {
            0 if self.filled > 0 => self.at_start.then_some(self.member),
            used if used == self.filled && self.slow.is_none() => Some(self.offset + self.start as u64),
            _ => None,
        }
    }

    fn rest(&self) -> &[u8] {
        &self.packed[self.start..]
    }

    /// Reads more input; false at the end.
    fn read_more(&mut self) -> io::Result<bool> {
        if self.input_ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.packed.drain(..self.start);
            self.offset += self.start as u64;
            self.start = 0;
        }
        let read = (&mut self.input).take(READ_BYTES as u64).read_to_end(&mut self.packed)?;
        self.input_ended = read < READ_BYTES;
        Ok(read > 0)
    }

    /// Decompresses the next member, or the next piece of a large one; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        (self.filled, self.used) = (0, 0);
        if self.slow.is_some() {
            self.at_start = false;
            return self.piece();
        }
        while self.rest().len() < LEAST_BYTES {
            if !self.read_more()? {
                // Some writers fill up the last block of a tape.
                return if self.rest().iter().all(|byte| *byte == 0) { Ok(false) } else { Err(cut_off()) };
            }
        }
        if !self.rest().starts_with(&MAGIC) {
            return Err(damaged("no gzip member starts here"));
        }
        (self.member, self.at_start) = (self.offset + self.start as u64, true);
        if self.guess_end()? {
            return Ok(true);
        }
        let head = loop {
            match head_len(self.rest())? {
                Some(len) => break len,
                None if self.rest().len() < MOST_PACKED && self.read_more()? => {}
                None => return Err(cut_off()),
            }
        };
        self.start += head;
        self.slow = Some((Decompress::new(false), Crc::new()));
        self.piece()
    }

    /// Decompresses the whole member if its end is at the guessed position.
    fn guess_end(&mut self) -> io::Result<bool> {
        let mut from = LEAST_BYTES;
        for _ in 0..MOST_GUESSES {
            let end = loop {
                let found = self.finder.find(&self.rest()[from..]).map(|at| from + at);
                // The magic number may cross the end of the buffer.
                match found {
                    Some(end) => break end,
                    None if self.rest().len() > MOST_PACKED => return Ok(false),
                    None => {
                        let known = self.rest().len();
                        from = known.saturating_sub(MAGIC.len() - 1).max(from);
                        if !self.read_more()? {
                            break known;
                        }
                    }
                }
            };
            let member = &self.packed[self.start..self.start + end];
            let told = member.last_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
            if told <= MOST_UNPACKED {
                if self.unpacked.len() < told.max(1) {
                    self.unpacked.resize(told.max(PIECE_BYTES), 0);
                }
                // One byte more than declared would refute the guess.
                if self.decompressor.gzip_decompress(member, &mut self.unpacked[..told]) == Ok(told) {
                    self.start += end;
                    self.filled = told;
                    return Ok(true);
                }
            }
            if self.input_ended && end == self.rest().len() {
                return Ok(false);
            }
            from = end + 1;
        }
        Ok(false)
    }

    /// Decompresses a piece of a large member; verifies the checksum at its end.
    fn piece(&mut self) -> io::Result<bool> {
        if self.unpacked.len() < PIECE_BYTES {
            self.unpacked.resize(PIECE_BYTES, 0);
        }
        loop {
            if self.rest().is_empty() && !self.read_more()? {
                return Err(cut_off());
            }
            let (inflate, crc) = self.slow.as_mut().expect("only called within a large member");
            let (read, written) = (inflate.total_in(), inflate.total_out());
            let packed = &self.packed[self.start..];
            let status = inflate
                .decompress(packed, &mut self.unpacked[..PIECE_BYTES], FlushDecompress::None)
                .map_err(|_| damaged("a gzip member is damaged"))?;
            let took = (inflate.total_in() - read) as usize;
            self.start += took;
            self.filled = (inflate.total_out() - written) as usize;
            crc.update(&self.unpacked[..self.filled]);
            if status == Status::StreamEnd {
                let (sum, amount) = (crc.sum(), crc.amount());
                self.slow = None;
                while self.rest().len() < 8 {
                    if !self.read_more()? {
                        return Err(cut_off());
                    }
                }
                let number = |at: usize| {
                    u32::from_le_bytes(self.rest()[at..at + 4].try_into().expect("four bytes are four bytes"))
                };
                if (number(0), number(4)) != (sum, amount) {
                    return Err(damaged("the checksum of a gzip member does not match"));
                }
                self.start += 8;
                return if self.filled > 0 { Ok(true) } else { self.advance() };
            }
            if self.filled > 0 {
                return Ok(true);
            }
            // No input was consumed: more is needed.
            if took == 0 && !self.read_more()? {
                return Err(cut_off());
            }
        }
    }

    /// Continues with the next member for which `looks_right` returns true, after a damaged position; false if there is
    /// none.
    pub fn find_next(&mut self, looks_right: impl Fn(&[u8]) -> bool) -> io::Result<bool> {
        (self.filled, self.used, self.slow) = (0, 0, None);
        if self.offset + self.start as u64 == self.member {
            self.start = (self.start + 1).min(self.packed.len());
        }
        let mut tried = 0;
        loop {
            while let Some(at) = self.finder.find(self.rest()) {
                self.start += at;
                tried += 1;
                if tried > MOST_TRIED {
                    return Ok(false);
                }
                if self.rest().len() < READ_BYTES / 2 {
                    self.read_more()?;
                }
                let mut first = [0; 64];
                let mut decoder = flate2::bufread::GzDecoder::new(self.rest());
                let read = decoder.read(&mut first).unwrap_or(0);
                if looks_right(&first[..read]) {
                    return Ok(true);
                }
                self.start += 1;
            }
            self.start = self.packed.len().saturating_sub(MAGIC.len() - 1).max(self.start);
            if !self.read_more()? {
                self.start = self.packed.len();
                return Ok(false);
            }
        }
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a gzip member is truncated")
}

/// The length of the header of a member; `None` if more bytes are needed.
fn head_len(bytes: &[u8]) -> io::Result<Option<usize>> {
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const CHECKSUM: u8 = 2;
    if bytes.len() < 10 {
        return Ok(None);
    }
    let flags = bytes[3];
    if flags & 0xE0 != 0 {
        return Err(damaged("a gzip member has unknown flags"));
    }
    let mut len = 10;
    if flags & EXTRA != 0 {
        let Some(two) = bytes.get(len..len + 2) else { return Ok(None) };
        len += 2 + usize::from(u16::from_le_bytes([two[0], two[1]]));
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let Some(end) = bytes.get(len..).and_then(|rest| memchr::memchr(0, rest)) else { return Ok(None) };
            len += end + 1;
        }
    }
    if flags & CHECKSUM != 0 {
        len += 2;
    }
    Ok(Some(len).filter(|len| *len <= bytes.len()))
}

impl<R: Read> Read for MemberReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.len().min(out.len());
        out[..len].copy_from_slice(&self.unpacked[self.used..self.used + len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: Read> BufRead for MemberReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.used == self.filled {
            if !self.advance()? {
                break;
            }
        }
        Ok(&self.unpacked[self.used..self.filled])
    }

    fn consume(&mut self, bytes: usize) {
        self.used = (self.used + bytes).min(self.filled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn member(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn noise(len: usize, seed: u64) -> Vec<u8> {
        // Incompressible bytes, so that they occur unchanged in the member.
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        (0..len)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 24) as u8
            })
            .collect()
    }

    fn all(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        MemberReader::new(packed, 0).read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn members_are_read_in_order_with_their_offsets() {
        let texts: Vec<Vec<u8>> =
            vec![b"one".to_vec(), vec![b'x'; 3 << 20], noise(2 << 20, 1), Vec::new(), b"last".to_vec()];
        let packed: Vec<Vec<u8>> = texts.iter().map(|text| member(text)).collect();
        assert_eq!(all(&packed.concat()).unwrap(), texts.concat());
        let whole = packed.concat();
        let mut members = MemberReader::new(&whole[..], 0);
        let mut at = 0;
        for (text, member) in texts.iter().zip(&packed) {
            if text.is_empty() {
                at += member.len() as u64;
                continue;
            }
            members.fill_buf().unwrap();
            assert_eq!(members.boundary(), Some(at));
            let mut left = text.len();
            while left > 0 {
                let some = members.fill_buf().unwrap().len().min(left);
                members.consume(some);
                left -= some;
            }
            at += member.len() as u64;
        }
    }

    #[test]
    fn members_inside_members_are_not_split() {
        // Stored without compression: the inner members occur unchanged.
        let inner: Vec<u8> = (0..40).flat_map(|number| member(&noise(300, number))).collect();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(&inner).unwrap();
        let packed = [encoder.finish().unwrap(), member(b"after")].concat();
        assert_eq!(all(&packed).unwrap(), [&inner[..], b"after"].concat());
    }

    #[test]
    fn a_large_member_is_read_in_pieces() {
        let large = vec![b'a'; MOST_UNPACKED + 12345];
        let packed = [member(&large), member(b"after")].concat();
        assert_eq!(all(&packed).unwrap().len(), large.len() + 5);
    }

    #[test]
    fn damaged_and_truncated_members_are_errors_and_the_next_member_is_found() {
        let second = member(b"WARC/1.0 second");
        let mut broken = member(&noise(50_000, 7));
        broken[1000] ^= 0x40;
        let packed = [broken, second].concat();
        let mut members = MemberReader::new(&packed[..], 0);
        let mut bytes = Vec::new();
        assert!(members.read_to_end(&mut bytes).is_err());
        assert!(members.find_next(|first| first.starts_with(b"WARC/")).unwrap());
        bytes.clear();
        members.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"WARC/1.0 second");
        let whole = member(&noise(50_000, 8));
        assert!(all(&whole[..40_000]).is_err());
        assert!(all(b"hello, this is no archive").is_err());
        assert_eq!(all(&[]).unwrap(), b"");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), cut in 0usize..60) {
            let _ = all(&[&MAGIC[..], &bytes].concat());
            let whole = member(&bytes);
            let _ = all(&whole[..whole.len().saturating_sub(cut)]);
            let mut members = MemberReader::new(&bytes[..], 0);
            let _ = members.find_next(|_| true);
        }
    }
}
