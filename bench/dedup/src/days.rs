//! Ten years of days, one after the other: does the work of a day grow with the memory?
//!
//! Each day is done as a home does it: the files that earlier days left are opened, a day of documents is
//! read from lines of JSON and judged, new files are written and old ones merged. Nothing stays in memory from day to day.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use tidings_dedup::ages::{self, Aged};
use tidings_dedup::{Judge, KeyRun, Memory, Origin, Past, PieceFile, Rule, Scope, Text, join};

use crate::generate::Generator;
use crate::sets::Case;

/// Memory of a day's work.
const MEMORY_BYTES: usize = 32 << 20;

/// A block of days and what they took.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// The first day.
    pub day: u64,
    /// CPU seconds for each million words, of judging, writing and merging.
    pub seconds_per_million: f64,
    /// N-grams in the memory.
    pub grams: u64,
    /// Bytes of it on disk.
    pub disk_bytes: u64,
}

/// Simulates days of about so many words and measures them in blocks.
pub fn simulate(
    days: u64,
    words_per_day: usize,
    block: u64,
    folder: &Path,
    mut tell: impl FnMut(&Span),
) -> Result<Vec<Span>> {
    let rule = Rule::default();
    let mut documents = Generator::new(1, 20_000);
    let mut keys: Vec<(Range<u64>, PathBuf)> = Vec::new();
    let (mut pieces, mut starts) = (Vec::<PieceFile>::new(), Vec::new());
    let (mut grams, mut spans, mut firsts) = (0, Vec::new(), Vec::new());
    let (mut words, mut seconds) = (0usize, 0.0);
    for day in 0..days {
        let mut today: Vec<Case> = Vec::new();
        let mut wanted = words_per_day;
        while wanted > 0 {
            let case = documents.next().expect("it never ends");
            wanted = wanted.saturating_sub(case.paragraphs.iter().map(|text| text.split(' ').count()).sum());
            today.push(case);
        }
        let lines: Vec<String> =
            today.iter().map(|case| json!({ "id": case.id, "paragraphs": case.paragraphs }).to_string()).collect();
        let began = cpu_seconds()?;
        let own = folder.join(day.to_string());
        std::fs::create_dir(&own)?;
        let runs = keys.iter().map(|(_, path)| KeyRun::open(path)).collect::<Result<_, _>>()?;
        let past = Past { runs, pieces: pieces.clone(), days: starts };
        let mut judge = Judge::new(rule, Scope::All, Memory::new(past, &own, MEMORY_BYTES)?);
        for line in &lines {
            let document: Value = serde_json::from_str(line)?;
            let paragraphs = document["paragraphs"].as_array().into_iter().flatten();
            let text = Text::new(paragraphs.filter_map(Value::as_str), &rule);
            words += text.words();
            let name = document["id"].as_str().unwrap_or_default();
            judge.judge(&text, &Origin { name, day: day as i64, ..Origin::default() })?;
        }
        grams += judge.memory().grams();
        let sealed = judge.seal()?;
        let ranges = keys.iter().map(|(days, _)| days.clone());
        let aged: Vec<Aged> = ranges.zip(sealed.past).map(|(days, run)| Aged { days, run }).collect();
        let grown = ages::grow(&aged, &sealed.runs, |_| own.join("keys"))?;
        keys.retain(|(days, path)| days.start < grown.days.start || std::fs::remove_file(path).is_err());
        keys.push((grown.days.clone(), grown.run.path().to_owned()));
        sealed.runs.iter().try_for_each(|run| std::fs::remove_file(run.path()))?;
        firsts.push(sealed.pieces.first());
        let together = ages::piece_layout(day + 1).pop().expect("a day is in some file");
        match together.end - together.start {
            1 => pieces.push(sealed.pieces),
            _ => {
                let first = firsts[together.start as usize];
                let at = pieces.partition_point(|file| file.first() < first);
                let parts: Vec<&PieceFile> = pieces[at..].iter().chain([&sealed.pieces]).collect();
                let whole = join(&parts, first..sealed.pieces.end(), &own.join("joined"))?;
                parts.iter().try_for_each(|part| std::fs::remove_file(part.path()))?;
                pieces.truncate(at);
                pieces.push(whole);
            }
        }
        starts = sealed.days;
        seconds += cpu_seconds()? - began;
        if (day + 1) % block == 0 {
            let run_bytes = keys.iter().map(|(_, path)| Ok(std::fs::metadata(path)?.len())).sum::<Result<u64>>()?;
            let disk_bytes = run_bytes + pieces.iter().map(PieceFile::bytes).sum::<u64>();
            let seconds_per_million = seconds / (words as f64 / 1e6);
            spans.push(Span { day: day + 1 - block, seconds_per_million, grams, disk_bytes });
            tell(spans.last().expect("one was pushed"));
            (words, seconds) = (0, 0.0);
        }
    }
    Ok(spans)
}

/// CPU time of this process, user and system.
pub fn cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds: f64 = stat.split(' ').next().unwrap_or_default().parse()?;
    Ok(nanoseconds / 1e9)
}
