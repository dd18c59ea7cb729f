//! Exchanges that were stored as WARC during the download.
//!
//! They have what pages lack: the request, all headers of the response, and the body with its content encoding.

use std::collections::HashMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tidings_formats::warc::{Headers, PageRecords, Position, RecordEvent, RecordReader};
use tidings_model::Page;
use tidings_storage::Source;
use tidings_store::{pages, rfc3339};

/// Longer HTTP headers and responses are not read from exchanges.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// The exchanges of a file of pages.
pub struct Exchanges {
    path: PathBuf,
    file: Source,
    /// By the URL after redirects and the time of the download.
    records: HashMap<(String, String), Stored>,
}

/// The position of the records of an exchange.
struct Stored {
    response: Range<u64>,
    /// The end of the records that follow the response: request and metadata.
    end: u64,
    payload_digest: String,
    mime: String,
    status: u16,
}

impl Exchanges {
    /// Finds the exchanges of a file of pages; `None` if none were stored.
    pub fn of(pages: &Path) -> Result<Option<Exchanges>> {
        let path = pages::archive_of(pages);
        if !path.exists() {
            return Ok(None);
        }
        let file = Source::stored(&path)?;
        let records = positions(&path)?;
        Ok(Some(Exchanges { path, file, records }))
    }

    /// Copies the records of a page; `None` if its exchange was not stored.
    pub fn of_page(&mut self, page: &Page) -> Result<Option<PageRecords>> {
        let url = if page.final_url.is_empty() { &page.url } else { &page.final_url };
        let Some(stored) = self.records.get(&(url.clone(), page.downloaded.clone())) else { return Ok(None) };
        let mut bytes = vec![0; (stored.end - stored.response.start) as usize];
        self.file
            .seek(SeekFrom::Start(stored.response.start))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .with_context(|| format!("cannot read {}", self.path.display()))?;
        let behind = bytes.split_off((stored.response.end - stored.response.start) as usize);
        Ok(Some(PageRecords {
            page: bytes,
            metadata: behind,
            payload_digest: stored.payload_digest.clone(),
            mime: stored.mime.clone(),
            status: Some(stored.status),
        }))
    }
}

/// The positions of all exchanges. Damaged records are skipped: their pages are exported without the exchange.
fn positions(path: &Path) -> Result<HashMap<(String, String), Stored>> {
    let mut reader = RecordReader::new(Source::stored(path)?, Position::default())?;
    let mut records = HashMap::new();
    let mut open: Option<((String, String), Stored)> = None;
    let mut start = Some(0);
    loop {
        let is_response = |head: &Headers| if head.kind() == "response" { Ok(MAX_RECORD_BYTES) } else { Err("other") };
        let event = reader.next(is_response);
        let end = reader.place().byte;
        match (event, start, end) {
            (None, ..) => {
                records.extend(open);
                return Ok(records);
            }
            (Some(RecordEvent::Record(record)), Some(from), Some(to)) => {
                records.extend(open.take());
                let head = &record.head;
                let key = head.target().zip(head.date()).map(|(url, date)| (url.to_owned(), rfc3339(date)));
                let is_sound = record.is_sound() != Some(false);
                if let (Some(key), Some(answer), true) = (key, record.answer(), is_sound) {
                    let mime = answer.headers.get("content-type").and_then(|kind| kind.split(';').next());
                    let stored = Stored {
                        response: from..to,
                        end: to,
                        payload_digest: head.get("warc-payload-digest").unwrap_or_default().to_owned(),
                        mime: mime.unwrap_or_default().trim().to_owned(),
                        status: answer.status,
                    };
                    open = Some((key, stored));
                }
            }
            // A request or metadata record directly after its response.
            (Some(RecordEvent::Skipped(_)), Some(from), Some(to)) => match &mut open {
                Some((_, stored)) if stored.end == from => stored.end = to,
                _ => records.extend(open.take()),
            },
            (Some(_), ..) => records.extend(open.take()),
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use tidings_formats::warc::{Exchange, Writer};

    use super::*;

    fn exchange(url: &str, millis: i64, body: &[u8]) -> Vec<u8> {
        Writer::default().exchange(&Exchange {
            url,
            date: jiff::Timestamp::from_microsecond(millis * 1000 + 7).unwrap(),
            ip: None,
            request: b"GET / HTTP/1.1\r\nuser-agent: tidings\r\n\r\n",
            response: b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\r\n",
            body,
            metadata: "feed: f\r\n",
        })
    }

    fn page(url: &str, millis: i64) -> Page {
        let downloaded = rfc3339(jiff::Timestamp::from_millisecond(millis).unwrap());
        Page { url: "https://e.org/listed".to_owned(), final_url: url.to_owned(), downloaded, ..Page::default() }
    }

    #[test]
    fn the_exchange_of_a_page_is_copied_with_its_request() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("run.0.jsonl.zst");
        assert!(Exchanges::of(&pages).unwrap().is_none());
        let info = Writer::default().info(Path::new("a"), "Tidings", "", jiff::Timestamp::UNIX_EPOCH);
        let first = exchange("https://e.org/1", 1000, b"<p>one");
        let second = exchange("https://e.org/1", 2000, b"<p>two");
        std::fs::write(pages::archive_of(&pages), [info, first.clone(), second.clone()].concat()).unwrap();
        let mut exchanges = Exchanges::of(&pages).unwrap().unwrap();
        for (millis, expected) in [(2000, &second), (1000, &first)] {
            let copied = exchanges.of_page(&page("https://e.org/1", millis)).unwrap().unwrap();
            assert_eq!([&copied.page[..], &copied.metadata[..]].concat(), *expected);
            assert_eq!((copied.mime.as_str(), copied.status), ("text/html", Some(200)));
            assert!(copied.payload_digest.starts_with("sha1:"));
        }
        assert!(exchanges.of_page(&page("https://e.org/1", 3000)).unwrap().is_none());
        assert!(exchanges.of_page(&page("https://e.org/2", 1000)).unwrap().is_none());
    }

    #[test]
    fn a_damaged_exchange_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("run.0.jsonl.zst");
        let (mut first, second) =
            (exchange("https://e.org/1", 1000, b"<p>one"), exchange("https://e.org/2", 1, b"<p>"));
        first[40] ^= 0x55;
        std::fs::write(pages::archive_of(&pages), [first, second].concat()).unwrap();
        let mut exchanges = Exchanges::of(&pages).unwrap().unwrap();
        assert!(exchanges.of_page(&page("https://e.org/1", 1000)).unwrap().is_none());
        assert!(exchanges.of_page(&page("https://e.org/2", 1)).unwrap().is_some());
    }
}
