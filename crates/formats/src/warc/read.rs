//! Reader of web archives: WARC and WET files, compressed or not.
//!
//! A record is a header and a block of the length given in the header. Unneeded blocks are skipped without copying.
//! After damage, reading continues at the next record that starts a gzip member; in files compressed as one stream,
//! damage ends the file.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use tidings_storage::Source;
use tidings_storage::objects::ObjectFault;

use super::record::{Headers, MAX_HEAD_BYTES, Record};
use crate::compressed::{MAX_WINDOW_LOG, ZSTD_MAGIC, is_skippable};
use crate::error::{Context, Result};
use crate::gzip::{MAGIC, MemberReader};
use crate::zip;

/// The maximum number of damaged positions in a file.
const MOST_DAMAGES: u32 = 1000;
/// A dictionary for unpacking, at most.
const MAX_DICTIONARY_BYTES: usize = 16 << 20;
/// The frame with the dictionary of archives compressed with zstd.
const DICTIONARY_FRAME: u32 = 0x184D_2A5D;

/// The position of a reader in an archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// RecordReader before it.
    pub records: u64,
    /// The byte offset of the next record, if reading can start there.
    pub byte: Option<u64>,
}

/// A record, or the reason why there is none.
#[derive(Debug)]
pub enum RecordEvent {
    /// A selected record.
    Record(Record),
    /// A skipped record, and the reason.
    Skipped(&'static str),
    /// A damaged position; reading continues after it.
    Damage(String),
}

/// Reads records one after the other.
pub struct RecordReader {
    source: RecordInput,
    records: u64,
    damages: u32,
    ended: bool,
    /// The failure of the object store that ended the reading.
    failure: Option<io::Error>,
    head: Vec<u8>,
}

enum RecordInput {
    /// A sequence of gzip members.
    Members(Box<MemberReader<Box<dyn Read + Send>>>),
    /// Uncompressed: the reader and its position.
    Plain(Box<dyn BufRead + Send>, u64),
    /// Compressed in a way that can only be read from the start.
    Stream(Box<dyn BufRead + Send>),
}

impl RecordInput {
    fn reader(&mut self) -> &mut dyn BufRead {
        match self {
            RecordInput::Members(members) => &mut **members,
            RecordInput::Plain(reader, _) | RecordInput::Stream(reader) => reader,
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.reader().consume(bytes);
        if let RecordInput::Plain(_, at) = self {
            *at += bytes as u64;
        }
    }

    fn place(&self) -> Option<u64> {
        match self {
            RecordInput::Members(members) => members.boundary(),
            RecordInput::Plain(_, at) => Some(*at),
            RecordInput::Stream(_) => None,
        }
    }
}

impl RecordReader {
    /// Reads an archive from a position that an earlier reader reported.
    pub fn new(mut input: impl Read + Seek + Send + 'static, from: Position) -> io::Result<RecordReader> {
        let mut first = [0; 8];
        let read = read_some(&mut input, &mut first)?;
        let can_seek = first[..read].starts_with(&MAGIC) || first[..read].starts_with(b"WARC/");
        let byte = from.byte.filter(|_| can_seek).unwrap_or(0);
        input.seek(SeekFrom::Start(byte))?;
        let source = source_of(Box::new(input), &first[..read], byte)?;
        RecordReader::at(source, from, byte)
    }

    /// Opens an archive at a position that an earlier reader reported.
    pub fn open(path: &Path, from: Position) -> Result<RecordReader> {
        Ok(RecordReader::new(Source::open(path)?, from).context("read", path)?)
    }

    /// Opens an archive inside of a WACZ file.
    pub fn open_inside(path: &Path, entry: &zip::Entry, from: Position) -> Result<RecordReader> {
        let mut first = [0; 8];
        let read = read_some(&mut *zip::open(path, entry)?, &mut first).context("read", path)?;
        let source = source_of(zip::open(path, entry)?, &first[..read], 0).context("read", path)?;
        Ok(RecordReader::at(source, from, 0).context("read", path)?)
    }

    fn at(source: RecordInput, from: Position, byte: u64) -> io::Result<RecordReader> {
        let mut records =
            RecordReader { source, records: 0, damages: 0, ended: false, failure: None, head: Vec::new() };
        if from.byte == Some(byte) && (byte > 0 || from.records == 0) {
            records.records = from.records;
        }
        while records.records < from.records && records.next(|_| Err("read before")).is_some() {}
        Ok(records)
    }

    /// The position of the next record.
    pub fn place(&self) -> Position {
        Position { records: self.records, byte: self.source.place() }
    }

