//! Pages: downloaded bytes with their metadata.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The content type of pages whose body is an imported [`Document`](crate::Document) in JSON. With the parameter
/// [`UNGATED`] the quality gate accepts it unconditionally.
pub const DOCUMENT_TYPE: &str = "application/vnd.tidings.document+json";

/// The parameter of [`DOCUMENT_TYPE`] for texts that were selected by hand.
pub const UNGATED: &str = "gate=off";

/// The parameter of [`DOCUMENT_TYPE`] for the text of a WARC `conversion` record (WET).
pub const CONVERSION: &str = "record=conversion";

/// A downloaded page as stored in `pages/`.
///
/// In JSON the body is `body` if it is UTF-8, which compresses better and is readable, otherwise `body_base64`. Records
/// of FeedFetcher are accepted: they lack most fields, give the content type as a list and always use `body_base64`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The URL in the plan.
    pub url: String,
    /// The URL after redirects.
    pub final_url: String,
    /// The feed that listed it.
    pub feed: String,
    /// The title given by the feed.
    pub title: String,
    /// The source of the title.
    pub title_source: TitleSource,
    /// The date given by the feed, or by an imported text without a time of download; RFC 3339, or empty.
    pub published: String,
    /// The time when an update first saw it.
    pub seen: String,
    /// The time of download.
    pub downloaded: String,
    /// The times of the earlier downloads of this URL that it revises, RFC 3339; empty on a first download.
    pub revises: Vec<String>,
    /// The HTTP status; 0 if no HTTP response is known.
    pub status: u16,
    /// The `Content-Type` header.
    pub content_type: String,
    /// Response headers used by later stages, by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// Rights statements of the publisher, as evidence.
    pub rights: Rights,
    /// The source of the body.
    pub origin: PageOrigin,
    /// The full text of the article in the feed, as HTML, if the page lacks it; or empty.
    pub feed_text: String,
    /// The body after content decoding.
    pub body: Vec<u8>,
}

/// The source of the title of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TitleSource {
    /// The feed, whose titles are those of the articles.
    #[default]
    Feed,
    /// The anchor of a link on a front or section page, which may be worded differently.
    Anchor,
}

/// The source of the body of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageOrigin {
    /// The response at the URL of the page.
    #[default]
    Web,
    /// The full text in the feed, because the server refused the page with the HTTP status of the record.
    Feed,
}

impl PageOrigin {
    /// The name in the metadata of documents.
    pub const fn word(self) -> &'static str {
        match self {
            PageOrigin::Web => "web",
            PageOrigin::Feed => "feed",
        }
    }
}

/// Statements of permission or reservation, verbatim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rights {
    /// The robots.txt that allowed the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots: Option<RobotsEvidence>,
    /// The matching rule of `/.well-known/tdmrep.json`: `1` reserved, `0` not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdmrep: Option<String>,
    /// The policy URL of that rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdmrep_policy: Option<String>,
    /// Headers about rights (`tdm-reservation`, `x-robots-tag`, …), by lower-case name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Statements in the head of the page (`robots`, `tdm-reservation`, `tdm-policy`), by lower-case name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub page: BTreeMap<String, String>,
}

/// The robots.txt that was obeyed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsEvidence {
    /// The time when it was fetched.
    pub fetched: String,
    /// Its HTTP status.
    pub status: u16,
    /// The digest under which its bytes are kept in `state/`.
    pub digest: String,
    /// Its lines about usage rather than access: Content-Usage, Content-Signal, License.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<String>,
}

impl Rights {
    /// Returns true if there are no statements.
    pub fn is_empty(&self) -> bool {
        *self == Rights::default()
    }
}

