//! Tokenization as a filter: texts → sentences of tokens.

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use serde::Serialize;
use tidings_annotate::Segmenter;

use super::{Filter, MAX_LINE_BYTES, TextQuestion, Unreadable, required};
use crate::lines;

/// Splits texts into sentences and tokens.
#[derive(Debug, Clone)]
pub struct Tokenize {
    /// The language of texts that name none.
    pub lang: String,
}

/// The words of a text.
#[derive(Debug, PartialEq, Serialize)]
pub struct Answer<'q> {
    /// The words of each sentence.
    pub sentences: Vec<Vec<&'q str>>,
}

impl Filter for Tokenize {
    type Question<'a> = TextQuestion<'a>;
    type Answer<'q> = Answer<'q>;

    fn answer<'q>(&'q self, question: &'q TextQuestion<'_>) -> Result<Answer<'q>, String> {
        let text = required(&question.text, "text")?;
        let segmenter = Segmenter::for_language(question.lang.as_deref().unwrap_or(&self.lang));
        let found = segmenter.segment(text);
        Ok(Answer { sentences: found.iter().map(|sentence| sentence.words(text).collect()).collect() })
    }
}

/// The layout of tokens in plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A sentence a line, with blanks between tokens.
    Sentences,
    /// A token a line, with an empty line after each sentence.
    Vertical,
}

/// Tokenizes plain text; a line end ends a sentence.
pub fn plain(
    input: impl Read + Send,
    lang: &str,
    layout: Layout,
    threads: usize,
    write: impl FnMut(&[u8]),
) -> Result<Unreadable> {
    let unreadable = AtomicU64::new(0);
    let segmenter = Segmenter::for_language(lang);
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| match line.map(str::from_utf8) {
        Some(Ok(text)) => push_tokens(&segmenter, text, layout, out),
        _ => {
            unreadable.fetch_add(1, Ordering::Relaxed);
        }
    };
    lines::filter(input, threads, MAX_LINE_BYTES, answer, write)?;
    Ok(Unreadable(unreadable.into_inner()))
}

fn push_tokens(segmenter: &Segmenter<'_>, text: &str, layout: Layout, out: &mut Vec<u8>) {
    let (between, behind): (u8, &[u8]) = match layout {
        Layout::Sentences => (b' ', b"\n"),
        Layout::Vertical => (b'\n', b"\n\n"),
    };
    for sentence in segmenter.segment(text) {
        for (place, word) in sentence.words(text).enumerate() {
            if place > 0 {
                out.push(between);
            }
            // A token must not contain a separator.
            for part in word.chars() {
                let part = if part.is_whitespace() { '\u{a0}' } else { part };
                out.extend_from_slice(part.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        out.extend_from_slice(behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::tests::answers;
    use serde_json::json;

    #[test]
    fn a_text_is_split_by_the_rules_of_its_language() {
        let lines = json!({ "id": 1, "text": "It rained. It snowed." }).to_string()
            + "\n\n"
            + &json!({ "id": 2, "lang": "de", "text": "Am 3. Mai schneite es." }).to_string();
        let (got, faulty) = answers(&Tokenize { lang: "en".to_owned() }, &lines, 1);
        assert_eq!(got[0], json!({ "id": 1, "sentences": [["It", "rained", "."], ["It", "snowed", "."]] }));
        assert_eq!(got[1]["sentences"], json!([["Am", "3.", "Mai", "schneite", "es", "."]]));
        assert_eq!((got.len(), faulty), (2, 0));
    }

    #[test]
    fn plain_text_becomes_lines_or_columns_and_spaces_in_tokens_are_kept() {
        let shown = |layout| {
            let mut written = Vec::new();
            let unreadable = plain("Il y a 10 000 mots.\n\u{fffd}".as_bytes(), "fr", layout, 1, |lines| {
                written.extend_from_slice(lines)
            });
            (String::from_utf8(written).unwrap(), unreadable.unwrap().0)
        };
        assert_eq!(shown(Layout::Sentences).0.lines().next(), Some("Il y a 10\u{a0}000 mots ."));
        assert!(shown(Layout::Vertical).0.starts_with("Il\ny\na\n10\u{a0}000\nmots\n.\n\n"));
        let unreadable = plain(&b"\xff\xfe\nyes\n"[..], "en", Layout::Sentences, 1, |_| {}).unwrap();
        assert_eq!(unreadable, Unreadable(1));
    }

    proptest::proptest! {
        #[test]
        fn every_line_gets_a_result_in_order_with_its_id(texts in proptest::collection::vec("\\PC{0,40}", 1..20), threads in 1..4usize) {
            let lines: Vec<String> =
                texts.iter().enumerate().map(|(id, text)| json!({ "id": id, "text": text }).to_string()).collect();
            let (got, faulty) = answers(&Tokenize { lang: "en".to_owned() }, &lines.join("\n"), threads);
            proptest::prop_assert_eq!((got.len(), faulty), (texts.len(), 0));
            for (id, (answer, text)) in got.iter().zip(&texts).enumerate() {
                proptest::prop_assert_eq!(&answer["id"], &json!(id));
                let kept = |c: &char| !c.is_whitespace();
                let words = answer["sentences"].as_array().unwrap().iter().flat_map(|words| words.as_array().unwrap());
                let joined: String = words.map(|word| word.as_str().unwrap()).collect();
                let joined: String = joined.chars().filter(kept).collect();
                proptest::prop_assert_eq!(joined, text.chars().filter(kept).collect::<String>());
            }
        }
    }
}
