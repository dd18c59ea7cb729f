//! Files of waiting URLs, sorted by domain, section and rank.
//!
//! The text is front-coded: a line gives the length of the prefix that its URL shares with the line before. A line that
//! begins with `=` names the domain and section of the lines that follow. Every frame is a zstd frame of about 64 KiB of
//! text and begins with such a line, so that it can be read alone; an index of the first keys stands behind the frames in
//! a skippable frame, and the last 16 bytes say where. `zstdcat` shows the whole text.

use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use tidings_storage::AtomicFile;

use crate::error::{Error, Result};
use crate::url_line::UrlLine;

/// Text of a frame in bytes.
const FRAME_BYTES: usize = 64 << 10;
const LEVEL: i32 = 6;
/// The magic number of a skippable frame.
const SKIPPABLE: u32 = 0x184D_2A5D;
/// The length of the last frame, which gives the position of the index.
const FOOTER: u64 = 16;

/// Domain and section, in the order of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) domain: Box<str>,
    pub(crate) section: Box<str>,
}

impl Key {
    pub(crate) fn new(domain: &str, section: &str) -> Key {
        Key { domain: domain.into(), section: section.into() }
    }

    /// The number by which the state of the section is found.
    pub(crate) fn id(&self) -> u64 {
        section_id(&self.domain, &self.section)
    }
}

/// The number of a section among all sections.
pub(crate) fn section_id(domain: &str, section: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(section.as_bytes(), xxhash_rust::xxh3::xxh3_64(domain.as_bytes()))
}

/// Writes a run. Sections come in the order of their keys, URLs of a section in the order of their ranks.
pub(crate) struct UrlWriter {
    file: AtomicFile,
    text: String,
    last_url: String,
    index: String,
    offset: u64,
    len: u64,
    encoder: zstd::bulk::Compressor<'static>,
    path: PathBuf,
}

impl UrlWriter {
    pub(crate) fn create(path: &Path) -> Result<UrlWriter> {
        let mut encoder = zstd::bulk::Compressor::new(LEVEL).map_err(Error::read(path))?;
        encoder.include_checksum(true).map_err(Error::read(path))?;
        Ok(UrlWriter {
            file: AtomicFile::create(path)?,
            text: String::with_capacity(FRAME_BYTES + 4096),
            last_url: String::new(),
            index: String::new(),
            offset: 0,
            len: 0,
            encoder,
            path: path.to_owned(),
        })
    }

    /// Adds the URLs of a section.
    pub(crate) fn section(&mut self, key: &Key, urls: impl IntoIterator<Item = UrlLine>) -> Result<()> {
        let mut needs_key = true;
        for url in urls {
            if self.text.len() >= FRAME_BYTES {
                self.flush()?;
                needs_key = true;
            }
            if std::mem::take(&mut needs_key) {
                if self.text.is_empty() {
                    let _ = writeln!(self.index, "{}\t{}\t{}", self.offset, key.domain, key.section);
                }
                let _ = writeln!(self.text, "={}\t{}", key.domain, key.section);
            }
            self.push(&url);
        }
        Ok(())
    }

    fn push(&mut self, line: &UrlLine) {
        let shared = shared_prefix(&self.last_url, &line.url);
        let _ = write!(self.text, "{shared}\t{}\t", &line.url[shared..]);
        line.write_fields(&mut self.text);
        self.text.push('\n');
        self.last_url.clear();
        self.last_url.push_str(&line.url);
        self.len += 1;
    }

    fn flush(&mut self) -> Result<()> {
        if !self.text.is_empty() {
            let frame = self.encoder.compress(self.text.as_bytes()).map_err(Error::read(&self.path))?;
            self.file.write(&frame)?;
            self.offset += frame.len() as u64;
            self.text.clear();
            self.last_url.clear();
        }
        Ok(())
    }

    /// Publishes the run, which is durable after the checkpoint; returns how many URLs it has.
    pub(crate) fn publish(mut self) -> Result<u64> {
        self.flush()?;
        let index = self.encoder.compress(self.index.as_bytes()).map_err(Error::read(&self.path))?;
        self.file.write(&SKIPPABLE.to_le_bytes())?;
        self.file.write(&(index.len() as u32).to_le_bytes())?;
        self.file.write(&index)?;
        self.file.write(&SKIPPABLE.to_le_bytes())?;
        self.file.write(&8u32.to_le_bytes())?;
        self.file.write(&self.offset.to_le_bytes())?;
        self.file.publish_unsynced()?;
        Ok(self.len)
    }
}

/// The length of the common prefix, at a character boundary.
fn shared_prefix(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|at| other.is_char_boundary(*at)).unwrap_or(0)
}

