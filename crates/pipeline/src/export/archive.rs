//! Raw pages as WARC with a CDXJ index.
//!
//! The selected documents determine which pages are exported. Each day is read twice: its documents, of which eight
//! bytes each are kept in memory, then its pages. The original exchange is copied if it was stored (`fetch.warc`).

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Result;
use tidings_formats::cdxj::{self, RecordLocation};
use tidings_formats::warc::{self, PageRecords};
use tidings_model::{Document, Page, clock};
use tidings_store::output::Sink;
use tidings_store::pages::PageReader;
use tidings_store::sorted::Runs;
use xxhash_rust::xxh3::xxh3_64;

use super::exchanges::Exchanges;
use super::manifest::Figures;
use super::target::ExportTarget;

/// Lines of the index that are sorted in memory.
const WAITING_LINES: usize = 200_000;

/// The key of the page of a document within its day: a hash of the URL and the time of download.
pub fn key_of(document: &Document) -> u64 {
    key(&document.url, &document.downloaded)
}

fn key(url: &str, downloaded: &str) -> u64 {
    xxh3_64(format!("{url}\n{downloaded}").as_bytes())
}

/// A WARC file that is being written.
pub struct Archive {
    sink: Sink,
    writer: warc::Writer,
    name: String,
    lines: Vec<String>,
    runs: Runs,
    pages: u64,
}

impl Archive {
    /// Opens the file. The date of its first record is that of the export, as the standard requires.
    pub fn begin(target: &mut ExportTarget, operator: &str) -> Result<Archive> {
        let (mut writer, name) = (warc::Writer::default(), target.name().to_owned());
        let software = format!("Tidings/{}", env!("CARGO_PKG_VERSION"));
        // Records are compressed one by one; the file as a whole must not be compressed again.
        let mut sink = target.main_as_is()?;
        sink.push(&writer.info(&PathBuf::from(&name), &software, operator, clock::now()))?;
        Ok(Archive { sink, writer, name, lines: Vec::new(), runs: Runs::new(target.scratch()), pages: 0 })
    }

    /// Adds the pages of files whose keys are selected.
    pub fn add(&mut self, files: &[PathBuf], wanted: &HashSet<u64>) -> Result<()> {
        if wanted.is_empty() {
            return Ok(());
        }
        for file in files {
            let mut exchanges = Exchanges::of(file)?;
            for page in PageReader::open(file)? {
                let page = page?;
                if wanted.contains(&key(&page.url, &page.downloaded)) {
                    let records = match &mut exchanges {
                        Some(exchanges) => exchanges.of_page(&page)?,
                        None => None,
                    };
                    let records = records.unwrap_or_else(|| self.writer.page(&page));
                    self.page(&page, &records)?;
                }
            }
        }
        Ok(())
    }

