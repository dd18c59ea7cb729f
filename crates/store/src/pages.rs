//! Raw pages: written once and never changed.
//!
//! A run appends to a file with the extension `.part`, which readers ignore. A file is published by rename when it is
//! large, when the day ends or when the run ends, and never changes again.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tidings_model::Page;
use tidings_storage::{Appender, file};

use crate::error::{Context, Error, Result};
use crate::frames;
use crate::home::Home;
use crate::journal::Record;
use crate::sound_frames::SoundFrames;
use tidings_formats::warc;

pub(crate) const FORMAT: &str = "pages";
pub(crate) const VERSION: u32 = 1;
pub(crate) const PART: &str = "part";
/// The folder of pages in a home.
const FOLDER: &str = "pages";

/// The maximum size of a published file, up to a frame: small enough to copy and process alone, large enough that a
/// year is not a million files.
const FILE_BYTES: u64 = 256 << 20;

/// Writes the pages of one run.
pub struct PageWriter {
    home: Home,
    run: String,
    numbered: u32,
    open: Option<OpenFile>,
    archivist: Option<Archivist>,
}

/// The software named in the first record of WARC files.
#[derive(Debug, Clone)]
pub struct Archivist {
    /// The program and its version.
    pub software: String,
    /// The contact for questions about the archive.
    pub operator: String,
}

struct OpenFile {
    day: String,
    pages: Appender,
    warc: Option<Appender>,
}

impl PageWriter {
    /// Opens the writer. With an archivist, each file of pages has a WARC file.
    pub fn open(home: &Home, run: &str, archivist: Option<Archivist>) -> PageWriter {
        PageWriter { home: home.clone(), run: run.to_owned(), numbered: 0, open: None, archivist }
    }

    /// Appends a compressed frame of pages (and their WARC records) and makes it durable. Returns the records that must
    /// be in the journal before the pages count as stored.
    pub fn append(&mut self, now: Timestamp, frame: &[u8], warc: &[u8]) -> Result<Vec<Record<'static>>> {
        let day = now.strftime("%Y-%m-%d").to_string();
        if self.open.as_ref().is_some_and(|open| open.day != day || open.pages.len() >= FILE_BYTES) {
            self.publish()?;
        }
        if self.open.is_none() {
            self.open = Some(self.start(day, now)?);
        }
        let open = self.open.as_mut().expect("opened above");
        if let Some(file) = open.warc.as_mut() {
            file.append(warc)?;
            file.sync()?;
        }
        open.pages.append(frame)?;
        open.pages.sync()?;
        let whole = |file: &Appender| Record::Whole { file: self.home.shown(file.path()).into(), bytes: file.len() };
        Ok(std::iter::once(whole(&open.pages)).chain(open.warc.as_ref().map(whole)).collect())
    }

    fn start(&mut self, day: String, now: Timestamp) -> Result<OpenFile> {
        let folder = self.home.pages().join(&day);
        let name = |ending: &str| folder.join(format!("{}.{}.{ending}.{PART}", self.run, self.numbered));
        let mut pages = Appender::create(&name("jsonl.zst"))?;
        pages.append(&frames::header(FORMAT, VERSION, ""))?;
        let warc = match &self.archivist {
            Some(Archivist { software, operator }) => {
                let path = name("warc.gz");
                let mut file = Appender::create(&path)?;
                file.append(&warc::Writer::default().info(&path.with_extension(""), software, operator, now))?;
                Some(file)
            }
            None => None,
        };
        self.numbered += 1;
        Ok(OpenFile { day, pages, warc })
    }

    /// Publishes the current file. Its pages must be in the journal.
    pub fn publish(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        for file in std::iter::once(&open.pages).chain(open.warc.as_ref()) {
            publish_part(&self.home, file.path())?;
        }
        Ok(())
    }
}

/// Writes an unpublished file of pages from compressed frames and makes it durable.
pub(crate) fn write_part(home: &Home, day: &str, name: &str, frames: &[u8]) -> Result<PathBuf> {
    let path = home.pages().join(day).join(format!("{name}.jsonl.zst.{PART}"));
    let mut file = Appender::create(&path)?;
    file.append(&frames::header(FORMAT, VERSION, ""))?;
    file.append(frames)?;
    file.sync()?;
    Ok(path)
}

/// Publishes such a file.
pub(crate) fn publish_part(home: &Home, path: &Path) -> Result<()> {
    home.check_claims()?;
    let published = home.storage().publish_file(path, &home.key(&path.with_extension("")));
    if published.is_err() {
        // The next lock publishes it, also if it is of this process: an object store may be down for a while.
        home.note_unpublished();
    }
    Ok(published?)
}

/// The WARC file with the exchanges of a file of pages; it exists if they were fetched with `fetch.warc`.
pub fn archive_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{}.warc.gz", name.trim_end_matches(".jsonl.zst")))
}

/// Whether a file of pages is unpublished.
pub(crate) fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == PART)
}

