//! Filters over JSON lines: one line in, one line out, in the same order, on all cores.

use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::guard::guarded;
use crate::parallel::{self, Bounds};

/// An input line that cannot be processed, and the reason.
#[derive(Debug, Serialize)]
pub struct Fault {
    /// The `id` of the line, if it has one.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub id: Value,
    /// The error message.
    pub error: String,
}

impl Fault {
    /// The fault of a line that is longer than the limit.
    pub fn too_long(max_line_bytes: u64) -> Fault {
        Fault { id: Value::Null, error: format!("the line is longer than {} MiB", max_line_bytes >> 20) }
    }
}

/// Parses a line of JSON.
pub fn question<'a, Q: Deserialize<'a>>(line: Option<&'a [u8]>, max_line_bytes: u64) -> Result<Q, Fault> {
    let Some(line) = line else { return Err(Fault::too_long(max_line_bytes)) };
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err(Fault { id: Value::Null, error: "not a JSON object".to_owned() });
    }
    serde_json::from_slice(line).map_err(|error| {
        // An object with unexpected values may still have an id.
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        Fault { id: value.get("id").cloned().unwrap_or_default(), error: format!("invalid input: {error}") }
    })
}

/// Appends a value as a line of JSON.
pub fn push(answer: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, answer).expect("answers serialise");
    out.push(b'\n');
}

/// The error message of a line on which the filter panicked.
pub const PANICKED: &str = "internal error on this input";

/// Lines are batched up to this size, or until no more input is available.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that wait before and after each core.
const WAITING: usize = 2;

/// Lines that are processed together; `None` for one that is too long.
pub type Batch = Vec<Option<Vec<u8>>>;

/// Maps each line of the input through `answer` on several threads and writes the results in the order of the lines. A
/// line longer than the limit is passed as `None`.
pub fn filter(
    input: impl Read + Send,
    threads: usize,
    max_line_bytes: u64,
    answer: impl Fn(Option<&[u8]>, &mut Vec<u8>) + Sync,
    mut write: impl FnMut(&[u8]),
) -> anyhow::Result<()> {
    let answer_all = |batch: Batch| {
        let mut lines = Vec::new();
        batch.iter().for_each(|line| answer(line.as_deref(), &mut lines));
        lines
    };
    in_order(input, threads, max_line_bytes, answer_all, |lines| {
        write(&lines);
        Ok(())
    })
}

/// Maps each line like [`filter`]; a fault of a line becomes a line of output. Returns the number of faults. A panic
/// costs one line and not the stream.
pub fn answers(
    input: impl Read + Send,
    threads: usize,
    max_line_bytes: u64,
    answer: impl Fn(Option<&[u8]>, &mut Vec<u8>) -> Result<(), Fault> + Sync,
    write: impl FnMut(&[u8]),
) -> anyhow::Result<u64> {
    let faulty = AtomicU64::new(0);
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| {
        let start = out.len();
        let done = guarded(|| answer(line, out));
        let failed = |_| Err(Fault { id: Value::Null, error: PANICKED.to_owned() });
        if let Err(fault) = done.unwrap_or_else(failed) {
            faulty.fetch_add(1, Ordering::Relaxed);
            out.truncate(start);
            push(&fault, out);
        }
    };
    filter(input, threads, max_line_bytes, answer, write)?;
    Ok(faulty.into_inner())
}

/// Whether a line is empty and gets no output.
pub fn is_blank(line: Option<&[u8]>) -> bool {
    line.is_some_and(|line| line.trim_ascii().is_empty())
}