    /// Why the reading ended before the end of the archive, after `next` returned `None`.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// The next event; `None` at the end. `wanted` returns the maximum length of the block of a record, or the reason
    /// to skip it.
    pub fn next(
        &mut self,
        wanted: impl FnOnce(&Headers) -> std::result::Result<u64, &'static str>,
    ) -> Option<RecordEvent> {
        if self.ended {
            return None;
        }
        match self.read(wanted) {
            Ok(None) => {
                self.ended = true;
                None
            }
            Ok(met) => {
                self.records += 1;
                met
            }
            // An object store that does not answer has not damaged its archive: a later run continues here.
            Err(error) if ObjectFault::of(&error).is_some() => {
                (self.ended, self.failure) = (true, Some(error));
                None
            }
            Err(error) => {
                self.damages += 1;
                self.ended = self.damages > MOST_DAMAGES;
                self.ended |= match &mut self.source {
                    RecordInput::Members(members) => {
                        !members.find_next(|bytes| bytes.starts_with(b"WARC/")).unwrap_or(false)
                    }
                    _ => true,
                };
                Some(RecordEvent::Damage(error.to_string()))
            }
        }
    }

    fn read(
        &mut self,
        wanted: impl FnOnce(&Headers) -> std::result::Result<u64, &'static str>,
    ) -> io::Result<Option<RecordEvent>> {
        let Some(head) = self.read_head()? else { return Ok(None) };
        let length = head.get("content-length").and_then(|text| text.parse::<u64>().ok());
        let length = length.ok_or_else(|| not_a_record("a record has no Content-Length"))?;
        let limit = wanted(&head);
        match limit {
            Ok(limit) if length <= limit => {
                let mut block = Vec::with_capacity(length.min(1 << 20) as usize);
                self.each(length, |bytes| block.extend_from_slice(bytes))?;
                Ok(Some(RecordEvent::Record(Record { head, block })))
            }
            Ok(_) => {
                self.each(length, |_| {})?;
                Ok(Some(RecordEvent::Skipped("too-large")))
            }
            Err(why) => {
                self.each(length, |_| {})?;
                Ok(Some(RecordEvent::Skipped(why)))
            }
        }
    }

    /// Shows the next `length` bytes to `see`.
    fn each(&mut self, length: u64, mut see: impl FnMut(&[u8])) -> io::Result<()> {
        let mut left = length;
        while left > 0 {
            let bytes = self.source.reader().fill_buf()?;
            if bytes.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a record is truncated"));
            }
            let some = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            see(&bytes[..some]);
            self.source.consume(some);
            left -= some as u64;
        }
        // The two line ends after a block belong to it, so that the next record starts with its member.
        for _ in 0..4 {
            match self.source.reader().fill_buf()?.first() {
                Some(b'\r' | b'\n') => self.source.consume(1),
                _ => break,
            }
        }
        Ok(())
    }

