//! `cargo run --release -p bench-query -- all --tokens 100 DIR`: generates a corpus, indexes it, queries it, adds and deletes documents.
//!
//! Times are CPU times of this process, but those of `threads`, which are wall-clock times. Cold queries run in a separate process after the index was
//! evicted from the page cache; their times are wall-clock times.

mod corpus;
mod queries;
mod threads;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use corpus::{FIRST_DAY, GeneratedSize, Generator, LAST_DAY};
use rustix::time::{ClockId, clock_gettime};
use tidings_formats::vertical::Reader;
use tidings_index::{Day, Settings, Snapshot, Writer};

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// All steps in order.
    All {
        folder: PathBuf,
        #[arg(long, default_value_t = 100)]
        tokens: u64,
    },
    /// Writes the corpus, a vertical file per year.
    Generate {
        folder: PathBuf,
        #[arg(long, default_value_t = 100)]
        tokens: u64,
    },
    /// Indexes it, a segment per year.
    Index { folder: PathBuf },
    /// Runs the queries.
    Queries {
        folder: PathBuf,
        #[arg(long)]
        only: Option<String>,
    },
    /// Runs queries on one, two … threads and compares the wall-clock times.
    Threads {
        folder: PathBuf,
        /// The highest number of threads.
        #[arg(long, default_value_t = 2)]
        most: usize,
    },
    /// Runs one query once, for cold times.
    Once { folder: PathBuf, name: String },
    /// Adds a day, deletes a document, merges.
    Change { folder: PathBuf },
    /// Searches for the planted words.
    Trends { folder: PathBuf },
    /// Prints the plan of a query.
    Explain { folder: PathBuf, query: String },
}

/// Seconds of CPU time that this process has used.
pub fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn main() -> Result<()> {
    match Args::parse().what {
        What::All { folder, tokens } => {
            // Each step in its own process, to measure its peak memory.
            let program = std::env::current_exe()?;
            let run = |arguments: &[&str]| -> Result<()> {
                let status = std::process::Command::new(&program).args(arguments).arg(&folder).status()?;
                anyhow::ensure!(status.success(), "{arguments:?} failed");
                Ok(())
            };
            run(&["generate", "--tokens", &tokens.to_string()])?;
            run(&["index"])?;
            run(&["queries"])?;
            run(&["trends"])?;
            run(&["change"])
        }
        What::Generate { folder, tokens } => generate(&folder, tokens * 1_000_000),
        What::Index { folder } => index(&folder),
        What::Queries { folder, only } => queries::all(&folder.join("index"), only.as_deref()),
        What::Threads { folder, most } => threads::compare(&folder.join("index"), most),
        What::Once { folder, name } => queries::once(&folder.join("index"), &name),
        What::Change { folder } => change(&folder),
        What::Trends { folder } => queries::trends(&folder),
        What::Explain { folder, query } => queries::explain(&folder.join("index"), &query),
    }
}

fn generate(folder: &Path, tokens: u64) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut generator = Generator::new(7);
    let a_day = tokens / (LAST_DAY - FIRST_DAY) as u64;
    let mut made = GeneratedSize::default();
    let mut file: Option<(i16, BufWriter<File>)> = None;
    for day in FIRST_DAY..LAST_DAY {
        let year = Day(day).date().year();
        if file.as_ref().is_none_or(|(known, _)| *known != year) {
            let path = folder.join(format!("{year}.vert"));
            file = Some((year, BufWriter::with_capacity(1 << 20, File::create(path)?)));
        }
        let (_, out) = file.as_mut().context("a file is open")?;
        let today = generator.day(day, a_day, out)?;
        made = GeneratedSize { tokens: made.tokens + today.tokens, documents: made.documents + today.documents };
    }
    let mut truth = BufWriter::new(File::create(folder.join("planted.tsv"))?);
    for planted in &generator.planted {
        writeln!(truth, "{}\t{}", planted.word, corpus::PROFILES[planted.profile])?;
    }
    let mut late = BufWriter::new(File::create(folder.join("late.vert"))?);
    let late_day = generator.day(LAST_DAY, 53_000, &mut late)?;
    println!("made {} tokens, {} documents; one more day: {} tokens", made.tokens, made.documents, late_day.tokens);
    Ok(())
}

