//! The judge as a filter: one document a line in, the same line out without what was seen before.
//!
//! Lines are read and cut into words on all cores; the judge sees them one after the other, in their
//! order. Its memory lies in a temporary folder that is gone when the filter ends.

use anyhow::{Context as _, Result};
use tidings_dedup::{Judge, Memory, Past, Rule, Scope};

use super::line::Ready;
use crate::console;
use tidings_pipeline::display::{count, grouped};
use tidings_pipeline::lines::{self, Fault, push};

/// No line is longer.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// How often the share of duplicates is told, in words.
const TOLD_EVERY: u64 = 100_000_000;

/// How to filter.
pub struct Options {
    pub rule: Rule,
    pub scope: Scope,
    /// Whether everything stays, with marks.
    pub marks: bool,
    pub memory_bytes: usize,
    pub threads: usize,
}

/// Reads standard input to its end; gives the number of lines that were no documents.
pub fn run(options: &Options) -> Result<u64> {
    filter(std::io::stdin(), options, console::print_bytes)
}

fn filter(input: impl std::io::Read + Send, options: &Options, mut write: impl FnMut(&[u8]) + Send) -> Result<u64> {
    let folder = tempfile::Builder::new().prefix("tidings-dedup-").tempdir();
    let folder = folder.context("cannot make a temporary folder; TMPDIR says where")?;
    let memory = Memory::new(Past::default(), folder.path(), options.memory_bytes)?;
    let mut judge = Judge::new(options.rule, options.scope, memory);
    let mut tally = Tally::default();
    let read = |bundle: lines::Batch| -> Vec<Result<Ready, Fault>> {
        let lines = bundle.into_iter().filter(|line| line.as_ref().is_none_or(|line| !line.trim_ascii().is_empty()));
        lines
            .map(|line| match line {
                Some(line) => Ready::new(line, &options.rule, options.scope),
                None => Err(Fault::too_long(MAX_LINE_BYTES)),
            })
            .collect()
    };
    let tell = |ready: Vec<Result<Ready, Fault>>| -> Result<()> {
        let mut out = Vec::new();
        for line in ready {
            match line {
                Ok(ready) => {
                    let verdict = judge.judge(&ready.text, &ready.origin())?;
                    match options.marks {
                        true => ready.write_marked(&verdict, &mut out),
                        false => ready.write_kept(&verdict, &mut out),
                    }
                    tally.add(verdict.words as u64, verdict.removed as u64);
                }
                Err(fault) => {
                    tally.faulty += 1;
                    push(&fault, &mut out);
                }
            }
        }
        write(&out);
        Ok(())
    };
    lines::in_order(input, options.threads, MAX_LINE_BYTES, read, tell)?;
    let memory = judge.memory();
    log::debug!(
        "{}, {}; remembers {} in {} on disk",
        count(tally.documents, "document"),
        tally.share(),
        count(memory.grams(), "n-gram"),
        count(memory.disk_bytes(), "byte"),
    );
    Ok(tally.faulty)
}

/// How much was a duplicate so far.
#[derive(Debug, Default)]
struct Tally {
    documents: u64,
    words: u64,
    removed: u64,
    faulty: u64,
}

impl Tally {
    fn add(&mut self, words: u64, removed: u64) {
        let before = self.words / TOLD_EVERY;
        self.documents += 1;
        self.words += words;
        self.removed += removed;
        if self.words / TOLD_EVERY > before {
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
    use serde_json::{Value, json};

    fn answers(input: &str, change: impl Fn(&mut Options)) -> Vec<Value> {
        let mut options =
            Options { rule: Rule::default(), scope: Scope::All, marks: false, memory_bytes: 1 << 20, threads: 2 };
        change(&mut options);
        let mut written = Vec::new();
        filter(input.as_bytes(), &options, |lines| written.extend_from_slice(lines)).unwrap();
        String::from_utf8(written).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_comes_back_as_it_was_but_for_what_was_seen() {
        let first = r#"{ "z": [1, {"paragraphs": 2}], "id": "a", "paragraphs": ["One \"two\" three.", {"text": "Four."}], "n": 1.50 }"#;
        let mut written = Vec::new();
        let options = Options { rule: Rule::default(), scope: Scope::All, marks: false, memory_bytes: 1, threads: 1 };
        let second = r#"{"paragraphs":["Five.","one two THREE"],"id":7}"#;
        filter(format!("{first}\n\n{second}").as_bytes(), &options, |lines| written.extend_from_slice(lines)).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written, format!("{first}\n{}\n", r#"{"paragraphs":["Five."],"id":7}"#));
    }

    #[test]
    fn marks_say_why_and_of_which() {
        let line = |id: &str| json!({ "id": id, "paragraphs": ["The sea was calm.", id] }).to_string();
        let got = answers(&format!("{}\n{}\n", line("a"), line("b")), |options| options.marks = true);
        assert_eq!(got[0]["marks"], json!([{ "kept": true }, { "kept": true }]));
        assert_eq!(got[1]["marks"][0], json!({ "kept": false, "why": "exact", "share": 1.0, "of": "a" }));
        assert_eq!(got[1]["paragraphs"], json!(["The sea was calm.", "b"]));
    }

    #[test]
    fn every_line_has_an_answer_whatever_it_is() {
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
    fn a_scope_that_needs_more_says_so() {
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
    fn sentences_go_out_of_their_paragraph() {
        let lines = "{\"paragraphs\":[\"It rained. It snowed.\"]}\n{\"paragraphs\":[\"It hailed. It snowed.\", \"It rained.\"]}\n";
        let got = answers(lines, |options| options.rule.levels = "sentence".parse().unwrap());
        assert_eq!(got[1]["paragraphs"], json!(["It hailed."]));
    }

    #[test]
    fn threads_and_memory_do_not_change_a_byte() {
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
