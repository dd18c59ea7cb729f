//! Inputs as streams of records that may become pages, with positions at which a later run can resume.

use std::collections::VecDeque;
use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tidings_formats::conllu;
use tidings_formats::vertical::{self, Event};
use tidings_formats::warc::{Headers, Position, Record, RecordEvent, RecordReader};
use tidings_formats::zip::{self, Entry};
use tidings_formats::{Error, compressed};
use tidings_model::{Annotated, AnnotatedParagraph, Token, feats};
use tidings_store::import_log::Input;

use super::format::ImportFormat;
use super::outcome::DAMAGED;

/// The maximum length of a line.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// Notes about a page in an archive, at most.
const MAX_NOTES_BYTES: u64 = 64 << 10;
/// The maximum number of tokens of a document; a longer one is split.
const MAX_TOKENS: usize = 1 << 20;

/// The field with the name of a document in its corpus.
pub const NAME: &str = "newdoc";

/// The positions of the attributes among the columns of a vertical file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    word: usize,
    lemma: Option<usize>,
    tag: Option<usize>,
    feats: Option<usize>,
}

impl Columns {
    /// Finds `word`, `lemma`, `tag` and `feats` among the column names; other columns are skipped.
    pub fn of_names(names: &[String]) -> Result<Columns> {
        let position = |name: &str| names.iter().position(|known| known == name);
        let Some(word) = position("word") else { bail!("--columns must contain `word`") };
        Ok(Columns { word, lemma: position("lemma"), tag: position("tag"), feats: position("feats") })
    }

    /// The token on a line.
    fn token(&self, line: &str) -> Token {
        let mut token = Token { space_after: true, ..Token::default() };
        for (at, cell) in line.split('\t').enumerate() {
            let at = Some(at);
            if at == Some(self.word) {
                token.word = vertical::unescape(cell);
            } else if at == self.lemma {
                token.lemma = vertical::unescape(cell);
            } else if at == self.tag {
                token.tag = vertical::unescape(cell);
            } else if at == self.feats && !cell.is_empty() {
                // A fourth column may be anything in files of other programs.
                token.feats = feats::canonical(&vertical::unescape(cell)).unwrap_or_default().into_owned();
            }
        }
        token
    }
}

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
            _ => RecordSource::Lines { reader: compressed::open(path)?, number: 0 },
        };
        while source.place().records < from.records && source.next()?.is_some() {}
        Ok(source)
    }

    /// The next record; none at the end.
    pub fn next(&mut self) -> Result<Option<Raw>> {
        match self {
            RecordSource::Archive(archive) => Ok(archive.next()),
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
            RecordSource::Lines { number, .. } | RecordSource::Conllu { number, .. } => *number,
            RecordSource::Vertical(vertical) => vertical.number,
            RecordSource::Saved(_) => 0,
        };
        Position { records, byte: None }
    }
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
        while archive.place().records < from.records && archive.next().is_some() {}
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

    fn next(&mut self) -> Option<Raw> {
        loop {
            if self.pending.is_none()
                && let Some(raw) = self.behind.pop_front()
            {
                return Some(raw);
            }
            let place = self.reached();
            let Some(met) = self.records.next(|head| self.filter.max_bytes_of(head)) else {
                if let Some((record, _)) = self.pending.take() {
                    return Some(Raw::Record(record, None));
                }
                if !self.open_next() {
                    return None;
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
                        return Some(Raw::Record(pending, Some(Headers::parse(&record.block))));
                    }
                }
                RecordEvent::Record(record) => {
                    let before = self.pending.replace((Box::new(record), place));
                    if let Some((record, _)) = before {
                        return Some(Raw::Record(record, None));
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
                return Some(Raw::Record(record, None));
            }
        }
    }

    fn open_next(&mut self) -> bool {
        let Some((path, entries)) = &mut self.inside else { return false };
        while let Some(entry) = entries.pop_front() {
            self.before += self.records.place().records;
            match RecordReader::open_inside(path, &entry, Position::default()) {
                Ok(records) => {
                    self.records = records;
                    return true;
                }
                Err(error) => {
                    log::warn!("{}: {error}", entry.name);
                    self.behind.push_back(Raw::LeftOut(DAMAGED));
                }
            }
        }
        false
    }
}

/// Assembles the documents of a vertical file.
pub struct Vertical {
    reader: vertical::Reader<Box<dyn BufRead + Send>>,
    columns: Columns,
    number: u64,
    open: Option<Annotated>,
    ended: bool,
}

impl Vertical {
    fn new(path: &Path, columns: Columns) -> Result<Vertical> {
        let reader = vertical::Reader::new(compressed::open(path)?, path);
        Ok(Vertical { reader, columns, number: 0, open: None, ended: false })
    }

