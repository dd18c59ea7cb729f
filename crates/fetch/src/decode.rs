//! Content decoding (gzip, deflate, br, zstd) with ceilings against decompression bombs.
//!
//! A megabyte can decode to a terabyte. Every decoder writes into a buffer with a limit: the maximum page size of the
//! settings, and at most a plausible multiple of the compressed size.
//!
//! Labels are wrong as often as bodies are damaged, so they are read as browsers read them: an unknown encoding is
//! none, a body that is plain text in spite of its label is text, and gzip may lack its trailer or be followed by
//! garbage. A body whose checksum is wrong, or that ends within its data, is damaged.

use std::io::Read;

use tidings_model::Status;

/// Ceilings for decoded bodies.
#[derive(Debug, Clone, Copy)]
pub struct Ceiling {
    /// Largest decoded body.
    pub max_bytes: usize,
    /// Maximum compression ratio, for bodies that decode to more than a megabyte.
    pub max_ratio: usize,
}

/// Decoded size up to which any ratio is allowed: a page of one repeated word is not an attack.
const HARMLESS_BYTES: usize = 1 << 20;

impl Ceiling {
    fn of(&self, packed: usize) -> usize {
        self.max_bytes.min(packed.saturating_mul(self.max_ratio).max(HARMLESS_BYTES))
    }
}

/// Decoder that keeps its tables between calls.
pub struct Decoder {
    inflate: libdeflater::Decompressor,
    ceiling: Ceiling,
}

impl Decoder {
    /// A decoder under a ceiling.
    pub fn new(ceiling: Ceiling) -> Decoder {
        Decoder { inflate: libdeflater::Decompressor::new(), ceiling }
    }

    /// Decodes the encodings of a Content-Encoding header.
    pub fn decode(&mut self, encodings: &str, body: &[u8]) -> Result<Vec<u8>, Status> {
        let names: Vec<String> = encodings
            .split(',')
            .map(|name| name.trim().to_ascii_lowercase())
            .filter(|name| KNOWN.contains(&name.as_str()))
            .collect();
        // Legitimate servers do not encode a page three times.
        if names.len() > 2 {
            return Err(Status::failed("encoding"));
        }
        let ceiling = self.ceiling.of(body.len());
        let mut current = None;
        for name in names.iter().rev() {
            let packed = current.as_deref().unwrap_or(body);
            let unpacked = match name.as_str() {
                "gzip" | "x-gzip" => self.gzip(packed, ceiling),
                "deflate" => self.deflate(packed, ceiling),
                "br" => drain(brotli_decompressor::Decompressor::new(packed, 64 << 10), ceiling),
                _ => zstd(packed, ceiling),
            };
            match unpacked {
                Ok(bytes) => current = Some(bytes),
                Err(status) if status == Status::failed("encoding") && is_plain_text(packed) => {}
                Err(status) => return Err(status),
            }
        }
        match current {
            Some(bytes) => Ok(bytes),
            None if body.len() > self.ceiling.max_bytes => Err(Status::failed("too-large")),
            None => Ok(body.to_vec()),
        }
    }

    /// Undoes the content encoding of a body, and decompresses a file such as `feed.xml.gz`, which has none.
    pub fn decode_file(&mut self, encodings: &str, body: &[u8]) -> Result<Vec<u8>, Status> {
        let body = self.decode(encodings, body)?;
        if gzip_header(&body).is_some() { self.decode("gzip", &body) } else { Ok(body) }
    }

    fn gzip(&mut self, packed: &[u8], ceiling: usize) -> Result<Vec<u8>, Status> {
        // The last four bytes are the decoded length, but untrusted.
        let announced = packed.last_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
        let mut bytes = vec![0; announced.clamp(1, ceiling)];
        match self.inflate.gzip_decompress(packed, &mut bytes) {
            Ok(len) if len == announced => {
                bytes.truncate(len);
                Ok(bytes)
            }
            // Several members, a wrong length, trailing garbage, no trailer, or damage.
            Ok(_) | Err(_) => gunzip(packed, ceiling),
        }
    }

    /// `deflate` means zlib (RFC 9110), but some servers send raw deflate.
    fn deflate(&mut self, packed: &[u8], ceiling: usize) -> Result<Vec<u8>, Status> {
        match drain(flate2::bufread::ZlibDecoder::new(packed), ceiling) {
            Err(status) if status == Status::failed("encoding") => {
                drain(flate2::bufread::DeflateDecoder::new(packed), ceiling)
            }
            result => result,
        }
    }
}

