//! Files made of independent zstd frames.
//!
//! Pages, plan, journals and logs share one structure: a skippable frame with the format and its version, then frames
//! of a few megabytes that decompress independently and have a checksum. `zstdcat` reads them; a truncated end costs
//! only the last frame; an unchanged frame is copied without recompression.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tidings_formats::compressed::{self, ZSTD_MAGIC, ZSTD_SKIPPABLE, is_skippable};
use tidings_storage::Source;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{self, CParameter};

use crate::error::{Context, Error, Result};

/// The text size of a frame: larger frames hardly compress better, smaller ones worse.
pub(crate) const FRAME_BYTES: usize = 4 << 20;

/// The maximum size of a frame: a page of the largest size that settings allow, in the worst JSON escaping.
const MAX_FRAME_BYTES: usize = 1 << 30;

/// Packs text into frames.
pub struct FrameEncoder {
    compressor: Compressor<'static>,
    /// A buffer of the maximum compressed size, so that the returned frames are not larger than needed.
    scratch: Vec<u8>,
}

impl FrameEncoder {
    /// A encoder at a zstd level.
    pub fn new(level: i32) -> FrameEncoder {
        let mut compressor = Compressor::new(level).expect("zstd levels are clamped, not refused");
        compressor.set_parameter(CParameter::ChecksumFlag(true)).expect("a valid parameter");
        FrameEncoder { compressor, scratch: Vec::new() }
    }

    /// One independent frame.
    pub fn encode(&mut self, text: &[u8]) -> Vec<u8> {
        self.scratch.clear();
        self.scratch.reserve(zstd_safe::compress_bound(text.len()));
        self.compressor.compress_to_buffer(text, &mut self.scratch).expect("the buffer is as large as zstd asks for");
        self.scratch.as_slice().to_vec()
    }
}

/// The first frame of a file: its format and a note of its writer.
pub(crate) fn header(format: &str, version: u32, note: &str) -> Vec<u8> {
    let text = format!("tidings {format} {version}\n{note}");
    let mut frame = ZSTD_SKIPPABLE.to_le_bytes().to_vec();
    frame.extend((text.len() as u32).to_le_bytes());
    frame.extend(text.as_bytes());
    frame
}

/// Reads a header if there is one; a header of a newer version is an error.
pub(crate) fn read_header(frame: &[u8], format: &str, version: u32, path: &Path) -> Result<Option<String>> {
    let Some(text) = frame.get(8..).and_then(|text| std::str::from_utf8(text).ok()) else { return Ok(None) };
    let (first, note) = text.split_once('\n').unwrap_or((text, ""));
    let Some(found) = first.strip_prefix("tidings ") else { return Ok(None) };
    match found.split_once(' ') {
        Some((name, number)) if name == format && number.parse::<u32>().is_ok_and(|number| number <= version) => {
            Ok(Some(note.to_owned()))
        }
        _ => Err(Error::Newer { path: path.to_owned(), found: found.to_owned(), known: version }),
    }
}

/// Walks over the frames of a file, packed.
pub(crate) struct Walker {
    path: PathBuf,
    file: Source,
    buffer: Vec<u8>,
    /// The offset of the buffer in the file.
    offset: u64,
    /// The number of bytes of the buffer that were returned.
    used: usize,
    ended: bool,
}

impl Walker {
    pub(crate) fn open(path: &Path) -> Result<Walker> {
        let file = Source::stored(path)?;
        Ok(Walker { path: path.to_owned(), file, buffer: Vec::new(), offset: 0, used: 0, ended: false })
    }

    /// Opens a file at the offset of a frame.
    pub(crate) fn open_at(path: &Path, offset: u64) -> Result<Walker> {
        let mut walker = Walker::open(path)?;
        walker.file.seek(io::SeekFrom::Start(offset)).context("read", path)?;
        walker.offset = offset;
        Ok(walker)
    }

    /// The offset of the next frame.
    pub(crate) fn position(&self) -> u64 {
        self.offset + self.used as u64
    }

    /// Whether the file ended within a frame, after `next` returned `None`.
    pub(crate) fn is_torn(&self) -> bool {
        self.buffer.len() > self.used
    }

