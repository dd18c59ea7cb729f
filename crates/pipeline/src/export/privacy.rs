//! Derived data of texts that must not be published: shuffled sentences and n-gram counts.
//!
//! Both prevent reconstruction of the texts. The order of sentences is a seeded hash of the sentence alone, so that it
//! carries no information about positions even if the seed is known. Each sentence is written once, regardless of its
//! frequency. N-grams are written only if enough documents contain them, because n-grams of a single text can be
//! chained to that text.

use std::collections::HashMap;

use anyhow::{Result, bail};
use tidings_formats::conllu::text_of;
use tidings_store::sorted::{Merged, Runs};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::manifest::Figures;
use super::selection::ExportItem;
use super::target::{ExportTarget, ExportWriter};
use crate::display::{count, grouped};

/// Records sorted in memory before they become a run of the external merge sort.
const RUN_BYTES: usize = 64 << 20;
/// The maximum number of tokens of a published sentence; longer ones are lists or pages without full stops.
const LONGEST_SENTENCE: usize = 100;
/// The memory of a record besides its bytes.
const OVERHEAD: usize = 64;

/// The sentences of a document, a line each.
pub fn sentences(item: &ExportItem) -> Vec<u8> {
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

/// Writes all distinct sentences in the order of their hashes.
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
    /// Creates a writer that fails with fewer than `pool` sentences.
    pub fn begin(target: &ExportTarget, seed: u64, pool: u64) -> Box<dyn ExportWriter> {
        let runs = Runs::new(target.scratch());
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

/// A sentence after its hash, which is the sort key.
fn keyed(sentence: &[u8], seed: u64) -> Vec<u8> {
    let mut record = xxh3_128_with_seed(sentence, seed).to_be_bytes().to_vec();
    record.extend_from_slice(sentence);
    record
}

impl ExportWriter for Shuffled {
    fn write(&mut self, _: ExportItem, rendered: Vec<u8>, _: &mut ExportTarget) -> Result<()> {
        self.documents += 1;
        for sentence in rendered.split(|byte| *byte == b'\n').filter(|sentence| !sentence.is_empty()) {
            self.seen += 1;
            let record = keyed(sentence, self.seed);
            self.bytes += record.len() + OVERHEAD;
            self.waiting.push(record);
        }
        if self.bytes >= RUN_BYTES { self.spill() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>, target: &mut ExportTarget) -> Result<Figures> {
        self.spill()?;
        let Shuffled { runs, pool, seen, documents, .. } = *self;
        let mut merged = runs.merge()?;
        let mut sink = target.main()?;
        // Nothing is written before there are enough sentences: a stream cannot be taken back.
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
                "texts could be reconstructed from {}, at least {} are required; export more documents or set --pool",
                count(written, "sentence"),
                grouped(pool)
            );
        }
        sink.push(&held)?;
        target.end(sink)?;
        Ok(Figures::Shuffled { from_documents: documents, pool, repeated: seen - written, sentences: written })
    }
}

/// The distinct n-grams of a document with their frequencies.
pub fn ngrams(item: &ExportItem, n: usize) -> Vec<u8> {
    // All sentences in one text with the byte ranges of their words: an n-gram is a slice of it.
    let (mut text, mut sentences) = (String::new(), Vec::new());
    let paragraphs = item.text.iter().flat_map(|document| &document.paragraphs);
    for sentence in paragraphs.flat_map(|paragraph| &paragraph.sentences) {
        let mut words = Vec::with_capacity(sentence.len());
        for token in sentence {
            let start = text.len();
            // A word contains neither the space between words nor a line end.
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

/// An n-gram with its frequency and its document frequency.
type Counted = (Box<[u8]>, (u64, u64));

/// Counts n-grams and writes those in at least `threshold` documents.
pub struct Ngrams {
    n: usize,
    threshold: u64,
    waiting: HashMap<Box<[u8]>, (u64, u64)>,
    bytes: usize,
    runs: Runs,
    documents: u64,
}

impl Ngrams {
    /// Creates a writer of n-grams in at least `threshold` documents.
    pub fn begin(target: &ExportTarget, n: usize, threshold: u64) -> Box<dyn ExportWriter> {
        let runs = Runs::new(target.scratch());
        Box::new(Ngrams { n, threshold, waiting: HashMap::new(), bytes: 0, runs, documents: 0 })
    }

    fn spill(&mut self) -> Result<()> {
        let mut sorted: Vec<Counted> = self.waiting.drain().collect();
        sorted.sort_unstable();
        // A zero byte ends the n-gram, so that n-grams sort like the records.
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

impl ExportWriter for Ngrams {
    fn write(&mut self, _: ExportItem, rendered: Vec<u8>, _: &mut ExportTarget) -> Result<()> {
        self.documents += 1;
        for line in rendered.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let tab = line.iter().rposition(|byte| *byte == b'\t').expect("every line ends with a count");
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

    fn finish(mut self: Box<Self>, target: &mut ExportTarget) -> Result<Figures> {
        self.spill()?;
        let Ngrams { n, threshold, runs, documents, .. } = *self;
        let mut sink = target.main()?;
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
        target.end(sink)?;
        Ok(Figures::Ngrams {
            from_documents: documents,
            held_back,
            least_documents: threshold,
            n: n as u64,
            ngrams: written,
        })
    }
}

/// Adds the counts of equal n-grams up.
fn combined(mut merged: Merged, mut each: impl FnMut(&[u8], u64, u64) -> Result<()>) -> Result<()> {
    let (mut current, mut sum): (Vec<u8>, (u64, u64)) = (Vec::new(), (0, 0));
    while let Some(record) = merged.next()? {
        let (gram, count, documents) = unpacked(record).expect("a run holds valid records");
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

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::{Annotated, AnnotatedParagraph, Token};

    fn item(sentences: &[&str]) -> ExportItem {
        let token = |word: &str| Token { word: word.into(), space_after: true, ..Token::default() };
        let sentences = sentences.iter().map(|sentence| sentence.split(' ').map(token).collect()).collect();
        let paragraph = AnnotatedParagraph { sentences, ..AnnotatedParagraph::default() };
        ExportItem {
            text: Some(Annotated { paragraphs: vec![paragraph], ..Annotated::default() }),
            ..ExportItem::default()
        }
    }

    fn lines(bytes: Vec<u8>) -> Vec<String> {
        let mut lines: Vec<String> = String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    #[test]
    fn sentences_that_are_too_long_are_omitted() {
        let long = "word ".repeat(LONGEST_SENTENCE + 1);
        assert_eq!(lines(sentences(&item(&["It rains .", long.trim()]))), ["It rains ."]);
    }

    #[test]
    fn the_order_of_sentences_depends_only_on_sentence_and_seed() {
        assert_eq!(keyed(b"It rains.", 1), keyed(b"It rains.", 1));
        assert_ne!(keyed(b"It rains.", 1)[..16], keyed(b"It rains.", 2)[..16]);
        assert_eq!(&keyed(b"It rains.", 1)[16..], b"It rains.");
    }

    #[test]
    fn ngrams_do_not_cross_sentences_and_are_counted_per_document() {
        assert_eq!(lines(ngrams(&item(&["a b a b", "c"]), 2)), ["a b\t2", "b a\t1"]);
        assert!(ngrams(&item(&["a b"]), 3).is_empty());
        assert_eq!(lines(ngrams(&item(&["a\u{a0}x"]), 1)), ["a_x\t1"], "a word contains no space");
    }

    #[test]
    fn counts_of_equal_ngrams_are_summed_over_runs() {
        let folder = tempfile::tempdir().unwrap();
        let mut runs = Runs::new(folder.path());
        let record = |gram: &str, count: u64, documents: u64| {
            [gram.as_bytes(), &[0], &count.to_be_bytes(), &documents.to_be_bytes()].concat()
        };
        runs.add([record("a", 2, 1), record("b", 1, 1)].iter()).unwrap();
        runs.add([record("a", 3, 2)].iter()).unwrap();
        let mut all = Vec::new();
        combined(runs.merge().unwrap(), |gram, count, documents| {
            all.push((String::from_utf8(gram.to_vec())?, count, documents));
            Ok(())
        })
        .unwrap();
        assert_eq!(all, [("a".to_owned(), 5, 3), ("b".to_owned(), 1, 1)]);
    }
}
