//! Inputs as streams of things that may become pages, each stream with its place, so that another run can go on there.

use std::collections::VecDeque;
use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tidings_model::{Annotated, AnnotatedParagraph, Token, feats};
use tidings_store::doors::conllu;
use tidings_store::doors::ledger::Input;
use tidings_store::doors::records::{Head, Met, Place, Record, Records};
use tidings_store::doors::zip::{self, Entry};
use tidings_store::format::vertical::{self, Event};
use tidings_store::{archive, formats::Error};

use super::kind::Kind;

/// Longer lines are no pages.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// Notes about a page in an archive, at most.
const MAX_NOTES_BYTES: u64 = 64 << 10;
/// Tokens of a document; one that is longer is cut into pieces.
const MAX_TOKENS: usize = 1 << 20;

/// The field that says what a document is called in its corpus.
pub const NAME: &str = "newdoc";

/// Something that may become a page.
#[derive(Debug)]
pub enum Raw {
    /// A record of an archive, and what a record behind it notes about it.
    Record(Box<Record>, Option<Head>),
    /// A line and its number.
    Line(Vec<u8>, u64),
    /// An annotated document and its number.
    Annotated(Box<Annotated>, u64),
    /// A saved page, its path within its folder, and how it stands in the ledger.
    Saved(PathBuf, PathBuf, Input),
    /// Something that is none, and why.
    LeftOut(&'static str),
}

impl Raw {
    /// Roughly the memory that it takes.
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

/// What is wanted of an archive.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The longest record.
    pub max_bytes: u64,
    /// Hosts; those below them count too. None means all.
    pub sites: Vec<String>,
}

impl Wanted {
    fn of(&self, head: &Head) -> Result<u64, &'static str> {
        match head.kind() {
            "response" | "resource" | "conversion" => {}
            // What is noted about a page may tell which feed listed it.
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
        let Some(host) = tidings_model::address::host(url) else { return false };
        self.sites
            .iter()
            .any(|site| host == *site || host.strip_suffix(site.as_str()).is_some_and(|rest| rest.ends_with('.')))
    }
}

/// A stream of things.
pub enum Source {
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

impl Source {
    /// Opens a file at the place where another run was.
    pub fn open(path: &Path, kind: Kind, from: Place, wanted: Wanted, columns: [usize; 4]) -> Result<Source> {
        let mut source = match kind {
            Kind::Warc => return Ok(Source::Archive(Box::new(Archive::open(path, from, wanted)?))),
            Kind::Wacz => return Ok(Source::Archive(Box::new(Archive::open_zip(path, from, wanted)?))),
            Kind::Vertical => Source::Vertical(Box::new(Vertical::new(path, columns)?)),
            Kind::Conllu => {
                let reader = conllu::Reader::new(archive::open(path)?, path);
                Source::Conllu { reader: Box::new(reader), number: 0, bad: 0 }
            }
            _ => Source::Lines { reader: archive::open(path)?, number: 0 },
        };
        while source.place().records < from.records && source.next()?.is_some() {}
        Ok(source)
    }

    /// The next thing; nothing at the end.
    pub fn next(&mut self) -> Result<Option<Raw>> {
        match self {
            Source::Archive(archive) => Ok(archive.next()),
            Source::Lines { reader, number } => {
                let mut line = Vec::new();
                loop {
                    line.clear();
                    let read =
                        reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).context("cannot read on")?;
                    if read == 0 {
                        return Ok(None);
                    }
                    *number += 1;
                    if read as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
                        reader.skip_until(b'\n').context("cannot read on")?;
                        return Ok(Some(Raw::LeftOut("too-large")));
                    }
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        return Ok(Some(Raw::Line(line, *number)));
                    }
                }
            }
            Source::Vertical(vertical) => vertical.next(),
            Source::Conllu { reader, number, bad } => {
                if reader.bad_sentences > *bad {
                    *bad += 1;
                    return Ok(Some(Raw::LeftOut("bad-sentence")));
                }
                *number += 1;
                Ok(reader.next_document()?.map(|document| Raw::Annotated(Box::new(document), *number)))
            }
            Source::Saved(files) => Ok(files.pop_front().map(|(path, inside, input)| Raw::Saved(path, inside, input))),
        }
    }

    /// Whether all that was met has been given, so that the place tells everything.
    pub fn is_settled(&self) -> bool {
        match self {
            Source::Archive(archive) => archive.pending.is_some() || archive.behind.is_empty(),
            Source::Conllu { reader, bad, .. } => reader.bad_sentences == *bad,
            _ => true,
        }
    }

    /// Where the next thing begins.
    pub fn place(&self) -> Place {
        let records = match self {
            Source::Archive(archive) => return archive.place(),
            Source::Lines { number, .. } | Source::Conllu { number, .. } => *number,
            Source::Vertical(vertical) => vertical.number,
            Source::Saved(_) => 0,
        };
        Place { records, byte: None }
    }
}

/// Records of one archive, or of all in a ZIP file.
pub struct Archive {
    records: Records,
    wanted: Wanted,
    /// A page that may yet be noted about, and the place at which it began.
    pending: Option<(Box<Record>, Place)>,
    /// Things that were met behind it.
    behind: VecDeque<Raw>,
    /// The file, and archives inside of it that are yet to be read.
    inside: Option<(PathBuf, VecDeque<Entry>)>,
    /// Records of archives that were read already.
    before: u64,
}

impl Archive {
    fn open(path: &Path, from: Place, wanted: Wanted) -> Result<Archive> {
        Ok(Archive::of(Records::open(path, from)?, wanted, None))
    }

