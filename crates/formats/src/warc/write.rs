//! Writer of WARC 1.1: each exchange as request, response and metadata records, each record a separate gzip member, so
//! that tools can seek to it.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use libdeflater::{CompressionLvl, Compressor};
use sha1::{Digest, Sha1};
use tidings_model::{Page, PageOrigin};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// An exchange with a server as sent over the network.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// The requested URL.
    pub url: &'a str,
    /// The time at which the response was complete.
    pub date: Timestamp,
    /// The server's address.
    pub ip: Option<std::net::IpAddr>,
    /// The request's head, as HTTP/1.1 writes it.
    pub request: &'a [u8],
    /// The response's head, as HTTP/1.1 writes it.
    pub response: &'a [u8],
    /// The body as received: with content encoding, without transfer encoding.
    pub body: &'a [u8],
    /// Metadata, one `name: value` per line.
    pub metadata: &'a str,
}

/// The records of a page.
pub struct PageRecords {
    /// The answer.
    pub response: Vec<u8>,
    /// The metadata of the crawl.
    pub metadata: Vec<u8>,
    /// The digest of the body.
    pub payload_digest: String,
}

/// Writes records.
pub struct Writer {
    compressor: Compressor,
}

impl Default for Writer {
    fn default() -> Writer {
        Writer { compressor: Compressor::new(CompressionLvl::default()) }
    }
}

impl Writer {
    /// The `warcinfo` record at the start of a file.
    pub fn info(&mut self, file: &Path, software: &str, operator: &str, date: Timestamp) -> Vec<u8> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let block = format!(
            "software: {software}\r\noperator: {operator}\r\nformat: WARC File Format 1.1\r\n\
             conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
        );
        let mut head = HeaderBuilder::new("warcinfo", &name, date);
        head.line("WARC-Filename", &name);
        head.line("Content-Type", "application/warc-fields");
        self.record(head, &[block.as_bytes()])
    }

    /// The three records of an exchange.
    pub fn exchange(&mut self, exchange: &Exchange<'_>) -> Vec<u8> {
        let Exchange { url, date, request, response, body, metadata, .. } = *exchange;
        let mut head = HeaderBuilder::new("response", url, date);
        let answer = head.id.clone();
        head.line("WARC-Target-URI", url);
        if let Some(ip) = exchange.ip {
            head.line("WARC-IP-Address", &ip.to_string());
        }
        head.line("WARC-Payload-Digest", &sha1(&[body]));
        head.line("Content-Type", "application/http; msgtype=response");
        let mut records = self.record(head, &[response, body]);

        let mut head = HeaderBuilder::new("request", url, date);
        head.line("WARC-Target-URI", url);
        head.line("WARC-Concurrent-To", &answer);
        head.line("Content-Type", "application/http; msgtype=request");
        records.extend(self.record(head, &[request]));

        let mut head = HeaderBuilder::new("metadata", url, date);
        head.line("WARC-Target-URI", url);
        head.line("WARC-Refers-To", &answer);
        head.line("Content-Type", "application/warc-fields");
        records.extend(self.record(head, &[metadata.as_bytes()]));
        records
    }

    /// The records of a stored page: the response, and the metadata of the crawl. Only some headers were stored, and
    /// the content encoding was removed, so the header is reconstructed, with a note; there is no request.
    pub fn page(&mut self, page: &Page) -> PageRecords {
        let url = if page.final_url.is_empty() { &page.url } else { &page.final_url };
        let date = page.downloaded.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let status = if page.status == 0 { 200 } else { page.status };
        let clean = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
        let mut response = format!("HTTP/1.1 {status} \r\n");
        if !page.content_type.is_empty() {
            let _ = write!(response, "content-type: {}\r\n", clean(&page.content_type));
        }
        for (name, value) in page.headers.iter().chain(&page.rights.headers) {
            let _ = write!(response, "{}: {}\r\n", clean(name), clean(value));
        }
        let _ = write!(response, "content-length: {}\r\n\r\n", page.body.len());
        let payload_digest = sha1(&[&page.body]);
        // The text in a feed is no response of the page, which the server refused.
        let is_response = page.origin == PageOrigin::Web;
        let mut head = HeaderBuilder::new(if is_response { "response" } else { "resource" }, url, date);
        let answer = head.id.clone();
        head.line("WARC-Target-URI", &clean(url));
        head.line("WARC-Payload-Digest", &payload_digest);
        let (response, mut fields) = if is_response {
            head.line("Content-Type", "application/http; msgtype=response");
            let note = "note: the head of the response was written anew from what was kept of it\r\n".to_owned();
            (self.record(head, &[response.as_bytes(), &page.body]), note)
        } else {
            head.line("Content-Type", &clean(&page.content_type));
            let note = format!("note: the page answered {status}; this is the text of the article in its feed\r\n");
            (self.record(head, &[&page.body]), note)
        };
        let rights = if page.rights.is_empty() {
            String::new()
        } else {
            serde_json::to_string(&page.rights).unwrap_or_default()
        };
        let known = [
            ("url", &page.url),
            ("feed", &page.feed),
            ("title", &page.title),
            ("published", &page.published),
            ("seen", &page.seen),
            ("rights", &rights),
        ];
        for (name, value) in known.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(fields, "{name}: {}\r\n", clean(value));
        }
        let mut head = HeaderBuilder::new("metadata", url, date);
        head.line("WARC-Target-URI", &clean(url));
        head.line("WARC-Refers-To", &answer);
        head.line("Content-Type", "application/warc-fields");
        let metadata = self.record(head, &[fields.as_bytes()]);
        PageRecords { response, metadata, payload_digest }
    }

    fn record(&mut self, mut head: HeaderBuilder, block: &[&[u8]]) -> Vec<u8> {
        head.line("WARC-Block-Digest", &sha1(block));
        head.line("Content-Length", &block.iter().map(|part| part.len()).sum::<usize>().to_string());
        let mut record = head.text.into_bytes();
        record.extend(b"\r\n");
        block.iter().for_each(|part| record.extend_from_slice(part));
        record.extend(b"\r\n\r\n");
        let mut packed = vec![0; self.compressor.gzip_compress_bound(record.len())];
        let len = self.compressor.gzip_compress(&record, &mut packed).expect("the bound suffices");
        packed.truncate(len);
        packed
    }
}

