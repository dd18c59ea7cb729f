//! Inputs as streams of records that may become pages, with positions at which a later run can resume.

use std::collections::VecDeque;
use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tidings_formats::warc::{Headers, Position, Record, RecordEvent, RecordReader};
use tidings_formats::zip::{self, Entry};
use tidings_formats::{compressed, conllu, tei_tokens};
use tidings_model::Annotated;
use tidings_storage::source::is_unavailable;
use tidings_store::import_log::Input;

use super::format::ImportFormat;
use super::outcome::DAMAGED;
use super::vertical::{Columns, Vertical};

/// The maximum length of a line.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// Notes about a page in an archive, at most.
const MAX_NOTES_BYTES: u64 = 64 << 10;

/// The field with the name of a document in its corpus.
pub const NAME: &str = "newdoc";

/// A record of an input that may become a page.
#[derive(Debug)]
pub enum Raw {
    /// A record of an archive, and the metadata of a record after it.
    Record(Box<Record>, Option<Headers>),
    /// A line and its number.
    Line(Vec<u8>, u64),
    /// An annotated document and its number.
    Annotated(Box<Annotated>, u64),
    /// A saved page, its path within its folder, and its state in the import log.
    Saved(PathBuf, PathBuf, Input),
    /// A record that is not a page, and the reason.
    LeftOut(&'static str),
}

impl Raw {
    /// Its approximate memory.
    pub fn weight(&self) -> usize {
        match self {
            Raw::Record(record, _) => record.block.len(),
            Raw::Line(line, _) => line.len(),
            Raw::Annotated(document, _) => {
                let sentences = document.paragraphs.iter().flat_map(|paragraph| &paragraph.sentences);
                sentences.map(|sentence| sentence.len() * 96).sum()
            }
            Raw::Saved(..) => 64 << 10,
            Raw::LeftOut(_) => 0,
        }
    }
}

/// Selects the records of an archive.
#[derive(Debug, Clone, Default)]
pub struct RecordFilter {
    /// The longest record.
    pub max_bytes: u64,
    /// Hosts, including their subdomains; empty: all.
    pub sites: Vec<String>,
}

impl RecordFilter {
    /// The maximum number of bytes read from a record, or the reason to skip it.
    fn max_bytes_of(&self, head: &Headers) -> Result<u64, &'static str> {
        match head.kind() {
            "response" | "resource" | "conversion" => {}
            // A metadata record may name the feed that listed the page.
            "metadata" => return Ok(MAX_NOTES_BYTES),
            "request" => return Err("request"),
            "warcinfo" => return Err("warcinfo"),
            "revisit" => return Err("revisit"),
            _ => return Err("other-record"),
        }
        if !self.sites.is_empty() && !self.is_of_site(head.target().unwrap_or_default()) {
            return Err("other-site");
        }
        Ok(self.max_bytes)
    }

    fn is_of_site(&self, url: &str) -> bool {
        let Some(host) = tidings_model::address::host(url).map(str::to_ascii_lowercase) else { return false };
        self.sites
            .iter()
            .any(|site| host == *site || host.strip_suffix(site.as_str()).is_some_and(|rest| rest.ends_with('.')))
    }
}

/// A stream of records.
pub enum RecordSource {
    /// Records of archives, one archive after the other.
    Archive(Box<Archive>),
    /// Lines.
    Lines { reader: Box<dyn BufRead + Send>, number: u64 },
    /// Documents in the vertical format.
    Vertical(Box<Vertical>),
    /// Documents in CoNLL-U.
    Conllu { reader: Box<conllu::Reader<Box<dyn BufRead + Send>>>, number: u64, bad: u64 },
    /// Annotated text in TEI.
    Tei { reader: Box<tei_tokens::Reader<Box<dyn BufRead + Send>>>, number: u64 },
    /// Saved pages.
    Saved(VecDeque<(PathBuf, PathBuf, Input)>),
}

