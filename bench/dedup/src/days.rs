//! Simulates ten years of daily runs, to see that the cost of a day does not grow with the size of the store.
//!
//! Each day runs as in a home: open the files of earlier days, read a day of documents from JSON lines, compare
//! them, write new files and merge old ones. Nothing stays in memory between days.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use tidings_dedup::lsm_levels::{self, LevelRun};
use tidings_dedup::{
    BlockFile, Deduplicator, FingerprintRun, FingerprintStore, Origin, Rule, Scope, StoreFiles, Text, join,
};

use crate::generate::Generator;
use crate::sets::LabelledDocument;

/// The memory budget of a day's run.
const MEMORY_BYTES: usize = 32 << 20;

/// Measurements of a range of days.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// The first day.
    pub day: u64,
    /// CPU seconds per million words, including comparing, writing and merging.
    pub seconds_per_million: f64,
    /// N-grams in the store.
    pub grams: u64,
    /// Size of the store on disk.
    pub disk_bytes: u64,
}

/// Simulates days of about `words_per_day` words and reports each block of days.
pub fn simulate(
    days: u64,
    words_per_day: usize,
    block: u64,
    folder: &Path,
    mut report: impl FnMut(&Span),
) -> Result<Vec<Span>> {
    let rule = Rule::default();
    let mut documents = Generator::new(1, 20_000);
    let mut runs_on_disk: Vec<(Range<u64>, PathBuf)> = Vec::new();
    let (mut blocks, mut starts) = (Vec::<BlockFile>::new(), Vec::new());
    let (mut grams, mut spans, mut firsts) = (0, Vec::new(), Vec::new());
    let (mut words, mut seconds) = (0usize, 0.0);
    for day in 0..days {
        let mut today: Vec<LabelledDocument> = Vec::new();
        let mut wanted = words_per_day;
        while wanted > 0 {
            let case = documents.next().expect("the generator is endless");
            wanted = wanted.saturating_sub(case.paragraphs.iter().map(|text| text.split(' ').count()).sum());
            today.push(case);
        }
        let lines: Vec<String> =
            today.iter().map(|case| json!({ "id": case.id, "paragraphs": case.paragraphs }).to_string()).collect();
        let began = cpu_seconds()?;
        let own = folder.join(day.to_string());
        std::fs::create_dir(&own)?;
        let runs = runs_on_disk.iter().map(|(_, path)| FingerprintRun::open(path)).collect::<Result<_, _>>()?;
        let past = StoreFiles { runs, blocks: blocks.clone(), days: starts };
        let mut deduplicator = Deduplicator::new(rule, Scope::All, FingerprintStore::new(past, &own, MEMORY_BYTES)?);
        for line in &lines {
            let document: Value = serde_json::from_str(line)?;
            let paragraphs = document["paragraphs"].as_array().into_iter().flatten();
            let text = Text::new(paragraphs.filter_map(Value::as_str), &rule);
            words += text.words();
            let name = document["id"].as_str().unwrap_or_default();
            deduplicator.judge(&text, &Origin { name, day: day as i64, ..Origin::default() })?;
        }
        grams += deduplicator.store().grams();
        let flushed = deduplicator.flush()?;
        let ranges = runs_on_disk.iter().map(|(days, _)| days.clone());
        let levels: Vec<LevelRun> = ranges.zip(flushed.past).map(|(days, run)| LevelRun { days, run }).collect();
        let grown = lsm_levels::merge_day(&levels, &flushed.runs, |_| own.join("fingerprints"))?;
        runs_on_disk.retain(|(days, path)| days.start < grown.days.start || std::fs::remove_file(path).is_err());
        runs_on_disk.push((grown.days.clone(), grown.run.path().to_owned()));
        flushed.runs.iter().try_for_each(|run| std::fs::remove_file(run.path()))?;
        firsts.push(flushed.blocks.first());
        let together = lsm_levels::block_layout(day + 1).pop().expect("the layout of one day or more has a file");
        match together.end - together.start {
            1 => blocks.push(flushed.blocks),
            _ => {
                let first = firsts[together.start as usize];
                let at = blocks.partition_point(|file| file.first() < first);
                let parts: Vec<&BlockFile> = blocks[at..].iter().chain([&flushed.blocks]).collect();
                let whole = join(&parts, first..flushed.blocks.end(), &own.join("joined"))?;
                parts.iter().try_for_each(|part| std::fs::remove_file(part.path()))?;
                blocks.truncate(at);
                blocks.push(whole);
            }
        }
        starts = flushed.days;
        seconds += cpu_seconds()? - began;
        if (day + 1) % block == 0 {
            let run_bytes =
                runs_on_disk.iter().map(|(_, path)| Ok(std::fs::metadata(path)?.len())).sum::<Result<u64>>()?;
            let disk_bytes = run_bytes + blocks.iter().map(BlockFile::bytes).sum::<u64>();
            let seconds_per_million = seconds / (words as f64 / 1e6);
            spans.push(Span { day: day + 1 - block, seconds_per_million, grams, disk_bytes });
            report(spans.last().expect("a span was just pushed"));
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