/// Names of the encodings that can be decoded; others are ignored, as browsers do.
const KNOWN: [&str; 5] = ["gzip", "x-gzip", "deflate", "br", "zstd"];

/// Bytes at the start of a body that show whether it is text.
const SNIFFED_BYTES: usize = 512;

/// Returns true for bytes without control characters, which compressed data has.
fn is_plain_text(bytes: &[u8]) -> bool {
    // ESC switches character sets in ISO-2022-JP.
    let is_text = |byte: &u8| *byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    bytes.iter().take(SNIFFED_BYTES).all(is_text)
}

/// Decodes the members of a gzip body (RFC 1952). The trailer may be missing, and garbage may follow it.
fn gunzip(packed: &[u8], ceiling: usize) -> Result<Vec<u8>, Status> {
    let damaged = || Status::failed("encoding");
    let mut bytes = Vec::new();
    let mut rest = packed;
    loop {
        let data = gzip_header(rest).and_then(|header| rest.get(header..)).ok_or_else(damaged)?;
        let start = bytes.len();
        let read = inflate(data, &mut bytes, ceiling)?;
        let Some((trailer, after)) = data[read..].split_at_checked(8) else { return Ok(bytes) };
        let mut checksum = flate2::Crc::new();
        checksum.update(&bytes[start..]);
        if trailer[..4] != checksum.sum().to_le_bytes() {
            return Err(damaged());
        }
        if gzip_header(after).is_none() {
            return Ok(bytes);
        }
        rest = after;
    }
}

/// The length of the header of a gzip member, if the bytes begin with one.
fn gzip_header(bytes: &[u8]) -> Option<usize> {
    const HEADER_CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _] = *bytes.first_chunk::<10>()? else { return None };
    let mut at = 10;
    if flags & EXTRA != 0 {
        let length = bytes.get(at..)?.first_chunk::<2>()?;
        at += 2 + usize::from(u16::from_le_bytes(*length));
    }
    for _ in [NAME, COMMENT].into_iter().filter(|field| flags & field != 0) {
        at += memchr::memchr(0, bytes.get(at..)?)? + 1;
    }
    Some(at + if flags & HEADER_CRC != 0 { 2 } else { 0 })
}

/// Appends the data of a deflate stream (RFC 1951); returns its length in `packed`. A stream without end is damaged.
fn inflate(packed: &[u8], bytes: &mut Vec<u8>, ceiling: usize) -> Result<usize, Status> {
    const STEP_BYTES: usize = 64 << 10;
    let damaged = || Status::failed("encoding");
    let mut stream = flate2::Decompress::new(false);
    loop {
        if bytes.len() > ceiling {
            return Err(Status::failed("too-large"));
        }
        // Doubling, but never beyond the limit: many bodies are decoded at once.
        let remaining = ceiling - bytes.len() + 1;
        bytes.reserve_exact(bytes.len().max(STEP_BYTES).min(remaining));
        let (read, len) = (stream.total_in() as usize, bytes.len());
        let state =
            stream.decompress_vec(&packed[read..], bytes, flate2::FlushDecompress::None).map_err(|_| damaged())?;
        if state == flate2::Status::StreamEnd {
            let is_too_large = bytes.len() > ceiling;
            return if is_too_large { Err(Status::failed("too-large")) } else { Ok(stream.total_in() as usize) };
        }
        if (read, len) == (stream.total_in() as usize, bytes.len()) {
            return Err(damaged());
        }
    }
}

fn zstd(packed: &[u8], ceiling: usize) -> Result<Vec<u8>, Status> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(|_| Status::failed("encoding"))?;
    // The web's zstd uses windows of at most 8 MiB (RFC 9659).
    decoder.window_log_max(23).map_err(|_| Status::failed("encoding"))?;
    drain(decoder, ceiling)
}

