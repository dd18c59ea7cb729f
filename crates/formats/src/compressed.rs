//! Input that may be compressed: gzip, zstd or neither, detected by the first bytes, never by the name.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use tidings_storage::Source;

use crate::error::{Context, Result};
use crate::gzip;

/// The first bytes of a zstd frame.
pub const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// The magic number of a skippable zstd frame, without its last four bits.
pub const ZSTD_SKIPPABLE: u32 = 0x184D_2A50;
/// The default window of `zstd --long`, 128 MiB; a larger one is rejected as an attack on memory.
pub(crate) const MAX_WINDOW_LOG: u32 = 27;
const BUFFER_BYTES: usize = 1 << 18;

/// True if a zstd frame is skippable: metadata that decoders ignore.
pub fn is_skippable(frame: &[u8]) -> bool {
    frame.first_chunk::<4>().is_some_and(|four| u32::from_le_bytes(*four) & !0xF == ZSTD_SKIPPABLE)
}

/// Opens a file or an object and decompresses it if it is compressed.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let file = Source::open(path)?;
    Ok(decompressed(BufReader::with_capacity(BUFFER_BYTES, file)).context("read", path)?)
}

/// Decompresses a stream if its first bytes are those of a compressed one.
pub fn decompressed(mut input: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let first = input.fill_buf()?;
    if first.starts_with(&gzip::MAGIC) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(input))));
    }
    if first.starts_with(&ZSTD_MAGIC) || is_skippable(first) {
        let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder)));
    }
    Ok(Box::new(input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Read as _, Write as _};

    fn text_of(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        decompressed(Cursor::new(bytes))?.read_to_end(&mut text).map(|_| text)
    }

    fn gzipped(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_and_zstd_are_detected_by_their_first_bytes() {
        let text = b"rain\n".to_vec();
        let two_members = [gzipped(&text), gzipped(&text)].concat();
        assert_eq!(text_of(text.clone()).unwrap(), text);
        assert_eq!(text_of(two_members).unwrap(), b"rain\nrain\n");
        assert_eq!(text_of(zstd::encode_all(&text[..], 3).unwrap()).unwrap(), text);
        assert_eq!(text_of(Vec::new()).unwrap(), b"");
    }

    #[test]
    fn a_skippable_frame_before_the_data_is_skipped() {
        let mut bytes = ZSTD_SKIPPABLE.to_le_bytes().to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(b"abc");
        assert!(is_skippable(&bytes) && !is_skippable(&bytes[..3]));
        bytes.extend(zstd::encode_all(&b"rain"[..], 3).unwrap());
        assert_eq!(text_of(bytes).unwrap(), b"rain");
    }

    #[test]
    fn the_error_about_a_missing_file_contains_its_name() {
        let error = open(Path::new("no-such-file.gz")).err().expect("it is missing");
        assert_eq!(error.to_string(), "cannot open no-such-file.gz");
    }

    proptest::proptest! {
        #[test]
        fn damaged_streams_end_with_an_error_or_less_text(cut in 0usize..60, at in 0usize..60, byte: u8) {
            let whole = zstd::encode_all(&b"It rained for three days and nights, and then it rained again."[..], 3).unwrap();
            let mut bytes = whole[..cut.min(whole.len())].to_vec();
            if let Some(damaged) = bytes.get_mut(at) { *damaged = byte; }
            let _ = text_of(bytes);
        }
    }
}