fn reader(path: &Path) -> Result<Reader<BufReader<File>>> {
    let file = File::open(path).with_context(|| format!("{} is missing; generate first", path.display()))?;
    Ok(Reader::new(BufReader::with_capacity(1 << 20, file), path))
}

fn index(folder: &Path) -> Result<()> {
    let target = folder.join("index");
    if target.exists() {
        std::fs::remove_dir_all(&target)?;
    }
    let (clock, before) = (Instant::now(), cpu());
    let mut writer = Writer::open(&target, Settings::default())?;
    for year in 2016..2026 {
        writer.read(&mut reader(&folder.join(format!("{year}.vert")))?)?;
        writer.flush()?;
    }
    writer.commit(Vec::new())?;
    let seconds = cpu() - before;
    let index = writer.snapshot();
    let (tokens, bytes) = (index.tokens() as f64, index.bytes_on_disk() as f64);
    println!(
        "indexed {tokens} tokens in {seconds:.1} CPU s ({:.1} s): {:.2} M tokens/s, peak {:.0} MB, {:.2} bytes/token in {} segments",
        clock.elapsed().as_secs_f64(),
        tokens / seconds / 1e6,
        peak_megabytes(),
        bytes / tokens,
        index.segments().len(),
    );
    let mut sizes: Vec<(String, usize)> = Vec::new();
    for live in index.segments() {
        for (name, size) in live.segment().sections() {
            match sizes.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += size,
                None => sizes.push((name.to_owned(), size)),
            }
        }
    }
    let all: usize = sizes.iter().map(|(_, size)| size).sum();
    sizes.push(("lexicon".to_owned(), bytes as usize - all.min(bytes as usize)));
    sizes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let shown: Vec<String> =
        sizes.iter().take(12).map(|(name, size)| format!("{name} {:.3}", *size as f64 / tokens)).collect();
    println!("bytes/token: {}", shown.join(", "));
    Ok(())
}

fn change(folder: &Path) -> Result<()> {
    let target = folder.join("index");
    let time = |what: &str, start: f64, clock: Instant| {
        println!("{what}: {:.3} CPU s, {:.3} s wall-clock", cpu() - start, clock.elapsed().as_secs_f64());
    };
    let (start, clock) = (cpu(), Instant::now());
    let mut writer = Writer::open(&target, Settings::default())?;
    writer.read(&mut reader(&folder.join("late.vert"))?)?;
    writer.commit(Vec::new())?;
    let found = queries::count_on_day(&Snapshot::open(&target)?, LAST_DAY)?;
    time(&format!("one more day searchable ({found} times “the”)"), start, clock);
    let id = writer.snapshot().segments()[3].segment().ids().all()[1000];
    let before = writer.snapshot().tokens();
    let (start, clock) = (cpu(), Instant::now());
    let mut writer = Writer::open(&target, Settings::default())?;
    writer.delete_ids(&[id])?;
    let after = Snapshot::open(&target)?;
    time(&format!("deleted by tombstone ({} tokens fewer)", before - after.tokens()), start, clock);
    let url = after.segments()[5].segment().address_and_title(700)?.0;
    let (start, clock) = (cpu(), Instant::now());
    writer.delete_urls(&[&url])?;
    time("deleted by address", start, clock);
    let (start, clock) = (cpu(), Instant::now());
    let purged = writer.expunge()?;
    time(&format!("{purged} segments expunged"), start, clock);
    let (start, clock) = (cpu(), Instant::now());
    writer.merge_all()?;
    time(&format!("all merged into {}", writer.snapshot().segments().len()), start, clock);
    let (start, clock) = (cpu(), Instant::now());
    writer.snapshot().verify()?;
    time("verified", start, clock);
    println!("{:.2} bytes/token", writer.snapshot().bytes_on_disk() as f64 / writer.snapshot().tokens() as f64);
    Ok(())
}
