//! Filters: a line in, a line out, in the same order, on all cores.
//!
//! Lines go to the cores in turn and come back in turn, so that order costs nothing and memory is
//! bounded by what a few lines take.

use std::io::{self, BufRead as _, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line that is no question, and why.
#[derive(Debug, Serialize)]
pub struct Fault {
    /// Which line it is, where it says so.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub id: Value,
    /// Why it has no answer.
    pub error: String,
}

impl Fault {
    /// The fault of a line that is longer than the limit.
    pub fn too_long(max_line_bytes: u64) -> Fault {
        Fault { id: Value::Null, error: format!("the line is longer than {} MiB", max_line_bytes >> 20) }
    }
}

/// Reads a line of JSON.
pub fn question<'a, Q: Deserialize<'a>>(line: Option<&'a [u8]>, max_line_bytes: u64) -> Result<Q, Fault> {
    let Some(line) = line else { return Err(Fault::too_long(max_line_bytes)) };
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err(Fault { id: Value::Null, error: "the line is no JSON object".to_owned() });
    }
    serde_json::from_slice(line).map_err(|error| {
        // An object with other values than expected may still say which one it is.
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        Fault { id: value.get("id").cloned().unwrap_or_default(), error: format!("the line is no question: {error}") }
    })
}

/// Appends an answer as a line of JSON.
pub fn push(answer: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, answer).expect("answers serialise");
    out.push(b'\n');
}

/// Lines travel together up to this size, or until no more are waiting to be read.
const BUNDLE_BYTES: usize = 256 << 10;
/// Bundles that wait before and after each core.
const WAITING: usize = 2;

/// The cores to work on, within reason.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get()).min(64)
}

/// Lines on their way to a reader; nothing in place of one that is too long.
pub type Bundle = Vec<Option<Vec<u8>>>;

/// Answers each line of the input with what `answer` appends for it, on as many threads, and writes
/// the answers in the order of the lines. A line longer than the limit is given as nothing.
pub fn filter(
    input: impl Read,
    readers: usize,
    max_line_bytes: u64,
    answer: impl Fn(Option<&[u8]>, &mut Vec<u8>) + Sync,
    mut write: impl FnMut(&[u8]) + Send,
) -> anyhow::Result<()> {
    let answer_all = |bundle: Bundle| {
        let mut lines = Vec::new();
        bundle.iter().for_each(|line| answer(line.as_deref(), &mut lines));
        lines
    };
    in_turn(input, readers, max_line_bytes, answer_all, |lines| {
        write(&lines);
        Ok(())
    })
}

/// Answers questions: what `answer` finds wrong with a line is a line too. Gives how many were faulty. No room panics;
/// should one ever, that costs a line and not a million.
pub fn answers(
    input: impl Read,
    readers: usize,
    max_line_bytes: u64,
    answer: impl Fn(Option<&[u8]>, &mut Vec<u8>) -> Result<(), Fault> + Sync,
    write: impl FnMut(&[u8]) + Send,
) -> anyhow::Result<u64> {
    let faulty = AtomicU64::new(0);
    let answer = |line: Option<&[u8]>, out: &mut Vec<u8>| {
        let start = out.len();
        let done = catch_unwind(AssertUnwindSafe(|| answer(line, out)));
        let failed = |_| Err(Fault { id: Value::Null, error: "the program failed on this text".to_owned() });
        if let Err(fault) = done.unwrap_or_else(failed) {
            faulty.fetch_add(1, Ordering::Relaxed);
            out.truncate(start);
            push(&fault, out);
        }
    };
    filter(input, readers, max_line_bytes, answer, write)?;
    Ok(faulty.into_inner())
}

/// Whether there is nothing on a line: whoever leaves lines empty asks nothing.
pub fn is_blank(line: Option<&[u8]>) -> bool {
    line.is_some_and(|line| line.trim_ascii().is_empty())
}

/// Lets `work` have a go at bundles of lines on as many threads, and gives the results to `take` in the
/// order of the lines. An error of the latter ends it.
pub fn in_turn<R: Send>(
    input: impl Read,
    readers: usize,
    max_line_bytes: u64,
    work: impl Fn(Bundle) -> R + Sync,
    mut take: impl FnMut(R) -> anyhow::Result<()> + Send,
) -> anyhow::Result<()> {
    let work = &work;
    thread::scope(|scope| {
        let mut desks = Vec::new();
        let mut trays = Vec::new();
        for _ in 0..readers {
            let (to_reader, bundles) = sync_channel::<Bundle>(WAITING);
            let (to_writer, results) = sync_channel::<R>(WAITING);
            scope.spawn(move || {
                for bundle in bundles {
                    if to_writer.send(work(bundle)).is_err() {
                        break;
                    }
                }
            });
            desks.push(to_reader);
            trays.push(results);
        }
        // Bundles were dealt in turn, so they are collected in turn; the first tray that stays
        // empty for good is the end of all.
        let taker = scope.spawn(move || -> anyhow::Result<()> {
            for tray in trays.iter().cycle() {
                match tray.recv() {
                    Ok(result) => take(result)?,
                    Err(_) => break,
                }
            }
            Ok(())
        });
        let dealt = deal(BufReader::with_capacity(1 << 16, input), max_line_bytes, &desks);
        // The readers end when nobody can deal to them any more.
        drop(desks);
        let taken = taker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        dealt.and(taken)
    })
}

/// Deals the lines of the input to the readers, in turn.
fn deal(mut input: BufReader<impl Read>, max_line_bytes: u64, desks: &[SyncSender<Bundle>]) -> anyhow::Result<()> {
    let mut bundle = Bundle::new();
    let mut bytes = 0;
    let mut desks = desks.iter().cycle();
    loop {
        let line = next_line(&mut input, max_line_bytes).context("cannot read standard input")?;
        let ended = line.is_none();
        if let Some(line) = line {
            bytes += line.as_ref().map_or(0, Vec::len);
            bundle.push(line);
        }
        // Whoever writes a line and waits for its answer must get it.
        let waiting = !input.buffer().contains(&b'\n');
        if !bundle.is_empty() && (ended || waiting || bytes >= BUNDLE_BYTES) {
            let desk = desks.next().expect("there is at least one reader");
            if desk.send(std::mem::take(&mut bundle)).is_err() {
                return Ok(());
            }
            bytes = 0;
        }
        if ended {
            return Ok(());
        }
    }
}

/// The next line without its end; nothing in its place if it is too long, nothing at all at the end.
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
