//! Records of web archives: WARC and WET files as crawlers publish them, packed or not.
//!
//! A record is a head of named lines and a block as long as the head says. Blocks that nobody wants are passed over
//! without being copied. A place that cannot be read costs what lies between it and the next record that begins a gzip
//! member; in files that are packed as one piece it ends the file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;
use sha1::{Digest as _, Sha1};

use super::members::{MAGIC, Members};
use super::zip;
use crate::error::{During, Result};
use crate::frames::{self, ZSTD_MAGIC};
use crate::warc::base32;

/// The head of a record, and of an HTTP answer, at most.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Named lines that a head may have.
const MAX_LINES: usize = 1000;
/// Places that cannot be read; a file with more of them is not read any further.
const MOST_DAMAGES: u32 = 1000;
/// A dictionary for unpacking, at most.
const MAX_DICTIONARY_BYTES: usize = 16 << 20;
/// The frame in which archives packed with zstd carry their dictionary.
const DICTIONARY_FRAME: u32 = 0x184D_2A5D;

/// Where a reader is in an archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Records before it.
    pub records: u64,
    /// The byte of the file at which the next record begins, where one can begin to read there.
    pub byte: Option<u64>,
}

/// Named lines, as WARC and HTTP write them; names in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head(Vec<(String, String)>);

/// A record that was wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Its named lines.
    pub head: Head,
    /// Its bytes.
    pub block: Vec<u8>,
}

/// What the reader met.
#[derive(Debug)]
pub enum Met {
    /// A record that was wanted.
    Record(Record),
    /// A record that was not, and why.
    Skipped(&'static str),
    /// A place that could not be read; what follows it goes on.
    Damage(String),
}

/// Reads records one after the other.
pub struct Records {
    source: Source,
    records: u64,
    damages: u32,
    ended: bool,
    head: Vec<u8>,
}

enum Source {
    /// One gzip member after the other.
    Members(Box<Members<Box<dyn Read + Send>>>),
    /// Not packed: the reader, and where it is.
    Plain(Box<dyn BufRead + Send>, u64),
    /// Packed in a way that can only be read from its beginning.
    Stream(Box<dyn BufRead + Send>),
}

impl Source {
    fn reader(&mut self) -> &mut dyn BufRead {
        match self {
            Source::Members(members) => &mut **members,
            Source::Plain(reader, _) | Source::Stream(reader) => reader,
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.reader().consume(bytes);
        if let Source::Plain(_, at) = self {
            *at += bytes as u64;
        }
    }

    fn place(&self) -> Option<u64> {
        match self {
            Source::Members(members) => members.boundary(),
            Source::Plain(_, at) => Some(*at),
            Source::Stream(_) => None,
        }
    }
}

impl Records {
    /// Opens an archive at a place that a reader of it was at.
    pub fn open(path: &Path, from: Place) -> Result<Records> {
        let mut file = File::open(path).during("open", path)?;
        let mut first = [0; 8];
        let read = read_some(&mut file, &mut first).during("read", path)?;
        let can_seek = first[..read].starts_with(&MAGIC) || first[..read].starts_with(b"WARC/");
        let byte = from.byte.filter(|_| can_seek).unwrap_or(0);
        file.seek(SeekFrom::Start(byte)).during("read", path)?;
        let source = source_of(Box::new(file), &first[..read], byte).during("read", path)?;
        Records::at(source, from, byte).during("read", path)
    }

    /// Opens an archive inside of a WACZ file.
    pub fn open_inside(path: &Path, entry: &zip::Entry, from: Place) -> Result<Records> {
        let mut first = [0; 8];
        let read = read_some(&mut *zip::open(path, entry)?, &mut first).during("read", path)?;
        let source = source_of(zip::open(path, entry)?, &first[..read], 0).during("read", path)?;
        Records::at(source, from, 0).during("read", path)
    }

