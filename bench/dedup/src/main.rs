//! `bench-dedup`: quality and cost of duplicate detection, compared with other tools.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use bench_dedup::days::{cpu_seconds, simulate};
use bench_dedup::generate::Generator;
use bench_dedup::onion::Onion;
use bench_dedup::score::Score;
use bench_dedup::sets::{self, LabelledDocument};
use clap::{Parser, Subcommand};
use tidings_dedup::{Deduplicator, FingerprintStore, Origin, PRESETS, Rule, Scope, StoreFiles, Text};

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Score all presets, and Onion's rule with a plain hash set, on folders of docs.jsonl and truth.jsonl or on
    /// the generator
    Score {
        /// Folders; the generator with seeds 1, 2 and 3 if none is given
        folders: Vec<PathBuf>,
        /// Score the answers of another tool: a line per document, 1 where a paragraph was removed, else 0
        #[arg(long)]
        answers: Option<PathBuf>,
    },
    /// Measure speed, memory and disk on generated documents
    Speed {
        /// Millions of words
        #[arg(long, default_value_t = 20)]
        million: u64,
        /// Memory budget of the memtable, in MB
        #[arg(long, default_value_t = 96)]
        memory_mb: usize,
    },
    /// Simulate years of daily runs
    Days {
        #[arg(long, default_value_t = 3650)]
        days: u64,
        #[arg(long, default_value_t = 20_000)]
        words: usize,
        /// Days per measurement
        #[arg(long, default_value_t = 50)]
        block: u64,
    },
}

fn main() -> Result<()> {
    match Args::parse().command {
        Command::Score { folders, answers } => {
            if folders.is_empty() {
                for seed in 1..=3 {
                    score(
                        &format!("generator, seed {seed}"),
                        &Generator::new(seed, usize::MAX).take(8000).collect::<Vec<_>>(),
                    )?;
                }
            }
            for folder in &folders {
                let cases: Vec<LabelledDocument> = sets::read(folder)?.collect::<Result<_>>()?;
                match &answers {
                    Some(path) => println!("{}\n{}", Score::head(), answered(&cases, path)?.row("peer")),
                    None => score(&folder.display().to_string(), &cases)?,
                }
            }
        }
        Command::Speed { million, memory_mb } => speed(million, memory_mb)?,
        Command::Days { days, words, block } => {
            let folder = tempfile::tempdir()?;
            println!("| day | CPU s per million words | M n-grams | bytes per n-gram |\n| --: | --: | --: | --: |");
            let spans = simulate(days, words, block, folder.path(), |span| {
                let per_gram = span.disk_bytes as f64 / span.grams.max(1) as f64;
                println!(
                    "| {} | {:.3} | {:.1} | {per_gram:.2} |",
                    span.day,
                    span.seconds_per_million,
                    span.grams as f64 / 1e6
                );
            })?;
            if let [first, .., last] = &spans[..] {
                println!(
                    "the last days took {:.2} times as long as the first",
                    last.seconds_per_million / first.seconds_per_million
                );
            }
        }
    }
    Ok(())
}

/// Scores all presets and Onion's rule on documents.
fn score(name: &str, cases: &[LabelledDocument]) -> Result<()> {
    println!("\n{name}: {} documents\n{}", cases.len(), Score::head());
    for preset in PRESETS {
        println!("{}", bench_dedup::judged(cases, preset.rule)?.row(preset.name));
    }
    for (name, stub) in [("Onion's rule, plain set", 20), ("without smoothing", 0)] {
        let mut onion = Onion::new(7, 0.5, stub);
        let mut score = Score::default();
        let began = cpu_seconds()?;
        cases.iter().for_each(|case| score.add(case, onion.judge(&case.paragraphs)));
        println!("{}", score.row(name));
        let seconds = cpu_seconds()? - began;
        eprintln!("{name}: {:.2} M tokens/s, {} n-grams", score.tokens() as f64 / seconds / 1e6, onion.grams());
    }
    Ok(())
}

/// Scores the answers of another tool.
fn answered(cases: &[LabelledDocument], path: &PathBuf) -> Result<Score> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut score = Score::default();
    let mut lines = text.lines();
    for case in cases {
        let Some(line) = lines.next().filter(|line| line.len() == case.paragraphs.len()) else {
            bail!("{}: the line of {} does not have one answer per paragraph", path.display(), case.id);
        };
        score.add(case, line.bytes().map(|byte| byte == b'1'));
    }
    Ok(score)
}

fn speed(million: u64, memory_mb: usize) -> Result<()> {
    let rule = Rule::default();
    let folder = tempfile::tempdir()?;
    let mut deduplicator = Deduplicator::new(
        rule,
        Scope::All,
        FingerprintStore::new(StoreFiles::default(), folder.path(), memory_mb * 1_000_000)?,
    );
    let (mut words, mut tokens, mut seconds, began) = (0u64, 0u64, 0.0, Instant::now());
    let mut documents = Generator::new(1, 50_000);
    while words < million * 1_000_000 {
        let cases: Vec<LabelledDocument> = documents.by_ref().take(1000).collect();
        tokens +=
            cases.iter().flat_map(|case| &case.paragraphs).map(|text| bench_dedup::score::tokens(text)).sum::<u64>();
        let began = cpu_seconds()?;
        for case in &cases {
            let text = Text::new(case.paragraphs.iter().map(String::as_str), &rule);
            words += text.words() as u64;
            deduplicator.judge(&text, &Origin { name: &case.id, ..Origin::default() })?;
        }
        seconds += cpu_seconds()? - began;
    }
    let (grams, memory) = (deduplicator.store().grams(), deduplicator.store().memory_bytes());
    let flushed = deduplicator.flush()?;
    let bytes = flushed.runs.iter().map(|run| run.bytes()).sum::<u64>() + flushed.blocks.bytes();
    println!(
        "{:.1} M words, {:.1} M tokens, {grams} n-grams, {:.0} s in total",
        words as f64 / 1e6,
        tokens as f64 / 1e6,
        began.elapsed().as_secs_f64()
    );
    println!("{:.2} M tokens per CPU second, without reading JSON", tokens as f64 / seconds / 1e6);
    println!("{:.2} bytes on disk per n-gram, {:.1} MB memtable", bytes as f64 / grams as f64, memory as f64 / 1e6);
    Ok(())
}