    /// Moves to the first frame at or after an offset that starts with `magic` and `is_sound`, or to the end of the
    /// file; returns the offset. The offset must not be before the last frame that was returned.
    pub(crate) fn seek_frame(
        &mut self,
        from: u64,
        magic: &[u8],
        mut is_sound: impl FnMut(&[u8]) -> bool,
    ) -> Result<u64> {
        let from = from.saturating_sub(self.offset) as usize;
        // Damage is rare, and files of pages are at most some hundred megabytes.
        self.file.read_to_end(&mut self.buffer).context("read", &self.path)?;
        self.ended = true;
        let rest = &self.buffer[from.min(self.buffer.len())..];
        let sound = memchr::memmem::find_iter(rest, magic).find(|at| {
            let frame = &rest[*at..];
            frame_len(frame).is_some_and(|len| is_sound(&frame[..len]))
        });
        self.used = sound.map_or(self.buffer.len(), |at| from + at);
        Ok(self.position())
    }

    /// The skippable frame at the start of our files; other files are not read any further, because their first frame
    /// may be the whole file.
    fn header(&mut self) -> Result<Option<&[u8]>> {
        (&mut self.file).take(4).read_to_end(&mut self.buffer).context("read", &self.path)?;
        if is_skippable(&self.buffer) { self.next() } else { Ok(None) }
    }

    /// The next complete frame; `None` at the end or before a truncated one.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        loop {
            let rest = &self.buffer[self.used..];
            if let Some(len) = frame_len(rest) {
                let start = self.used;
                self.used += len;
                return Ok(Some(&self.buffer[start..self.used]));
            }
            if self.ended || rest.len() > MAX_FRAME_BYTES {
                return Ok(None);
            }
            self.offset += self.used as u64;
            self.buffer.drain(..self.used);
            self.used = 0;
            let wanted = self.buffer.len().max(1 << 20) as u64;
            let read = (&mut self.file).take(wanted).read_to_end(&mut self.buffer).context("read", &self.path)?;
            self.ended = read == 0;
        }
    }
}

pub(crate) fn frame_len(bytes: &[u8]) -> Option<usize> {
    if bytes.len() < 8 {
        return None;
    }
    zstd_safe::find_frame_compressed_size(bytes).ok().filter(|len| *len <= bytes.len())
}

/// Decompresses one frame; `None` if it is damaged.
pub(crate) fn unpack(decompressor: &mut Decompressor<'static>, frame: &[u8], text: &mut Vec<u8>) -> Option<()> {
    let size = usize::try_from(zstd_safe::get_frame_content_size(frame).ok()??).ok()?;
    if size > MAX_FRAME_BYTES {
        return None;
    }
    text.clear();
    text.reserve(size);
    decompressor.decompress_to_buffer(frame, text).ok().map(drop)
}

/// A file whose frames are batches of a log: everything after a truncated or damaged frame is ignored.
pub(crate) struct Log {
    walker: Walker,
    decompressor: Decompressor<'static>,
    format: &'static str,
    version: u32,
    text: Vec<u8>,
    /// The end of the last valid frame.
    sound: u64,
}

impl Log {
    pub(crate) fn open(path: &Path, format: &'static str, version: u32) -> Result<Log> {
        let decompressor = Decompressor::new().expect("allocating a zstd context");
        Ok(Log { walker: Walker::open(path)?, decompressor, format, version, text: Vec::new(), sound: 0 })
    }

    /// The next step's text.
    pub(crate) fn next(&mut self) -> Result<Option<&str>> {
        loop {
            let path = self.walker.path.clone();
            let Some(frame) = self.walker.next()? else { return Ok(None) };
            if is_skippable(frame) {
                read_header(frame, self.format, self.version, &path)?;
            } else if unpack(&mut self.decompressor, frame, &mut self.text).is_none()
                || std::str::from_utf8(&self.text).is_err()
            {
                return Ok(None);
            } else {
                self.sound = self.walker.position();
                return Ok(std::str::from_utf8(&self.text).ok());
            }
            self.sound = self.walker.position();
        }
    }

    /// The number of valid bytes, after `next` returned `None`.
    pub(crate) fn sound_bytes(&self) -> u64 {
        self.sound
    }
}