impl RecordSource {
    /// Opens a file at the position where an earlier run stopped.
    pub fn open(
        path: &Path,
        format: ImportFormat,
        from: Position,
        filter: RecordFilter,
        columns: &Columns,
    ) -> Result<RecordSource> {
        let mut source = match format {
            ImportFormat::Warc => return Ok(RecordSource::Archive(Box::new(Archive::open(path, from, filter)?))),
            ImportFormat::Wacz => return Ok(RecordSource::Archive(Box::new(Archive::open_zip(path, from, filter)?))),
            ImportFormat::Vertical => RecordSource::Vertical(Box::new(Vertical::new(path, columns.clone())?)),
            ImportFormat::Conllu => {
                let reader = conllu::Reader::new(compressed::open(path)?, path);
                RecordSource::Conllu { reader: Box::new(reader), number: 0, bad: 0 }
            }
            ImportFormat::Tei => {
                let reader = tei_tokens::Reader::new(compressed::open(path)?, path);
                RecordSource::Tei { reader: Box::new(reader), number: 0 }
            }
            _ => RecordSource::Lines { reader: compressed::open(path)?, number: 0 },
        };
        while source.place().records < from.records && source.next()?.is_some() {}
        Ok(source)
    }

    /// The next record; none at the end.
    pub fn next(&mut self) -> Result<Option<Raw>> {
        match self {
            RecordSource::Archive(archive) => archive.next(),
            RecordSource::Lines { reader, number } => {
                let mut line = Vec::new();
                loop {
                    line.clear();
                    let read = reader
                        .by_ref()
                        .take(MAX_LINE_BYTES)
                        .read_until(b'\n', &mut line)
                        .context("cannot continue reading")?;
                    if read == 0 {
                        return Ok(None);
                    }
                    *number += 1;
                    if read as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
                        reader.skip_until(b'\n').context("cannot continue reading")?;
                        return Ok(Some(Raw::LeftOut("too-large")));
                    }
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        return Ok(Some(Raw::Line(line, *number)));
                    }
                }
            }
            RecordSource::Vertical(vertical) => vertical.next(),
            RecordSource::Conllu { reader, number, bad } => {
                if reader.bad_sentences > *bad {
                    *bad += 1;
                    return Ok(Some(Raw::LeftOut("bad-sentence")));
                }
                *number += 1;
                Ok(reader.next_document()?.map(|document| Raw::Annotated(Box::new(document), *number)))
            }
            RecordSource::Tei { reader, number } => {
                *number += 1;
                let document = reader.next_document()?;
                Ok(document.map(|document| Raw::Annotated(Box::new(with_name(document)), *number)))
            }
            RecordSource::Saved(files) => {
                Ok(files.pop_front().map(|(path, inside, input)| Raw::Saved(path, inside, input)))
            }
        }
    }

    /// Whether every record read so far has been returned, so that the position is enough to resume.
    pub fn is_settled(&self) -> bool {
        match self {
            RecordSource::Archive(archive) => archive.pending.is_some() || archive.behind.is_empty(),
            RecordSource::Conllu { reader, bad, .. } => reader.bad_sentences == *bad,
            _ => true,
        }
    }

    /// The position of the next record.
    pub fn place(&self) -> Position {
        let records = match self {
            RecordSource::Archive(archive) => return archive.place(),
            RecordSource::Lines { number, .. }
            | RecordSource::Conllu { number, .. }
            | RecordSource::Tei { number, .. } => *number,
            RecordSource::Vertical(vertical) => vertical.number(),
            RecordSource::Saved(_) => 0,
        };
        Position { records, byte: None }
    }
}

/// A document whose id is also its name, as in other formats.
fn with_name(mut document: Annotated) -> Annotated {
    if document.about.id != 0 {
        document.about.fields.push((NAME.to_owned(), format!("{:032x}", document.about.id)));
    }
    document
}

/// Records of one archive, or of all archives in a ZIP file.
pub struct Archive {
    records: RecordReader,
    filter: RecordFilter,
    /// A page whose metadata record may follow, and its start position.
    pending: Option<(Box<Record>, Position)>,
    /// Records that were read after it.
    behind: VecDeque<Raw>,
    /// The ZIP file and its archives that are yet to be read.
    inside: Option<(PathBuf, VecDeque<Entry>)>,
    /// RecordReader of archives that were read already.
    before: u64,
}

impl Archive {
    fn open(path: &Path, from: Position, filter: RecordFilter) -> Result<Archive> {
        Ok(Archive::of(RecordReader::open(path, from)?, filter, None))
    }

    fn of(records: RecordReader, filter: RecordFilter, inside: Option<(PathBuf, VecDeque<Entry>)>) -> Archive {
        Archive { records, filter, pending: None, behind: VecDeque::new(), inside, before: 0 }
    }

