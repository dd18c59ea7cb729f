//! Plain text becomes CoNLL-U: ten columns a word, an empty line behind each sentence.

use std::fmt::Write as _;
use std::io::Read;

use anyhow::Result;
use tidings_annotate::{Annotators, annotate_texts};
use tidings_model::Token;
use tidings_store::format::conllu;

use super::MAX_LINE_BYTES;
use crate::console;
use tidings_pipeline::lines;

/// Writes the sentences of a text to standard output; gives the number of lines that could not be read.
pub fn run(input: impl Read + Send, lang: &str, annotators: &Annotators, threads: usize) -> Result<u64> {
    let (mut faulty, mut number) = (0, 0u64);
    // The lines of a bundle go to the annotator together: some do nothing before they have read all.
    let sentences_of = |bundle: lines::Batch| -> Result<(Vec<String>, u64)> {
        let read = bundle.into_iter().map(|line| line.and_then(|line| String::from_utf8(line).ok()));
        let texts: Vec<Option<String>> = read.collect();
        let known: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        let faulty = texts.len() - known.len();
        let sentences = annotate_texts(&known, lang, annotators)?.into_iter().flatten();
        let write = |sentence: Vec<Token>| {
            let mut text = String::new();
            conllu::write_sentence(&sentence, &mut text);
            text
        };
        Ok((sentences.map(write).collect(), faulty as u64))
    };
    lines::in_order(input, threads, MAX_LINE_BYTES, sentences_of, |read| {
        let (sentences, unread) = read?;
        faulty += unread;
        let mut text = String::new();
        for sentence in sentences {
            number += 1;
            let _ = write!(text, "# sent_id = {number}\n{sentence}");
        }
        console::print_bytes(text.as_bytes());
        Ok(())
    })?;
    Ok(faulty)
}