    fn page(&mut self, page: &Page, records: &PageRecords) -> Result<()> {
        let place = RecordLocation {
            file: &self.name,
            offset: self.sink.len(),
            length: records.page.len() as u64,
            digest: &records.payload_digest,
            mime: &records.mime,
            status: records.status,
        };
        self.lines.push(cdxj::line(page, place));
        self.sink.push(&records.page)?;
        self.sink.push(&records.metadata)?;
        self.pages += 1;
        if self.lines.len() >= WAITING_LINES { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        self.lines.sort_unstable();
        self.runs.add(self.lines.iter())?;
        self.lines.clear();
        Ok(())
    }

    /// Ends the file and writes its index.
    pub fn finish(mut self, target: &mut ExportTarget) -> Result<Figures> {
        self.spill()?;
        target.end(self.sink)?;
        if let Some(mut index) = target.file(".cdxj")? {
            let mut merged = self.runs.merge()?;
            while let Some(line) = merged.next()? {
                index.push(line)?;
            }
            target.end(index)?;
        }
        Ok(Figures::Pages { pages: self.pages })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tidings_formats::warc::{Position, Record, RecordEvent, RecordReader};

    use super::super::{Destination, ExportFormat, Options, run};
    use super::*;
    use crate::{Pipeline, import, test_home};

    #[test]
    fn a_page_is_found_by_url_and_time_of_download() {
        let document = Document { url: "u".into(), downloaded: "t1".into(), ..Document::default() };
        assert_eq!(key_of(&document), key("u", "t1"));
        assert_ne!(key_of(&document), key("u", "t2"));
    }

    const TEXT: &str = "The harbour master of the island counted forty ships on the first day of the year, which is more \
        than in any year before, and he wrote their names into the book that lies in the tower.";

    fn exported(pipeline: &Pipeline, path: &Path, no_duplicates: bool) -> Vec<Record> {
        let options = Options { no_duplicates, force: true, ..Options::new(ExportFormat::Warc) };
        run(pipeline, &options, Destination::Path(path.to_owned()), &mut |_| {}).unwrap();
        let mut reader = RecordReader::open(path, Position::default()).unwrap();
        let mut records = Vec::new();
        while let Some(event) = reader.next(|_| Ok(1 << 20)) {
            let RecordEvent::Record(record) = event else { panic!("{event:?}") };
            assert_eq!(record.is_sound(), Some(true));
            records.push(record);
        }
        records
    }

    fn kinds(records: &[Record]) -> Vec<&str> {
        records.iter().map(|record| record.head.kind()).collect()
    }

    /// Imports files into a home and runs the derived stages.
    fn import_all(pipeline: &Pipeline, paths: Vec<PathBuf>) {
        import::run(pipeline, &import::Options { no_gate: true, ..import::Options::new(paths) }).unwrap();
        test_home::run_derived(pipeline);
    }

    fn documents(pipeline: &Pipeline) -> Vec<Document> {
        let days = tidings_store::docs::document_days(pipeline.home()).unwrap();
        let recipes = days.iter().filter_map(|day| tidings_store::docs::Recipe::read(pipeline.home(), day).unwrap());
        let files =
            recipes.flat_map(|recipe| recipe.document_files().map(|file| file.file.clone()).collect::<Vec<_>>());
        let mut documents = Vec::new();
        for file in files {
            let mut reader = tidings_store::docs::DocumentReader::open_in(pipeline.home(), &file).unwrap();
            while let Some(line) = reader.next_line().unwrap() {
                documents.push(serde_json::from_slice(&line).unwrap());
            }
        }
        documents.sort_by(|a: &Document, b| a.url.cmp(&b.url));
        documents
    }

    #[test]
    fn imported_texts_are_resources_and_conversions_and_come_back_unchanged() {
        let (folder, pipeline) = test_home::empty();
        let root = folder.path();
        let put = |name: &str, bytes: String| {
            std::fs::write(root.join(name), bytes).unwrap();
            root.join(name)
        };
        let other = TEXT.replace("forty", "fifty");
        let wet = format!("Menu\n{other}\n");
        let paths = vec![
            put("my texts.jsonl", format!("{{\"text\":\"{TEXT}\",\"downloaded\":\"2026-03-01T00:00:00.000Z\"}}\n")),
            put(
                "a.warc.wet",
                format!(
                    "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://e.org/1\r\n\
                     WARC-Date: 2026-03-02T00:00:00Z\r\nContent-Length: {}\r\n\r\n{wet}\r\n\r\n",
                    wet.len()
                ),
            ),
        ];
        import_all(&pipeline, paths);
        let records = exported(&pipeline, &root.join("out.warc.gz"), false);
        assert_eq!(kinds(&records), ["warcinfo", "resource", "metadata", "conversion", "metadata"]);
        assert_ne!(records[0].head.date().unwrap(), jiff::Timestamp::UNIX_EPOCH, "the file has a date");
        assert_eq!(records[1].head.target(), Some("import:my%20texts.jsonl#1"));
        assert_eq!(records[3].block, wet.as_bytes());
        let index = std::fs::read_to_string(root.join("out.warc.gz.cdxj")).unwrap();
        assert!(!index.contains("status"), "{index}");

        let (_other_folder, second) = test_home::empty();
        import_all(&second, vec![root.join("out.warc.gz")]);
        assert_eq!(documents(&second), documents(&pipeline));
        assert_eq!(documents(&second).len(), 2);
    }

    #[test]
    fn duplicates_are_in_unless_they_are_left_out() {
        let (folder, pipeline) = test_home::empty();
        let first = test_home::articles().swap_remove(0);
        let url = "https://courier.example/copy".to_owned();
        let second = Page { url: url.clone(), final_url: url, ..first.clone() };
        test_home::put_pages(pipeline.home().root(), "2026-03-01", "a.0", &[first, second]);
        test_home::run_derived(&pipeline);
        let path = folder.path().join("out.warc.gz");
        let pages = |no_duplicates| {
            let records = exported(&pipeline, &path, no_duplicates);
            records.iter().filter(|record| record.head.kind() == "response").count()
        };
        assert_eq!((pages(false), pages(true)), (2, 1));
    }

    #[test]
    fn revisions_and_rights_come_back_unchanged() {
        let (folder, pipeline) = test_home::empty();
        let mut first = test_home::articles().swap_remove(0);
        first.rights.tdmrep = Some("1".to_owned());
        let downloaded = "2026-03-01T23:59:59.000Z".to_owned();
        let second = Page { revises: vec![first.downloaded.clone()], downloaded, ..first.clone() };
        test_home::put_pages(pipeline.home().root(), "2026-03-01", "a.0", &[first, second]);
        test_home::run_derived(&pipeline);
        let path = folder.path().join("out.warc.gz");
        exported(&pipeline, &path, false);
        let (_other_folder, other) = test_home::empty();
        import_all(&other, vec![path]);
        let documents = documents(&other);
        assert_eq!(documents, self::documents(&pipeline));
        assert_eq!(documents.iter().filter(|document| !document.revises.is_empty()).count(), 1);
        assert_eq!(documents[0].rights.tdmrep.as_deref(), Some("1"));
    }
}
