//! Tagging as a filter: texts → tokens with lemmas, parts of speech and features, as JSON lines or CoNLL-U.

use std::fmt::Write as _;
use std::io::Read;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_annotate::{Annotators, annotate_texts};
use tidings_formats::conllu;
use tidings_lang::{Hints, identify};
use tidings_model::Token;

use super::{Filter, MAX_LINE_BYTES, TextQuestion, Unreadable, required};
use crate::lines;

/// The length of the beginning of a plain text that is used for language identification.
const SAMPLE_BYTES: u64 = 64 << 10;

/// Annotates texts.
pub struct Tag<'a> {
    /// The language of texts without one; identified if absent.
    pub lang: Option<String>,
    /// The annotators of each language.
    pub annotators: &'a Annotators,
}

/// The words of a text.
#[derive(Debug, Serialize)]
pub struct Answer<'q> {
    /// The language, given or identified.
    pub lang: &'q str,
    /// The tokens of each sentence.
    pub sentences: Vec<Vec<TaggedWord>>,
}

/// A token in the output.
#[derive(Debug, PartialEq, Serialize)]
pub struct TaggedWord {
    /// The word as written.
    pub form: String,
    /// The lemma.
    pub lemma: String,
    /// The universal part of speech.
    pub upos: String,
    /// The morphological features, such as `Case=Nom|Number=Sing`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub feats: String,
    /// Whether white space follows.
    pub space: bool,
}

impl From<Token> for TaggedWord {
    fn from(token: Token) -> TaggedWord {
        let Token { word, lemma, tag, feats, space_after } = token;
        let [form, lemma, upos, feats] = [word, lemma, tag, feats].map(String::from);
        TaggedWord { form, lemma, upos, feats, space: space_after }
    }
}

impl Filter for Tag<'_> {
    type Question<'q> = TextQuestion<'q>;
    type Answer<'q>
        = Answer<'q>
    where
        Self: 'q;

    fn answer<'q>(&'q self, question: &'q TextQuestion<'_>) -> Result<Answer<'q>, String> {
        let text = required(&question.text, "text")?;
        let lang = match question.lang.as_deref().or(self.lang.as_deref()) {
            Some(lang) => lang,
            None => identify(text, Hints::default()).lang,
        };
        let sentences = annotate_texts(&[text], lang, self.annotators).map_err(|error| error.to_string())?;
        let words = |sentence: Vec<Token>| sentence.into_iter().map(TaggedWord::from).collect();
        Ok(Answer { lang, sentences: sentences.into_iter().flatten().map(words).collect() })
    }
}

/// Annotates plain text and writes CoNLL-U; a line end ends a sentence.
pub fn conllu(
    mut input: impl Read + Send,
    tag: &Tag<'_>,
    threads: usize,
    write: impl FnMut(&[u8]),
) -> Result<Unreadable> {
    if let Some(lang) = &tag.lang {
        return write_conllu(input, lang, tag.annotators, threads, write);
    }
    let mut sample = Vec::new();
    input.by_ref().take(SAMPLE_BYTES).read_to_end(&mut sample).context("cannot read standard input")?;
    let lang = identify(&String::from_utf8_lossy(&sample), Hints::default()).lang;
    write_conllu(sample.as_slice().chain(input), lang, tag.annotators, threads, write)
}

fn write_conllu(
    input: impl Read + Send,
    lang: &str,
    annotators: &Annotators,
    threads: usize,
    mut write: impl FnMut(&[u8]),
) -> Result<Unreadable> {
    let (mut unreadable, mut number) = (0, 0u64);
    // The lines of a batch are annotated together: some external tools write nothing before they have read everything.
    let sentences_of = |batch: lines::Batch| -> Result<(Vec<String>, u64)> {
        let read = batch.into_iter().map(|line| line.and_then(|line| String::from_utf8(line).ok()));
        let texts: Vec<Option<String>> = read.collect();
        let known: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        let unreadable = texts.len() - known.len();
        let sentences = annotate_texts(&known, lang, annotators)?.into_iter().flatten();
        let written = |sentence: Vec<Token>| {
            let mut text = String::new();
            conllu::write_sentence(&sentence, &mut text);
            text
        };
        Ok((sentences.map(written).collect(), unreadable as u64))
    };
    lines::in_order(input, threads, MAX_LINE_BYTES, sentences_of, |read| {
        let (sentences, unread) = read?;
        unreadable += unread;
        let mut text = String::new();
        for sentence in sentences {
            number += 1;
            let _ = write!(text, "# sent_id = {number}\n{sentence}");
        }
        write(text.as_bytes());
        Ok(())
    })?;
    Ok(Unreadable(unreadable))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AnnotateConfig;
    use crate::filter::tests::answers;
    use crate::stage::annotate::annotators;
    use serde_json::json;

    #[test]
    fn the_language_is_given_or_identified() {
        let annotators = annotators(&AnnotateConfig::default()).unwrap();
        let lines = json!({ "id": 1, "lang": "xx", "text": "Rain." }).to_string()
            + "\n"
            + &json!({ "id": 2, "text": "Es hat den ganzen Tag geregnet, und morgen soll es schneien." }).to_string();
        let (got, _) = answers(&Tag { lang: None, annotators: &annotators }, &lines, 1);
        assert_eq!((&got[0]["lang"], &got[1]["lang"]), (&json!("xx"), &json!("de")));
        assert_eq!(got[0]["sentences"][0][0]["form"], "Rain");
        let (got, _) = answers(&Tag { lang: Some("yy".to_owned()), annotators: &annotators }, &lines, 1);
        assert_eq!((&got[0]["lang"], &got[1]["lang"]), (&json!("xx"), &json!("yy")));
    }

    #[test]
    fn conllu_numbers_sentences_and_counts_unreadable_lines() {
        let annotators = annotators(&AnnotateConfig::default()).unwrap();
        let tag = Tag { lang: Some("en".to_owned()), annotators: &annotators };
        let mut written = Vec::new();
        let input = &b"It rained. It snowed.\n\xff\nIt hailed.\n"[..];
        let unreadable = conllu(input, &tag, 2, |text| written.extend_from_slice(text)).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert_eq!((text.matches("# sent_id = ").count(), unreadable), (3, Unreadable(1)));
        assert!(text.contains("# sent_id = 3\n"));
    }
}
