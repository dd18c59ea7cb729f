//! The front door of the room: what kind of document is this, and who reads it?

use tidings_model::{Feed, Repair};

use crate::charset;
use crate::format;
use crate::limits::Limits;
use crate::repairs::Repairs;

/// Why a document is not a feed, in words a person can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAFeed {
    /// Nothing, or nothing but white space.
    #[error("the document is empty")]
    Empty,
    /// A web page.
    #[error("this is a web page, not a feed; a link to its feed may be on it")]
    Html,
    /// XML of another kind.
    #[error("this is XML, but its root element <{root}> belongs to no feed format")]
    OtherXml {
        /// The name of the root element.
        root: String,
    },
    /// JSON that lists nothing.
    #[error("this is JSON, but it has no list of items")]
    Json,
    /// An address list of a site for search engines.
    #[error("this is a sitemap, not a feed")]
    Sitemap,
    /// A list of feeds.
    #[error("this is a list of feeds (OPML), not a feed")]
    Opml,
    /// Not text at all.
    #[error("this is not text: the document looks like a binary file")]
    Binary,
    /// Text without any markup.
    #[error("this is plain text without the markup of a feed")]
    PlainText,
}

/// Reads a feed from the bytes of a document.
///
/// `content_type` is the HTTP header, if there was one; `url` is where the document came from,
/// the base of its relative links. Never panics, takes time and memory linear in the input.
pub fn read(body: &[u8], content_type: Option<&str>, url: &str) -> Result<Feed, NotAFeed> {
    read_with(body, content_type, url, &Limits::default())
}

/// Reads a feed with other bounds than the default ones.
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

/// Replacement characters in the first lines betray a picture or an archive.
fn is_binary(text: &str) -> bool {
    let head: Vec<char> = text.chars().take(200).collect();
    head.iter().filter(|c| **c == '\u{fffd}').count() * 10 > head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(body: &str) -> NotAFeed {
        read(body.as_bytes(), None, "https://a.example/").expect_err("it is no feed")
    }

    #[test]
    fn what_is_not_a_feed_is_called_by_its_name() {
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
    fn a_page_with_rdf_in_a_picture_or_a_feed_in_a_lesson_is_a_page() {
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
