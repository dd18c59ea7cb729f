//! Raw pages as WARC with a CDXJ index.
//!
//! The selected documents determine which pages are exported. Each day is read twice: its documents, of which eight
//! bytes each are kept in memory, then its pages.

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::Result;
use jiff::Timestamp;
use tidings_formats::cdxj::{self, RecordLocation};
use tidings_formats::warc;
use tidings_model::{Document, Page};
use tidings_store::output::Sink;
use tidings_store::pages::PageReader;
use tidings_store::sorted::Runs;
use xxhash_rust::xxh3::xxh3_64;

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
    /// Opens the file. Its first record has a fixed timestamp, because the same corpus must give the same bytes.
    pub fn begin(target: &mut ExportTarget) -> Result<Archive> {
        let (mut writer, name) = (warc::Writer::default(), target.name().to_owned());
        let software = format!("tidings/{}", env!("CARGO_PKG_VERSION"));
        // Records are compressed one by one; the file as a whole must not be compressed again.
        let mut sink = target.main_as_is()?;
        sink.push(&writer.info(&PathBuf::from(&name), &software, "see the manifest", Timestamp::UNIX_EPOCH))?;
        Ok(Archive { sink, writer, name, lines: Vec::new(), runs: Runs::new(target.scratch()), pages: 0 })
    }

    /// Adds the pages of files whose keys are selected.
    pub fn add(&mut self, files: &[PathBuf], wanted: &HashSet<u64>) -> Result<()> {
        if wanted.is_empty() {
            return Ok(());
        }
        for file in files {
            for page in PageReader::open(file)? {
                let page = page?;
                if wanted.contains(&key(&page.url, &page.downloaded)) {
                    self.page(&page)?;
                }
            }
        }
        Ok(())
    }

    fn page(&mut self, page: &Page) -> Result<()> {
        let records = self.writer.page(page);
        let place = RecordLocation {
            file: &self.name,
            offset: self.sink.len(),
            length: records.response.len() as u64,
            digest: &records.payload_digest,
        };
        self.lines.push(cdxj::line(page, place));
        self.sink.push(&records.response)?;
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
    use super::*;

    #[test]
    fn a_page_is_found_by_url_and_time_of_download() {
        let document = Document { url: "u".into(), downloaded: "t1".into(), ..Document::default() };
        assert_eq!(key_of(&document), key("u", "t1"));
        assert_ne!(key_of(&document), key("u", "t2"));
    }
}