/// The text of the last frame of a section of a file; `None` if it is truncated or damaged. For a small frame only the
/// end of the section is read: its start is found by the magic number of frames.
pub(crate) fn last(path: &Path, section: Range<u64>) -> Result<Option<String>> {
    const TAIL_BYTES: u64 = 64 << 10;
    let mut decompressor = Decompressor::new().expect("allocating a zstd context");
    let mut text = Vec::new();
    let mut file = File::open(path).context("open", path)?;
    let start = section.end.saturating_sub(TAIL_BYTES).max(section.start);
    file.seek(io::SeekFrom::Start(start)).context("read", path)?;
    let mut tail = Vec::new();
    file.take(section.end - start).read_to_end(&mut tail).context("read", path)?;
    let begins = memchr::memmem::rfind_iter(&tail, &ZSTD_MAGIC).map(|at| &tail[at..]);
    // The magic number may occur anywhere by chance; a frame with a valid checksum that ends with the file does not.
    for frame in begins.filter(|frame| frame_len(frame) == Some(frame.len())) {
        if unpack(&mut decompressor, frame, &mut text).is_some() {
            return Ok(String::from_utf8(text).ok());
        }
    }
    let mut walker = Walker::open_at(path, section.start)?;
    let mut packed = Vec::new();
    while walker.position() < section.end
        && let Some(frame) = walker.next()?
    {
        packed.clear();
        packed.extend_from_slice(frame);
    }
    let whole = walker.position() == section.end && unpack(&mut decompressor, &packed, &mut text).is_some();
    Ok(whole.then_some(text).and_then(|text| String::from_utf8(text).ok()))
}

/// A block of complete lines, with its compressed form if it is one frame of the file.
pub(crate) struct Block<'a> {
    pub(crate) text: &'a str,
    pub(crate) packed: Option<&'a [u8]>,
}

/// Reads a file of lines in blocks: our frames, a single zstd stream, or plain text.
pub(crate) struct Blocks {
    path: PathBuf,
    source: BlockSource,
    text: Vec<u8>,
    packed: Vec<u8>,
    note: Option<String>,
    lines: u64,
}

enum BlockSource {
    Framed { walker: Walker, decompressor: Decompressor<'static> },
    Stream { reader: Box<dyn BufRead>, rest: Vec<u8> },
}

impl Blocks {
    pub(crate) fn open(path: &Path, format: &'static str, version: u32) -> Result<Blocks> {
        let mut walker = Walker::open(path)?;
        let note = match walker.header()? {
            Some(frame) => read_header(frame, format, version, path)?,
            None => None,
        };
        let source = match note {
            Some(_) => {
                let decompressor = Decompressor::new().expect("allocating a zstd context");
                BlockSource::Framed { walker, decompressor }
            }
            None => BlockSource::Stream { reader: open_any(path)?, rest: Vec::new() },
        };
        Ok(Blocks { path: path.to_owned(), source, text: Vec::new(), packed: Vec::new(), note, lines: 0 })
    }

    /// The note in the header.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The number of lines before the current block, for error messages.
    pub(crate) fn lines_before(&self) -> u64 {
        self.lines
    }

    pub(crate) fn next(&mut self) -> Result<Option<Block<'_>>> {
        self.lines += memchr::memchr_iter(b'\n', &self.text).count() as u64;
        self.text.clear();
        let packed = match &mut self.source {
            BlockSource::Framed { walker, decompressor } => {
                let at = walker.position();
                self.packed.clear();
                match walker.next()?.map(|frame| self.packed.extend_from_slice(frame)) {
                    Some(()) => {}
                    None if walker.is_torn() => return Err(damaged(&self.path, at)),
                    None => return Ok(None),
                }
                unpack(decompressor, &self.packed, &mut self.text).ok_or_else(|| damaged(&self.path, at))?;
                true
            }
            BlockSource::Stream { reader, rest } => {
                self.text.append(rest);
                let limit = (FRAME_BYTES - self.text.len().min(FRAME_BYTES / 2)) as u64;
                reader.take(limit).read_to_end(&mut self.text).context("read", &self.path)?;
                match memchr::memrchr(b'\n', &self.text) {
                    Some(end) => *rest = self.text.split_off(end + 1),
                    None if self.text.len() >= FRAME_BYTES / 2 => {
                        let fault = "is too long; check that this is the right file".to_owned();
                        return Err(Error::Line { path: self.path.clone(), line: self.lines + 1, fault });
                    }
                    None if !self.text.is_empty() => self.text.push(b'\n'),
                    None => {}
                }
                false
            }
        };
        if self.text.is_empty() {
            return Ok(None);
        }
        let text = match std::str::from_utf8(&self.text) {
            Ok(text) => text,
            Err(error) => {
                let line =
                    self.lines + 1 + memchr::memchr_iter(b'\n', &self.text[..error.valid_up_to()]).count() as u64;
                return Err(Error::Line { path: self.path.clone(), line, fault: "is not UTF-8 text".to_owned() });
            }
        };
        Ok(Some(Block { text, packed: packed.then_some(&self.packed[..]) }))
    }
}

fn damaged(path: &Path, at: u64) -> Error {
    Error::Damaged { path: path.to_owned(), at: format!("at byte {at}") }
}

