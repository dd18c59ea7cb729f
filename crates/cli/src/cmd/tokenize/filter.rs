//! The segmenter as a filter: one text a line in, its tokens a line out, in the same order.
//!
//! Whatever a line is, there is a line for it: a line that is no text is an answer too.

use std::borrow::Cow;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_annotate::Segmenter;

use super::MAX_LINE_BYTES;
use crate::console;
use tidings_pipeline::lines::{self, Fault, push};

#[derive(Deserialize)]
struct Question<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    lang: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a Value,
    sentences: Vec<Vec<&'a str>>,
}

/// Reads standard input to its end; gives the number of lines that were no texts.
pub fn run(lang: &str, threads: usize) -> Result<u64> {
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| answer(line, lang, out);
    lines::answers(std::io::stdin(), threads, MAX_LINE_BYTES, answer, console::print_bytes)
}

fn answer(line: Option<&[u8]>, lang: &str, out: &mut Vec<u8>) -> Result<(), Fault> {
    if lines::is_blank(line) {
        return Ok(());
    }
    let question: Question<'_> = lines::question(line, MAX_LINE_BYTES)?;
    let id = question.id;
    let Some(text) = question.text else { return Err(Fault { id, error: "text is missing".to_owned() }) };
    let segmenter = Segmenter::for_language(question.lang.as_deref().unwrap_or(lang));
    let found = segmenter.segment(&text);
    let sentences = found.iter().map(|sentence| sentence.words(&text).collect()).collect();
    push(&Answer { id: &id, sentences }, out);
    Ok(())
}
