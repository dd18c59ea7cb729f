//! The reader as a filter: one document a line in, one reading a line out, in the same order.
//!
//! Lines go to the cores in turn and come back in turn, so that order costs nothing and memory is
//! bounded by what a few lines take. Whatever a line is, there is a line for it: an error is an
//! answer too.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidings_feeds::{Feed, FeedFormat};

/// No line is longer: the largest document that is read at all, in base64, and room for the rest.
const MAX_LINE_BYTES: u64 = 192 << 20;
/// Lines travel together up to this size, or until no more are waiting to be read.
const BUNDLE_BYTES: usize = 256 << 10;
/// Bundles that wait before and after each core.
const WAITING: usize = 2;

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

/// Lines on their way to a reader; nothing in place of one that is too long.
type Bundle = Vec<Option<Vec<u8>>>;

/// Reads standard input to its end.
pub fn run() -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get()).min(64);
    filter(std::io::stdin().lock(), cores, super::write_out)
}

fn filter(input: impl Read, readers: usize, mut write: impl FnMut(&[u8]) + Send) -> Result<()> {
    thread::scope(|scope| {
        let mut desks = Vec::new();
        let mut trays = Vec::new();
        for _ in 0..readers {
            let (to_reader, bundles) = sync_channel::<Bundle>(WAITING);
            let (to_writer, answers) = sync_channel::<Vec<u8>>(WAITING);
            scope.spawn(move || {
                for bundle in bundles {
                    let mut lines = Vec::new();
                    bundle.iter().for_each(|line| answer(line.as_deref(), &mut lines));
                    if to_writer.send(lines).is_err() {
                        break;
                    }
                }
            });
            desks.push(to_reader);
            trays.push(answers);
        }
        // Bundles were dealt in turn, so they are collected in turn; the first tray that stays
        // empty for good is the end of all.
        scope.spawn(move || {
            for tray in trays.iter().cycle() {
                match tray.recv() {
                    Ok(lines) => write(&lines),
                    Err(_) => break,
                }
            }
        });
        let dealt = deal(BufReader::with_capacity(1 << 16, input), &desks);
        // The readers end when nobody can deal to them any more.
        drop(desks);
        dealt
    })
}

/// Deals the lines of the input to the readers, in turn.
fn deal(mut input: BufReader<impl Read>, desks: &[SyncSender<Bundle>]) -> Result<()> {
    let mut bundle = Bundle::new();
    let mut bytes = 0;
    let mut desks = desks.iter().cycle();
    loop {
        let line = next_line(&mut input).context("cannot read standard input")?;
        let ended = line.is_none();
        if let Some(line) = line {
            bytes += line.as_ref().map_or(0, Vec::len);
            bundle.push(line);
        }
        // Whoever writes a line and waits for its answer must get it.
        let waiting = !input.buffer().contains(&b'\n');
        if !bundle.is_empty() && (ended || waiting || bytes >= BUNDLE_BYTES) {
            let desk = desks.next().expect("there is at least one reader");
            if desk.send(std::mem::take(&mut bundle)).is_err() {
                return Ok(());
            }
            bytes = 0;
        }
        if ended {
            return Ok(());
        }
    }
}

/// The next line without its end; nothing in its place if it is too long, nothing at all at the end.
fn next_line(input: &mut BufReader<impl Read>) -> io::Result<Option<Option<Vec<u8>>>> {
    let mut line = Vec::new();
    if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 == MAX_LINE_BYTES {
        input.skip_until(b'\n')?;
        return Ok(Some(None));
    }
    Ok(Some(Some(line)))
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
        filter(input.as_bytes(), readers, |lines| written.lock().unwrap().extend_from_slice(lines)).unwrap();
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
