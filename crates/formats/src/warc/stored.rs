//! Records of stored pages.
//!
//! A page that was downloaded becomes a `response` record. A text or file that was imported never came as an HTTP
//! response that is known: it becomes a `resource` record, and the text of an imported `conversion` record (WET) becomes
//! one again. None of them gets an invented HTTP header.

use std::fmt::Write as _;

use jiff::Timestamp;
use tidings_model::{CONVERSION, DOCUMENT_TYPE, Document, Page, PageOrigin};

use super::write::{HeaderBuilder, Writer, sha1};

/// The records of a stored page.
pub struct PageRecords {
    /// The page itself.
    pub page: Vec<u8>,
    /// The metadata of the crawl or import.
    pub metadata: Vec<u8>,
    /// The digest of the body.
    pub payload_digest: String,
    /// The media type of the body, without parameters.
    pub mime: String,
    /// The status of the response, if the record is one.
    pub status: Option<u16>,
}

/// The type of the record that holds a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordType {
    /// An HTTP response.
    Response,
    /// A file or text without a known HTTP response.
    Resource,
    /// The plain text of a page.
    Conversion,
}

impl RecordType {
    fn of(page: &Page) -> RecordType {
        let mut parameters = page.content_type.split(';').map(str::trim);
        let is_document = parameters.next() == Some(DOCUMENT_TYPE);
        let url = url_of(page);
        match is_document {
            true if parameters.any(|parameter| parameter == CONVERSION) => RecordType::Conversion,
            true => RecordType::Resource,
            // The text in a feed is no response of the page, which the server refused.
            false if page.origin == PageOrigin::Feed => RecordType::Resource,
            false if page.status == 0 || !(url.starts_with("http://") || url.starts_with("https://")) => {
                RecordType::Resource
            }
            false => RecordType::Response,
        }
    }

    fn name(self) -> &'static str {
        match self {
            RecordType::Response => "response",
            RecordType::Resource => "resource",
            RecordType::Conversion => "conversion",
        }
    }
}

impl Writer {
    /// The records of a stored page: the page, and the metadata of the crawl. Only some headers of a response were
    /// stored, and the content encoding was removed, so its header is reconstructed, with a note; the request is not
    /// stored with pages.
    pub fn page(&mut self, page: &Page) -> PageRecords {
        let (kind, url) = (RecordType::of(page), target_uri(page));
        let date = page.downloaded.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let mut head = HeaderBuilder::new(kind.name(), &url, date);
        let id = head.id.clone();
        head.line("WARC-Target-URI", &url);
        let (record, payload_digest) = match kind {
            RecordType::Response => {
                let payload_digest = sha1(&[&page.body]);
                head.line("WARC-Payload-Digest", &payload_digest);
                head.line("Content-Type", "application/http; msgtype=response");
                (self.record(head, &[response_head(page).as_bytes(), &page.body]), payload_digest)
            }
            RecordType::Resource => {
                let payload_digest = sha1(&[&page.body]);
                head.line("WARC-Payload-Digest", &payload_digest);
                if !page.content_type.is_empty() {
                    head.line("Content-Type", &on_one_line(&page.content_type));
                }
                (self.record(head, &[&page.body]), payload_digest)
            }
            RecordType::Conversion => {
                let document: Document = serde_json::from_slice(&page.body).unwrap_or_default();
                let text = lines_of(&document);
                let payload_digest = sha1(&[text.as_bytes()]);
                head.line("WARC-Payload-Digest", &payload_digest);
                if !document.about.language.is_empty() {
                    head.line("WARC-Identified-Content-Language", &on_one_line(&document.about.language));
                }
                head.line("Content-Type", "text/plain; charset=utf-8");
                (self.record(head, &[text.as_bytes()]), payload_digest)
            }
        };
        let mut head = HeaderBuilder::new("metadata", &url, date);
        head.line("WARC-Target-URI", &url);
        head.line("WARC-Refers-To", &id);
        head.line("Content-Type", "application/warc-fields");
        let metadata = self.record(head, &[fields(page, kind).as_bytes()]);
        let mime = match kind {
            RecordType::Conversion => "text/plain",
            _ => page.content_type.split(';').next().unwrap_or_default().trim(),
        };
        let status = (kind == RecordType::Response).then_some(page.status);
        PageRecords { page: record, metadata, payload_digest, mime: mime.to_owned(), status }
    }
}

