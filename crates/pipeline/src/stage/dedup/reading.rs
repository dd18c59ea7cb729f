//! Reading a day: its documents in the order of the files, with the text of those that are new.
//!
//! Of a day that has grown, most documents are known by their lines; these are not parsed.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;

use anyhow::Result;
use serde::Deserialize;
use tidings_dedup::{Level, Rule, Text};
use tidings_model::{Dated, Fingerprint};
use tidings_store::dedup_state::{DocsDay, JudgedDocument, Spool};
use tidings_store::docs::{self, DocumentReader};
use tidings_store::pages::PageReader;
use tidings_store::{Error, Home};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::DedupRun;
use super::amendment;
use super::judge::{Known, Waiting};
use crate::parallel::{self, Bounds};

/// The memory for reading a document, relative to its size: its text, words and n-grams.
const EXPANSION: usize = 6;
/// The minimum memory of a document.
const LEAST_WEIGHT: usize = 16 << 10;
/// The size of documents in progress.
const WEIGHT: usize = 64 << 20;
/// The size of documents that are prepared together: most of a day that has grown are known, and need next to nothing.
const BATCH_WEIGHT: usize = 2 << 20;

/// The part of a document that is compared. Imported tokens are many times as large as the text.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct DocumentText {
    id: String,
    url: String,
    site: String,
    dated: Option<Dated>,
    paragraphs: Vec<ParagraphText>,
}

/// The text of a paragraph.
#[derive(Deserialize)]
struct ParagraphText {
    text: String,
}

impl DocumentText {
    pub(super) fn text(&self, rule: &Rule) -> Text {
        Text::new(self.paragraphs.iter().map(|paragraph| paragraph.text.as_str()), rule)
    }
}

/// A line of a file of documents.
struct DocumentLine {
    lang: usize,
    number: u64,
    line: Vec<u8>,
}

/// The lines of the files of a day.
struct DocumentLines<'a> {
    files: std::iter::Enumerate<std::slice::Iter<'a, (String, PathBuf)>>,
    /// The file that is read, with its language and the number of its last line.
    open: Option<(usize, u64, DocumentReader)>,
}

impl DocumentLines<'_> {
    fn next(&mut self) -> Result<Option<DocumentLine>> {
        loop {
            if let Some((lang, number, reader)) = &mut self.open
                && let Some(line) = reader.next_line()?
            {
                *number += 1;
                return Ok(Some(DocumentLine { lang: *lang, number: *number, line }));
            }
            let Some((lang, (_, path))) = self.files.next() else { return Ok(None) };
            self.open = Some((lang, 0, DocumentReader::open(path)?));
        }
    }
}

/// A document that was read.
enum Prepared {
    /// A document that was judged before.
    Known,
    /// A new one, with its packed text.
    New(DocumentText, Vec<u8>),
}

/// The documents of a day in the order of the files.
struct Reading<'a> {
    day: &'a str,
    files: &'a [(String, PathBuf)],
    rule: &'a Rule,
    /// The checksums of raw pages, if pages are compared.
    pages: HashMap<u64, u64>,
    known: &'a mut Known,
    texts: &'a mut Spool,
    waiting: Vec<Waiting>,
}

impl Reading<'_> {
    fn take(&mut self, (read, key, prepared): (DocumentLine, u128, Result<Prepared>)) -> Result<()> {
        let (lang, (language, path)) = (read.lang, &self.files[read.lang]);
        let taken = self.known.by_key.get_mut(&(language.clone(), key)).and_then(VecDeque::pop_front);
        let prepared = match (prepared?, taken) {
            (Prepared::Known, Some(at)) => return self.take_known(&read, key, at),
            // A line that occurs more often than before.
            (Prepared::Known, None) => new_document(&read, path, self.rule)?,
            (new, _) => new,
        };
        let Prepared::New(document, bytes) = prepared else { unreachable!("known documents are handled above") };
        let place = self.texts.push(&bytes)?;
        let is_dated = document.dated.as_ref().is_some_and(amendment::is_published);
        let date = document.dated.map_or_else(|| self.day.to_owned(), |dated| dated.day);
        let page = self.pages.get(&xxh3_64(document.url.as_bytes())).copied();
        let url = Fingerprint::of(&document.url);
        let (id, site) = (document.id, document.site);
        self.waiting.push(Waiting { date, is_dated, id, site, lang, url, page, key, known: None, place });
        Ok(())
    }

    /// Adds a document that was judged before; `at` is its earlier judgement.
    fn take_known(&mut self, read: &DocumentLine, key: u128, at: usize) -> Result<()> {
        let JudgedDocument { verdict, is_dated, url, page, .. } = &self.known.documents[at];
        let (date, id, site) = (verdict.date.clone(), verdict.id.clone(), verdict.site.clone());
        let place = self.texts.push(&read.line)?;
        let (lang, is_dated, url) = (read.lang, *is_dated, Fingerprint(*url));
        let page = if self.pages.is_empty() { *page } else { page_of(&self.pages, &read.line)? };
        self.waiting.push(Waiting { date, is_dated, id, site, lang, url, page, key, known: Some(at), place });
        Ok(())
    }
}

