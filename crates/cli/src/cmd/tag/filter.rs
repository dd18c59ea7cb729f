//! The tagger as a filter: one text a line in, its words a line out, in the same order.
//!
//! Whatever a line is, there is a line for it: a line that is no text is an answer too.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_annotate::{Annotators, annotate_texts};
use tidings_lang::{Hints, identify};
use tidings_model::Token;

use super::MAX_LINE_BYTES;
use crate::console;
use crate::lines::{self, Fault, push};

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
    lang: &'a str,
    sentences: Vec<Vec<Word<'a>>>,
}

#[derive(Serialize)]
struct Word<'a> {
    form: &'a str,
    lemma: &'a str,
    upos: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    feats: &'a str,
    /// Whether white space follows.
    space: bool,
}

impl<'a> From<&'a Token> for Word<'a> {
    fn from(token: &'a Token) -> Word<'a> {
        let Token { word, lemma, tag, feats, space_after } = token;
        Word { form: word, lemma, upos: tag, feats, space: *space_after }
    }
}

/// Reads standard input to its end; gives the number of lines that were no texts.
pub fn run(lang: Option<&str>, annotators: &Annotators, threads: usize) -> Result<u64> {
    let faulty = AtomicU64::new(0);
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| answer(line, lang, annotators, &faulty, out);
    lines::filter(std::io::stdin().lock(), threads, MAX_LINE_BYTES, answer, console::print_bytes)?;
    Ok(faulty.into_inner())
}

fn answer(line: Option<&[u8]>, lang: Option<&str>, annotators: &Annotators, faulty: &AtomicU64, out: &mut Vec<u8>) {
    if line.is_some_and(|line| line.trim_ascii().is_empty()) {
        return;
    }
    let start = out.len();
    // The tagger does not panic. Should it ever, that costs one line and not a million.
    let done = catch_unwind(AssertUnwindSafe(|| try_answer(line, lang, annotators, out)));
    let failed = |_| Err(Fault { id: Value::Null, error: "the tagger failed on this text".to_owned() });
    if let Err(fault) = done.unwrap_or_else(failed) {
        faulty.fetch_add(1, Ordering::Relaxed);
        out.truncate(start);
        push(&fault, out);
    }
}

fn try_answer(
    line: Option<&[u8]>,
    lang: Option<&str>,
    annotators: &Annotators,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let question: Question<'_> = lines::question(line, MAX_LINE_BYTES)?;
    let id = question.id;
    let Some(text) = question.text else { return Err(Fault { id, error: "text is missing".to_owned() }) };
    let lang = match question.lang.as_deref().or(lang) {
        Some(lang) => lang,
        None => identify(&text, Hints::default()).lang,
    };
    match annotate_texts(&[&*text], lang, annotators) {
        Ok(sentences) => {
            let sentences =
                sentences.iter().flatten().map(|sentence| sentence.iter().map(Word::from).collect()).collect();
            push(&Answer { id: &id, lang, sentences }, out);
            Ok(())
        }
        Err(error) => Err(Fault { id, error: error.to_string() }),
    }
}