    /// The header of the next record; `None` at the end.
    fn read_head(&mut self) -> io::Result<Option<Headers>> {
        loop {
            self.head.clear();
            if !self.line()? {
                return Ok(None);
            }
            if self.head.starts_with(b"WARC/") {
                break;
            }
            if !self.head.iter().all(u8::is_ascii_whitespace) {
                return Err(not_a_record("no record starts here"));
            }
        }
        loop {
            let before = self.head.len();
            if !self.line()? || self.head[before..].iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let lines = memchr::memchr(b'\n', &self.head).map_or(&[][..], |end| &self.head[end + 1..]);
        Ok(Some(Headers::parse(lines)))
    }

    /// Adds the next line to the head; false at the end.
    fn line(&mut self) -> io::Result<bool> {
        loop {
            let bytes = self.source.reader().fill_buf()?;
            if bytes.is_empty() {
                return Ok(!self.head.is_empty() && self.head.last() != Some(&b'\n'));
            }
            let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
            let some = end.unwrap_or(bytes.len());
            if self.head.len() + some > MAX_HEAD_BYTES {
                return Err(not_a_record("the header of a record is too long"));
            }
            self.head.extend_from_slice(&bytes[..some]);
            self.source.consume(some);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

fn read_some(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn source_of(input: Box<dyn Read + Send>, first: &[u8], byte: u64) -> io::Result<RecordInput> {
    if first.starts_with(&MAGIC) {
        return Ok(RecordInput::Members(Box::new(MemberReader::new(input, byte))));
    }
    let mut reader = BufReader::with_capacity(1 << 18, input);
    if first.starts_with(&ZSTD_MAGIC) || is_skippable(first) {
        let dictionary = dictionary(&mut reader, first)?;
        let mut decoder = zstd::stream::read::Decoder::with_dictionary(reader, &dictionary)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        return Ok(RecordInput::Stream(Box::new(BufReader::with_capacity(1 << 18, decoder))));
    }
    Ok(RecordInput::Plain(Box::new(reader), byte))
}

/// The dictionary at the start of an archive; empty if there is none.
fn dictionary(reader: &mut impl Read, first: &[u8]) -> io::Result<Vec<u8>> {
    let number = |at: usize| first.get(at..at + 4).map(|four| u32::from_le_bytes(four.try_into().expect("four bytes")));
    let (Some(DICTIONARY_FRAME), Some(length)) = (number(0), number(4)) else { return Ok(Vec::new()) };
    let length = length as usize;
    if length > MAX_DICTIONARY_BYTES {
        return Err(not_a_record("its dictionary is too large"));
    }
    let mut frame = vec![0; 8 + length];
    reader.read_exact(&mut frame)?;
    frame.drain(..8);
    if !frame.starts_with(&ZSTD_MAGIC) {
        return Ok(frame);
    }
    let mut dictionary = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(&frame[..])?;
    decoder.take(MAX_DICTIONARY_BYTES as u64).read_to_end(&mut dictionary)?;
    Ok(dictionary)
}

fn not_a_record(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::testing::record;
    use std::io::Write as _;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn read_all(path: &Path, from: Position) -> Vec<String> {
        let mut records = RecordReader::open(path, from).unwrap();
        let mut seen = Vec::new();
        while let Some(met) = records.next(|_| Ok(1000)) {
            seen.push(match met {
                RecordEvent::Record(record) => String::from_utf8(record.block).unwrap(),
                RecordEvent::Skipped(why) => format!("({why})"),
                RecordEvent::Damage(_) => "(damage)".to_owned(),
            });
        }
        seen
    }

    #[test]
    fn with_any_compression_the_records_are_the_same_and_reading_can_be_resumed() {
        let long = "x".repeat(2000);
        let texts = ["one", "two\r\n\r\n", &long, "", "five"];
        let records: Vec<String> = texts.iter().map(|text| record("resource", "https://a.example/", text)).collect();
        let folder = tempfile::tempdir().unwrap();
        let frames: Vec<u8> = records.iter().flat_map(|text| zstd::encode_all(text.as_bytes(), 3).unwrap()).collect();
        let files = [
            ("plain.warc", records.concat().into_bytes()),
            ("members.warc.gz", records.iter().flat_map(|text| gzip(text)).collect()),
            ("one.warc.gz", gzip(&records.concat())),
            ("frames.warc.zst", frames),
        ];
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let expected = ["one", "two\r\n\r\n", "(too-large)", "", "five"];
            assert_eq!(read_all(&path, Position::default()), expected, "{name}");
            for stop in 0..expected.len() {
                let mut reader = RecordReader::open(&path, Position::default()).unwrap();
                (0..stop).for_each(|_| drop(reader.next(|_| Ok(1000))));
                assert_eq!(read_all(&path, reader.place()), expected[stop..], "{name} from {:?}", reader.place());
            }
        }
    }

    #[test]
    fn a_dictionary_at_the_start_is_used() {
        let records: Vec<String> =
            (0..20).map(|n| record("resource", "https://a.example/", &format!("text {n}"))).collect();
        let dictionary = record("resource", "https://a.example/", "text").into_bytes();
        let mut file = DICTIONARY_FRAME.to_le_bytes().to_vec();
        let packed = zstd::encode_all(&dictionary[..], 3).unwrap();
        file.extend((packed.len() as u32).to_le_bytes());
        file.extend(packed);
        let mut compressor = zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap();
        records.iter().for_each(|text| file.extend(compressor.compress(text.as_bytes()).unwrap()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc.zst");
        std::fs::write(&path, file).unwrap();
        assert_eq!(read_all(&path, Position::default()).len(), 20);
    }

    #[test]
    fn reading_continues_after_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc.gz");
        let noise: String =
            (0..4000).map(|n: u32| char::from(b'a' + (n.wrapping_mul(2654435761) >> 27) as u8 % 26)).collect();
        let mut second = gzip(&record("resource", "https://a.example/", &noise));
        let middle = second.len() / 2;
        second[middle..middle + 8].fill(0xff);
        let first = gzip(&record("resource", "https://a.example/", "one"));
        let third = gzip(&record("resource", "https://a.example/", "three"));
        std::fs::write(&path, [first, second, third].concat()).unwrap();
        assert_eq!(read_all(&path, Position::default()), ["one", "(damage)", "three"]);
        std::fs::write(&path, b"").unwrap();
        assert_eq!(read_all(&path, Position::default()), Vec::<String>::new());
        std::fs::write(&path, format!("{}garbage\r\n", record("resource", "https://a.example/", "one"))).unwrap();
        assert_eq!(read_all(&path, Position::default()), ["one", "(damage)"]);
        std::fs::write(&path, format!("WARC/1.0\r\nx: {}\r\n", "y".repeat(MAX_HEAD_BYTES))).unwrap();
        assert_eq!(read_all(&path, Position::default()), ["(damage)"]);
    }
}