/// All frame formats with the highest readable version.
const FORMATS: [(&str, u32); 9] = [
    (crate::docs::DROPPED_FORMAT, crate::docs::VERSION),
    (crate::docs::FORMAT, crate::docs::VERSION),
    (crate::journal::FORMAT, crate::journal::VERSION),
    (crate::pages::FORMAT, crate::pages::VERSION),
    (crate::plan::FORMAT, crate::plan::VERSION),
    (crate::rules::FORMAT, crate::rules::VERSION),
    (crate::runs::FORMAT, crate::runs::VERSION),
    (crate::dedup_state::FORMAT, crate::dedup_state::VERSION),
    (crate::text::FORMAT, crate::text::VERSION),
];

/// Rejects a file with a header of a known format in a newer version. Frames of other programs are accepted.
fn refuse_newer(path: &Path, head: &[u8]) -> Result<()> {
    let length = |length: &[u8; 4]| u32::from_le_bytes(*length) as usize;
    let text = head.get(4..).and_then(|rest| {
        let (size, rest) = rest.split_first_chunk()?;
        rest.get(..length(size))
    });
    let first = text.and_then(|text| std::str::from_utf8(text).ok()?.lines().next());
    let Some((name, version)) = first.and_then(|first| first.strip_prefix("tidings ")?.split_once(' ')) else {
        return Ok(());
    };
    match FORMATS.iter().find(|format| format.0 == name) {
        Some(&(_, known)) if version.parse::<u32>().is_ok_and(|version| version > known) => {
            Err(Error::Newer { path: path.to_owned(), found: format!("{name} {version}"), known })
        }
        _ => Ok(()),
    }
}

/// Whether a file starts with a header of ours, so that its frames are independent and have checksums.
pub(crate) fn is_framed(path: &Path) -> Result<bool> {
    let mut walker = Walker::open(path)?;
    let text = walker.header()?.and_then(|frame| frame.get(8..));
    Ok(text.is_some_and(|text| text.starts_with(b"tidings ")))
}

/// Opens a file for reading and decompresses it if needed. A Tidings file of a newer version is an error.
pub fn open_any(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let file = Source::stored(path)?;
    decompressed(Box::new(BufReader::with_capacity(1 << 18, file)), path)
}

/// Decompresses a file that was opened; `path` is for messages.
pub(crate) fn decompressed(mut file: Box<dyn BufRead + Send>, path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let head = file.fill_buf().context("read", path)?;
    if is_skippable(head) {
        refuse_newer(path, head)?;
    }
    Ok(compressed::decompressed(file).context("read", path)?)
}