impl DedupRun<'_> {
    /// Reads the documents of a day, and prepares those that are new on all cores.
    pub(super) fn read(
        &self,
        day: &DocsDay,
        files: &[(String, PathBuf)],
        texts: &mut Spool,
        known: &mut Known,
    ) -> Result<Vec<Waiting>> {
        let mut lines = DocumentLines { files: files.iter().enumerate(), open: None };
        let source = || {
            self.context.check_cancelled()?;
            let (mut batch, mut weight) = (Vec::new(), 0);
            while weight < BATCH_WEIGHT
                && let Some(line) = lines.next()?
            {
                weight += line.line.len() * EXPANSION + LEAST_WEIGHT;
                batch.push(line);
            }
            Ok(Some((batch, weight)).filter(|(batch, _)| !batch.is_empty()))
        };
        let rule = &self.rule;
        let keys: HashSet<(String, u128)> = known.by_key.keys().cloned().collect();
        let prepare_one = |read: DocumentLine| {
            let key = xxh3_128(&read.line);
            let prepared = match keys.contains(&(files[read.lang].0.clone(), key)) {
                true => Ok(Prepared::Known),
                false => new_document(&read, &files[read.lang].1, rule),
            };
            (read, key, prepared)
        };
        let prepare = |batch: Vec<DocumentLine>| batch.into_iter().map(prepare_one).collect::<Vec<_>>();
        let has_pages = rule.levels.has(Level::Page);
        let pages = if has_pages { page_checksums(&self.context.home, day)? } else { HashMap::new() };
        let mut reading = Reading { day: &day.name, files, rule, pages, known, texts, waiting: Vec::new() };
        let threads = super::super::threads(self.context.config.dedup.threads);
        parallel::ordered(Bounds { threads, weight: WEIGHT }, source, prepare, |batch| {
            batch.into_iter().try_for_each(|document| reading.take(document))
        })?;
        let Reading { known, waiting, .. } = reading;
        known.by_key.retain(|_, gone| !gone.is_empty());
        Ok(waiting)
    }
}

/// Parses a document and fingerprints its text.
fn new_document(read: &DocumentLine, path: &std::path::Path, rule: &Rule) -> Result<Prepared> {
    let document: DocumentText = serde_json::from_slice(&read.line).map_err(|error| Error::Line {
        path: path.to_owned(),
        line: read.number,
        fault: format!("is not a document ({error})"),
    })?;
    let mut bytes = Vec::new();
    document.text(rule).pack(&mut bytes);
    Ok(Prepared::New(document, bytes))
}

/// The checksums of a day's raw pages, by address.
fn page_checksums(home: &Home, day: &DocsDay) -> Result<HashMap<u64, u64>> {
    let mut checksums = HashMap::new();
    for path in docs::page_days(home)?.into_iter().filter(|known| known.name == day.name).flat_map(|known| known.files)
    {
        let mut reader = PageReader::open(&path)?;
        while let Some(line) = reader.next_line()? {
            let page = line.page(&path)?;
            checksums.insert(xxh3_64(page.url.as_bytes()), xxh3_64(&page.body));
        }
    }
    Ok(checksums)
}

/// The checksum of the raw page of a document.
fn page_of(pages: &HashMap<u64, u64>, line: &[u8]) -> Result<Option<u64>> {
    let document: DocumentText = serde_json::from_slice(line)?;
    Ok(pages.get(&xxh3_64(document.url.as_bytes())).copied())
}
