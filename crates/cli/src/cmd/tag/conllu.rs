//! Plain text becomes CoNLL-U: ten columns a word, an empty line behind each sentence.

use std::fmt::Write as _;
use std::io::Read;

use anyhow::Result;
use tidings_annotate::{Annotators, annotate_text};
use tidings_model::Token;

use super::MAX_LINE_BYTES;
use crate::{console, lines};

/// Writes the sentences of a text to standard output; gives the number of lines that could not be read.
pub fn run(input: impl Read, lang: &str, annotators: &Annotators, threads: usize) -> Result<u64> {
    let (mut faulty, mut number) = (0, 0u64);
    let sentences_of = |bundle: lines::Bundle| -> Result<Vec<Option<Vec<String>>>> {
        let sentences = |line: Option<Vec<u8>>| -> Result<Option<Vec<String>>> {
            let Some(text) = line.and_then(|line| String::from_utf8(line).ok()) else { return Ok(None) };
            let sentences = annotate_text(&text, lang, annotators)?;
            Ok(Some(sentences.iter().map(|sentence| write(sentence)).collect()))
        };
        bundle.into_iter().map(sentences).collect()
    };
    lines::in_turn(input, threads, MAX_LINE_BYTES, sentences_of, |lines| {
        let mut text = String::new();
        for line in lines? {
            faulty += u64::from(line.is_none());
            for sentence in line.unwrap_or_default() {
                number += 1;
                let _ = write!(text, "# sent_id = {number}\n{sentence}");
            }
        }
        console::print_bytes(text.as_bytes());
        Ok(())
    })?;
    Ok(faulty)
}

/// A sentence without its number.
fn write(sentence: &[Token]) -> String {
    let mut out = String::from("# text = ");
    for (place, token) in sentence.iter().enumerate() {
        push(&token.word, &mut out);
        if token.space_after && place + 1 < sentence.len() {
            out.push(' ');
        }
    }
    out.push('\n');
    let mut number = 0;
    for token in sentence {
        let misc = if token.space_after { "_" } else { "SpaceAfter=No" };
        let parts = parts(token);
        if parts.len() > 1 {
            let _ = write!(out, "{}-{}\t", number + 1, number + parts.len());
            push(&token.word, &mut out);
            let _ = writeln!(out, "\t_\t_\t_\t_\t_\t_\t_\t{misc}");
        }
        for (lemma, tag) in &parts {
            number += 1;
            let _ = write!(out, "{number}\t");
            // How a part is written is not known, only what it stands for.
            push(if parts.len() > 1 { "_" } else { &token.word }, &mut out);
            out.push('\t');
            push(if lemma.is_empty() { "_" } else { lemma }, &mut out);
            let tag = if tag.is_empty() { "_" } else { tag };
            let misc = if parts.len() > 1 { "_" } else { misc };
            let _ = writeln!(out, "\t{tag}\t_\t_\t_\t_\t_\t{misc}");
        }
    }
    out.push('\n');
    out
}

/// The words that a token stands for: one, or as many as its lemma and its tag have, joined by `+`.
fn parts(token: &Token) -> Vec<(&str, &str)> {
    let tags: Vec<&str> = token.tag.split('+').collect();
    let lemmas: Vec<&str> = token.lemma.split('+').collect();
    match tags.len() > 1 && tags.len() == lemmas.len() {
        true => lemmas.into_iter().zip(tags).collect(),
        false => vec![(&token.lemma, &token.tag)],
    }
}

/// Writes what stands in a column or a comment: no tabs, no ends of lines.
fn push(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_stands_for_several_words_is_a_range() {
        let token = |word: &str, lemma: &str, tag: &str, space_after| Token {
            word: word.into(),
            lemma: lemma.into(),
            tag: tag.into(),
            space_after,
        };
        let sentence =
            [token("du", "de+le", "ADP+DET", true), token("vin", "vin", "NOUN", false), token("+", "+", "", true)];
        let wanted = "# text = du vin+\n\
            1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n\
            1\t_\tde\tADP\t_\t_\t_\t_\t_\t_\n\
            2\t_\tle\tDET\t_\t_\t_\t_\t_\t_\n\
            3\tvin\tvin\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No\n\
            4\t+\t+\t_\t_\t_\t_\t_\t_\t_\n\n";
        assert_eq!(write(&sentence), wanted);
    }
}
