//! The reader as a filter: one document a line in, one reading a line out, in the same order.
//!
//! Whatever a line is, there is a line for it: an error is an answer too.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::Result;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidings_feeds::{Feed, FeedFormat};

use crate::console;
use tidings_pipeline::lines;

/// No line is longer: the largest document that is read at all, in base64, and room for the rest.
const MAX_LINE_BYTES: u64 = 192 << 20;

/// Bodies as people encode them: padding or none.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Deserialize)]
struct Question<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content_type: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    body_base64: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Reading<'a> {
    id: &'a Value,
    format: FeedFormat,
    title: &'a str,
    language: Option<&'a str>,
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    link: Option<&'a str>,
    title: &'a str,
    id: Option<&'a str>,
    published: Option<jiff::Timestamp>,
    updated: Option<jiff::Timestamp>,
    author: Option<String>,
    categories: &'a [String],
    summary: Option<Cow<'a, str>>,
    content_html: Option<&'a str>,
}

/// Reads standard input to its end.
pub fn run() -> Result<()> {
    lines::filter(std::io::stdin(), tidings_pipeline::parallel::cores(), MAX_LINE_BYTES, answer, console::print_bytes)
}

/// Answers a line, with a line.
fn answer(line: Option<&[u8]>, out: &mut Vec<u8>) {
    let start = out.len();
    // The reader does not panic, and its tests try hard to make it. Should it ever, that costs one
    // line and not a million.
    let result = catch_unwind(AssertUnwindSafe(|| try_answer(line, out)));
    let error = match result {
        Ok(Ok(())) => None,
        Ok(Err((id, error))) => Some(json!({ "id": id, "error": error })),
        Err(_) => Some(json!({ "id": null, "error": "the reader failed on this document" })),
    };
    if let Some(error) = error {
        out.truncate(start);
        out.extend_from_slice(error.to_string().as_bytes());
    }
    out.push(b'\n');
}

fn try_answer(line: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), (Value, String)> {
    let too_long = || (Value::Null, format!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20));
    let line = line.ok_or_else(too_long)?;
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err((Value::Null, "the line is no JSON object".to_owned()));
    }
    let question: Question<'_> = serde_json::from_slice(line).map_err(|error| {
        // An object with other values than expected may still say which one it is.
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        (value.get("id").cloned().unwrap_or_default(), format!("the line is no question: {error}"))
    })?;
    let id = question.id;
    let Some(body) = question.body_base64 else { return Err((id, "body_base64 is missing".to_owned())) };
    let body = match BASE64.decode(body.as_bytes()) {
        Ok(body) => body,
        Err(error) => return Err((id, format!("body_base64 is not base64: {error}"))),
    };
    let content_type = question.content_type.as_deref().filter(|text| !text.is_empty());
    match tidings_feeds::read(&body, content_type, question.url.as_deref().unwrap_or_default()) {
        Ok(feed) => {
            serde_json::to_writer(&mut *out, &reading(&id, &feed)).map_err(|error| (id.clone(), error.to_string()))
        }
        Err(reason) => Err((id, reason.to_string())),
    }
}

fn reading<'a>(id: &'a Value, feed: &'a Feed) -> Reading<'a> {
    let entries = feed.entries.iter().map(|entry| Entry {
        link: entry.link.as_deref(),
        title: &entry.title,
        id: entry.id.as_deref(),
        published: entry.published,
        updated: entry.updated,
        author: entry.authors.first().map(ToString::to_string),
        categories: &entry.categories,
        summary: entry.summary_as_html(),
        content_html: entry.content_html.as_deref(),
    });
    Reading {
        id,
        format: feed.format,
        title: &feed.title,
        language: feed.language.as_deref(),
        entries: entries.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(input: &str, readers: usize) -> Vec<Value> {
        let written = std::sync::Mutex::new(Vec::new());
        let write = |lines: &[u8]| written.lock().unwrap().extend_from_slice(lines);
        lines::filter(input.as_bytes(), readers, MAX_LINE_BYTES, answer, write).unwrap();
        let written = written.into_inner().unwrap();
        String::from_utf8(written).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn question(id: impl Serialize, body: &str) -> String {
        json!({ "id": id, "url": "https://a.example/feed", "content_type": "", "body_base64": BASE64.encode(body) })
            .to_string()
    }

    #[test]
    fn a_document_is_answered_with_its_reading() {
        let body = "<rss><channel><title>Gazette</title><language>en</language><item><title>A</title><link>/a</link>\
            <guid>g</guid><pubDate>Mon, 02 Mar 2026 12:00:00 GMT</pubDate><category>c</category>\
            <description>1 &amp;lt; 2</description></item></channel></rss>";
        let got = answers(&question("x", body), 1);
        let entry = json!({
            "link": "https://a.example/a", "title": "A", "id": "g", "published": "2026-03-02T12:00:00Z",
            "updated": null, "author": null, "categories": ["c"], "summary": "1 &lt; 2", "content_html": null,
        });
        let wanted = json!({ "id": "x", "format": "rss", "title": "Gazette", "language": "en", "entries": [entry] });
        assert_eq!(got, [wanted]);
    }

    #[test]
    fn every_line_has_an_answer_whatever_it_is() {
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
        let got = answers(&lines.join("\n"), 3);
        let ids: Vec<&Value> = got.iter().map(|answer| &answer["id"]).collect();
        let null = &Value::Null;
        assert_eq!(ids, [null, null, null, &json!(7), &json!(8), &json!(9), &json!(10), &json!({ "a": 1 })]);
        assert!(got[..7].iter().all(|answer| answer["error"].is_string() && answer.get("entries").is_none()));
        assert_eq!(got[7]["title"], "t");
    }

    #[test]
    fn answers_keep_the_order_of_the_questions() {
        let lines: Vec<String> = (0..2000)
            .map(|n| question(n, &format!("<rss><channel><title>{}</title></channel></rss>", "x".repeat(n % 700))))
            .collect();
        for readers in [1, 2, 7] {
            let got = answers(&(lines.join("\n") + "\n"), readers);
            let ids: Vec<u64> = got.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
            assert_eq!(ids, (0..2000).collect::<Vec<u64>>());
        }
    }
}
