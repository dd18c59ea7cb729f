//! The labels as a filter: one text a line in, one label a line out, in the same order.
//!
//! Whatever a line is, there is a line for it: an error is an answer too.

use std::borrow::Cow;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_lang::{Hints, identify};

use crate::console;
use tidings_pipeline::lines::{self, Fault, push};

/// No text is longer in one line.
const MAX_LINE_BYTES: u64 = 64 << 20;

#[derive(Deserialize)]
struct Question<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    declared: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tld: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a Value,
    lang: &'static str,
    score: f64,
}

/// Reads standard input to its end; gives the number of lines that were no texts.
pub fn run(declared: Option<&str>, tld: Option<&str>, threads: usize) -> Result<u64> {
    filter(std::io::stdin(), Hints { declared, tld }, threads, console::print_bytes)
}

fn filter(
    input: impl std::io::Read + Send,
    hints: Hints<'_>,
    threads: usize,
    write: impl FnMut(&[u8]) + Send,
) -> Result<u64> {
    lines::answers(input, threads, MAX_LINE_BYTES, |line, out| answer(line, hints, out), write)
}

fn answer(line: Option<&[u8]>, hints: Hints<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let question: Question<'_> = lines::question(line, MAX_LINE_BYTES)?;
    let id = question.id;
    let Some(text) = question.text else { return Err(Fault { id, error: "text is missing".to_owned() }) };
    // What a line says of itself goes before what was said of all.
    let hints =
        Hints { declared: question.declared.as_deref().or(hints.declared), tld: question.tld.as_deref().or(hints.tld) };
    let guess = identify(&text, hints);
    push(&Answer { id: &id, lang: guess.lang, score: super::rounded(guess.score) }, out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answers(input: &str, hints: Hints<'_>, threads: usize) -> (Vec<Value>, u64) {
        let mut written = Vec::new();
        let faulty = filter(input.as_bytes(), hints, threads, |lines| written.extend_from_slice(lines)).unwrap();
        let written = String::from_utf8(written).unwrap();
        (written.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), faulty)
    }

    #[test]
    fn every_line_has_an_answer_whatever_it_is() {
        let lines = "\nno json\n[1]\n{\"id\":7,\"text\":3}\n{\"id\":8}\n{\"id\":9,\"text\":\"\\u0000\"}";
        let (got, faulty) = answers(lines, Hints::default(), 2);
        let ids: Vec<&Value> = got.iter().map(|answer| &answer["id"]).collect();
        let null = &Value::Null;
        assert_eq!(ids, [null, null, null, &json!(7), &json!(8), &json!(9)]);
        assert!(got[..5].iter().all(|answer| answer["error"].is_string()));
        assert_eq!((&got[5]["lang"], faulty), (&json!("und"), 5));
    }

    #[test]
    fn answers_keep_the_order_of_the_questions() {
        let lines: Vec<String> =
            (0..500).map(|n| json!({ "id": n, "text": "Guten Tag ".repeat(n % 50) }).to_string()).collect();
        for threads in [1, 2, 7] {
            let (got, faulty) = answers(&(lines.join("\n") + "\n"), Hints::default(), threads);
            let ids: Vec<u64> = got.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
            assert_eq!((ids, faulty), ((0..500).collect::<Vec<u64>>(), 0));
        }
    }

    #[test]
    fn a_line_knows_its_own_language_better_than_the_flags() {
        let lines =
            "{\"id\":1,\"text\":\"Stol je velik.\"}\n{\"id\":2,\"text\":\"Stol je velik.\",\"declared\":\"hr\"}";
        let (got, _) = answers(lines, Hints { declared: Some("bs"), tld: None }, 1);
        assert_eq!((&got[0]["lang"], &got[1]["lang"]), (&json!("bs"), &json!("hr")));
    }
}