impl Page {
    /// Appends the page as a JSON line.
    ///
    /// Nearly all of a page is its body, so the body has a fast escaping routine; serde writes the rest.
    pub fn write_line(&self, line: &mut Vec<u8>) -> serde_json::Result<()> {
        let Ok(text) = simdutf8::basic::from_utf8(&self.body) else {
            serde_json::to_writer(&mut *line, self)?;
            line.push(b'\n');
            return Ok(());
        };
        serde_json::to_writer(&mut *line, &WithoutBody(self))?;
        line.pop(); // The closing brace: the body is appended before it.
        line.extend_from_slice(b",\"body\":\"");
        escape(text.as_bytes(), line);
        line.extend_from_slice(b"\"}\n");
        Ok(())
    }
}

/// Appends text escaped for a JSON string, checking eight bytes at a time.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + text.len() / 16);
    let mut clean = 0;
    let mut at = 0;
    while at < text.len() {
        if let Some(eight) = text[at..].first_chunk::<8>() {
            let flags = needs_escape(u64::from_le_bytes(*eight));
            if flags == 0 {
                at += 8;
                continue;
            }
            at += flags.trailing_zeros() as usize / 8;
        }
        let byte = text[at];
        at += 1;
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text[clean..at - 1]);
        clean = at;
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
    }
    out.extend_from_slice(&text[clean..]);
}

/// Flags those of eight bytes that are a control character, a quote or a backslash, by their highest bit (SWAR). The
/// lowest flag is right; those above it may be false positives of a borrow.
fn needs_escape(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH;
    let equal = |byte: u8| below(eight ^ (ONES * u64::from(byte)), 1);
    below(eight, 0x20) | equal(b'"') | equal(b'\\')
}

/// A page without its body.
struct WithoutBody<'a>(&'a Page);

impl Serialize for WithoutBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("Page", 14)?;
        self.0.fields_before_body(&mut line)?;
        line.end()
    }
}

impl Page {
    fn fields_before_body<L: SerializeStruct>(&self, line: &mut L) -> Result<(), L::Error> {
        line.serialize_field("url", &self.url)?;
        line.serialize_field("final_url", &self.final_url)?;
        line.serialize_field("feed", &self.feed)?;
        line.serialize_field("title", &self.title)?;
        line.serialize_field("published", &self.published)?;
        line.serialize_field("seen", &self.seen)?;
        line.serialize_field("downloaded", &self.downloaded)?;
        if !self.revises.is_empty() {
            line.serialize_field("revises", &self.revises)?;
        }
        line.serialize_field("status", &self.status)?;
        line.serialize_field("content_type", &self.content_type)?;
        line.serialize_field("headers", &self.headers)?;
        line.serialize_field("rights", &self.rights)?;
        if self.title_source != TitleSource::Feed {
            line.serialize_field("title_source", &self.title_source)?;
        }
        // Both are rare, and records without them are those of earlier versions.
        if self.origin != PageOrigin::Web {
            line.serialize_field("origin", &self.origin)?;
        }
        if !self.feed_text.is_empty() {
            line.serialize_field("feed_text", &self.feed_text)?;
        }
        Ok(())
    }
}

impl Serialize for Page {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("Page", 15)?;
        self.fields_before_body(&mut line)?;
        match simdutf8::basic::from_utf8(&self.body) {
            Ok(text) => line.serialize_field("body", text)?,
            Err(_) => line.serialize_field("body_base64", &BASE64.encode(&self.body))?,
        }
        line.end()
    }
}

impl<'de> Deserialize<'de> for Page {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Page, D::Error> {
        let line = PageRecord::deserialize(deserializer)?;
        let body = match (line.body, line.body_base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(coded)) => BASE64.decode(coded).map_err(de::Error::custom)?,
            (None, None) => return Err(de::Error::missing_field("body")),
        };
        Ok(Page {
            final_url: line.final_url.unwrap_or_else(|| line.url.clone()),
            url: line.url,
            feed: line.feed,
            title: line.title.unwrap_or_default(),
            title_source: line.title_source,
            published: line.published.unwrap_or_default(),
            seen: line.seen.unwrap_or_default(),
            downloaded: line.downloaded.unwrap_or_default(),
            revises: line.revises,
            status: line.status,
            content_type: match line.content_type {
                Some(OneOrMany::One(text)) => text,
                Some(OneOrMany::Many(list)) => list.into_iter().next().unwrap_or_default(),
                None => String::new(),
            },
            headers: line.headers,
            rights: line.rights,
            origin: line.origin,
            feed_text: line.feed_text,
            body,
        })
    }
}