/// Maps batches of lines through `work` on several threads and passes the results to `take` in the order of the lines.
/// An error of `take` ends the filter.
pub fn in_order<R: Send>(
    input: impl Read + Send,
    threads: usize,
    max_line_bytes: u64,
    work: impl Fn(Batch) -> R + Sync,
    take: impl FnMut(R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let source = move || {
        let batch = next_batch(&mut input, max_line_bytes).context("cannot read standard input")?;
        Ok(batch.map(|(batch, bytes)| (batch, bytes + BATCH_BYTES)))
    };
    let bounds = Bounds { threads, weight: threads.max(1) * WAITING * 2 * BATCH_BYTES };
    parallel::ordered(bounds, source, work, take)
}

/// The next batch of lines with its size; `None` at the end of the input.
fn next_batch(input: &mut BufReader<impl Read>, max_line_bytes: u64) -> io::Result<Option<(Batch, usize)>> {
    let (mut batch, mut bytes) = (Batch::new(), 0);
    while let Some(line) = next_line(input, max_line_bytes)? {
        bytes += line.as_ref().map_or(0, Vec::len);
        batch.push(line);
        // A client that writes a line and waits for the response must get it.
        let is_last_waiting = !input.buffer().contains(&b'\n');
        if is_last_waiting || bytes >= BATCH_BYTES {
            break;
        }
    }
    Ok((!batch.is_empty()).then_some((batch, bytes)))
}

/// The next line without its end; `Some(None)` if it is too long, `None` at the end of the input.
fn next_line(input: &mut BufReader<impl Read>, max_line_bytes: u64) -> io::Result<Option<Option<Vec<u8>>>> {
    let mut line = Vec::new();
    if input.by_ref().take(max_line_bytes).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 == max_line_bytes {
        input.skip_until(b'\n')?;
        return Ok(Some(None));
    }
    Ok(Some(Some(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(input: &[u8], threads: usize, max_line_bytes: u64) -> String {
        let mut out = Vec::new();
        let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| {
            out.extend_from_slice(line.unwrap_or(b"(too long)"));
            out.push(b'|');
        };
        filter(input, threads, max_line_bytes, answer, |bytes| out.extend_from_slice(bytes)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn results_keep_the_order_of_the_lines_with_or_without_a_final_newline() {
        assert_eq!(filtered(b"a\nb\n\nc", 3, 100), "a|b||c|");
        assert_eq!(filtered(b"a\nb\n", 1, 100), "a|b|");
        assert_eq!(filtered(b"", 2, 100), "");
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_complete() {
        assert_eq!(filtered(b"aaaaaaaa\nbb\n", 1, 4), "(too long)|bb|");
        // The newline counts, so three bytes and a newline fit into four.
        assert_eq!(filtered(b"aaa\nbbbb\ncc", 1, 4), "aaa|(too long)|cc|");
    }

    #[test]
    fn a_fault_or_a_panic_costs_its_line_and_is_counted() {
        let mut out = Vec::new();
        let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| {
            out.extend_from_slice(b"half an answer");
            match line {
                Some(b"panic") => panic!("a mistake"),
                Some(b"fault") => Err(Fault { id: Value::from(7), error: "no".to_owned() }),
                _ => {
                    out.push(b'\n');
                    Ok(())
                }
            }
        };
        let faulty =
            answers(&b"ok\nfault\npanic\nok\n"[..], 2, 100, answer, |bytes| out.extend_from_slice(bytes)).unwrap();
        assert_eq!(faulty, 2);
        let expected = "half an answer\n{\"id\":7,\"error\":\"no\"}\n\
                        {\"error\":\"internal error on this input\"}\nhalf an answer\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn an_invalid_line_is_a_fault_with_its_id() {
        #[derive(Debug, Deserialize)]
        struct TestLine {
            #[allow(dead_code)] // Only parsed.
            text: String,
        }
        let fault = |line: Option<&[u8]>| question::<TestLine>(line, 3 << 20).unwrap_err();
        assert_eq!(fault(None).error, "the line is longer than 3 MiB");
        assert_eq!(fault(Some(b"[1]")).error, "not a JSON object");
        assert_eq!(fault(Some(b"{\"id\": 5, \"text\": 1}")).id, Value::from(5));
        assert!(fault(Some(b"{\"id\": 5")).id.is_null());
        assert!(question::<TestLine>(Some(b"  {\"text\": \"x\"}"), 10).is_ok());
    }

    #[test]
    fn a_blank_line_needs_no_output_and_one_that_is_too_long_does() {
        assert!(is_blank(Some(b" \t\r")) && !is_blank(Some(b"x")) && !is_blank(None));
    }

    proptest::proptest! {
        #[test]
        fn the_results_do_not_depend_on_the_number_of_threads(
            lines in proptest::collection::vec("[a-z]{0,12}", 0..60), threads in 1usize..6,
        ) {
            let input = lines.join("\n");
            proptest::prop_assert_eq!(filtered(input.as_bytes(), threads, 8), filtered(input.as_bytes(), 1, 8));
        }
    }
}
