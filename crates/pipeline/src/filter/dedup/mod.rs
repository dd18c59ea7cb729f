//! Deduplication as a filter: removes duplicate paragraphs from documents.
//!
//! Lines are parsed and tokenized on all cores and judged sequentially, in order. The fingerprint index is in a
//! temporary folder that is deleted at the end.

mod line;

use std::io::Read;

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use tidings_dedup::{Deduplicator, FingerprintStore, Rule, Scope, StoreFiles, Verdict};

pub use self::line::{DocumentLine, Mark};

use super::{MAX_LINE_BYTES, Unreadable};
use crate::display::{count, grouped};
use crate::lines::{self, Fault, push};

/// The number of words between two log lines about the share of duplicates.
const LOG_EVERY_WORDS: u64 = 100_000_000;

/// Settings of the filter.
#[derive(Debug, Clone)]
pub struct Options {
    /// The deduplication rule.
    pub rule: Rule,
    /// The documents that a document is compared with.
    pub scope: Scope,
    /// Whether duplicates are marked instead of removed.
    pub marks: bool,
    /// Memory for recent fingerprints; older ones are on disk.
    pub memory_bytes: usize,
    /// Threads that parse lines.
    pub threads: usize,
}

/// Judges documents one after the other. The fingerprint index is in a temporary folder that is deleted with it.
pub struct LineJudge {
    deduplicator: Deduplicator,
    rule: Rule,
    scope: Scope,
    _folder: TempDir,
}

impl LineJudge {
    /// A judge that has seen no documents yet.
    pub fn new(rule: Rule, scope: Scope, memory_bytes: usize) -> Result<LineJudge> {
        let folder = tempfile::Builder::new().prefix("tidings-dedup-").tempdir();
        let folder = folder.context("cannot create a temporary folder; set TMPDIR to a writable folder")?;
        let store = FingerprintStore::new(StoreFiles::default(), folder.path(), memory_bytes)?;
        Ok(LineJudge { deduplicator: Deduplicator::new(rule, scope, store), rule, scope, _folder: folder })
    }

    /// Parses a line as this judge needs it.
    pub fn parse(&self, line: Vec<u8>) -> Result<DocumentLine, Fault> {
        DocumentLine::parse(line, &self.rule, self.scope)
    }

    /// Judges a line and writes it as [`run`] does, duplicates marked or removed. A document that `is_alone` shares no
    /// key ([`DocumentLine::keys`]) with any other, so all of it is new.
    pub fn write(&mut self, line: Vec<u8>, is_alone: bool, marks: bool, out: &mut Vec<u8>) -> Result<()> {
        let document = match self.parse(line) {
            Ok(document) => document,
            Err(fault) => {
                push(&fault, out);
                return Ok(());
            }
        };
        let verdict = match is_alone {
            true => Verdict::of_new(&document.text),
            false => self.judge(&document)?,
        };
        match marks {
            true => document.write_marked(&verdict, out),
            false => document.write_kept(&verdict, out),
        }
        Ok(())
    }

    /// Compares a document with all earlier ones, and remembers it.
    pub fn judge(&mut self, document: &DocumentLine) -> Result<Verdict> {
        Ok(self.deduplicator.judge(&document.text, &document.origin())?)
    }
}

/// Runs the filter over the input to its end.
pub fn run(input: impl Read + Send, options: &Options, mut write: impl FnMut(&[u8])) -> Result<Unreadable> {
    let mut judge = LineJudge::new(options.rule, options.scope, options.memory_bytes)?;
    let mut counters = Counters::default();
    let parse = |batch: lines::Batch| -> Vec<Result<DocumentLine, Fault>> {
        let lines = batch.into_iter().filter(|line| line.as_ref().is_none_or(|line| !line.trim_ascii().is_empty()));
        lines
            .map(|line| match line {
                Some(line) => DocumentLine::parse(line, &options.rule, options.scope),
                None => Err(Fault::too_long(MAX_LINE_BYTES)),
            })
            .collect()
    };
    let judge_all = |documents: Vec<Result<DocumentLine, Fault>>| -> Result<()> {
        let mut out = Vec::new();
        for document in documents {
            match document {
                Ok(document) => {
                    let verdict = judge.judge(&document)?;
                    match options.marks {
                        true => document.write_marked(&verdict, &mut out),
                        false => document.write_kept(&verdict, &mut out),
                    }
                    counters.add(verdict.words as u64, verdict.removed as u64);
                }
                Err(fault) => {
                    counters.unreadable += 1;
                    push(&fault, &mut out);
                }
            }
        }
        write(&out);
        Ok(())
    };
    lines::in_order(input, options.threads, MAX_LINE_BYTES, parse, judge_all)?;
    let store = judge.deduplicator.store();
    log::debug!(
        "{}, {}; {} in {} on disk",
        count(counters.documents, "document"),
        counters.share(),
        count(store.grams(), "n-gram"),
        count(store.disk_bytes(), "byte"),
    );
    Ok(Unreadable(counters.unreadable))
}

/// Documents and words so far.
#[derive(Debug, Default)]
struct Counters {
    documents: u64,
    words: u64,
    removed: u64,
    unreadable: u64,
}