/// The JSON form of a page, lenient enough for records of other programs.
#[derive(Deserialize)]
struct PageRecord {
    url: String,
    final_url: Option<String>,
    #[serde(default)]
    feed: String,
    title: Option<String>,
    published: Option<String>,
    seen: Option<String>,
    downloaded: Option<String>,
    #[serde(default)]
    revises: Vec<String>,
    #[serde(default = "assumed_status")]
    status: u16,
    content_type: Option<OneOrMany>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    rights: Rights,
    #[serde(default)]
    origin: PageOrigin,
    #[serde(default)]
    feed_text: String,
    #[serde(default)]
    title_source: TitleSource,
    body: Option<String>,
    body_base64: Option<String>,
}

/// FeedFetcher stores no status, and only successful pages.
fn assumed_status() -> u16 {
    200
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arbitrary_bytes_round_trip() {
        for body in [&b"plain \"text\"\r\n\0\x1b"[..], "žluť \u{feff}".as_bytes(), b"\xff\xfe\x00latin"] {
            let page = Page {
                url: "http://e.org/".into(),
                final_url: "http://e.org/".into(),
                status: 200,
                body: body.into(),
                ..Page::default()
            };
            let mut line = Vec::new();
            page.write_line(&mut line).unwrap();
            assert_eq!(serde_json::from_slice::<Page>(&line).unwrap(), page);
            assert_eq!(serde_json::to_string(&page).unwrap() + "\n", String::from_utf8(line).unwrap());
        }
    }

    #[test]
    fn the_text_of_a_feed_round_trips_and_is_absent_by_default() {
        let plain = Page { url: "http://e.org/".into(), final_url: "http://e.org/".into(), ..Page::default() };
        let line = |page: &Page| {
            let mut line = Vec::new();
            page.write_line(&mut line).unwrap();
            String::from_utf8(line).unwrap()
        };
        assert!(!line(&plain).contains("origin") && !line(&plain).contains("feed_text"));
        let page = Page { origin: PageOrigin::Feed, feed_text: "<p>a</p>".into(), ..plain };
        assert!(line(&page).contains(r#""origin":"feed","feed_text":"<p>a</p>","body""#), "{}", line(&page));
        assert_eq!(serde_json::from_str::<Page>(&line(&page)).unwrap(), page);
    }

    proptest::proptest! {
        #[test]
        fn fast_escaping_equals_serde_json(text in "[\\x00-\\x7fäß€😀\"\\\\]{0,60}") {
            let mut quick = vec![b'"'];
            escape(text.as_bytes(), &mut quick);
            quick.push(b'"');
            proptest::prop_assert_eq!(serde_json::from_slice::<String>(&quick).unwrap(), text);
        }
    }

    #[test]
    fn a_record_of_feedfetcher_is_read_as_a_page() {
        let line = r#"{"url":"http://e.org/a","feed":"http://e.org/f","title":"T","published":null,
            "seen":"2025-01-02T03:04:05+00:00","downloaded":"2025-01-02T04:00:00+00:00",
            "body_base64":"PGh0bWw+","content_type":["text/html; charset=utf-8"]}"#;
        let page: Page = serde_json::from_str(line).unwrap();
        assert_eq!(page.body, b"<html>");
        assert_eq!((page.status, page.content_type.as_str()), (200, "text/html; charset=utf-8"));
        assert_eq!(page.final_url, page.url);
    }
}