/// Reads the next line into `line` without its end; false at the end of the input.
pub(crate) fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<bool> {
    line.clear();
    let read = reader.take(limit as u64 + 1).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if read > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a line is longer than {limit} bytes")));
    }
    Ok(read > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEST: &str = "test";

    fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn framed(texts: &[String]) -> Vec<u8> {
        let mut bytes = header(TEST, 1, "a note");
        texts.iter().for_each(|text| bytes.extend(FrameEncoder::new(1).encode(text.as_bytes())));
        bytes
    }

    fn log(path: &Path) -> (Vec<String>, u64) {
        let mut log = Log::open(path, TEST, 1).unwrap();
        let mut texts = Vec::new();
        while let Some(text) = log.next().unwrap() {
            texts.push(text.to_owned());
        }
        (texts, log.sound_bytes())
    }

    fn blocks(path: &Path) -> Result<String> {
        let mut blocks = Blocks::open(path, TEST, 1)?;
        let mut text = String::new();
        while let Some(block) = blocks.next()? {
            assert!(block.text.ends_with('\n'), "blocks hold whole lines");
            text.push_str(block.text);
        }
        Ok(text)
    }

    #[test]
    fn lines_are_the_same_from_frames_a_stream_and_plain_text() {
        let text = "one\ntwo\nthree\n".to_owned();
        let stream = zstd::encode_all(text.as_bytes(), 3).unwrap();
        for bytes in [framed(&["one\n".into(), "two\nthree\n".into()]), stream, text.clone().into_bytes()] {
            let (_folder, path) = file(&bytes);
            assert_eq!(blocks(&path).unwrap(), text);
        }
        let (_folder, path) = file(b"one\ntwo");
        assert_eq!(blocks(&path).unwrap(), "one\ntwo\n", "a last line without its end is a line");
    }

    #[test]
    fn a_header_carries_a_note_and_its_lines_are_counted() {
        let (_folder, path) = file(&framed(&["one\ntwo\n".into(), "three\n".into()]));
        let mut blocks = Blocks::open(&path, TEST, 1).unwrap();
        assert_eq!(blocks.note(), Some("a note"));
        blocks.next().unwrap().unwrap();
        blocks.next().unwrap().unwrap();
        assert_eq!(blocks.lines_before(), 2);
    }

    #[test]
    fn newer_versions_and_other_formats_are_rejected() {
        for head in [header(TEST, 2, ""), header("other", 1, "")] {
            let (_folder, path) = file(&head);
            assert!(matches!(Blocks::open(&path, TEST, 1), Err(Error::Newer { .. })));
            assert!(matches!(Log::open(&path, TEST, 1).unwrap().next(), Err(Error::Newer { .. })));
        }
    }

    #[test]
    fn a_truncated_frame_is_an_error_in_a_plan_and_the_end_of_a_log() {
        let texts = ["one\n".to_owned(), "two\n".to_owned()];
        let whole = framed(&texts);
        let first = framed(&texts[..1]).len();
        for len in first + 1..whole.len() {
            let (_folder, path) = file(&whole[..len]);
            assert!(matches!(blocks(&path), Err(Error::Damaged { .. })), "{len}");
            assert_eq!(log(&path), (vec!["one\n".to_owned()], first as u64), "{len}");
        }
    }

    fn last_of(path: &Path) -> Option<String> {
        last(path, 0..std::fs::metadata(path).unwrap().len()).unwrap()
    }

    #[test]
    fn the_last_frame_is_found_from_the_end() {
        let (_folder, path) = file(&framed(&["one\n".into(), "two\n".into()]));
        assert_eq!(last_of(&path).as_deref(), Some("two\n"));
        let large: String = (0..40_000u32).map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761))).collect();
        let (_folder, path) = file(&framed(&["one\n".into(), large.clone()]));
        assert_eq!(last_of(&path), Some(large), "also where it is longer than the end that is read first");
        let (_folder, path) = file(&framed(&[])[..3]);
        assert_eq!(last_of(&path), None);
    }

    #[test]
    fn invalid_utf8_is_an_error_with_its_line() {
        let (_folder, path) = file(b"one\ntwo\n\xff\n");
        assert!(matches!(blocks(&path), Err(Error::Line { line: 3, .. })));
    }

    #[test]
    fn a_line_has_a_limit() {
        let mut line = Vec::new();
        assert!(read_line(&mut &b"four\n"[..], &mut line, 4).unwrap() && line == b"four");
        assert!(read_line(&mut &b"four"[..], &mut line, 4).unwrap());
        assert!(!read_line(&mut &b""[..], &mut line, 4).unwrap());
        let error = read_line(&mut &b"five!\n"[..], &mut line, 4).unwrap_err().to_string();
        assert_eq!(error, "a line is longer than 4 bytes");
    }

    #[test]
    fn a_header_of_a_newer_version_is_rejected_by_every_reader() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.zst");
        let write = |format: &str, version: u32| {
            std::fs::write(&path, [header(format, version, "note"), FrameEncoder::new(1).encode(b"text")].concat())
                .expect("written");
        };
        for (format, version) in FORMATS {
            write(format, version);
            let mut text = String::new();
            open_any(&path).expect("readable").read_to_string(&mut text).expect("text");
            assert_eq!(text, "text");
            write(format, version + 1);
            let told = open_any(&path).err().expect("refused").to_string();
            assert!(told.contains(&format!("format {format} {}, ", version + 1)), "{told}");
        }
        // Frames of other programs are accepted.
        write("other", 9);
        assert!(open_any(&path).is_ok());
    }

    proptest! {
        #[test]
        fn frames_survive_encoding_and_decoding(texts in prop::collection::vec("[a-z\n]{0,40}\n", 0..6)) {
            let (_folder, path) = file(&framed(&texts));
            prop_assert_eq!(blocks(&path).unwrap(), texts.concat());
            prop_assert_eq!(log(&path), (texts.clone(), framed(&texts).len() as u64));
        }

        #[test]
        fn a_damaged_byte_gives_an_error_or_a_prefix(texts in prop::collection::vec("[a-z]{1,30}\n", 1..5), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let mut bytes = framed(&texts);
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let (_folder, path) = file(&bytes);
            if let Ok(mut log) = Log::open(&path, TEST, 1) {
                let mut at = 0;
                while let Ok(Some(text)) = log.next() {
                    prop_assert_eq!(Some(text), texts.get(at).map(String::as_str));
                    at += 1;
                }
            }
            let _ = blocks(&path);
            let _ = last_of(&path);
        }
    }
}