    fn next(&mut self) -> Result<Option<Raw>> {
        let (mut glued, mut tokens) = (false, 0);
        while !self.ended {
            let event = match self.reader.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(fault @ Error::Line { .. }) => {
                    log::debug!("{fault}");
                    return Ok(Some(Raw::LeftOut("bad-line")));
                }
                Err(error) => return Err(error.into()),
            };
            match event {
                Event::Document(about) => {
                    let mut about = *about;
                    about.fields.extend(self.reader.value("id").map(|id| (NAME.to_owned(), id)));
                    let before = self.open.replace(Annotated { about, ..Annotated::default() });
                    if let Some(document) = self.whole(before) {
                        return Ok(Some(document));
                    }
                }
                Event::End => {
                    let before = self.open.take();
                    if let Some(document) = self.whole(before) {
                        return Ok(Some(document));
                    }
                }
                Event::Paragraph => {
                    let [kind, language] = ["kind", "lang"].map(|name| self.reader.value(name).unwrap_or_default());
                    let paragraph = AnnotatedParagraph { kind, language, ..AnnotatedParagraph::default() };
                    self.open.get_or_insert_default().paragraphs.push(paragraph);
                }
                Event::Sentence => paragraph(&mut self.open).sentences.push(Vec::new()),
                Event::Glue => glued = true,
                Event::Layer(_) | Event::SpanStart(_) | Event::SpanEnd(_) => {}
                Event::Token(line) => {
                    let token = self.columns.token(line);
                    push_token(paragraph(&mut self.open), token, std::mem::take(&mut glued));
                    tokens += 1;
                    if tokens > MAX_TOKENS {
                        return Ok(self.cut());
                    }
                }
            }
        }
        let last = self.open.take();
        Ok(self.whole(last))
    }

    /// Ends the open document and starts another with the same metadata.
    fn cut(&mut self) -> Option<Raw> {
        let before = self.open.take();
        let mut about = before.as_ref().map(|document| document.about.clone()).unwrap_or_default();
        // Pieces of a document are documents of their own.
        about.fields.retain(|(name, _)| name != NAME);
        self.open = Some(Annotated { about, ..Annotated::default() });
        self.whole(before)
    }

    fn whole(&mut self, document: Option<Annotated>) -> Option<Raw> {
        let document = document?;
        self.number += 1;
        Some(Raw::Annotated(Box::new(document), self.number))
    }
}

/// Appends a token to the last sentence, with or without a space before it.
fn push_token(paragraph: &mut AnnotatedParagraph, token: Token, no_space_before: bool) {
    if paragraph.sentences.is_empty() {
        paragraph.sentences.push(Vec::new());
    }
    let before = paragraph.sentences.iter_mut().rev().find_map(|sentence| sentence.last_mut());
    if let (true, Some(before)) = (no_space_before, before) {
        before.space_after = false;
    }
    paragraph.sentences.last_mut().expect("there is one now").push(token);
}

/// The last paragraph of the open document; creates both if missing.
fn paragraph(open: &mut Option<Annotated>) -> &mut AnnotatedParagraph {
    let document = open.get_or_insert_default();
    if document.paragraphs.is_empty() {
        document.paragraphs.push(AnnotatedParagraph::default());
    }
    document.paragraphs.last_mut().expect("there is one now")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        list.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn columns_are_found_by_name_and_word_is_required() {
        let columns = Columns::of_names(&names("tag,word,other")).unwrap();
        let token = columns.token("NOUN\tRain &amp; sun\tx");
        assert_eq!((token.word.as_str(), token.tag.as_str(), token.lemma.as_str()), ("Rain & sun", "NOUN", ""));
        assert_eq!(columns.token("NOUN").word, "", "a line may have fewer columns");
        assert!(Columns::of_names(&names("lemma,tag")).is_err());
    }

    #[test]
    fn sites_include_their_subdomains() {
        let filter = RecordFilter { max_bytes: 9, sites: vec!["gazette.example".to_owned()] };
        assert!(filter.is_of_site("https://gazette.example/a") && filter.is_of_site("https://www.gazette.example/"));
        assert!(!filter.is_of_site("https://notgazette.example/") && !filter.is_of_site("gazette.example"));
    }

    #[test]
    fn a_vertical_file_without_structures_is_one_document() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.vert");
        std::fs::write(&path, "<s>\nRain\n<g/>\n.\n</s>\n").unwrap();
        let columns = Columns::of_names(&names("word")).unwrap();
        let mut source =
            RecordSource::open(&path, ImportFormat::Vertical, Position::default(), RecordFilter::default(), &columns)
                .unwrap();
        let Some(Raw::Annotated(document, 1)) = source.next().unwrap() else { panic!("there is a document") };
        assert_eq!(document.paragraphs[0].text(), "Rain.");
        assert!(source.next().unwrap().is_none());
        assert_eq!(source.place().records, 1);
    }
}