    fn open_zip(path: &Path, from: Position, filter: RecordFilter) -> Result<Archive> {
        let mut entries: VecDeque<Entry> = zip::entries(path)?.into();
        entries.retain(|entry| {
            let name = entry.name.to_ascii_lowercase();
            name.ends_with(".warc") || name.ends_with(".warc.gz") || name.ends_with(".warc.zst")
        });
        let first = entries.pop_front().with_context(|| format!("no archive in {}", path.display()))?;
        let records = RecordReader::open_inside(path, &first, Position::default())?;
        let mut archive = Archive::of(records, filter, Some((path.to_owned(), entries)));
        while archive.place().records < from.records && archive.next()?.is_some() {}
        Ok(archive)
    }

    fn place(&self) -> Position {
        match &self.pending {
            Some((_, place)) => *place,
            None => self.reached(),
        }
    }

    fn reached(&self) -> Position {
        let place = self.records.place();
        // An offset in a file inside a ZIP file is of no use.
        let byte = if self.inside.is_some() { None } else { place.byte };
        Position { records: self.before + place.records, byte }
    }

    /// The next record. A failure of the object store is an error; a record before it has been returned.
    fn next(&mut self) -> Result<Option<Raw>> {
        loop {
            if self.pending.is_none()
                && let Some(raw) = self.behind.pop_front()
            {
                return Ok(Some(raw));
            }
            let place = self.reached();
            let Some(met) = self.records.next(|head| self.filter.max_bytes_of(head)) else {
                // The record before may have metadata that could not be read: it is read again by a later run.
                if let Some(failure) = self.records.take_failure() {
                    return Err(failure).context("cannot continue reading");
                }
                if let Some((record, _)) = self.pending.take() {
                    return Ok(Some(Raw::Record(record, None)));
                }
                if !self.open_next()? {
                    return Ok(None);
                }
                continue;
            };
            match met {
                RecordEvent::Record(record) if record.head.kind() == "metadata" => {
                    self.behind.push_back(Raw::LeftOut("metadata"));
                    let is_about = |pending: &Record| {
                        let id = pending.head.get("warc-record-id");
                        let refers = ["warc-refers-to", "warc-concurrent-to"].map(|name| record.head.get(name));
                        id.is_some() && refers.contains(&id)
                    };
                    if let Some((pending, _)) = self.pending.take_if(|(pending, _)| is_about(pending)) {
                        return Ok(Some(Raw::Record(pending, Some(Headers::parse(&record.block)))));
                    }
                }
                RecordEvent::Record(record) => {
                    let before = self.pending.replace((Box::new(record), place));
                    if let Some((record, _)) = before {
                        return Ok(Some(Raw::Record(record, None)));
                    }
                }
                RecordEvent::Skipped(why) => self.behind.push_back(Raw::LeftOut(why)),
                RecordEvent::Damage(what) => {
                    log::warn!("record {}: {what}; continuing after it", place.records);
                    self.behind.push_back(Raw::LeftOut(DAMAGED));
                }
            }
            // A page does not wait for metadata indefinitely.
            if self.behind.len() > 8
                && let Some((record, _)) = self.pending.take()
            {
                return Ok(Some(Raw::Record(record, None)));
            }
        }
    }

    fn open_next(&mut self) -> Result<bool> {
        let Some((path, entries)) = &mut self.inside else { return Ok(false) };
        while let Some(entry) = entries.pop_front() {
            self.before += self.records.place().records;
            match RecordReader::open_inside(path, &entry, Position::default()) {
                Ok(records) => {
                    self.records = records;
                    return Ok(true);
                }
                Err(tidings_formats::Error::Io(error)) if is_unavailable(&error.source.0) => {
                    return Err(tidings_formats::Error::Io(error).into());
                }
                Err(error) => {
                    log::warn!("{}: {error}", entry.name);
                    self.behind.push_back(Raw::LeftOut(DAMAGED));
                }
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_include_their_subdomains() {
        let filter = RecordFilter { max_bytes: 9, sites: vec!["gazette.example".to_owned()] };
        assert!(filter.is_of_site("https://gazette.example/a") && filter.is_of_site("https://www.gazette.example/"));
        assert!(!filter.is_of_site("https://notgazette.example/") && !filter.is_of_site("gazette.example"));
    }
}