    fn at(source: Source, from: Place, byte: u64) -> io::Result<Records> {
        let mut records = Records { source, records: 0, damages: 0, ended: false, head: Vec::new() };
        if from.byte == Some(byte) && (byte > 0 || from.records == 0) {
            records.records = from.records;
        }
        while records.records < from.records && records.next(|_| Err("read before")).is_some() {}
        Ok(records)
    }

    /// Where the next record begins.
    pub fn place(&self) -> Place {
        Place { records: self.records, byte: self.source.place() }
    }

    /// The next record, or what there was instead; nothing at the end. `wanted` says of each head how long its block
    /// may be, or why the record is not wanted.
    pub fn next(&mut self, wanted: impl FnOnce(&Head) -> std::result::Result<u64, &'static str>) -> Option<Met> {
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
            Err(error) => {
                self.damages += 1;
                self.ended = self.damages > MOST_DAMAGES;
                self.ended |= match &mut self.source {
                    Source::Members(members) => {
                        !members.find_next(|bytes| bytes.starts_with(b"WARC/")).unwrap_or(false)
                    }
                    _ => true,
                };
                Some(Met::Damage(error.to_string()))
            }
        }
    }

    fn read(
        &mut self,
        wanted: impl FnOnce(&Head) -> std::result::Result<u64, &'static str>,
    ) -> io::Result<Option<Met>> {
        let Some(head) = self.read_head()? else { return Ok(None) };
        let length = head.get("content-length").and_then(|text| text.parse::<u64>().ok());
        let length = length.ok_or_else(|| not_a_record("a record does not say how long it is"))?;
        let limit = wanted(&head);
        match limit {
            Ok(limit) if length <= limit => {
                let mut block = Vec::with_capacity(length.min(1 << 20) as usize);
                self.each(length, |bytes| block.extend_from_slice(bytes))?;
                Ok(Some(Met::Record(Record { head, block })))
            }
            Ok(_) => {
                self.each(length, |_| {})?;
                Ok(Some(Met::Skipped("too-large")))
            }
            Err(why) => {
                self.each(length, |_| {})?;
                Ok(Some(Met::Skipped(why)))
            }
        }
    }

    /// Shows the next `length` bytes to `see`.
    fn each(&mut self, length: u64, mut see: impl FnMut(&[u8])) -> io::Result<()> {
        let mut left = length;
        while left > 0 {
            let bytes = self.source.reader().fill_buf()?;
            if bytes.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a record is cut off"));
            }
            let some = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            see(&bytes[..some]);
            self.source.consume(some);
            left -= some as u64;
        }
        // The two line ends behind a block belong to it, so that the next record begins where its member does.
        for _ in 0..4 {
            match self.source.reader().fill_buf()?.first() {
                Some(b'\r' | b'\n') => self.source.consume(1),
                _ => break,
            }
        }
        Ok(())
    }