/// An open run with its index.
#[derive(Debug)]
pub(crate) struct UrlRun {
    path: PathBuf,
    file: File,
    /// The first key of each frame and its position; the end of the frames last.
    frames: Vec<(Key, u64)>,
    end: u64,
}

impl UrlRun {
    pub(crate) fn open(path: &Path) -> Result<UrlRun> {
        let file = File::open(path).map_err(Error::read(path))?;
        let bytes = file.metadata().map_err(Error::read(path))?.len();
        let damaged = |fault| Error::damaged(path, fault);
        let at = |from: u64, len: u64| {
            let mut part = vec![0; len as usize];
            file.read_exact_at(&mut part, from).map(|()| part).map_err(Error::read(path))
        };
        let footer_at = bytes.checked_sub(FOOTER).ok_or_else(|| damaged("it is too short"))?;
        let footer = at(footer_at, FOOTER)?;
        let end = u64::from_le_bytes(footer[8..].try_into().expect("eight bytes"));
        let index_at = end.checked_add(8).filter(|at| *at <= footer_at && footer[..4] == SKIPPABLE.to_le_bytes());
        let index_at = index_at.ok_or_else(|| damaged("it has no index"))?;
        let packed = at(index_at, footer_at - index_at)?;
        let text = zstd::decode_all(&packed[..]).map_err(Error::read(path))?;
        let text = String::from_utf8(text).map_err(|_| damaged("its index is not text"))?;
        let mut frames = Vec::new();
        for line in text.lines() {
            let mut fields = line.splitn(3, '\t');
            let (Some(offset), Some(domain), Some(section)) = (fields.next(), fields.next(), fields.next()) else {
                return Err(damaged("a line of its index is too short"));
            };
            let offset = offset.parse().map_err(|_| damaged("a position in its index is no number"))?;
            // A position outside the file would make a frame of any length, and reading it would ask for that much memory.
            if offset > end || frames.last().is_some_and(|(_, before)| offset < *before) {
                return Err(damaged("positions of its index do not ascend"));
            }
            frames.push((Key::new(domain, section), offset));
        }
        Ok(UrlRun { path: path.to_owned(), file, frames, end })
    }

    fn frame(&self, at: usize) -> Result<String> {
        let start = self.frames[at].1;
        let end = self.frames.get(at + 1).map_or(self.end, |(_, next)| *next);
        let mut packed = vec![0; (end - start) as usize];
        self.file.read_exact_at(&mut packed, start).map_err(Error::read(&self.path))?;
        let text = zstd::decode_all(&packed[..]).map_err(Error::read(&self.path))?;
        String::from_utf8(text).map_err(|_| Error::damaged(&self.path, "a frame is not text"))
    }

    /// Up to `count` URLs of a section after the first `skip`.
    pub(crate) fn read_section(&self, key: &Key, skip: usize, count: usize) -> Result<Vec<UrlLine>> {
        let first = self.frames.partition_point(|(frame, _)| frame < key).saturating_sub(1);
        let (mut skip, mut found) = (skip, Vec::new());
        for at in first..self.frames.len() {
            if &self.frames[at].0 > key {
                break;
            }
            let is_past = self.for_each(at, |line_key, line| {
                if line_key < key {
                    return true;
                }
                if line_key > key || found.len() == count {
                    return false;
                }
                match skip {
                    0 => found.push(line),
                    _ => skip -= 1,
                }
                true
            })?;
            if is_past {
                break;
            }
        }
        Ok(found)
    }

    /// Calls `see` with the lines of a frame until it returns false; returns whether it did.
    fn for_each(&self, at: usize, mut see: impl FnMut(&Key, UrlLine) -> bool) -> Result<bool> {
        let text = self.frame(at)?;
        let damaged = || Error::damaged(&self.path, "a line is not a waiting URL");
        let mut key = None;
        let mut last = String::new();
        for line in text.lines() {
            if let Some(names) = line.strip_prefix('=') {
                let (domain, section) = names.split_once('\t').ok_or_else(damaged)?;
                key = Some(Key::new(domain, section));
                continue;
            }
            let (shared, rest) = line.split_once('\t').ok_or_else(damaged)?;
            let (suffix, fields) = rest.split_once('\t').ok_or_else(damaged)?;
            let shared: usize = shared.parse().map_err(|_| damaged())?;
            if !last.is_char_boundary(shared) || shared > last.len() {
                return Err(damaged());
            }
            last.truncate(shared);
            last.push_str(suffix);
            let url = UrlLine::parse(last.as_str().into(), fields).ok_or_else(damaged)?;
            if !see(key.as_ref().ok_or_else(damaged)?, url) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A reader of the whole run, section by section.
    pub(crate) fn sections(&self) -> SectionReader<'_> {
        SectionReader { run: self, frame: 0, ready: std::collections::VecDeque::new() }
    }
}

/// Reads the sections of a run in their order.
pub(crate) struct SectionReader<'a> {
    run: &'a UrlRun,
    frame: usize,
    ready: std::collections::VecDeque<(Key, Vec<UrlLine>)>,
}