impl Counters {
    fn add(&mut self, words: u64, removed: u64) {
        let before = self.words / LOG_EVERY_WORDS;
        self.documents += 1;
        self.words += words;
        self.removed += removed;
        if self.words / LOG_EVERY_WORDS > before {
            log::info!("{}", self.share());
        }
    }

    fn share(&self) -> String {
        let share = self.removed as f64 / self.words.max(1) as f64 * 100.0;
        format!("{} words, {share:.1} % of them duplicates", grouped(self.words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::tests::json_lines;
    use serde_json::{Value, json};

    fn answers(input: &str, change: impl Fn(&mut Options)) -> Vec<Value> {
        let mut options =
            Options { rule: Rule::default(), scope: Scope::All, marks: false, memory_bytes: 1 << 20, threads: 2 };
        change(&mut options);
        let mut written = Vec::new();
        run(input.as_bytes(), &options, |lines| written.extend_from_slice(lines)).unwrap();
        json_lines(&written)
    }

    #[test]
    fn a_line_is_unchanged_except_for_duplicates() {
        let first = r#"{ "z": [1, {"paragraphs": 2}], "id": "a", "paragraphs": ["One \"two\" three.", {"text": "Four."}], "n": 1.50 }"#;
        let mut written = Vec::new();
        let options = Options { rule: Rule::default(), scope: Scope::All, marks: false, memory_bytes: 1, threads: 1 };
        let second = r#"{"paragraphs":["Five.","one two THREE"],"id":7}"#;
        run(format!("{first}\n\n{second}").as_bytes(), &options, |lines| written.extend_from_slice(lines)).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written, format!("{first}\n{}\n", r#"{"paragraphs":["Five."],"id":7}"#));
    }

    #[test]
    fn marks_contain_the_reason_and_the_original() {
        let line = |id: &str| json!({ "id": id, "paragraphs": ["The sea was calm.", id] }).to_string();
        let got = answers(&format!("{}\n{}\n", line("a"), line("b")), |options| options.marks = true);
        assert_eq!(got[0]["marks"], json!([{ "kept": true }, { "kept": true }]));
        assert_eq!(got[1]["marks"][0], json!({ "kept": false, "why": "exact", "share": 1.0, "of": "a" }));
        assert_eq!(got[1]["paragraphs"], json!(["The sea was calm.", "b"]));
    }

    #[test]
    fn every_line_gets_a_result() {
        let got = answers(
            "x\n[1]\n{\"id\":3}\n{\"id\":4,\"paragraphs\":\"x\"}\n{\"paragraphs\":[1]}\n{\"paragraphs\":[]}",
            |_| {},
        );
        assert_eq!(got.len(), 6);
        assert!(got[..5].iter().all(|answer| answer["error"].is_string()), "{got:?}");
        assert_eq!((&got[2]["id"], &got[3]["id"]), (&json!(3), &json!(4)));
        assert_eq!(got[5], json!({ "paragraphs": [] }));
    }

    #[test]
    fn a_missing_field_of_the_scope_is_a_fault() {
        let line = |more: &str| format!("{{\"id\":1,{more}\"paragraphs\":[\"Rain again today.\"]}}\n");
        let lines = [line(""), line("\"date\":\"2026-03-01\","), line("\"dated\":{\"day\":\"2026-03-02\"},")].concat();
        let got = answers(&lines, |options| options.scope = Scope::Days(3));
        assert!(got[0]["error"].as_str().unwrap().contains("date"));
        assert_eq!((&got[1]["paragraphs"][0], &got[2]["paragraphs"]), (&json!("Rain again today."), &json!([])));
        let got = answers(&[line("\"month\":3,"), line("\"month\":4,"), line("\"month\":3,")].concat(), |options| {
            options.scope = Scope::Month;
        });
        let kept: Vec<usize> = got.iter().map(|answer| answer["paragraphs"].as_array().unwrap().len()).collect();
        assert_eq!(kept, [1, 1, 0]);
    }

    #[test]
    fn duplicate_sentences_are_removed_from_their_paragraph() {
        let lines = "{\"paragraphs\":[\"It rained. It snowed.\"]}\n{\"paragraphs\":[\"It hailed. It snowed.\", \"It rained.\"]}\n";
        let got = answers(lines, |options| options.rule.levels = "sentence".parse().unwrap());
        assert_eq!(got[1]["paragraphs"], json!(["It hailed."]));
    }

    #[test]
    fn the_output_does_not_depend_on_threads_and_memory() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut word = || ["sea", "snow", "wind", "fog", "ice", "hail", "rain", "sun"][random.usize(..8)];
        let lines: String = (0..3000)
            .map(|id| {
                let paragraphs: Vec<String> =
                    (0..4).map(|_| (0..12).map(|_| word()).collect::<Vec<_>>().join(" ")).collect();
                json!({ "id": id, "paragraphs": paragraphs }).to_string() + "\n"
            })
            .collect();
        let one = answers(&lines, |options| options.threads = 1);
        let other = answers(&lines, |options| (options.threads, options.memory_bytes) = (5, 0));
        assert!(one == other);
        assert!(one.iter().any(|answer| answer["paragraphs"].as_array().unwrap().len() < 4));
    }
}
