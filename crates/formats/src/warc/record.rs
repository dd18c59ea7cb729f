//! One record of a web archive: its header fields, its block, and the HTTP response in it.

use jiff::Timestamp;
use sha1::{Digest as _, Sha1};

use super::write::base32;

/// The maximum size of the header of a record or an HTTP response.
pub(super) const MAX_HEAD_BYTES: usize = 64 << 10;
/// The maximum number of header fields; further ones are dropped.
const MAX_FIELDS: usize = 1000;

/// Header fields of WARC and HTTP; names in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

/// A record with its block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Its header fields.
    pub head: Headers,
    /// Its bytes.
    pub block: Vec<u8>,
}

impl Headers {
    /// Parses header lines; a line that starts with white space continues the previous one.
    pub fn parse(text: &[u8]) -> Headers {
        let mut lines: Vec<(String, String)> = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line);
            let value = line.trim();
            if value.is_empty() {
                continue;
            }
            match (line.starts_with([' ', '\t']), lines.last_mut()) {
                (true, Some(last)) => {
                    last.1.push(' ');
                    last.1.push_str(value);
                }
                _ => {
                    if let (Some((name, value)), true) = (value.split_once(':'), lines.len() < MAX_FIELDS) {
                        lines.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
                    }
                }
            }
        }
        Headers(lines)
    }

    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|line| line.0 == name).map(|line| line.1.as_str())
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The type of a record.
    pub fn kind(&self) -> &str {
        self.get("warc-type").unwrap_or_default()
    }

    /// The address that a record is about.
    pub fn target(&self) -> Option<&str> {
        self.get("warc-target-uri").map(|uri| uri.trim_matches(['<', '>'])).filter(|uri| !uri.is_empty())
    }

    /// The time of capture.
    pub fn date(&self) -> Option<Timestamp> {
        self.get("warc-date").and_then(|date| date.parse().ok())
    }
}

/// An HTTP answer as a record holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// Its headers.
    pub headers: Headers,
    /// The body without transfer encoding, with content encoding.
    pub body: Vec<u8>,
}

impl Record {
    /// The HTTP response in the block; `None` if there is none.
    pub fn answer(&self) -> Option<HttpResponse> {
        let first_end = memchr::memchr(b'\n', &self.block)?;
        let first = std::str::from_utf8(&self.block[..first_end]).ok()?.trim();
        let mut words = first.split(' ').filter(|word| !word.is_empty());
        let status = words.next().filter(|word| word.starts_with("HTTP/")).and(words.next())?.parse().ok()?;
        let (head, body) = parted(&self.block[first_end + 1..]);
        let headers = Headers::parse(head);
        let chunked =
            headers.get("transfer-encoding").is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
        let body = if chunked { unchunked(body) } else { body.to_vec() };
        Some(HttpResponse { status, headers, body })
    }

    /// True if the bytes match the digest in the header; `None` without a known digest.
    ///
    /// Archives differ on whether the payload of a response includes chunked encoding. Either is accepted.
    pub fn is_sound(&self) -> Option<bool> {
        // A truncated record has the digest of the complete one.
        if self.head.get("warc-truncated").is_some() {
            return None;
        }
        if let Some(told) = self.head.get("warc-block-digest").and_then(sha1_of) {
            return Some(told.eq_ignore_ascii_case(&digest(&self.block)));
        }
        let told = self.head.get("warc-payload-digest").and_then(sha1_of)?;
        let is_answer = self.head.kind() == "response";
        let payload = if is_answer { payload(&self.block) } else { &self.block };
        let is_told = |bytes: &[u8]| told.eq_ignore_ascii_case(&digest(bytes));
        Some(is_told(payload) || is_answer && self.answer().is_some_and(|answer| is_told(&answer.body)))
    }
}

fn sha1_of(told: &str) -> Option<&str> {
    let (name, digest) = told.split_once(':')?;
    (name.eq_ignore_ascii_case("sha1") && digest.len() == 32).then_some(digest)
}

fn digest(bytes: &[u8]) -> String {
    base32(&Sha1::digest(bytes))
}

/// The bytes after the header of an HTTP response.
fn payload(block: &[u8]) -> &[u8] {
    parted(block).1
}

/// Headers and body: an empty line parts them.
fn parted(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while let Some(end) = memchr::memchr(b'\n', &bytes[at..]) {
        let line = &bytes[at..at + end];
        at += end + 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return (&bytes[..at], &bytes[at..]);
        }
        if at > MAX_HEAD_BYTES {
            break;
        }
    }
    (bytes, &[])
}

/// Decodes chunked transfer encoding; a body that only claims to be chunked is kept.
fn unchunked(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(end) = rest.windows(2).take(20).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|line| usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16).ok());
        match size {
            None if out.is_empty() => return body.to_vec(),
            None | Some(0) => break,
            Some(size) => {
                let chunk = &rest[end + 2..];
                out.extend_from_slice(&chunk[..size.min(chunk.len())]);
                rest = chunk.get(size.saturating_add(2)..).unwrap_or_default();
            }
        }
    }
    if out.is_empty() && !rest.starts_with(b"0") { body.to_vec() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_checked_with_and_without_chunks() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n2\r\nab\r\n0\r\n\r\n";
        let of = |payload: &str, block: &str| {
            let head = format!("WARC-Type: response\r\nWARC-Payload-Digest: sha1:{}\r\n", digest(payload.as_bytes()));
            Record { head: Headers::parse(head.as_bytes()), block: block.as_bytes().to_vec() }.is_sound()
        };
        assert_eq!(of("<p>ab", chunked), Some(true));
        assert_eq!(of("3\r\n<p>\r\n2\r\nab\r\n0\r\n\r\n", chunked), Some(true));
        assert_eq!(of("<p>ac", chunked), Some(false));
        assert_eq!(Record::default().is_sound(), None);
        let record = Record { head: Headers::default(), block: chunked.as_bytes().to_vec() };
        let answer = record.answer().unwrap();
        assert_eq!((answer.status, &answer.body[..]), (200, &b"<p>ab"[..]));
    }

    proptest::proptest! {
        #[test]
        fn any_response_is_read_without_a_panic(text in "(HTTP/1.1 200|transfer-encoding: chunked|[0-9a-f]{1,17}|\r\n|[a-z: ]{0,4}){0,12}") {
            let _ = Record { head: Headers::parse(text.as_bytes()), block: text.into_bytes() }.answer();
        }
    }
}