impl SectionReader<'_> {
    /// The next section with all its URLs.
    pub(crate) fn next(&mut self) -> Result<Option<(Key, Vec<UrlLine>)>> {
        // The last section of a frame may go on in the next one.
        while self.ready.len() < 2 && self.frame < self.run.frames.len() {
            let ready = &mut self.ready;
            self.run.for_each(self.frame, |key, line| {
                match ready.back_mut() {
                    Some((last, lines)) if last == key => lines.push(line),
                    _ => ready.push_back((key.clone(), vec![line])),
                }
                true
            })?;
            self.frame += 1;
        }
        Ok(self.ready.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::waiting;

    fn line(url: &str) -> UrlLine {
        UrlLine::of(&waiting(url))
    }

    /// A run over a few domains with sections that span frames.
    fn written(path: &Path) -> Vec<(Key, Vec<UrlLine>)> {
        let mut sections = Vec::new();
        for domain in ["a.example", "b.example", "ü.example"] {
            for (section, count) in [("/news/*", 5000), ("/shop/*", 3), ("/ö", 1)] {
                let urls = (0..count).map(|n| line(&format!("http://{domain}{section}/é{n:06}")));
                sections.push((Key::new(domain, section), urls.collect::<Vec<_>>()));
            }
        }
        let mut writer = UrlWriter::create(path).unwrap();
        for (key, urls) in &sections {
            writer.section(key, urls.clone()).unwrap();
        }
        assert_eq!(writer.publish().unwrap(), 3 * 5004);
        sections
    }

    #[test]
    fn sections_are_read_alone_in_parts_and_all_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.urls.zst");
        let sections = written(&path);
        let run = UrlRun::open(&path).unwrap();
        assert!(run.frames.len() > 1, "{} frames", run.frames.len());
        for (key, urls) in &sections {
            assert_eq!(&run.read_section(key, 0, usize::MAX).unwrap(), urls);
            let part = run.read_section(key, 2, 16).unwrap();
            assert_eq!(part, urls.iter().skip(2).take(16).cloned().collect::<Vec<_>>());
        }
        assert!(run.read_section(&Key::new("b.example", "/none"), 0, 9).unwrap().is_empty());
        assert!(run.read_section(&Key::new("0", "/"), 0, 9).unwrap().is_empty());
        let mut reader = run.sections();
        let mut all = Vec::new();
        while let Some(section) = reader.next().unwrap() {
            all.push(section);
        }
        assert_eq!(all, sections);
        let bytes = std::fs::metadata(&path).unwrap().len();
        assert!(bytes < 25 * 3 * 5004, "{bytes} bytes");
    }

    #[test]
    fn the_text_of_a_run_can_be_decompressed_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.urls.zst");
        written(&path);
        let text = String::from_utf8(zstd::decode_all(File::open(&path).unwrap()).unwrap()).unwrap();
        assert!(
            text.starts_with("=a.example\t/news/*\n0\thttp://a.example/news/*/é000000\tl0\t0\n"),
            "{}",
            &text[..80]
        );
    }

    #[test]
    fn damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.urls.zst");
        let key = &written(&path)[0].0;
        let whole = std::fs::read(&path).unwrap();
        for at in [9, 40, whole.len() - 3, whole.len() - 30] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            std::fs::write(&path, bytes).unwrap();
            let read = UrlRun::open(&path).and_then(|run| run.read_section(key, 0, 9));
            assert!(read.is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_position_outside_the_file_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.urls.zst");
        written(&path);
        let whole = std::fs::read(&path).unwrap();
        let (before, footer) = whole.split_at(whole.len() - 8);
        let end = u64::from_le_bytes(footer.try_into().unwrap());
        for at in [u64::MAX, u64::MAX - 7, u64::MAX / 2, whole.len() as u64 - 16, end + 1] {
            std::fs::write(&path, [before, &at.to_le_bytes()].concat()).unwrap();
            assert!(UrlRun::open(&path).is_err(), "an index at {at}");
        }
        for index in ["0\ta\t/\n99999999999999\tb\t/\n", "9\ta\t/\n0\tb\t/\n"] {
            let index = zstd::encode_all(index.as_bytes(), 1).unwrap();
            let skippable =
                |bytes: &[u8]| [&SKIPPABLE.to_le_bytes(), &(bytes.len() as u32).to_le_bytes(), bytes].concat();
            let parts = [whole[..end as usize].to_vec(), skippable(&index), skippable(&end.to_le_bytes())];
            std::fs::write(&path, parts.concat()).unwrap();
            assert!(UrlRun::open(&path).is_err());
        }
    }
}
