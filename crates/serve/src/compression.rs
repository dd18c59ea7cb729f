//! Gzip compression of responses, and entity tags (RFC 9110).

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Mutex;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, IF_NONE_MATCH};
use hyper::{HeaderMap, Response};
use xxhash_rust::xxh3::xxh3_128;

use crate::response::Body;

/// Shorter bodies fit one packet anyway.
const MIN_COMPRESSED_BYTES: usize = 1 << 10;
/// Compression level: JSON shrinks by nine tenths at any level, and higher ones cost more CPU.
const LEVEL: u32 = 4;
/// Size of the cache of compressed bodies.
const MOST_BYTES: usize = 16 << 20;

/// Returns `true` if the client accepts gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|text| text.to_str().ok());
    let mut codings = texts.flat_map(|text| text.split(',')).map(|coding| {
        let (name, rest) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = rest.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse() == Ok(0.0));
        (name.trim().to_ascii_lowercase(), refused)
    });
    codings.any(|(name, refused)| matches!(name.as_str(), "gzip" | "x-gzip" | "*") && !refused)
}

/// Returns `true` if `If-None-Match` lists the tag (weak comparison).
pub(crate) fn matches_etag(headers: &HeaderMap, tag: &str) -> bool {
    let texts = headers.get_all(IF_NONE_MATCH).iter().filter_map(|text| text.to_str().ok());
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    texts.flat_map(|text| text.split(',')).any(|known| bare(known) == bare(tag))
}

/// The weak ETag of a body: compressed and plain bytes are the same answer.
pub(crate) fn etag(bytes: &[u8]) -> String {
    format!("W/\"{:032x}\"", xxh3_128(bytes))
}

/// Streaming gzip encoder.
pub(crate) struct GzipStream(GzEncoder<Vec<u8>>);

impl GzipStream {
    pub fn new() -> GzipStream {
        GzipStream(GzEncoder::new(Vec::new(), Compression::new(LEVEL)))
    }

    /// Compresses and flushes a chunk, so that the client can decode all of it on arrival.
    pub fn chunk(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.write_all(bytes).and_then(|()| self.0.flush()).expect("memory takes everything");
        std::mem::take(self.0.get_mut())
    }

    /// The trailer after the last chunk.
    pub fn end(self) -> Vec<u8> {
        self.0.finish().expect("memory takes everything")
    }
}

fn compressed(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 6), Compression::new(LEVEL));
    encoder.write_all(bytes).expect("memory takes everything");
    encoder.finish().expect("memory takes everything").into()
}

/// Compressed bodies by digest: assets and popular answers are compressed once.
#[derive(Debug, Default)]
pub(crate) struct CompressionCache(Mutex<(HashMap<u128, Bytes>, usize)>);

impl CompressionCache {
    /// The compressed form of a body.
    pub fn of(&self, bytes: &[u8]) -> Bytes {
        let key = xxh3_128(bytes);
        if let Some(known) = self.0.lock().expect("no panic while held").0.get(&key) {
            return known.clone();
        }
        let compressed = compressed(bytes);
        let mut kept = self.0.lock().expect("no panic while held");
        if kept.1 + compressed.len() > MOST_BYTES {
            *kept = Default::default();
        }
        if compressed.len() <= MOST_BYTES / 8 && kept.0.insert(key, compressed.clone()).is_none() {
            kept.1 += compressed.len();
        }
        compressed
    }
}

/// The body of a response, if compression is worth it.
pub(crate) fn compressible(response: &Response<Body>) -> Option<Bytes> {
    let Body::Whole(Some(bytes)) = response.body() else { return None };
    let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let is_text = kind.starts_with("text/") || ["json", "xml", "javascript"].iter().any(|word| kind.contains(word));
    let is_packed = response.headers().contains_key(hyper::header::CONTENT_ENCODING);
    (is_text && !is_packed && bytes.len() >= MIN_COMPRESSED_BYTES).then(|| bytes.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn decompressed(bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).unwrap();
        text
    }

    #[test]
    fn accept_encoding_is_honoured() {
        let accepts = |text: &str| accepts_gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, text.parse().unwrap())]));
        assert!(accepts("gzip, br") && accepts("br;q=1.0, GZIP;q=0.5") && accepts("*"));
        assert!(!accepts("br") && !accepts("gzip;q=0") && !accepts("identity"));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn etags_are_compared_weakly_and_in_lists() {
        let has =
            |text: &str, tag: &str| matches_etag(&HeaderMap::from_iter([(IF_NONE_MATCH, text.parse().unwrap())]), tag);
        let tag = etag(b"answer");
        assert!(has(&tag, &tag) && has(&format!("\"a\", {tag}"), &tag) && has(&tag[2..], &tag));
        assert!(!has("\"a\"", &tag) && tag != etag(b"another"));
    }

    #[test]
    fn chunks_decode_on_arrival_and_as_a_whole() {
        let mut encoder = GzipStream::new();
        let mut sent = encoder.chunk(b"value,hits\r\n");
        let mut first = [0; 12];
        flate2::read::GzDecoder::new(&sent[..]).read_exact(&mut first).unwrap();
        assert_eq!(&first, b"value,hits\r\n");
        sent.extend(encoder.chunk(b"storm,3\r\n"));
        sent.extend(encoder.end());
        assert_eq!(decompressed(&sent), b"value,hits\r\nstorm,3\r\n");
    }

    #[test]
    fn the_cache_is_bounded() {
        let kept = CompressionCache::default();
        let text = b"the storm ".repeat(1000);
        assert_eq!(decompressed(&kept.of(&text)), text);
        assert_eq!(kept.of(&text), kept.of(&text));
        let mut noise = 1u64;
        for _ in 0..40 {
            let bytes: Vec<u8> = (0..1 << 20)
                .map(|_| {
                    noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (noise >> 56) as u8
                })
                .collect();
            kept.of(&bytes);
            assert!(kept.0.lock().unwrap().1 <= MOST_BYTES);
        }
    }
}