    /// The head of the next record; nothing at the end.
    fn read_head(&mut self) -> io::Result<Option<Head>> {
        loop {
            self.head.clear();
            if !self.line()? {
                return Ok(None);
            }
            if self.head.starts_with(b"WARC/") {
                break;
            }
            if !self.head.iter().all(u8::is_ascii_whitespace) {
                return Err(not_a_record("no record begins here"));
            }
        }
        loop {
            let before = self.head.len();
            if !self.line()? || self.head[before..].iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let lines = memchr::memchr(b'\n', &self.head).map_or(&[][..], |end| &self.head[end + 1..]);
        Ok(Some(Head::parse(lines)))
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
                return Err(not_a_record("the head of a record is too long"));
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

fn source_of(input: Box<dyn Read + Send>, first: &[u8], byte: u64) -> io::Result<Source> {
    if first.starts_with(&MAGIC) {
        return Ok(Source::Members(Box::new(Members::new(input, byte))));
    }
    let mut reader = BufReader::with_capacity(1 << 18, input);
    if first.starts_with(&ZSTD_MAGIC) || frames::is_skippable(first) {
        let dictionary = dictionary(&mut reader, first)?;
        let mut decoder = zstd::stream::read::Decoder::with_dictionary(reader, &dictionary)?;
        decoder.window_log_max(27)?;
        return Ok(Source::Stream(Box::new(BufReader::with_capacity(1 << 18, decoder))));
    }
    Ok(Source::Plain(Box::new(reader), byte))
}

/// The dictionary with which an archive begins; empty if it has none.
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

impl Head {
    /// Reads named lines; a line that begins with white space goes on with the one before.
    pub fn parse(text: &[u8]) -> Head {
        let mut lines: Vec<(String, String)> = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            let value = line.trim();
            if value.is_empty() {
                continue;
            }
            match (line.starts_with([' ', '\t']), lines.last_mut()) {
                (true, Some(last)) => {
                    last.1.push(' ');
                    last.1.push_str(value);
                }
                _ => {
                    if let (Some((name, value)), true) = (value.split_once(':'), lines.len() < MAX_LINES) {
                        lines.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
                    }
                }
            }
        }
        Head(lines)
    }

    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|line| line.0 == name).map(|line| line.1.as_str())
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The type of a record.
    pub fn kind(&self) -> &str {
        self.get("warc-type").unwrap_or_default()
    }

    /// The address that a record is about.
    pub fn target(&self) -> Option<&str> {
        self.get("warc-target-uri").map(|uri| uri.trim_matches(['<', '>'])).filter(|uri| !uri.is_empty())
    }

    /// When it was taken.
    pub fn date(&self) -> Option<Timestamp> {
        self.get("warc-date").and_then(|date| date.parse().ok())
    }
}

/// An HTTP answer as a record holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// Its headers.
    pub headers: Head,
    /// The body, transfer encoding undone and content encodings not.
    pub body: Vec<u8>,
}

impl Record {
    /// The HTTP answer in the block; nothing if there is none.
    pub fn answer(&self) -> Option<Answered> {
        let first_end = memchr::memchr(b'\n', &self.block)?;
        let first = std::str::from_utf8(&self.block[..first_end]).ok()?.trim();
        let mut words = first.split(' ').filter(|word| !word.is_empty());
        let status = words.next().filter(|word| word.starts_with("HTTP/")).and(words.next())?.parse().ok()?;
        let (head, body) = parted(&self.block[first_end + 1..]);
        let headers = Head::parse(head);
        let chunked =
            headers.get("transfer-encoding").is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
        let body = if chunked { unchunked(body) } else { body.to_vec() };
        Some(Answered { status, headers, body })
    }

    /// Whether the bytes are those that the head gives a digest of; nothing if it gives none that we know.
    ///
    /// Archives disagree on what the payload of an answer is: with chunks as they came, or without. Either will do.
    pub fn is_sound(&self) -> Option<bool> {
        // What was cut by its crawler has the digest of the whole.
        if self.head.get("warc-truncated").is_some() {
            return None;
        }
        if let Some(told) = self.head.get("warc-block-digest").and_then(sha1_of) {
            return Some(told.eq_ignore_ascii_case(&digest(&self.block)));
        }
        let told = self.head.get("warc-payload-digest").and_then(sha1_of)?;
        let is_answer = self.head.kind() == "response";
        let payload = if is_answer { payload(&self.block) } else { &self.block };
        let is_told = |bytes: &[u8]| told.eq_ignore_ascii_case(&digest(bytes));
        Some(is_told(payload) || is_answer && self.answer().is_some_and(|answer| is_told(&answer.body)))
    }
}

fn sha1_of(told: &str) -> Option<&str> {
    let (name, digest) = told.split_once(':')?;
    (name.eq_ignore_ascii_case("sha1") && digest.len() == 32).then_some(digest)
}

fn digest(bytes: &[u8]) -> String {
    base32(&Sha1::digest(bytes))
}

/// What follows the head of an HTTP answer.
fn payload(block: &[u8]) -> &[u8] {
    parted(block).1
}

/// Head and body: an empty line parts them.
fn parted(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while let Some(end) = memchr::memchr(b'\n', &bytes[at..]) {
        let line = &bytes[at..at + end];
        at += end + 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return (&bytes[..at], &bytes[at..]);
        }
        if at > MAX_HEAD_BYTES {
            break;
        }
    }
    (bytes, &[])
}

