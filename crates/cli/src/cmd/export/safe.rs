//! What may be published of texts that may not: sentences out of their order, and counts of n-grams.
//!
//! Both are made so that texts cannot be put together again. The order of sentences is a function of the sentences
//! alone, so that it tells nothing about where they stood: whoever knows the seed, and even the program, learns no more
//! than from a heap of paper strips. Each sentence stands there once, whoever wrote it how often. N-grams are given only
//! if enough different documents hold them, because a chain of n-grams that only one text has is that text.

use std::collections::HashMap;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tidings_store::format::conllu::text_of;
use tidings_store::sorted::{Merged, Runs};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::door::{Door, Taker};
use super::selection::Item;
use tidings_pipeline::display::{count, grouped};

/// What waits in memory before it becomes a run.
const RUN_BYTES: usize = 64 << 20;
/// A sentence with more tokens is a list or a page without full stops, too long to be given away.
const LONGEST_SENTENCE: usize = 100;
/// What a word of an n-gram takes in memory besides its letters.
const OVERHEAD: usize = 64;

/// The sentences of a document, a line each.
pub fn sentences(item: &Item) -> Vec<u8> {
    let paragraphs = item.text.iter().flat_map(|document| &document.paragraphs);
    let mut lines = String::new();
    for sentence in paragraphs.flat_map(|paragraph| &paragraph.sentences) {
        if sentence.len() <= LONGEST_SENTENCE {
            lines.push_str(&text_of(sentence));
            lines.push('\n');
        }
    }
    lines.into_bytes()
}

/// All sentences in an order of their own.
pub struct Shuffled {
    seed: u64,
    pool: u64,
    waiting: Vec<Vec<u8>>,
    bytes: usize,
    runs: Runs,
    seen: u64,
    documents: u64,
}

impl Shuffled {
    /// Begins with nothing; fewer than `pool` sentences are not given.
    pub fn begin(door: &Door, seed: u64, pool: u64) -> Box<dyn Taker> {
        let runs = Runs::new(door.scratch());
        Box::new(Shuffled { seed, pool, waiting: Vec::new(), bytes: 0, runs, seen: 0, documents: 0 })
    }

