//! A page: bytes as fetched, with what the harvest knew when it fetched them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One downloaded page, as it lies in `pages/`.
///
/// In JSON the bytes stand as `body` where they are UTF-8, because text compresses and reads
/// better, and as `body_base64` where they are not. FeedFetcher's records read as pages too: they
/// lack most fields, spell the content type as a list and always use `body_base64`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The address in the plan.
    pub url: String,
    /// The address that answered, after redirects.
    pub final_url: String,
    /// The feed that listed it.
    pub feed: String,
    /// The title as the feed gives it.
    pub title: String,
    /// The feed's date, RFC 3339, or nothing.
    pub published: String,
    /// When an update first saw it.
    pub seen: String,
    /// When the answer arrived.
    pub downloaded: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The content type as the server gave it.
    pub content_type: String,
    /// The headers that later stages can use, by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// What the publisher said about use, as evidence.
    pub rights: Rights,
    /// The bytes as the server meant them, content encoding undone.
    pub body: Vec<u8>,
}

/// Signals of permission and reservation, copied as they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rights {
    /// The robots.txt that allowed the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots: Option<RobotsEvidence>,
    /// The matching rule of `/.well-known/tdmrep.json`: `1` reserved, `0` not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdmrep: Option<String>,
    /// The policy that rule points to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdmrep_policy: Option<String>,
    /// Headers that speak of rights (`tdm-reservation`, `x-robots-tag`, …), by lower-case name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// Which robots.txt was obeyed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsEvidence {
    /// When it was fetched.
    pub fetched: String,
    /// The status it was served with.
    pub status: u16,
    /// The digest under which its bytes are kept in `state/`.
    pub digest: String,
    /// Lines of it that speak of use rather than access: Content-Usage, Content-Signal, License.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<String>,
}

impl Rights {
    /// Whether nothing was said at all.
    pub fn is_empty(&self) -> bool {
        *self == Rights::default()
    }
}

impl Serialize for Page {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("Page", 12)?;
        line.serialize_field("url", &self.url)?;
        line.serialize_field("final_url", &self.final_url)?;
        line.serialize_field("feed", &self.feed)?;
        line.serialize_field("title", &self.title)?;
        line.serialize_field("published", &self.published)?;
        line.serialize_field("seen", &self.seen)?;
        line.serialize_field("downloaded", &self.downloaded)?;
        line.serialize_field("status", &self.status)?;
        line.serialize_field("content_type", &self.content_type)?;
        line.serialize_field("headers", &self.headers)?;
        line.serialize_field("rights", &self.rights)?;
        match simdutf8::basic::from_utf8(&self.body) {
            Ok(text) => line.serialize_field("body", text)?,
            Err(_) => line.serialize_field("body_base64", &BASE64.encode(&self.body))?,
        }
        line.end()
    }
}

impl<'de> Deserialize<'de> for Page {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Page, D::Error> {
        let line = Line::deserialize(deserializer)?;
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
            published: line.published.unwrap_or_default(),
            seen: line.seen.unwrap_or_default(),
            downloaded: line.downloaded.unwrap_or_default(),
            status: line.status,
            content_type: match line.content_type {
                Some(OneOrMany::One(text)) => text,
                Some(OneOrMany::Many(list)) => list.into_iter().next().unwrap_or_default(),
                None => String::new(),
            },
            headers: line.headers,
            rights: line.rights,
            body,
        })
    }
}

/// A page's JSON line, as lenient as other programs' lines need it.
#[derive(Deserialize)]
struct Line {
    url: String,
    final_url: Option<String>,
    #[serde(default)]
    feed: String,
    title: Option<String>,
    published: Option<String>,
    seen: Option<String>,
    downloaded: Option<String>,
    #[serde(default = "assumed_status")]
    status: u16,
    content_type: Option<OneOrMany>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    rights: Rights,
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
    fn any_bytes_come_back_as_they_were() {
        for body in [&b"plain \"text\"\r\n\0\x1b"[..], "žluť \u{feff}".as_bytes(), b"\xff\xfe\x00latin"] {
            let page = Page {
                url: "http://e.org/".into(),
                final_url: "http://e.org/".into(),
                status: 200,
                body: body.into(),
                ..Page::default()
            };
            let line = serde_json::to_string(&page).unwrap();
            assert_eq!(serde_json::from_str::<Page>(&line).unwrap(), page);
            assert!(!line.contains('\n'));
        }
    }

    #[test]
    fn a_record_of_feedfetcher_is_a_page() {
        let line = r#"{"url":"http://e.org/a","feed":"http://e.org/f","title":"T","published":null,
            "seen":"2025-01-02T03:04:05+00:00","downloaded":"2025-01-02T04:00:00+00:00",
            "body_base64":"PGh0bWw+","content_type":["text/html; charset=utf-8"]}"#;
        let page: Page = serde_json::from_str(line).unwrap();
        assert_eq!(page.body, b"<html>");
        assert_eq!((page.status, page.content_type.as_str()), (200, "text/html; charset=utf-8"));
        assert_eq!(page.final_url, page.url);
    }
}
