//! The tagger as a filter: one text a line in, its words a line out, in the same order.
//!
//! Whatever a line is, there is a line for it: a line that is no text is an answer too.

use std::borrow::Cow;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_annotate::{Annotators, annotate_texts};
use tidings_lang::{Hints, identify};
use tidings_model::Token;

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
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| answer(line, lang, annotators, out);
    lines::answers(std::io::stdin(), threads, MAX_LINE_BYTES, answer, console::print_bytes)
}

fn answer(line: Option<&[u8]>, lang: Option<&str>, annotators: &Annotators, out: &mut Vec<u8>) -> Result<(), Fault> {
    if lines::is_blank(line) {
        return Ok(());
    }
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
