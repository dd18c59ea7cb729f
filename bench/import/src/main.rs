//! How fast archives and the text of crawls come in: CPU time of the real program on files made here.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use clap::Parser;
use jiff::Timestamp;
use serde_json::Value;
use tidings_store::warc::{Exchange, Writer};
use wait4::Wait4 as _;

#[derive(Parser)]
struct Args {
    /// The program
    #[arg(long)]
    tidings: PathBuf,
    /// A folder of JSON lines with `url` and `html`
    #[arg(long)]
    pages: PathBuf,
    /// JSON lines with `text` and `lang`, packed with xz
    #[arg(long)]
    texts: PathBuf,
    /// Megabytes of the packed archive
    #[arg(long, default_value_t = 200)]
    megabytes: u64,
    /// Files of text made of the same lines, parted anew in each so that none repeats
    #[arg(long, default_value_t = 8)]
    rounds: u32,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("home");
    run(&args, &["init", &home.display().to_string()])?;
    archives(&args, folder.path(), &home)?;
    texts(&args, folder.path())
}

/// Runs the program; gives CPU seconds, the most memory in MiB, and what it said.
fn run(args: &Args, words: &[&str]) -> Result<(f64, f64, String)> {
    let out = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(&args.tidings);
    command.args(words).stdout(out.reopen()?).stderr(Stdio::inherit());
    let used = command.spawn().context("cannot start the program")?.wait4()?;
    anyhow::ensure!(used.status.success(), "{words:?} failed");
    let cpu = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    Ok((cpu, used.rusage.maxrss as f64 / (1 << 20) as f64, std::fs::read_to_string(out.path())?))
}

fn archives(args: &Args, folder: &Path, home: &Path) -> Result<()> {
    let path = folder.join("pages.warc.gz");
    let mut file = BufWriter::new(File::create(&path)?);
    let mut writer = Writer::default();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&args.pages)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "zst"));
    files.sort();
    let (mut packed, mut pages, mut unpacked) = (0u64, 0u64, 0u64);
    'full: loop {
        for path in &files {
            for line in BufReader::new(zstd::Decoder::new(File::open(path)?)?).lines() {
                let value: Value = serde_json::from_str(&line?)?;
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
        anyhow::ensure!(pages > 0, "there are no pages in {}", args.pages.display());
    }
    file.flush()?;
    drop(file);
    let (mb, text_mb) = (packed as f64 / 1e6, unpacked as f64 / 1e6);
    println!("archive: {pages} pages, {mb:.0} MB packed, {text_mb:.0} MB of HTML");
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

/// Lines of text with their language.
fn labelled(path: &Path) -> Result<Vec<(String, String)>> {
    let mut child =
        Command::new("xz").arg("-dc").arg(path).stdout(Stdio::piped()).spawn().context("cannot start xz")?;
    let reader = BufReader::new(child.stdout.take().context("no output")?);
    let mut lines = Vec::new();
    for line in reader.lines() {
        let value: Value = serde_json::from_str(&line?)?;
        let (Some(text), Some(lang), Some(kind)) =
            (value["text"].as_str(), value["lang"].as_str(), value["kind"].as_str())
        else {
            continue;
        };
        // Languages that nobody tells apart are not what is measured here.
        if value["src"] == "udhr" || !matches!(kind, "sent" | "para" | "doc") {
            continue;
        }
        let Some(code) = tidings_lang::canonical(lang) else { continue };
        lines.extend(text.lines().map(|line| (line.trim().to_owned(), code.to_owned())));
    }
    child.wait()?;
    lines.retain(|(line, _)| line.chars().count() >= 100);
    lines.sort();
    lines.dedup_by(|a, b| a.0 == b.0);
    Ok(lines)
}

fn texts(args: &Args, folder: &Path) -> Result<()> {
    let lines = labelled(&args.texts)?;
    let truth: HashMap<&str, &str> = lines.iter().map(|(line, lang)| (line.as_str(), lang.as_str())).collect();
    let mut by_language: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    lines.iter().for_each(|(line, lang)| by_language.entry(lang).or_default().push(line));
    let all: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let mut wet = |name: &str, rounds: u32| -> Result<(PathBuf, f64)> {
        let path = folder.join(name);
        let mut file = BufWriter::new(zstd::Encoder::new(File::create(&path)?, 1)?);
        let mut bytes = 0;
        for round in 0..rounds {
            // A number at the end keeps lines of another round from being the same.
            let mark = |line: &str| if round == 0 { line.to_owned() } else { format!("{line} {round}") };
            for group in by_language.values() {
                for some in group.chunks(12) {
                    let mut text: String = some.iter().map(|line| mark(line) + "\n").collect();
                    text.push_str("Home\nContact us\n");
                    if round > 0 {
                        text.push_str(&(mark(all[random.usize(..all.len())]) + "\n"));
                    }
                    bytes += text.len();
                    write!(
                        file,
                        "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://bench.example/\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
                        text.len()
                    )?;
                }
            }
        }
        file.into_inner().map_err(|error| anyhow::anyhow!("{error}"))?.finish()?;
        Ok((path, bytes as f64 / 1e6))
    };
    let (large, mb) = wet("large.warc.wet.zst", args.rounds)?;
    let (small, _) = wet("small.warc.wet.zst", 1)?;
    let out = folder.join("lines");
    let to = out.display().to_string();
    for threads in ["1", "2"] {
        let (cpu, peak, said) =
            run(args, &["import", &large.display().to_string(), "--lines", &to, "--threads", threads])?;
        println!(
            "lines, {threads} threads: {mb:.0} MB, {cpu:.2} CPU s, {:.1} MB/s, {peak:.0} MiB: {}",
            mb / cpu,
            said.trim()
        );
    }
    std::fs::remove_dir_all(&out)?;
    run(args, &["import", &small.display().to_string(), "--lines", &to])?;
    let (mut right, mut found) = (0u64, 0u64);
    let (mut hits, mut claims, mut members) =
        (BTreeMap::<&str, f64>::new(), BTreeMap::<String, f64>::new(), BTreeMap::<&str, f64>::new());
    for entry in std::fs::read_dir(&out)? {
        let path = entry?.path();
        let code =
            path.file_name().unwrap_or_default().to_string_lossy().split('.').next().unwrap_or_default().to_owned();
        for line in BufReader::new(zstd::Decoder::new(File::open(&path)?)?).lines() {
            let line = line?;
            let Some(told) = truth.get(line.as_str()) else { continue };
            found += 1;
            *claims.entry(code.clone()).or_default() += 1.0;
            *members.entry(told).or_default() += 1.0;
            if *told == code {
                right += 1;
                *hits.entry(told).or_default() += 1.0;
            }
        }
    }
    let f1 = members
        .iter()
        .map(|(lang, number)| 2.0 * hits.get(lang).unwrap_or(&0.0) / (number + claims.get(*lang).unwrap_or(&0.0)));
    println!(
        "labels: {right} of {found} lines right ({:.2} %), macro-F1 {:.4} over {} languages",
        100.0 * right as f64 / found as f64,
        f1.sum::<f64>() / members.len() as f64,
        members.len()
    );
    Ok(())
}