fn drain(decoder: impl Read, ceiling: usize) -> Result<Vec<u8>, Status> {
    let mut bytes = Vec::new();
    let read = decoder.take(ceiling as u64 + 1).read_to_end(&mut bytes).map_err(|_| Status::failed("encoding"))?;
    if read > ceiling { Err(Status::failed("too-large")) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(encodings: &str, body: &[u8]) -> Result<Vec<u8>, Status> {
        Decoder::new(Ceiling { max_bytes: 4 << 20, max_ratio: 100 }).decode(encodings, body)
    }

    #[test]
    fn a_gzip_file_is_decompressed_within_the_ceilings() {
        let decode_file = |encodings: &str, body: &[u8]| {
            Decoder::new(Ceiling { max_bytes: 1 << 20, max_ratio: 100 }).decode_file(encodings, body)
        };
        assert_eq!(decode_file("", &gzip(b"<rss/>")).unwrap(), b"<rss/>");
        assert_eq!(decode_file("gzip", &gzip(&gzip(b"<rss/>"))).unwrap(), b"<rss/>");
        assert_eq!(decode_file("", b"<rss/>").unwrap(), b"<rss/>");
        assert!(
            decode_file("", &gzip(&vec![b'a'; 2 << 20])).is_err_and(|status| status == Status::failed("too-large"))
        );
    }

    #[test]
    fn every_content_encoding_is_decoded() {
        let text = "all the news that fits ".repeat(99).into_bytes();
        assert_eq!(decode("", &text).unwrap(), text);
        assert_eq!(decode("gzip", &gzip(&text)).unwrap(), text);
        assert_eq!(decode("zstd", &zstd::encode_all(&text[..], 3).unwrap()).unwrap(), text);
        assert_eq!(decode("gzip, gzip", &gzip(&gzip(&text))).unwrap(), text);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&text).unwrap();
        assert_eq!(decode("deflate", &zlib.finish().unwrap()).unwrap(), text);
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        bare.write_all(&text).unwrap();
        assert_eq!(decode("deflate", &bare.finish().unwrap()).unwrap(), text);
        let two_members = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(decode("gzip", &two_members).unwrap(), b"one two");
    }

    #[test]
    fn decompression_bombs_are_refused() {
        let bomb = gzip(&vec![b' '; 64 << 20]);
        assert_eq!(decode("gzip", &bomb), Err(Status::failed("too-large")));
        let mut lying = bomb.clone();
        let end = lying.len() - 4;
        lying[end..].copy_from_slice(&100u32.to_le_bytes());
        assert!(decode("gzip", &lying).is_err());
        assert_eq!(
            decode("zstd", &zstd::encode_all(&vec![0; 64 << 20][..], 3).unwrap()),
            Err(Status::failed("too-large"))
        );
    }

    #[test]
    fn damaged_bodies_are_refused() {
        let whole = gzip(&"some text to pack ".repeat(500).into_bytes());
        assert_eq!(decode("gzip", &whole[..whole.len() / 2]), Err(Status::failed("encoding")));
        let mut damaged = whole.clone();
        let middle = damaged.len() - 6;
        damaged[middle] ^= 0xff;
        assert_eq!(decode("gzip", &damaged), Err(Status::failed("encoding")), "the checksum is wrong");
        assert_eq!(decode("gzip", b"\x00\x01binary"), Err(Status::failed("encoding")));
        assert_eq!(decode("gzip,gzip,gzip", b"x"), Err(Status::failed("encoding")));
    }

    #[test]
    fn an_unknown_encoding_is_none() {
        for name in ["utf-8", "none", "aws-chunked", "identity", "rot13", "UTF-8, none"] {
            assert_eq!(decode(name, b"<html>").unwrap(), b"<html>", "{name}");
        }
        assert_eq!(decode("aws-chunked, gzip", &gzip(b"<html>")).unwrap(), b"<html>");
    }

    #[test]
    fn plain_text_with_the_label_of_an_encoding_is_text() {
        for name in ["gzip", "br", "zstd", "deflate"] {
            let text = "<!doctype html><p>Žádná komprese</p>".repeat(9);
            assert_eq!(decode(name, text.as_bytes()).unwrap(), text.as_bytes(), "{name}");
        }
    }

    #[test]
    fn gzip_without_its_trailer_or_with_garbage_after_it_is_read() {
        let text = "some text to pack ".repeat(500).into_bytes();
        let whole = gzip(&text);
        for cut in 1..=8 {
            assert_eq!(decode("gzip", &whole[..whole.len() - cut]).unwrap(), text, "{cut} bytes are missing");
        }
        assert!(decode("gzip", &whole[..whole.len() - 9]).is_err(), "the data itself is cut");
        for garbage in [&[0; 512][..], b"\r\n", b"<!-- served by a proxy -->", &[0x1f, 0x8b]] {
            assert_eq!(decode("gzip", &[&whole, garbage].concat()).unwrap(), text);
        }
        let mut named = flate2::GzBuilder::new()
            .filename("a.html")
            .comment("c")
            .extra("xy")
            .write(Vec::new(), flate2::Compression::fast());
        named.write_all(&text).unwrap();
        let named = named.finish().unwrap();
        assert_eq!(decode("gzip", &named[..named.len() - 3]).unwrap(), text);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            for name in ["gzip", "deflate", "br", "zstd"] {
                let _ = decode(name, &bytes);
            }
        }
    }
}