struct HeaderBuilder {
    id: String,
    text: String,
}

impl HeaderBuilder {
    fn new(kind: &str, about: &str, date: Timestamp) -> HeaderBuilder {
        // A version-8 UUID from the content of the record: the same exchange gives the same id.
        let time = date.as_nanosecond() as u64;
        let hash = xxh3_128_with_seed(format!("{kind} {about}").as_bytes(), time).to_be_bytes();
        let mut hex = String::new();
        for (at, byte) in hash.iter().enumerate() {
            let byte = match at {
                6 => byte & 0x0F | 0x80,
                8 => byte & 0x3F | 0x80,
                _ => *byte,
            };
            if matches!(at, 4 | 6 | 8 | 10) {
                hex.push('-');
            }
            let _ = write!(hex, "{byte:02x}");
        }
        let id = format!("<urn:uuid:{hex}>");
        let mut head = HeaderBuilder { id: id.clone(), text: "WARC/1.1\r\n".to_owned() };
        head.line("WARC-Type", kind);
        head.line("WARC-Record-ID", &id);
        head.line("WARC-Date", &date.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string());
        head
    }

    fn line(&mut self, name: &str, value: &str) {
        let _ = write!(self.text, "{name}: {value}\r\n");
    }
}

fn sha1(parts: &[&[u8]]) -> String {
    let mut hasher = Sha1::new();
    parts.iter().for_each(|part| hasher.update(part));
    format!("sha1:{}", base32(&hasher.finalize()))
}

/// Base32 as in WARC digests; twenty bytes need no padding.
pub(super) fn base32(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut text = String::new();
    for five in bytes.chunks(5) {
        let number = five.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        for digit in (0..8).rev() {
            text.push(ALPHABET[(number >> (digit * 5)) as usize & 31] as char);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_the_form_of_warc() {
        // The digest of the empty string, which is well known.
        assert_eq!(sha1(&[]), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    }

    #[test]
    fn the_text_of_a_feed_is_a_resource_and_no_response() {
        let records = |origin| {
            let page = Page {
                url: "http://e.org/1".into(),
                status: 403,
                content_type: "text/html; charset=utf-8".into(),
                origin,
                body: b"<p>text</p>".to_vec(),
                ..Page::default()
            };
            let PageRecords { response, metadata, .. } = Writer::default().page(&page);
            [response, metadata].map(|packed| {
                let mut text = vec![0; 4096];
                let len = libdeflater::Decompressor::new().gzip_decompress(&packed, &mut text).unwrap();
                String::from_utf8_lossy(&text[..len]).into_owned()
            })
        };
        let [resource, metadata] = records(PageOrigin::Feed);
        assert!(resource.contains("WARC-Type: resource\r\n") && !resource.contains("HTTP/1.1"), "{resource}");
        assert!(resource.contains("Content-Type: text/html; charset=utf-8\r\n"), "{resource}");
        assert!(metadata.contains("note: the page answered 403; this is the text"), "{metadata}");
        assert!(records(PageOrigin::Web)[0].contains("WARC-Type: response\r\n"));
    }

    #[test]
    fn every_record_is_a_separate_gzip_member() {
        let mut writer = Writer::default();
        let exchange = Exchange {
            url: "http://e.org/",
            date: Timestamp::UNIX_EPOCH,
            ip: None,
            request: b"GET / HTTP/1.1\r\n\r\n",
            response: b"HTTP/1.1 200 OK\r\n\r\n",
            body: b"hello",
            metadata: "feed: http://e.org/feed\r\n",
        };
        let mut rest = &writer.exchange(&exchange)[..];
        let mut kinds = Vec::new();
        while !rest.is_empty() {
            let mut text = vec![0; 4096];
            let mut decompressor = libdeflater::Decompressor::new();
            let len = decompressor.gzip_decompress(rest, &mut text).unwrap();
            let text = String::from_utf8_lossy(&text[..len]).into_owned();
            kinds.push(text.lines().nth(1).unwrap().to_owned());
            // The next member starts at the next magic number.
            let next = rest[4..].windows(3).position(|bytes| bytes == [0x1f, 0x8b, 0x08]);
            rest = next.map_or(&[], |at| &rest[at + 4..]);
        }
        assert_eq!(kinds, ["WARC-Type: response", "WARC-Type: request", "WARC-Type: metadata"]);
    }
}