/// Takes the chunks of HTTP/1.1 apart; a body that only claims to have some is left as it is.
fn unchunked(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(end) = rest.windows(2).take(20).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|line| usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16).ok());
        match size {
            None if out.is_empty() => return body.to_vec(),
            None | Some(0) => break,
            Some(size) => {
                let chunk = &rest[end + 2..];
                out.extend_from_slice(&chunk[..size.min(chunk.len())]);
                rest = chunk.get(size.saturating_add(2)..).unwrap_or_default();
            }
        }
    }
    if out.is_empty() && !rest.starts_with(b"0") { body.to_vec() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn record(kind: &str, url: &str, block: &str) -> String {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn read_all(path: &Path, from: Place) -> Vec<String> {
        let mut records = Records::open(path, from).unwrap();
        let mut seen = Vec::new();
        while let Some(met) = records.next(|_| Ok(1000)) {
            seen.push(match met {
                Met::Record(record) => String::from_utf8(record.block).unwrap(),
                Met::Skipped(why) => format!("({why})"),
                Met::Damage(_) => "(damage)".to_owned(),
            });
        }
        seen
    }

    #[test]
    fn however_an_archive_is_packed_its_records_are_the_same_and_can_be_gone_on_with() {
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
            assert_eq!(read_all(&path, Place::default()), expected, "{name}");
            for stop in 0..expected.len() {
                let mut reader = Records::open(&path, Place::default()).unwrap();
                (0..stop).for_each(|_| drop(reader.next(|_| Ok(1000))));
                assert_eq!(read_all(&path, reader.place()), expected[stop..], "{name} from {:?}", reader.place());
            }
        }
    }

    #[test]
    fn a_dictionary_at_the_beginning_is_used() {
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
        assert_eq!(read_all(&path, Place::default()).len(), 20);
    }

    #[test]
    fn damage_costs_what_lies_around_it() {
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
        assert_eq!(read_all(&path, Place::default()), ["one", "(damage)", "three"]);
        std::fs::write(&path, b"").unwrap();
        assert_eq!(read_all(&path, Place::default()), Vec::<String>::new());
        std::fs::write(&path, format!("{}garbage\r\n", record("resource", "https://a.example/", "one"))).unwrap();
        assert_eq!(read_all(&path, Place::default()), ["one", "(damage)"]);
        std::fs::write(&path, format!("WARC/1.0\r\nx: {}\r\n", "y".repeat(MAX_HEAD_BYTES))).unwrap();
        assert_eq!(read_all(&path, Place::default()), ["(damage)"]);
    }

    #[test]
    fn digests_are_checked_with_and_without_chunks() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n2\r\nab\r\n0\r\n\r\n";
        let of = |payload: &str, block: &str| {
            let head = format!("WARC-Type: response\r\nWARC-Payload-Digest: sha1:{}\r\n", digest(payload.as_bytes()));
            Record { head: Head::parse(head.as_bytes()), block: block.as_bytes().to_vec() }.is_sound()
        };
        assert_eq!(of("<p>ab", chunked), Some(true));
        assert_eq!(of("3\r\n<p>\r\n2\r\nab\r\n0\r\n\r\n", chunked), Some(true));
        assert_eq!(of("<p>ac", chunked), Some(false));
        assert_eq!(Record::default().is_sound(), None);
        let record = Record { head: Head::default(), block: chunked.as_bytes().to_vec() };
        let answer = record.answer().unwrap();
        assert_eq!((answer.status, &answer.body[..]), (200, &b"<p>ab"[..]));
    }

    proptest::proptest! {
        #[test]
        fn no_answer_is_too_strange(text in "(HTTP/1.1 200|transfer-encoding: chunked|[0-9a-f]{1,17}|\r\n|[a-z: ]{0,4}){0,12}") {
            let _ = Record { head: Head::parse(text.as_bytes()), block: text.into_bytes() }.answer();
        }
    }
}
