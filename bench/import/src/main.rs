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
use tidings_lang::Hints;
use tidings_store::doors::records::{Met, Place, Records};
use tidings_store::warc::{Exchange, Writer};
use wait4::Wait4 as _;

#[derive(Parser)]
struct Args {
    /// The program; without it, only its parts are measured
    #[arg(long)]
    tidings: Option<PathBuf>,
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
    // Parts are measured in processes of their own: `bench-import PART FILE`.
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
    archives(&args, folder.path(), &home)?;
    texts(&args, folder.path())
}

/// Reads an archive without wanting anything of it, or tells the languages of its lines, quickly or thoroughly.
fn measure_part(part: &str, path: &Path) -> Result<()> {
    let mut records = Records::open(path, Place::default())?;
    let (mut read, mut lines, mut same) = (0u64, 0u64, 0u64);
    while let Some(met) = records.next(|_| if part == "walk" { Err("nothing is wanted") } else { Ok(1 << 30) }) {
        read += 1;
        let Met::Record(record) = met else { continue };
        let text = String::from_utf8_lossy(&record.block);
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() >= 100).collect();
        let told = match part {
            "tell" => tidings_lang::tell_lines(&long),
            "identify" => long.iter().map(|line| tidings_lang::identify(line, Hints::default()).lang).collect(),
            _ => Vec::new(),
        };
        lines += told.len() as u64;
        same += told.iter().filter(|code| **code == "und").count() as u64;
    }
    println!("{read} records, {lines} lines, {same} of no known language");
    Ok(())
}

/// Measures a part in a process of its own.
fn part(name: &str, path: &Path) -> Result<(f64, f64, String)> {
    measured(Command::new(std::env::current_exe()?).arg(name).arg(path))
}

/// Runs the program; gives CPU seconds, the most memory in MiB, and what it said.
fn run(args: &Args, words: &[&str]) -> Result<(f64, f64, String)> {
    measured(Command::new(args.tidings.as_ref().context("no program was named")?).args(words))
}

fn measured(command: &mut Command) -> Result<(f64, f64, String)> {
    let out = tempfile::NamedTempFile::new()?;
    command.stdout(out.reopen()?).stderr(Stdio::inherit());
    let used = command.spawn().context("cannot start the program")?.wait4()?;
    anyhow::ensure!(used.status.success(), "{command:?} failed");
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
        anyhow::ensure!(pages > 0, "there are no pages in {}", args.pages.display());
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

/// How many lines get their label, quickly and thoroughly, in texts of twelve lines of which one is foreign.
fn agreement(truth: &HashMap<&str, &str>, by_language: &BTreeMap<&str, Vec<&str>>) {
    let strangers: Vec<&str> = by_language.values().filter_map(|lines| lines.first().copied()).collect();
    let (mut lines, mut quick, mut thorough) = (0u64, 0u64, 0u64);
    let mut scores = [Scores::default(), Scores::default()];
    for (number, some) in by_language.values().flat_map(|lines| lines.chunks(11)).enumerate() {
        let text: Vec<&str> = some.iter().copied().chain([strangers[number % strangers.len()]]).collect();
        for (line, told) in text.iter().zip(tidings_lang::tell_lines(&text)) {
            let alone = tidings_lang::identify(line, Hints::default()).lang;
            let right = truth[line];
            lines += 1;
            quick += u64::from(told == right);
            thorough += u64::from(alone == right);
            scores[0].count(told, right);
            scores[1].count(alone, right);
        }
    }
    println!(
        "labels of {lines} lines: told {quick} right, macro-F1 {:.4}; each asked alone {thorough} right, macro-F1 {:.4}",
        scores[0].macro_f1(),
        scores[1].macro_f1()
    );
}

/// Hits, claims and members by language.
#[derive(Default)]
struct Scores(BTreeMap<String, [f64; 3]>);

impl Scores {
    fn count(&mut self, told: &str, right: &str) {
        self.0.entry(told.to_owned()).or_default()[1] += 1.0;
        let row = self.0.entry(right.to_owned()).or_default();
        row[2] += 1.0;
        row[0] += f64::from(u8::from(told == right));
    }

    fn macro_f1(&self) -> f64 {
        let members: Vec<_> = self.0.values().filter(|row| row[2] > 0.0).collect();
        members.iter().map(|row| 2.0 * row[0] / (row[1] + row[2])).sum::<f64>() / members.len() as f64
    }
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
    for name in ["read", "tell", "identify"] {
        let (cpu, peak, said) = part(name, &large)?;
        println!("{name}: {mb:.0} MB, {cpu:.2} CPU s, {:.1} MB/s, {peak:.0} MiB: {}", mb / cpu, said.trim());
    }
    agreement(&truth, &by_language);
    if args.tidings.is_none() {
        return Ok(());
    }
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
    let mut scores = Scores::default();
    for entry in std::fs::read_dir(&out)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let code = name.split('.').next().unwrap_or_default();
        for line in BufReader::new(zstd::Decoder::new(File::open(&path)?)?).lines() {
            if let Some(right) = truth.get(line?.as_str()) {
                scores.count(code, right);
            }
        }
    }
    println!("labels of the files: macro-F1 {:.4}", scores.macro_f1());
    Ok(())
}
