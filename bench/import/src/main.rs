//! Import throughput of archives, crawl text and annotated text: CPU time of the real program on generated files.

mod annotated;
mod texts;

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use clap::Parser;
use jiff::Timestamp;
use serde_json::Value;
use tidings_formats::warc::{Exchange, Writer};
use tidings_formats::warc::{Position, RecordEvent, RecordReader};
use tidings_lang::Hints;
use wait4::Wait4 as _;

#[derive(Parser)]
struct Args {
    /// The program; without it, only its parts are measured
    #[arg(long)]
    tidings: Option<PathBuf>,
    /// A folder of JSON lines with `url` and `html`
    #[arg(long)]
    pages: Option<PathBuf>,
    /// JSON lines with `text` and `lang`, packed with xz
    #[arg(long)]
    texts: Option<PathBuf>,
    /// Million tokens of annotated text, imported and indexed
    #[arg(long, value_name = "MILLION")]
    annotated: Option<u64>,
    /// Megabytes of the packed archive
    #[arg(long, default_value_t = 200)]
    megabytes: u64,
    /// Megabytes of each file of text
    #[arg(long, default_value_t = 100)]
    text_megabytes: usize,
    /// A Python with the packages of requirements.txt, to run the reference loop
    #[arg(long)]
    r#loop: Option<PathBuf>,
}

fn main() -> Result<()> {
    // Parts are measured in separate processes: `bench-import PART FILE`.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [part, file] = &words[..] {
        return measure_part(part, Path::new(file));
    }
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("home");
    if args.tidings.is_some() {
        run(&args, &["init", &home.display().to_string()])?;
    }
    if let Some(pages) = &args.pages {
        archives(&args, pages, folder.path(), &home)?;
    }
    if let Some(million_tokens) = args.annotated {
        annotated::measure(&args, folder.path(), million_tokens)?;
    }
    match &args.texts {
        Some(texts) => texts::measure(&args, texts, folder.path()),
        None => Ok(()),
    }
}

/// Skips all records of an archive, or identifies the languages of its lines, fast or thoroughly.
fn measure_part(part: &str, path: &Path) -> Result<()> {
    let mut records = RecordReader::open(path, Position::default())?;
    let (mut read, mut lines, mut bytes) = (0u64, 0u64, 0usize);
    while let Some(met) = records.next(|_| if part == "walk" { Err("nothing is wanted") } else { Ok(1 << 30) }) {
        read += 1;
        let RecordEvent::Record(record) = met else { continue };
        let text = String::from_utf8_lossy(&record.block);
        let long: Vec<&str> =
            text.split('\n').filter(|line| line.len() >= 100 && line.chars().count() >= 100).collect();
        bytes += long.iter().map(|line| line.len()).sum::<usize>();
        let told = match part {
            "tell" => tidings_lang::identify_lines(&long),
            "identify" => long.iter().map(|line| tidings_lang::identify(line, Hints::default()).lang).collect(),
            _ => Vec::new(),
        };
        lines += told.iter().filter(|code| **code != "und").count() as u64;
    }
    println!("told {:.3} MB, {read} records, {lines} lines", bytes as f64 / 1e6);
    Ok(())
}

/// Measures a part in a process of its own.
fn part(name: &str, path: &Path) -> Result<(f64, f64, String)> {
    measured(Command::new(std::env::current_exe()?).arg(name).arg(path))
}

/// Runs the program; returns CPU seconds, peak memory in MiB, and its output.
fn run(args: &Args, words: &[&str]) -> Result<(f64, f64, String)> {
    measured(Command::new(args.tidings.as_ref().context("no program given")?).args(words))
}

fn measured(command: &mut Command) -> Result<(f64, f64, String)> {
    let out = tempfile::NamedTempFile::new()?;
    command.stdout(out.reopen()?).stderr(Stdio::inherit());
    let used = command.spawn().context("cannot start the program")?.wait4()?;
    anyhow::ensure!(used.status.success(), "{command:?} failed");
    let cpu = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    Ok((cpu, used.rusage.maxrss as f64 / (1 << 20) as f64, std::fs::read_to_string(out.path())?))
}

fn archives(args: &Args, from: &Path, folder: &Path, home: &Path) -> Result<()> {
    let path = folder.join("pages.warc.gz");
    let mut file = BufWriter::new(File::create(&path)?);
    let mut writer = Writer::default();
    let mut files: Vec<PathBuf> = std::fs::read_dir(from)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "zst"));
    files.sort();
    let (mut packed, mut pages, mut unpacked) = (0u64, 0u64, 0u64);
    'full: loop {
        for path in &files {
            for line in BufReader::new(zstd::Decoder::new(File::open(path)?)?).lines() {
                // Some lines hold numbers that JSON does not have.
                let Ok(value) = serde_json::from_str::<Value>(&line?) else { continue };
                let Some(html) = value["html"].as_str() else { continue };
                let exchange = Exchange {
                    url: &format!("https://bench.example/{pages}"),
                    date: Timestamp::from_second(1_772_000_000 + pages as i64)?,
                    ip: None,
                    request: b"GET / HTTP/1.1\r\nHost: bench.example\r\n\r\n",
                    response: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n",
                    body: html.as_bytes(),
                    metadata: "fetchTimeMs: 100\r\n",
                };
                let records = writer.exchange(&exchange);
                file.write_all(&records)?;
                packed += records.len() as u64;
                unpacked += html.len() as u64;
                pages += 1;
                if packed >= args.megabytes * 1_000_000 {
                    break 'full;
                }
            }
        }
        anyhow::ensure!(pages > 0, "no pages in {}", from.display());
    }
    file.flush()?;
    drop(file);
    let (mb, text_mb) = (packed as f64 / 1e6, unpacked as f64 / 1e6);
    println!("archive: {pages} pages, {mb:.0} MB packed, {text_mb:.0} MB of HTML");
    let (cpu, peak, said) = part("walk", &path)?;
    println!(
        "walked: {cpu:.2} CPU s, {:.0} MB/s packed, {:.0} MB/s of HTML, {peak:.0} MiB: {}",
        mb / cpu,
        text_mb / cpu,
        said.trim()
    );
    if args.tidings.is_none() {
        return Ok(());
    }
    let (home, file) = (home.display().to_string(), path.display().to_string());
    for threads in ["1", "2"] {
        let (cpu, peak, _) = run(
            args,
            &["import", &file, "--home", &home, "--dry-run", "--site", "nowhere.example", "--threads", threads],
        )?;
        println!(
            "skipped, {threads} threads: {cpu:.2} CPU s, {:.0} MB/s packed, {:.0} MB/s of HTML, {peak:.0} MiB",
            mb / cpu,
            text_mb / cpu
        );
    }
    let (cpu, peak, said) = run(args, &["import", &file, "--home", &home])?;
    println!(
        "imported: {cpu:.2} CPU s, {:.0} pages per CPU s, {:.0} MB/s packed, {peak:.0} MiB: {}",
        pages as f64 / cpu,
        mb / cpu,
        said.trim()
    );
    let (cpu, _, said) = run(args, &["import", &file, "--home", &home])?;
    println!("again: {cpu:.3} CPU s: {}", said.trim());
    Ok(())
}