/// The URL of a page after redirects.
fn url_of(page: &Page) -> &str {
    if page.final_url.is_empty() { &page.url } else { &page.final_url }
}

/// The URI of a page in records: its URL after redirects, with everything that a URI cannot contain percent-encoded.
/// Names of imported texts are file names, which may contain anything.
pub fn target_uri(page: &Page) -> String {
    let mut uri = String::new();
    for c in url_of(page).chars().filter(|c| !c.is_control()) {
        if c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}') {
            uri.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// The reconstructed header of the response.
fn response_head(page: &Page) -> String {
    let mut head = format!("HTTP/1.1 {} \r\n", page.status);
    if !page.content_type.is_empty() {
        let _ = write!(head, "content-type: {}\r\n", on_one_line(&page.content_type));
    }
    for (name, value) in page.headers.iter().chain(&page.rights.headers) {
        let _ = write!(head, "{}: {}\r\n", on_one_line(name), on_one_line(value));
    }
    let _ = write!(head, "content-length: {}\r\n\r\n", page.body.len());
    head
}

/// The block of the metadata record.
fn fields(page: &Page, kind: RecordType) -> String {
    let mut fields = String::new();
    if kind == RecordType::Response {
        fields.push_str("note: the header of the response was reconstructed from the stored fields\r\n");
    }
    if page.origin == PageOrigin::Feed {
        let _ = write!(
            fields,
            "note: the server answered {}; this is the text of the article in its feed\r\n",
            page.status
        );
    }
    let rights =
        if page.rights.is_empty() { String::new() } else { serde_json::to_string(&page.rights).unwrap_or_default() };
    let revises = page.revises.join(" ");
    let known = [
        ("planUrl", &page.url),
        ("feed", &page.feed),
        ("title", &page.title),
        ("published", &page.published),
        ("seen", &page.seen),
        ("revises", &revises),
        ("rights", &rights),
    ];
    for (name, value) in known.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(fields, "{name}: {}\r\n", on_one_line(value));
    }
    fields
}

/// The lines of an imported text in their order, including those that are not part of the document.
fn lines_of(document: &Document) -> String {
    let mut text = String::new();
    let mut left_out = document.left_out.iter().peekable();
    for number in 0..=document.paragraphs.len() {
        while let Some(line) = left_out.next_if(|line| line.after <= number) {
            let _ = writeln!(text, "{}", line.paragraph.text);
        }
        if let Some(paragraph) = document.paragraphs.get(number) {
            let _ = writeln!(text, "{}", paragraph.text);
        }
    }
    text
}