/// The unpublished files of pages from a day on: of an active run, or left by a crash. The folders of earlier days are not
/// read.
pub(crate) fn parts_since(home: &Home, first: &str) -> Result<Vec<PathBuf>> {
    let is_since = |path: &PathBuf| path.file_name().is_some_and(|day| day.as_encoded_bytes() >= first.as_bytes());
    let mut parts = Vec::new();
    for folder in file::files_in(&home.pages())?.into_iter().filter(is_since).filter(|path| path.is_dir()) {
        parts.extend(file::files_in(&folder)?.into_iter().filter(|path| is_part(path)));
    }
    Ok(parts)
}

/// The same in folders that changed since the home was last locked: a crash left none in the others. Only their times are
/// read, because there is a folder for each day.
pub(crate) fn parts_written_since(home: &Home, last_locked: Option<SystemTime>) -> Result<Vec<PathBuf>> {
    /// The precision of times of files, and more.
    const TOLERANCE: Duration = Duration::from_secs(60);
    let since = last_locked.and_then(|time| time.checked_sub(TOLERANCE)).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut parts = Vec::new();
    for folder in file::files_in(&home.pages())? {
        let meta = std::fs::metadata(&folder).context("inspect", &folder)?;
        if meta.is_dir() && meta.modified().map_or(true, |modified| modified >= since) {
            parts.extend(file::files_in(&folder)?.into_iter().filter(|path| is_part(path)));
        }
    }
    Ok(parts)
}

/// The header of a file of pages.
pub(crate) fn header() -> Vec<u8> {
    frames::header(FORMAT, VERSION, "")
}

/// The published files of pages, by day and run.
pub fn files(home: &Home) -> Result<Vec<PathBuf>> {
    files_since(home, "")
}

/// The same from a day on, without reading the folders of earlier ones.
pub(crate) fn files_since(home: &Home, first: &str) -> Result<Vec<PathBuf>> {
    let storage = home.storage();
    let mut files = Vec::new();
    for folder in storage.folders(FOLDER)?.into_iter().filter(|folder| &folder[FOLDER.len() + 1..] >= first) {
        let published = storage.list(&folder)?.into_iter().filter(|key| key.ends_with(".jsonl.zst"));
        files.extend(published.map(|key| storage.path(&key)));
    }
    Ok(files)
}

/// Reads the pages of a file: of Tidings, or JSON lines of FeedFetcher, plain or compressed.
///
/// Damaged frames of a file of Tidings are skipped; [`PageReader::damaged`] returns them.
pub struct PageReader {
    path: PathBuf,
    reader: PageSource,
    line: Vec<u8>,
    lines: u64,
}

/// The bytes of a file of pages, decompressed.
enum PageSource {
    /// Independent frames, as Tidings writes them.
    Framed(Box<SoundFrames>),
    /// One stream.
    Stream(Box<dyn BufRead + Send>),
}

/// The maximum length of a line: the largest body that settings allow, escaped.
const MAX_LINE_BYTES: usize = 1 << 30;

impl PageReader {
    /// Opens a file of pages of a home.
    pub fn open_in(home: &Home, file: &str) -> Result<PageReader> {
        PageReader::open(&home.storage().path(file))
    }

    /// Opens a file of pages outside of any home.
    pub fn open(path: &Path) -> Result<PageReader> {
        // Rejects a newer version too.
        let stream = frames::open_any(path)?;
        let reader = match frames::is_framed(path)? {
            true => PageSource::Framed(Box::new(SoundFrames::open(path)?)),
            false => PageSource::Stream(stream),
        };
        Ok(PageReader { path: path.to_owned(), reader, line: Vec::new(), lines: 0 })
    }

    /// The damaged parts of the file that were skipped so far, as byte ranges.
    pub fn damaged(&self) -> &[std::ops::Range<u64>] {
        match &self.reader {
            PageSource::Framed(frames) => frames.damaged(),
            PageSource::Stream(_) => &[],
        }
    }

    /// The next line unparsed, for parsing in another thread with [`PageLine::page`].
    pub fn next_line(&mut self) -> Result<Option<PageLine>> {
        Ok(self.advance()?.then(|| PageLine { text: std::mem::take(&mut self.line), number: self.lines }))
    }

    /// Moves to the next line that is not empty; false at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            self.lines += 1;
            let reader: &mut dyn BufRead = match &mut self.reader {
                PageSource::Framed(frames) => frames.as_mut(),
                PageSource::Stream(stream) => stream.as_mut(),
            };
            let more = frames::read_line(reader, &mut self.line, MAX_LINE_BYTES).context("read", &self.path)?;
            if !more || !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(more);
            }
        }
    }
}

/// Whether a file is a file of pages as Tidings writes them.
pub fn is_page_file(path: &Path) -> Result<bool> {
    Ok(frames::is_framed(path)? && frames::Blocks::open(path, FORMAT, VERSION).is_ok())
}

/// Whether all frames of a file of pages have valid checksums. A file of another program, which has no such frames, is
/// not known to be intact.
pub fn is_intact(home: &Home, file: &str) -> Result<bool> {
    let path = home.storage().path(file);
    if !frames::is_framed(&path)? {
        return Ok(false);
    }
    let mut frames = SoundFrames::open(&path)?;
    while frames.next()?.is_some() {}
    Ok(frames.damaged().is_empty())
}