    fn of(records: Records, wanted: Wanted, inside: Option<(PathBuf, VecDeque<Entry>)>) -> Archive {
        Archive { records, wanted, pending: None, behind: VecDeque::new(), inside, before: 0 }
    }

    fn open_zip(path: &Path, from: Place, wanted: Wanted) -> Result<Archive> {
        let mut entries: VecDeque<Entry> = zip::entries(path)?.into();
        entries.retain(|entry| {
            let name = entry.name.to_ascii_lowercase();
            name.ends_with(".warc") || name.ends_with(".warc.gz") || name.ends_with(".warc.zst")
        });
        let first = entries.pop_front().with_context(|| format!("there is no archive in {}", path.display()))?;
        let records = Records::open_inside(path, &first, Place::default())?;
        let mut archive = Archive::of(records, wanted, Some((path.to_owned(), entries)));
        while archive.place().records < from.records && archive.next().is_some() {}
        Ok(archive)
    }

    fn place(&self) -> Place {
        match &self.pending {
            Some((_, place)) => *place,
            None => self.reached(),
        }
    }

    fn reached(&self) -> Place {
        let place = self.records.place();
        // A byte inside of a file inside of a file is of no use.
        let byte = if self.inside.is_some() { None } else { place.byte };
        Place { records: self.before + place.records, byte }
    }

    fn next(&mut self) -> Option<Raw> {
        loop {
            if self.pending.is_none()
                && let Some(raw) = self.behind.pop_front()
            {
                return Some(raw);
            }
            let place = self.reached();
            let Some(met) = self.records.next(|head| self.wanted.of(head)) else {
                if let Some((record, _)) = self.pending.take() {
                    return Some(Raw::Record(record, None));
                }
                if !self.open_next() {
                    return None;
                }
                continue;
            };
            match met {
                Met::Record(record) if record.head.kind() == "metadata" => {
                    self.behind.push_back(Raw::LeftOut("metadata"));
                    let is_about = |pending: &Record| {
                        let id = pending.head.get("warc-record-id");
                        let refers = ["warc-refers-to", "warc-concurrent-to"].map(|name| record.head.get(name));
                        id.is_some() && refers.contains(&id)
                    };
                    if let Some((pending, _)) = self.pending.take_if(|(pending, _)| is_about(pending)) {
                        return Some(Raw::Record(pending, Some(Head::parse(&record.block))));
                    }
                }
                Met::Record(record) => {
                    let before = self.pending.replace((Box::new(record), place));
                    if let Some((record, _)) = before {
                        return Some(Raw::Record(record, None));
                    }
                }
                Met::Skipped(why) => self.behind.push_back(Raw::LeftOut(why)),
                Met::Damage(what) => {
                    log::warn!("record {}: {what}; going on behind it", place.records);
                    self.behind.push_back(Raw::LeftOut("damaged"));
                }
            }
            // A page is not kept waiting for notes that do not come.
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
            match Records::open_inside(path, &entry, Place::default()) {
                Ok(records) => {
                    self.records = records;
                    return true;
                }
                Err(error) => {
                    log::warn!("{}: {error}", entry.name);
                    self.behind.push_back(Raw::LeftOut("damaged"));
                }
            }
        }
        false
    }
}

/// Puts documents together from a vertical file.
pub struct Vertical {
    reader: vertical::Reader<Box<dyn BufRead + Send>>,
    /// Where word, lemma and tag stand in a line.
    columns: [usize; 4],
    number: u64,
    open: Option<Annotated>,
    ended: bool,
}

impl Vertical {
    fn new(path: &Path, columns: [usize; 4]) -> Result<Vertical> {
        let reader = vertical::Reader::new(archive::open(path)?, path);
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
                    let before = self.open.replace(Annotated { about, paragraphs: Vec::new() });
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
                Event::Token(line) => {
                    let cells: Vec<&str> = line.split('\t').collect();
                    let [word, lemma, tag, given] =
                        self.columns.map(|at| cells.get(at).map(|cell| vertical::unescape(cell)).unwrap_or_default());
                    // A fourth column may be anything in files of others.
                    let feats = feats::canonical(&given).unwrap_or_default().into_owned();
                    let paragraph = paragraph(&mut self.open);
                    if paragraph.sentences.is_empty() {
                        paragraph.sentences.push(Vec::new());
                    }
                    let before = paragraph.sentences.iter_mut().rev().find_map(|sentence| sentence.last_mut());
                    if let (true, Some(before)) = (std::mem::take(&mut glued), before) {
                        before.space_after = false;
                    }
                    let sentence = paragraph.sentences.last_mut().expect("there is one now");
                    sentence.push(Token { word, lemma, tag, feats, space_after: true });
                    tokens += 1;
                    if tokens > MAX_TOKENS {
                        let before = self.open.take();
                        let mut about = before.as_ref().map(|document| document.about.clone()).unwrap_or_default();
                        // Pieces of a document are documents of their own.
                        about.fields.retain(|(name, _)| name != NAME);
                        self.open = Some(Annotated { about, paragraphs: Vec::new() });
                        return Ok(self.whole(before));
                    }
                }
            }
        }
        let last = self.open.take();
        Ok(self.whole(last))
    }

    fn whole(&mut self, document: Option<Annotated>) -> Option<Raw> {
        let document = document?;
        self.number += 1;
        Some(Raw::Annotated(Box::new(document), self.number))
    }
}

fn paragraph(open: &mut Option<Annotated>) -> &mut AnnotatedParagraph {
    let document = open.get_or_insert_default();
    if document.paragraphs.is_empty() {
        document.paragraphs.push(AnnotatedParagraph::default());
    }
    document.paragraphs.last_mut().expect("there is one now")
}
