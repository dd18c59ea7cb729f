//! Content decoding (gzip, deflate, br, zstd) with ceilings against decompression bombs.
//!
//! A megabyte can decode to a terabyte. Every decoder writes into a buffer with a limit: the maximum page size of the
//! settings, and at most a plausible multiple of the compressed size.

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
            .filter(|name| !name.is_empty() && name != "identity")
            .collect();
        // Legitimate servers do not encode a page three times.
        if names.len() > 2 {
            return Err(Status::failed("encoding"));
        }
        let ceiling = self.ceiling.of(body.len());
        let mut current = None;
        for name in names.iter().rev() {
            let packed = current.as_deref().unwrap_or(body);
            current = Some(match name.as_str() {
                "gzip" | "x-gzip" => self.gzip(packed, ceiling)?,
                "deflate" => self.deflate(packed, ceiling)?,
                "br" => drain(brotli_decompressor::Decompressor::new(packed, 64 << 10), ceiling)?,
                "zstd" => zstd(packed, ceiling)?,
                _ => return Err(Status::failed("encoding")),
            });
        }
        match current {
            Some(bytes) => Ok(bytes),
            None if body.len() > self.ceiling.max_bytes => Err(Status::failed("too-large")),
            None => Ok(body.to_vec()),
        }
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
            // Several members, a wrong length, or trailing garbage: the streaming decoder handles all of them.
            Ok(_) | Err(libdeflater::DecompressionError::InsufficientSpace) => {
                drain(flate2::bufread::MultiGzDecoder::new(packed), ceiling)
            }
            Err(libdeflater::DecompressionError::BadData) => Err(Status::failed("encoding")),
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
        assert_eq!(decode("gzip", b"<html>"), Err(Status::failed("encoding")));
        assert_eq!(decode("rot13", b"x"), Err(Status::failed("encoding")));
        assert_eq!(decode("gzip,gzip,gzip", b"x"), Err(Status::failed("encoding")));
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
