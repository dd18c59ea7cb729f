//! The entry point of the parser: detects the type of document and dispatches to its reader.

use tidings_model::{Feed, Repair};

use crate::charset;
use crate::format;
use crate::limits::Limits;
use crate::repairs::Repairs;

/// The reason why a document is not a feed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAFeed {
    /// Empty, or white space only.
    #[error("the document is empty")]
    Empty,
    /// A web page.
    #[error("this is a web page, not a feed; it may link to its feed")]
    Html,
    /// XML of another type.
    #[error("this is XML, but its root element <{root}> is not that of a feed")]
    OtherXml {
        /// The name of the root element.
        root: String,
    },
    /// JSON without a list of items.
    #[error("this is JSON, but it has no list of items")]
    Json,
    /// A sitemap.
    #[error("this is a sitemap, not a feed")]
    Sitemap,
    /// A list of feeds (OPML).
    #[error("this is a list of feeds (OPML), not a feed")]
    Opml,
    /// A binary file.
    #[error("this is not text: the document looks like a binary file")]
    Binary,
    /// Plain text.
    #[error("this is plain text without feed markup")]
    PlainText,
}

/// Parses a feed.
///
/// `content_type` is the HTTP header, if known; `url` is the base of relative links. Never panics; time and memory are
/// linear in the input.
pub fn read(body: &[u8], content_type: Option<&str>, url: &str) -> Result<Feed, NotAFeed> {
    read_with(body, content_type, url, &Limits::default())
}

/// Parses a feed with other limits than the default.
pub fn read_with(body: &[u8], content_type: Option<&str>, url: &str, limits: &Limits) -> Result<Feed, NotAFeed> {
    let mut repairs = Repairs::default();
    let body = if body.len() > limits.max_bytes {
        repairs.add(Repair::LimitReached);
        &body[..limits.max_bytes]
    } else {
        body
    };
    let decoded = charset::decode(body, content_type, &mut repairs);
    let text = decoded.text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if text.is_empty() {
        return Err(NotAFeed::Empty);
    }
    let mut feed = if text.starts_with(['{', '[']) {
        format::json::read(text, url, limits, &mut repairs)?
    } else {
        match format::xml::read(text, url, limits, &mut repairs) {
            Err(reason) => match format::xml::unwrap_escaped(text) {
                Some(inner) => {
                    repairs.add(Repair::Escaped);
                    format::xml::read(&inner, url, limits, &mut repairs).map_err(|_| reason)?
                }
                None => {
                    return Err(if is_binary(text) { NotAFeed::Binary } else { reason });
                }
            },
            Ok(feed) => feed,
        }
    };
    feed.encoding = decoded.encoding;
    feed.repairs = repairs.list();
    Ok(feed)
}

/// Detects a binary file by replacement characters in its first lines.
fn is_binary(text: &str) -> bool {
    let head: Vec<char> = text.chars().take(200).collect();
    head.iter().filter(|c| **c == '\u{fffd}').count() * 10 > head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(body: &str) -> NotAFeed {
        read(body.as_bytes(), None, "https://a.example/").expect_err("not a feed")
    }

    #[test]
    fn other_documents_are_classified() {
        assert_eq!(reason(""), NotAFeed::Empty);
        assert_eq!(reason(" \n\u{feff} "), NotAFeed::Empty);
        assert_eq!(reason("<!DOCTYPE html><html><p>x</html>"), NotAFeed::Html);
        assert_eq!(reason("<!doctype html>"), NotAFeed::Html);
        assert_eq!(reason("<catalog/>"), NotAFeed::OtherXml { root: "catalog".to_string() });
        assert_eq!(reason("<urlset><url/></urlset>"), NotAFeed::Sitemap);
        assert_eq!(reason("<opml><body/></opml>"), NotAFeed::Opml);
        assert_eq!(reason("{\"items\": 3}"), NotAFeed::Json);
        assert_eq!(reason("not at all"), NotAFeed::PlainText);
        let picture = [0x89, b'P', b'N', b'G', 0xd, 0xa, 0x1a, 0xa, 0xff, 0xfe, 0xff, 0xff];
        assert!(read(&picture, None, "").is_err());
    }

    #[test]
    fn a_page_with_embedded_rdf_or_an_escaped_feed_is_a_page() {
        let picture = "<html><svg><metadata><rdf:RDF><dc:title>x</dc:title></rdf:RDF></metadata></svg></html>";
        assert_eq!(reason(picture), NotAFeed::Html);
        let lesson = format!("<html><p>{}</p><pre>&lt;rss&gt;&lt;item&gt;</pre></html>", "How feeds work. ".repeat(9));
        assert_eq!(reason(&lesson), NotAFeed::Html);
    }

    #[test]
    fn a_feed_without_entries_is_a_feed() {
        assert!(read(b"<rss><channel><title>New</title></channel></rss>", None, "").is_ok());
        assert!(read(b"<feed/>", None, "").is_ok());
    }
}
