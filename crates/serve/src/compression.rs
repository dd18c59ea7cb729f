//! Smaller answers: gzip for those who understand it, and tags by which those who have an answer need not get it again.

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

/// What is shorter travels in one packet anyway.
const MIN_COMPRESSED_BYTES: usize = 1 << 10;
/// How hard answers are compressed: JSON loses nine tenths of its bytes at any level, and harder takes longer.
const LEVEL: u32 = 4;
/// CompressionCache answers that are kept for those who ask the same again, all together.
const MOST_BYTES: usize = 16 << 20;

/// Whether a client understands gzip.
pub(crate) fn understands_gzip(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|text| text.to_str().ok());
    let mut codings = texts.flat_map(|text| text.split(',')).map(|coding| {
        let (name, rest) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = rest.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse() == Ok(0.0));
        (name.trim().to_ascii_lowercase(), refused)
    });
    codings.any(|(name, refused)| matches!(name.as_str(), "gzip" | "x-gzip" | "*") && !refused)
}

/// Whether a client has the answer of a tag already.
pub(crate) fn has(headers: &HeaderMap, tag: &str) -> bool {
    let texts = headers.get_all(IF_NONE_MATCH).iter().filter_map(|text| text.to_str().ok());
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    texts.flat_map(|text| text.split(',')).any(|known| bare(known) == bare(tag))
}

/// The tag of some bytes. It is weak: compressed and decompressed bytes are one answer.
pub(crate) fn tag_of(bytes: &[u8]) -> String {
    format!("W/\"{:032x}\"", xxh3_128(bytes))
}

/// Bytes that are compressed piece by piece.
pub(crate) struct FrameEncoder(GzEncoder<Vec<u8>>);

impl FrameEncoder {
    pub fn new() -> FrameEncoder {
        FrameEncoder(GzEncoder::new(Vec::new(), Compression::new(LEVEL)))
    }

    /// Packs a piece so that all of it can be decompressed where it arrives.
    pub fn piece(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.write_all(bytes).and_then(|()| self.0.flush()).expect("memory takes everything");
        std::mem::take(self.0.get_mut())
    }

    /// What is to come behind the last piece.
    pub fn end(self) -> Vec<u8> {
        self.0.finish().expect("memory takes everything")
    }
}

fn compressed(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 6), Compression::new(LEVEL));
    encoder.write_all(bytes).expect("memory takes everything");
    encoder.finish().expect("memory takes everything").into()
}

/// CompressionCache answers by their digests: the files of the page and answers that many ask for are compressed once.
#[derive(Debug, Default)]
pub(crate) struct CompressionCache(Mutex<(HashMap<u128, Bytes>, usize)>);

impl CompressionCache {
    /// The bytes, compressed.
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

/// The bytes of an answer that are worth packing.
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
    fn clients_say_what_they_understand() {
        let understands =
            |text: &str| understands_gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, text.parse().unwrap())]));
        assert!(understands("gzip, br") && understands("br;q=1.0, GZIP;q=0.5") && understands("*"));
        assert!(!understands("br") && !understands("gzip;q=0") && !understands("identity"));
        assert!(!understands_gzip(&HeaderMap::new()));
    }

    #[test]
    fn tags_are_compared_weakly_and_in_lists() {
        let has = |text: &str, tag: &str| has(&HeaderMap::from_iter([(IF_NONE_MATCH, text.parse().unwrap())]), tag);
        let tag = tag_of(b"answer");
        assert!(has(&tag, &tag) && has(&format!("\"a\", {tag}"), &tag) && has(&tag[2..], &tag));
        assert!(!has("\"a\"", &tag) && tag != tag_of(b"another"));
    }

    #[test]
    fn pieces_can_be_unpacked_as_they_come_and_all_together() {
        let mut encoder = FrameEncoder::new();
        let mut sent = encoder.piece(b"value,hits\r\n");
        let mut first = [0; 12];
        flate2::read::GzDecoder::new(&sent[..]).read_exact(&mut first).unwrap();
        assert_eq!(&first, b"value,hits\r\n");
        sent.extend(encoder.piece(b"storm,3\r\n"));
        sent.extend(encoder.end());
        assert_eq!(decompressed(&sent), b"value,hits\r\nstorm,3\r\n");
    }

    #[test]
    fn what_is_packed_is_kept_within_bounds() {
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