    fn spill(&mut self) -> Result<()> {
        self.waiting.sort_unstable();
        self.waiting.dedup();
        self.runs.add(self.waiting.iter())?;
        self.waiting.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// A sentence behind the number that tells its place.
fn strip(sentence: &[u8], seed: u64) -> Vec<u8> {
    let mut record = xxh3_128_with_seed(sentence, seed).to_be_bytes().to_vec();
    record.extend_from_slice(sentence);
    record
}

impl Taker for Shuffled {
    fn take(&mut self, _: Item, rendered: Vec<u8>, _: &mut Door) -> Result<()> {
        self.documents += 1;
        for sentence in rendered.split(|byte| *byte == b'\n').filter(|sentence| !sentence.is_empty()) {
            self.seen += 1;
            let record = strip(sentence, self.seed);
            self.bytes += record.len() + OVERHEAD;
            self.waiting.push(record);
        }
        if self.bytes >= RUN_BYTES { self.spill() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>, door: &mut Door) -> Result<Value> {
        self.spill()?;
        let Shuffled { runs, pool, seen, documents, .. } = *self;
        let mut merged = runs.merge()?;
        let mut sink = door.main()?;
        // Nothing goes out before there are enough: standard output cannot be taken back.
        let (mut held, mut written) = (Vec::new(), 0u64);
        let mut last = Vec::new();
        while let Some(record) = merged.next()? {
            if record == last {
                continue;
            }
            last.clear();
            last.extend_from_slice(record);
            held.extend_from_slice(&record[16..]);
            held.push(b'\n');
            written += 1;
            if written >= pool && held.len() >= 1 << 16 {
                sink.push(&held)?;
                held.clear();
            }
        }
        if written < pool {
            bail!(
                "{} are too few to hide in, {} are wanted; take more documents, or say --pool",
                count(written, "sentence"),
                grouped(pool)
            );
        }
        sink.push(&held)?;
        door.end(sink)?;
        Ok(json!({ "sentences": written, "repeated": seen - written, "from_documents": documents, "pool": pool }))
    }
}

/// The n-grams of a document, each once, with how often it is there.
pub fn ngrams(item: &Item, n: usize) -> Vec<u8> {
    // All sentences in one text, and where the words of each stand: an n-gram is a stretch of it.
    let (mut text, mut sentences) = (String::new(), Vec::new());
    let paragraphs = item.text.iter().flat_map(|document| &document.paragraphs);
    for sentence in paragraphs.flat_map(|paragraph| &paragraph.sentences) {
        let mut words = Vec::with_capacity(sentence.len());
        for token in sentence {
            let start = text.len();
            // A word holds neither the blank between words nor the end of a line.
            let plain = |c: char| if c.is_whitespace() || c.is_control() { '_' } else { c };
            text.extend(token.word.chars().map(plain));
            words.push(start..text.len());
            text.push(' ');
        }
        sentences.push(words);
    }
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for gram in sentences.iter().flat_map(|words| words.windows(n)) {
        if let (Some(first), Some(last)) = (gram.first(), gram.last()) {
            *counts.entry(&text[first.start..last.end]).or_default() += 1;
        }
    }
    let mut lines = String::new();
    counts.iter().for_each(|(gram, count)| lines.push_str(&format!("{gram}\t{count}\n")));
    lines.into_bytes()
}

/// An n-gram with how often it is there, and in how many documents.
type Counted = (Box<[u8]>, (u64, u64));

/// Counts of n-grams that enough documents hold.
pub struct Ngrams {
    n: usize,
    threshold: u64,
    waiting: HashMap<Box<[u8]>, (u64, u64)>,
    bytes: usize,
    runs: Runs,
    documents: u64,
}

impl Ngrams {
    /// Begins with nothing.
    pub fn begin(door: &Door, n: usize, threshold: u64) -> Box<dyn Taker> {
        let runs = Runs::new(door.scratch());
        Box::new(Ngrams { n, threshold, waiting: HashMap::new(), bytes: 0, runs, documents: 0 })
    }

    fn spill(&mut self) -> Result<()> {
        let mut sorted: Vec<Counted> = self.waiting.drain().collect();
        sorted.sort_unstable();
        // A zero byte ends the n-gram, so that their order is that of the records.
        let record = |(gram, (count, documents)): &Counted| {
            [gram, &[0][..], &count.to_be_bytes(), &documents.to_be_bytes()].concat()
        };
        self.runs.add(sorted.iter().map(record))?;
        self.bytes = 0;
        Ok(())
    }
}

/// An n-gram with its counts, from a record.
fn unpacked(record: &[u8]) -> Option<(&[u8], u64, u64)> {
    let (rest, documents) = record.split_last_chunk::<8>()?;
    let (rest, count) = rest.split_last_chunk::<8>()?;
    Some((rest.strip_suffix(&[0])?, u64::from_be_bytes(*count), u64::from_be_bytes(*documents)))
}

impl Taker for Ngrams {
    fn take(&mut self, _: Item, rendered: Vec<u8>, _: &mut Door) -> Result<()> {
        self.documents += 1;
        for line in rendered.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let tab = line.iter().rposition(|byte| *byte == b'\t').expect("a count stands behind each");
            let times = std::str::from_utf8(&line[tab + 1..]).ok().and_then(|text| text.parse::<u64>().ok());
            let times = times.expect("counts are numbers");
            match self.waiting.get_mut(&line[..tab]) {
                Some((count, documents)) => (*count, *documents) = (*count + times, *documents + 1),
                None => {
                    self.bytes += tab + OVERHEAD;
                    self.waiting.insert(line[..tab].into(), (times, 1));
                }
            }
        }
        if self.bytes >= RUN_BYTES { self.spill() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>, door: &mut Door) -> Result<Value> {
        self.spill()?;
        let Ngrams { n, threshold, runs, documents, .. } = *self;
        let mut sink = door.main()?;
        sink.push(b"ngram\tcount\tdocuments\n")?;
        let (mut written, mut held_back) = (0u64, 0u64);
        combined(runs.merge()?, |gram, count, of_documents| {
            if of_documents < threshold {
                held_back += 1;
                return Ok(());
            }
            written += 1;
            sink.push(gram)?;
            Ok(sink.push(format!("\t{count}\t{of_documents}\n").as_bytes())?)
        })?;
        door.end(sink)?;
        Ok(
            json!({ "n": n, "least_documents": threshold, "ngrams": written, "held_back": held_back, "from_documents": documents }),
        )
    }
}

/// Adds the counts of equal n-grams up.
fn combined(mut merged: Merged, mut each: impl FnMut(&[u8], u64, u64) -> Result<()>) -> Result<()> {
    let (mut current, mut sum): (Vec<u8>, (u64, u64)) = (Vec::new(), (0, 0));
    while let Some(record) = merged.next()? {
        let (gram, count, documents) = unpacked(record).expect("runs hold what was written");
        if gram != current {
            if sum.1 > 0 {
                each(&current, sum.0, sum.1)?;
            }
            current.clear();
            current.extend_from_slice(gram);
            sum = (0, 0);
        }
        sum = (sum.0 + count, sum.1 + documents);
    }
    if sum.1 > 0 { each(&current, sum.0, sum.1) } else { Ok(()) }
}
