//! The extractor as a filter: one page a line in, one text a line out, in the same order.
//!
//! Whatever a line is, there is a line for it: a page without text and a line that is no page are
//! answers too.

use std::borrow::Cow;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_clean::{Options, Unfit};
use tidings_model::{Document, Licence};

use crate::console;
use tidings_pipeline::extract_guarded;
use tidings_pipeline::lines::{self, Fault, push};

/// No line is longer: the largest page that is read at all.
const MAX_LINE_BYTES: u64 = super::MAX_INPUT_BYTES;

#[derive(Deserialize)]
struct Question<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    html: Option<Cow<'a, str>>,
    /// The language, where it is known better than from the page; the classic rule goes by its stop words.
    #[serde(borrow, default)]
    lang: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a Value,
    url: &'a str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    title: &'a str,
    author: String,
    authors: &'a [String],
    date: Option<&'a str>,
    date_source: Option<&'a str>,
    modified: &'a str,
    language: &'a str,
    description: &'a str,
    sitename: &'a str,
    site: &'a str,
    categories: &'a [String],
    tags: &'a [String],
    licence: Option<&'a Licence>,
    canonical: &'a str,
    image: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    comments: Option<String>,
    extractor: &'a str,
}

/// Reads standard input to its end; gives the number of lines that were no pages.
pub fn run(options: Options, threads: usize) -> Result<u64> {
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| answer(line, &options, out);
    lines::answers(std::io::stdin(), threads, MAX_LINE_BYTES, answer, console::print_bytes)
}

fn answer(line: Option<&[u8]>, options: &Options, out: &mut Vec<u8>) -> Result<(), Fault> {
    if lines::is_blank(line) {
        return Ok(());
    }
    let question: Question<'_> = lines::question(line, MAX_LINE_BYTES)?;
    let id = question.id;
    let Some(html) = question.html else { return Err(Fault { id, error: "html is missing".to_owned() }) };
    let url = question.url.as_deref().unwrap_or_default();
    match extract_guarded::read_html(&html, url, question.lang.as_deref(), options) {
        Ok(document) => push(&said(&id, url, &document, options, None), out),
        Err(unfit) => push(&said(&id, url, &extract_guarded::describe(&html, url), options, Some(unfit)), out),
    }
    Ok(())
}

fn said<'a>(
    id: &'a Value,
    url: &'a str,
    document: &'a Document,
    options: &Options,
    unfit: Option<Unfit>,
) -> Answer<'a> {
    let about = &document.about;
    let dated = document.dated.as_ref();
    let comments = || document.comments.iter().map(|paragraph| paragraph.text.as_str()).collect::<Vec<_>>().join("\n");
    Answer {
        id,
        url,
        text: document.text(),
        reason: unfit.map(Unfit::name),
        title: &about.title,
        author: about.authors.join("; "),
        authors: &about.authors,
        date: dated.map(|dated| dated.day.as_str()),
        date_source: dated.map(|dated| dated.source.as_str()),
        modified: &about.modified,
        language: &about.language,
        description: &about.description,
        sitename: &about.site_name,
        site: &document.site,
        categories: &about.categories,
        tags: &about.tags,
        licence: about.licence.as_ref(),
        canonical: &about.canonical,
        image: &about.image,
        comments: options.comments.then(comments),
        extractor: &document.extractor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answers(input: &str, threads: usize) -> (Vec<Value>, u64) {
        let mut written = Vec::new();
        let options = Options::default();
        let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| answer(line, &options, out);
        let write = |lines: &[u8]| written.extend_from_slice(lines);
        let faulty = lines::answers(input.as_bytes(), threads, 1 << 16, answer, write).unwrap();
        let text = String::from_utf8(written).unwrap();
        (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), faulty)
    }

    #[test]
    fn every_line_has_an_answer_whatever_it_is() {
        let page = json!({ "id": "a", "url": "http://e.org/a", "html": "<p>It rained for three days, and then it did not.</p>" });
        let long = json!({ "id": 4, "html": "x".repeat(1 << 17) });
        let input = format!(
            "{page}\nnonsense\n\n[1]\n{{\"id\":7,\"html\":3}}\n{{\"id\":8}}\n{{\"id\":9,\"html\":\"\"}}\n{long}\n{{\"html\":\"<p>\"}}"
        );
        let (got, faulty) = answers(&input, 2);
        assert_eq!((got.len(), faulty), (8, 5));
        assert_eq!((&got[0]["id"], &got[0]["url"]), (&json!("a"), &json!("http://e.org/a")));
        assert!(got[0]["text"].as_str().unwrap().contains("three days"));
        for at in [1, 2, 3, 4, 6] {
            assert!(got[at]["error"].is_string() && got[at].get("text").is_none(), "{}", got[at]);
        }
        assert_eq!(got[1].get("id"), None);
        assert_eq!((&got[3]["id"], &got[4]["id"]), (&json!(7), &json!(8)));
        assert_eq!((&got[5]["id"], &got[5]["text"], &got[5]["reason"]), (&json!(9), &json!(""), &json!("no-text")));
        assert_eq!(got[7]["id"], Value::Null);
    }
}
