//! Feed parsing as a filter: feed documents → entries.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_feeds::{Feed, FeedEntry, FeedFormat};
use tidings_fetch::decode::{Ceiling, Decoder};

use super::{Filter, required};

/// Bodies with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The maximum size of a feed, compressed and decompressed.
pub const MAX_FEED_BYTES: usize = 192 << 20;

const CEILING: Ceiling = Ceiling { max_bytes: MAX_FEED_BYTES, max_ratio: 200 };

/// Reads feeds.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadFeed;

/// A feed as it was fetched.
#[derive(Debug, Deserialize)]
pub struct Question<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content_type: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    body_base64: Option<Cow<'a, str>>,
}

impl super::Question for Question<'_> {
    fn id(&self) -> &Value {
        &self.id
    }
}

/// A feed as it was read.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// The format family.
    pub format: FeedFormat,
    /// The title as plain text.
    pub title: String,
    /// The declared language tag.
    pub language: Option<String>,
    /// The entries, in document order.
    pub entries: Vec<Entry>,
}

impl From<Feed> for Answer {
    fn from(feed: Feed) -> Answer {
        let entries = feed.entries.into_iter().map(Entry::from).collect();
        Answer { format: feed.format, title: feed.title, language: feed.language, entries }
    }
}

/// An entry of a feed.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// The absolute URL.
    pub link: Option<String>,
    /// The title as plain text.
    pub title: String,
    /// The id given by the feed.
    pub id: Option<String>,
    /// The time of publication.
    pub published: Option<jiff::Timestamp>,
    /// The time of the last change.
    pub updated: Option<jiff::Timestamp>,
    /// The first author.
    pub author: Option<String>,
    /// The categories.
    pub categories: Vec<String>,
    /// The summary as HTML.
    pub summary: Option<String>,
    /// The full text as HTML.
    pub content_html: Option<String>,
}

impl From<FeedEntry> for Entry {
    fn from(entry: FeedEntry) -> Entry {
        Entry {
            summary: entry.summary_as_html().map(Cow::into_owned),
            author: entry.authors.first().map(ToString::to_string),
            link: entry.link,
            title: entry.title,
            id: entry.id,
            published: entry.published,
            updated: entry.updated,
            categories: entry.categories,
            content_html: entry.content_html,
        }
    }
}

/// Reads a feed, also from a gzip file such as `feed.xml.gz`. The error says why it is none.
pub fn read(body: &[u8], content_type: Option<&str>, base: &str) -> Result<Feed, String> {
    let body = Decoder::new(CEILING)
        .decode_file("", body)
        .map_err(|status| format!("{status}: cannot decompress the feed"))?;
    tidings_feeds::read(&body, content_type, base).map_err(|reason| reason.to_string())
}

impl Filter for ReadFeed {
    type Question<'a> = Question<'a>;
    type Answer<'q> = Answer;

    /// The maximum length of a line: a document in base64 and its URL.
    const MAX_LINE_BYTES: u64 = MAX_FEED_BYTES as u64;
    const SKIPS_BLANK_LINES: bool = false;

    fn answer<'q>(&'q self, question: &'q Question<'_>) -> Result<Answer, String> {
        let body = required(&question.body_base64, "body_base64")?;
        let body = BASE64.decode(body).map_err(|error| format!("body_base64 is not base64: {error}"))?;
        let content_type = question.content_type.as_deref().filter(|text| !text.is_empty());
        let url = question.url.as_deref().unwrap_or_default();
        Ok(read(&body, content_type, url)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::tests::answers;
    use serde_json::json;

    fn question(id: impl Serialize, body: &str) -> String {
        json!({ "id": id, "url": "https://a.example/feed", "content_type": "", "body_base64": BASE64.encode(body) })
            .to_string()
    }

    #[test]
    fn a_feed_document_is_parsed() {
        let body = "<rss><channel><title>Gazette</title><language>en</language><item><title>A</title><link>/a</link>\
            <guid>g</guid><pubDate>Mon, 02 Mar 2026 12:00:00 GMT</pubDate><category>c</category>\
            <description>1 &amp;lt; 2</description></item></channel></rss>";
        let (got, _) = answers(&ReadFeed, &question("x", body), 1);
        let entry = json!({
            "link": "https://a.example/a", "title": "A", "id": "g", "published": "2026-03-02T12:00:00Z",
            "updated": null, "author": null, "categories": ["c"], "summary": "1 &lt; 2", "content_html": null,
        });
        let wanted = json!({ "id": "x", "format": "rss", "title": "Gazette", "language": "en", "entries": [entry] });
        assert_eq!(got, [wanted]);
    }

    #[test]
    fn every_line_gets_a_result() {
        let lines = [
            "".to_owned(),
            "no json".to_owned(),
            "[1]".to_owned(),
            r#"{"id":7,"url":3}"#.to_owned(),
            r#"{"id":8}"#.to_owned(),
            r#"{"id":9,"body_base64":"*"}"#.to_owned(),
            question(10, "<html><body>hello</body></html>"),
            question(json!({ "a": 1 }), "<rss><channel><title>t</title></channel></rss>"),
        ];
        let (got, faulty) = answers(&ReadFeed, &lines.join("\n"), 3);
        let ids: Vec<&Value> = got.iter().map(|answer| &answer["id"]).collect();
        let null = &Value::Null;
        assert_eq!(ids, [null, null, null, &json!(7), &json!(8), &json!(9), &json!(10), &json!({ "a": 1 })]);
        assert!(got[..7].iter().all(|answer| answer["error"].is_string() && answer.get("entries").is_none()));
        assert_eq!((&got[7]["title"], faulty), (&json!("t"), 7));
    }

    #[test]
    fn results_keep_the_order_of_the_lines() {
        let lines: Vec<String> = (0..2000)
            .map(|n| question(n, &format!("<rss><channel><title>{}</title></channel></rss>", "x".repeat(n % 700))))
            .collect();
        for readers in [1, 2, 7] {
            let (got, _) = answers(&ReadFeed, &(lines.join("\n") + "\n"), readers);
            let ids: Vec<u64> = got.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
            assert_eq!(ids, (0..2000).collect::<Vec<u64>>());
        }
    }
}