/// A line of a file of pages.
#[derive(Debug)]
pub struct PageLine {
    /// Its text.
    pub text: Vec<u8>,
    /// Its number in the file.
    pub number: u64,
}

impl PageLine {
    /// Parses the page; the path is for error messages.
    pub fn page(&self, path: &Path) -> Result<Page> {
        parse(&self.text, self.number, path)
    }
}

fn parse(text: &[u8], line: u64, path: &Path) -> Result<Page> {
    let fault = |error| Error::Line { path: path.to_owned(), line, fault: format!("is not a page ({error})") };
    serde_json::from_slice(text).map_err(fault)
}

impl Iterator for PageReader {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        match self.advance() {
            Ok(true) => Some(parse(&self.line, self.lines, &self.path)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::FrameEncoder;

    #[test]
    fn the_end_of_a_day_publishes_its_file() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let mut writer = PageWriter::open(&home, "run", None);
        let mut page = |url: &str, time: &str| {
            let page = Page { url: url.into(), body: b"text".into(), ..Page::default() };
            let mut line = Vec::new();
            page.write_line(&mut line).unwrap();
            writer.append(time.parse().unwrap(), &FrameEncoder::new(3).encode(&line), &[]).unwrap()
        };
        page("http://e.org/1", "2026-12-31T23:59:58Z");
        page("http://e.org/2", "2026-12-31T23:59:59Z");
        assert_eq!(files(&home).unwrap(), Vec::<PathBuf>::new(), "unpublished files are ignored");
        let vouched = page("http://e.org/3", "2027-01-01T00:00:00Z");
        let [Record::Whole { file, .. }] = &vouched[..] else { panic!("{vouched:?}") };
        assert_eq!(file, "pages/2027-01-01/run.1.jsonl.zst.part");
        writer.publish().unwrap();

        let urls = |path: &PathBuf| PageReader::open(path).unwrap().map(|page| page.unwrap().url).collect::<Vec<_>>();
        let published = files(&home).unwrap();
        assert_eq!(
            published.iter().map(urls).collect::<Vec<_>>(),
            [&["http://e.org/1", "http://e.org/2"][..], &["http://e.org/3"]]
        );
        assert!(published[0].ends_with("pages/2026-12-31/run.0.jsonl.zst"));
    }

    fn line(url: &str) -> Vec<u8> {
        let mut line = Vec::new();
        Page { url: url.into(), body: b"text".into(), ..Page::default() }.write_line(&mut line).unwrap();
        line
    }

    #[test]
    fn a_warc_file_is_written_if_an_archivist_is_given() {
        let (_folder, home) = crate::testing::home();
        let archivist = Archivist { software: "tidings".into(), operator: "e.org".into() };
        let mut writer = PageWriter::open(&home, "run", Some(archivist));
        let frame = FrameEncoder::new(3).encode(&line("http://e.org/"));
        let time = "2026-03-01T00:00:00Z".parse().unwrap();
        let vouched = writer.append(time, &frame, b"record").unwrap();
        assert_eq!(vouched.len(), 2, "the journal must contain both files");
        writer.publish().unwrap();
        writer.publish().unwrap();
        let names = home.storage().list("pages/2026-03-01").unwrap();
        assert_eq!(names, ["pages/2026-03-01/run.0.jsonl.zst", "pages/2026-03-01/run.0.warc.gz"]);
    }

    #[test]
    fn files_from_a_day_on_are_listed() {
        let (_folder, home) = crate::testing::home();
        for day in ["2026-02-28", "2026-03-01", "2026-03-02"] {
            publish_part(&home, &write_part(&home, day, "a.0", &[]).unwrap()).unwrap();
        }
        let days = |first: &str| files_since(&home, first).unwrap().len();
        assert_eq!((days(""), days("2026-03-01"), days("2026-03-02"), days("2027-01-01")), (3, 2, 1, 0));
    }

    #[test]
    fn an_invalid_line_is_an_error_and_empty_lines_are_skipped() {
        let (_folder, home) = crate::testing::home();
        let text = [&line("http://e.org/1")[..], b"\n  \n", b"{\"url\":1}\n", &line("http://e.org/2")].concat();
        home.storage().put_atomic("pages/2026-03-01/a.jsonl.zst", &text).unwrap();
        let path = home.storage().path("pages/2026-03-01/a.jsonl.zst");
        let read: Vec<Result<Page>> = PageReader::open(&path).unwrap().collect();
        assert_eq!(read.len(), 3);
        let error = read[1].as_ref().unwrap_err().to_string();
        assert!(error.contains("a.jsonl.zst, line 4: is not a page"), "{error}");
        let mut reader = PageReader::open(&path).unwrap();
        let lines: Vec<PageLine> = std::iter::from_fn(|| reader.next_line().unwrap()).collect();
        assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [1, 4, 5]);
        assert_eq!(lines[2].page(&path).unwrap().url, "http://e.org/2");
    }
}
