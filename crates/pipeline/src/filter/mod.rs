//! Filters over JSON lines: one request per line in, one result per line out, in the same order, on all cores.
//!
//! A [`Filter`] maps one request to one result; [`run`] reads the lines, distributes them over threads and writes the
//! results with the `id` of their requests. A line that cannot be processed gets a [`Fault`] in its place, so that
//! input and output stay aligned. `dedup` depends on the preceding documents and therefore has its own driver.
//!
//! | filter | request | result |
//! |---|---|---|
//! | [`extract::Extract`] | HTML of a page | text and metadata |
//! | [`feed::ReadFeed`] | bytes of a feed | its entries |
//! | [`lang::Identify`] | text | language and score |
//! | [`tokenize::Tokenize`] | text | sentences of words |
//! | [`tag::Tag`] | text | sentences of words with lemma, tag and features |
//! | [`dedup`] | document | the same without paragraphs seen before |

pub mod dedup;
pub mod extract;
pub mod feed;
pub mod lang;
pub mod tag;
pub mod tokenize;

use std::borrow::Cow;
use std::io::Read;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::guard::guarded;
use crate::lines::{self, Fault, PANICKED, push};

/// The default maximum length of a line.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

/// A mapping from one line to another.
pub trait Filter: Sync {
    /// A line of input.
    type Question<'a>: Deserialize<'a> + Question;
    /// A line of output, but for its `id`.
    type Answer<'q>: Serialize
    where
        Self: 'q;

    /// The maximum length of a line; a longer one is a fault.
    const MAX_LINE_BYTES: u64 = MAX_LINE_BYTES;
    /// Whether an empty line is skipped. Otherwise it is a fault.
    const SKIPS_BLANK_LINES: bool = true;

    /// Processes a request, or returns the error message.
    fn answer<'q>(&'q self, question: &'q Self::Question<'_>) -> Result<Self::Answer<'q>, String>;
}

/// Processes a request outside a stream. A panic costs this request, as it costs one line in [`run`].
pub fn answer<'q, F: Filter>(filter: &'q F, question: &'q F::Question<'_>) -> Result<F::Answer<'q>, String> {
    guarded(|| filter.answer(question)).unwrap_or_else(|_| Err(PANICKED.to_owned()))
}

/// A line of input that names itself.
pub trait Question {
    /// The id of the line, which its result repeats; null if there is none.
    fn id(&self) -> &Value;
}

/// The number of lines a filter could not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unreadable(pub u64);

#[derive(Serialize)]
struct Answered<'q, A> {
    id: &'q Value,
    #[serde(flatten)]
    answer: A,
}

/// Runs a filter over the input to its end.
pub fn run<F: Filter>(
    filter: &F,
    input: impl Read + Send,
    threads: usize,
    write: impl FnMut(&[u8]),
) -> Result<Unreadable> {
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| answer_line(filter, line, out);
    lines::answers(input, threads, F::MAX_LINE_BYTES, answer, write).map(Unreadable)
}

fn answer_line<F: Filter>(filter: &F, line: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), Fault> {
    if F::SKIPS_BLANK_LINES && lines::is_blank(line) {
        return Ok(());
    }
    let question: F::Question<'_> = lines::question(line, F::MAX_LINE_BYTES)?;
    let id = question.id();
    let answer = filter.answer(&question).map_err(|error| Fault { id: id.clone(), error })?;
    push(&Answered { id, answer }, out);
    Ok(())
}

/// A field that a question must have.
fn required<'q>(field: &'q Option<Cow<'_, str>>, name: &str) -> Result<&'q str, String> {
    field.as_deref().ok_or_else(|| format!("{name} is missing"))
}

/// The request of annotating filters: a text and optionally its language.
#[derive(Debug, Default, Deserialize)]
pub struct TextQuestion<'a> {
    /// The id of the line.
    #[serde(default)]
    pub id: Value,
    /// The language, if known.
    #[serde(borrow, default)]
    pub lang: Option<Cow<'a, str>>,
    /// The text.
    #[serde(borrow, default)]
    pub text: Option<Cow<'a, str>>,
}

impl Question for TextQuestion<'_> {
    fn id(&self) -> &Value {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output lines of a filter, and the number of faults.
    pub(super) fn answers<F: Filter>(filter: &F, input: &str, threads: usize) -> (Vec<Value>, u64) {
        let mut written = Vec::new();
        let unreadable = run(filter, input.as_bytes(), threads, |lines| written.extend_from_slice(lines)).unwrap();
        (json_lines(&written), unreadable.0)
    }

    pub(super) fn json_lines(written: &[u8]) -> Vec<Value> {
        str::from_utf8(written).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the length of a text; panics on an empty one.
    struct Length;

    #[derive(Serialize)]
    struct Bytes {
        bytes: usize,
    }

    impl Filter for Length {
        type Question<'a> = TextQuestion<'a>;
        type Answer<'q> = Bytes;

        const MAX_LINE_BYTES: u64 = 1 << 16;

        fn answer<'q>(&'q self, question: &'q TextQuestion<'_>) -> Result<Bytes, String> {
            let bytes = required(&question.text, "text")?.len();
            assert!(bytes > 0, "a mistake");
            Ok(Bytes { bytes })
        }
    }

    fn written(input: &str) -> (String, u64) {
        let mut written = Vec::new();
        let unreadable = run(&Length, input.as_bytes(), 2, |lines| written.extend_from_slice(lines)).unwrap();
        (String::from_utf8(written).unwrap(), unreadable.0)
    }

    #[test]
    fn a_result_repeats_the_id_of_its_request() {
        let (got, faulty) = written("{\"id\":{\"a\":[1]},\"text\":\"abc\"}\n\n{\"text\":\"d\"}");
        assert_eq!((got.as_str(), faulty), ("{\"id\":{\"a\":[1]},\"bytes\":3}\n{\"id\":null,\"bytes\":1}\n", 0));
    }

    #[test]
    fn an_invalid_request_is_a_fault_with_its_id() {
        let (got, faulty) = written("{\"id\":7}\n{\"id\":8,\"text\":1}\nnonsense\n[1]\n");
        let lines: Vec<&str> = got.lines().collect();
        assert_eq!((lines[0], faulty), ("{\"id\":7,\"error\":\"text is missing\"}", 4));
        assert!(lines[1].starts_with("{\"id\":8,\"error\":\"invalid input"));
        assert_eq!(lines[2..], ["{\"error\":\"not a JSON object\"}"; 2]);
    }

    #[test]
    fn a_line_over_the_limit_is_a_fault_and_the_next_is_read() {
        let long = format!("{{\"id\":1,\"text\":\"{}\"}}\n{{\"id\":2,\"text\":\"a\"}}\n", "x".repeat(1 << 17));
        let (got, faulty) = written(&long);
        assert_eq!(
            (got.as_str(), faulty),
            ("{\"error\":\"the line is longer than 0 MiB\"}\n{\"id\":2,\"bytes\":1}\n", 1)
        );
    }

    #[test]
    fn a_panic_costs_one_line() {
        let (got, faulty) = written("{\"id\":1,\"text\":\"\"}\n{\"id\":2,\"text\":\"a\"}\n");
        assert_eq!(
            (got.as_str(), faulty),
            ("{\"error\":\"internal error on this input\"}\n{\"id\":2,\"bytes\":1}\n", 1)
        );
    }
}
