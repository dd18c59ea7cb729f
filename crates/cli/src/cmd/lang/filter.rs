//! The labels as a filter: one text a line in, one label a line out, in the same order.
//!
//! Batches of lines are labelled by all cores at once and written before the next is read, so that
//! order costs nothing and memory is bounded by one batch. Whatever a line is, there is a line for
//! it: an error is an answer too.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use tidings_lang::{Hints, identify};

use crate::console;

/// No line is longer.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Lines travel together up to this size, or until no more are waiting to be read.
const BATCH_BYTES: usize = 4 << 20;

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

/// Reads standard input to its end.
pub fn run() -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get()).min(64);
    filter(std::io::stdin().lock(), cores, console::print_bytes)
}

fn filter(input: impl std::io::Read, cores: usize, mut write: impl FnMut(&[u8])) -> Result<()> {
    let mut input = BufReader::with_capacity(1 << 18, input);
    loop {
        let (batch, ended) = read_batch(&mut input).context("cannot read standard input")?;
        let share = batch.len().div_ceil(cores).max(1);
        let label = |lines: &[Option<Vec<u8>>]| {
            let mut out = Vec::new();
            lines.iter().for_each(|line| answer(line.as_deref(), &mut out));
            out
        };
        let answers: Vec<Vec<u8>> = match batch.len() {
            0..8 => vec![label(&batch)],
            _ => thread::scope(|scope| {
                let tasks: Vec<_> = batch.chunks(share).map(|lines| scope.spawn(move || label(lines))).collect();
                tasks.into_iter().map(|task| task.join().expect("a panic on a line is an answer to it")).collect()
            }),
        };
        answers.iter().for_each(|lines| write(lines));
        if ended {
            return Ok(());
        }
    }
}

/// Lines up to a batch's size, nothing in place of one that is too long; and whether the input has ended.
fn read_batch(input: &mut BufReader<impl std::io::Read>) -> std::io::Result<(Vec<Option<Vec<u8>>>, bool)> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while bytes < BATCH_BYTES {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok((batch, true));
        }
        let whole = line.last() == Some(&b'\n') || (line.len() as u64) < MAX_LINE_BYTES;
        if !whole {
            input.skip_until(b'\n')?;
        }
        bytes += line.len();
        batch.push(whole.then_some(line));
        // Whoever writes a line and waits for its answer must get it.
        if !input.buffer().contains(&b'\n') && bytes < BATCH_BYTES / 2 && input.buffer().is_empty() {
            break;
        }
    }
    Ok((batch, false))
}

/// Answers a line, with a line.
fn answer(line: Option<&[u8]>, out: &mut Vec<u8>) {
    // Should the labelling ever panic, that costs one line and not a million.
    let answer = match catch_unwind(AssertUnwindSafe(|| try_answer(line))) {
        Ok(Ok(answer)) => answer,
        Ok(Err((id, error))) => json!({ "id": id, "error": error }),
        Err(_) => json!({ "id": null, "error": "the labelling failed on this text" }),
    };
    out.extend_from_slice(answer.to_string().as_bytes());
    out.push(b'\n');
}

fn try_answer(line: Option<&[u8]>) -> Result<Value, (Value, String)> {
    let too_long = || (Value::Null, format!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20));
    let line = line.ok_or_else(too_long)?;
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err((Value::Null, "the line is no JSON object".to_owned()));
    }
    let question: Question<'_> = serde_json::from_slice(line).map_err(|error| {
        // An object with other values than expected may still say which one it is.
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        (value.get("id").cloned().unwrap_or_default(), format!("the line is no question: {error}"))
    })?;
    let Some(text) = question.text else { return Err((question.id, "text is missing".to_owned())) };
    let hints = Hints { declared: question.declared.as_deref(), tld: question.tld.as_deref() };
    let guess = identify(&text, hints);
    Ok(json!({ "id": question.id, "lang": guess.lang, "score": super::rounded(guess.score) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(input: &str, cores: usize) -> Vec<Value> {
        let mut written = Vec::new();
        filter(input.as_bytes(), cores, |lines| written.extend_from_slice(lines)).unwrap();
        String::from_utf8(written).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn every_line_has_an_answer_whatever_it_is() {
        let got = answers("\nno json\n[1]\n{\"id\":7,\"text\":3}\n{\"id\":8}\n{\"id\":9,\"text\":\"\\u0000\"}", 2);
        let ids: Vec<&Value> = got.iter().map(|answer| &answer["id"]).collect();
        let null = &Value::Null;
        assert_eq!(ids, [null, null, null, &json!(7), &json!(8), &json!(9)]);
        assert!(got[..5].iter().all(|answer| answer["error"].is_string()));
        assert_eq!(got[5]["lang"], "und");
    }

    #[test]
    fn answers_keep_the_order_of_the_questions() {
        let lines: Vec<String> =
            (0..500).map(|n| json!({ "id": n, "text": "Guten Tag ".repeat(n % 50) }).to_string()).collect();
        for cores in [1, 2, 7] {
            let got = answers(&(lines.join("\n") + "\n"), cores);
            assert_eq!(
                got.iter().map(|answer| answer["id"].as_u64().unwrap()).collect::<Vec<_>>(),
                (0..500).collect::<Vec<u64>>()
            );
        }
    }
}