fn on_one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use tidings_model::{DroppedParagraph, Paragraph};

    use super::*;
    use crate::warc::{Position, RecordEvent, RecordReader};

    /// The records of a page as a reader returns them: type, header and block.
    fn records(page: &Page) -> Vec<(String, super::super::Headers, Vec<u8>)> {
        let records = Writer::default().page(page);
        let file = [records.page, records.metadata].concat();
        let mut reader = RecordReader::new(std::io::Cursor::new(file), Position::default()).unwrap();
        let mut read = Vec::new();
        while let Some(event) = reader.next(|_| Ok(1 << 20)) {
            let RecordEvent::Record(record) = event else { panic!("{event:?}") };
            assert_eq!(record.is_sound(), Some(true));
            read.push((record.head.kind().to_owned(), record.head, record.block));
        }
        read
    }

    fn page(url: &str, content_type: &str, status: u16, body: &[u8]) -> Page {
        let (content_type, body) = (content_type.to_owned(), body.to_vec());
        let downloaded = "2026-03-01T12:00:00.000Z".to_owned();
        Page { url: url.to_owned(), content_type, status, body, downloaded, ..Page::default() }
    }

    #[test]
    fn a_downloaded_page_is_a_response_with_its_status() {
        let read = records(&page("https://e.org/1", "text/html", 203, b"<p>x"));
        assert_eq!(read.iter().map(|record| record.0.as_str()).collect::<Vec<_>>(), ["response", "metadata"]);
        assert!(read[0].2.starts_with(b"HTTP/1.1 203 \r\ncontent-type: text/html\r\n"));
        assert_eq!(read[1].1.get("warc-refers-to"), read[0].1.get("warc-record-id"));
    }

    #[test]
    fn texts_and_files_that_were_imported_are_resources_without_an_http_header() {
        let cases = [
            page("https://e.org/1", DOCUMENT_TYPE, 200, b"{}"),
            page("https://e.org/1", &format!("{DOCUMENT_TYPE}; gate=off"), 0, b"{}"),
            page("https://e.org/1", "text/html", 0, b"<p>saved"),
            page("import:my files/a.html", "text/html", 200, b"<p>saved"),
        ];
        for page in cases {
            let read = records(&page);
            assert_eq!(read[0].0, "resource", "{page:?}");
            assert_eq!(read[0].1.get("content-type"), Some(page.content_type.as_str()));
            assert_eq!(read[0].2, page.body);
            assert!(!String::from_utf8_lossy(&read[1].2).contains("note:"));
        }
    }

    #[test]
    fn the_text_of_a_conversion_record_becomes_one_again() {
        let plain = |text: &str| Paragraph { text: text.to_owned(), ..Paragraph::default() };
        let short = |after, text: &str| DroppedParagraph { after, reason: "short-line".into(), paragraph: plain(text) };
        let mut document = Document { paragraphs: vec![plain("One long line."), plain("Two.")], ..Document::default() };
        document.left_out = vec![short(0, "Home"), short(1, "Menu"), short(2, "End")];
        document.about.language = "eng".to_owned();
        let body = serde_json::to_vec(&document).unwrap();
        let read = records(&page("https://e.org/1", &format!("{DOCUMENT_TYPE}; {CONVERSION}"), 0, &body));
        assert_eq!(
            (read[0].0.as_str(), read[0].1.get("content-type")),
            ("conversion", Some("text/plain; charset=utf-8"))
        );
        assert_eq!(read[0].1.get("warc-identified-content-language"), Some("eng"));
        assert_eq!(String::from_utf8_lossy(&read[0].2), "Home\nOne long line.\nMenu\nTwo.\nEnd\n");
    }

    #[test]
    fn a_target_uri_has_only_characters_of_uris() {
        let named = |url: &str| target_uri(&page(url, "", 0, b""));
        assert_eq!(named("https://e.org/a?b=%C3%A9#c"), "https://e.org/a?b=%C3%A9#c");
        assert_eq!(named("import:my \"files\"/é.vert#1"), "import:my%20%22files%22/%C3%A9.vert#1");
    }

    #[test]
    fn the_text_of_a_feed_is_a_resource_and_no_response() {
        let page = Page {
            url: "http://e.org/1".into(),
            status: 403,
            content_type: "text/html; charset=utf-8".into(),
            origin: PageOrigin::Feed,
            body: b"<p>text</p>".to_vec(),
            ..Page::default()
        };
        let of_feed = records(&page);
        assert_eq!((of_feed[0].0.as_str(), &of_feed[0].2[..]), ("resource", &b"<p>text</p>"[..]));
        assert_eq!(of_feed[0].1.get("content-type"), Some("text/html; charset=utf-8"));
        let metadata = String::from_utf8_lossy(&of_feed[1].2).into_owned();
        assert!(metadata.contains("note: the server answered 403; this is the text"), "{metadata}");
        assert_eq!(records(&Page { origin: PageOrigin::Web, ..page })[0].0, "response");
    }
}
