//! Web pages of WARC and WET files.
//!
//! Archives are larger than memory and often truncated or damaged; an unusable record is skipped, and an unreadable
//! position ends the file.

use std::path::Path;

use super::read::{Position, RecordEvent, RecordReader};
use super::record::{Headers, Record};
use crate::error::Result;

/// Longer records are not web pages.
pub(crate) const MAX_RECORD_BYTES: u64 = 16 << 20;

/// A page in an archive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchivedPage {
    /// Its address.
    pub url: String,
    /// True if it contains only text (WET).
    pub is_text: bool,
    /// The content encodings that the body still has.
    pub encodings: String,
    /// The header `X-Robots-Tag`; several are joined with commas.
    pub robots_tag: String,
    /// The body.
    pub body: Vec<u8>,
}

/// Reads the HTML pages (or texts) of a WARC or WET file one at a time.
pub struct PageReader {
    records: RecordReader,
}

impl PageReader {
    /// Opens an archive.
    pub fn open(path: &Path) -> Result<PageReader> {
        Ok(PageReader { records: RecordReader::open(path, Position::default())? })
    }
}

impl Iterator for PageReader {
    type Item = ArchivedPage;

    fn next(&mut self) -> Option<ArchivedPage> {
        let wanted = |head: &Headers| match head.kind() {
            "response" | "conversion" | "resource" => Ok(MAX_RECORD_BYTES),
            _ => Err("kind"),
        };
        loop {
            if let RecordEvent::Record(record) = self.records.next(wanted)?
                && let Some(page) = page_of(record)
            {
                return Some(page);
            }
        }
    }
}

fn page_of(record: Record) -> Option<ArchivedPage> {
    let url = record.head.target()?.to_owned();
    match record.head.kind() {
        "conversion" if !record.block.is_empty() => {
            Some(ArchivedPage { url, is_text: true, body: record.block, ..ArchivedPage::default() })
        }
        "resource" if record.head.get("content-type").is_some_and(|kind| kind.contains("html")) => {
            Some(ArchivedPage { url, body: record.block, ..ArchivedPage::default() })
        }
        "response" => {
            let answer = record.answer()?;
            let headers = &answer.headers;
            let is_html = headers.get("content-type").is_none_or(|kind| kind.to_ascii_lowercase().contains("html"));
            if !is_html || !(200..300).contains(&answer.status) {
                return None;
            }
            let encodings = headers.get("content-encoding").unwrap_or_default().to_owned();
            let tags: Vec<&str> = headers.iter().filter(|line| line.0 == "x-robots-tag").map(|line| line.1).collect();
            let robots_tag = tags.join(", ");
            Some(ArchivedPage { url, is_text: false, encodings, robots_tag, body: answer.body })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::testing::record;
    use std::fs::File;
    use std::io::Write as _;

    #[test]
    fn pages_of_an_archive_are_read_and_the_rest_is_skipped() {
        let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>a</html>";
        let chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n2\r\nab\r\n0\r\n\r\n";
        let picture = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nPNG";
        let gone = "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<html>";
        let text = [
            record("warcinfo", "", "software: x"),
            record("response", "https://a.example/", html),
            record("request", "https://a.example/", "GET / HTTP/1.1\r\n\r\n"),
            record("response", "https://a.example/b", chunked),
            record("response", "https://a.example/c.png", picture),
            record("response", "https://a.example/d", gone),
            record("conversion", "https://a.example/e", "only text"),
        ]
        .concat();
        let folder = tempfile::tempdir().unwrap();
        let (plain, packed) = (folder.path().join("a.warc"), folder.path().join("a.warc.gz"));
        std::fs::write(&plain, &text).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(File::create(&packed).unwrap(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap();
        for path in [plain, packed] {
            let pages: Vec<ArchivedPage> = PageReader::open(&path).unwrap().collect();
            let summary: Vec<_> = pages.iter().map(|page| (page.url.as_str(), &page.body[..], page.is_text)).collect();
            assert_eq!(
                summary,
                [
                    ("https://a.example/", &b"<html>a</html>"[..], false),
                    ("https://a.example/b", b"<p>ab", false),
                    ("https://a.example/e", b"only text", true),
                ]
            );
        }
    }

    #[test]
    fn a_damaged_archive_ends_at_the_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc");
        let whole = record("conversion", "https://a.example/", "text");
        std::fs::write(&path, format!("{whole}garbage\r\n{whole}")).unwrap();
        assert_eq!(PageReader::open(&path).unwrap().count(), 1);
        std::fs::write(&path, b"").unwrap();
        assert_eq!(PageReader::open(&path).unwrap().count(), 0);
    }

    #[test]
    fn written_records_are_read_back() {
        let exchange = super::super::Exchange {
            url: "https://a.example/",
            date: jiff::Timestamp::UNIX_EPOCH,
            ip: None,
            request: b"GET / HTTP/1.1\r\n\r\n",
            response: b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n",
            body: b"<html>a</html>",
            metadata: "x: y\r\n",
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc.gz");
        std::fs::write(&path, super::super::Writer::default().exchange(&exchange)).unwrap();
        let pages: Vec<ArchivedPage> = PageReader::open(&path).unwrap().collect();
        assert_eq!((pages.len(), &pages[0].body[..]), (1, &b"<html>a</html>"[..]));
    }
}
