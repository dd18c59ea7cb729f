//! Crawl text: language identification of lines, compared with a typical Python loop.
//!
//! Three files are generated from lines of known language. The small one has every line once, so that the output can be
//! compared with the labels. The large one has all languages equally often, and the third as often as crawls, with
//! menus; their lines are composed of thirds, so that few repeat.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tidings_lang::Hints;

use crate::{Args, measured, part, run};

/// Lines of a record, of which the last is in another language.
const RECORD_LINES: usize = 12;
/// One line in so many was held out when the weights of fast lines were fitted; see crates/lang/model/fit_fast_lines.py.
const FOLDS: usize = 5;
/// Languages of the web in per cent of pages, roughly as in crawls; the rest is shared by all others.
const SHARES: &[(&str, usize)] = &[
    ("en", 45),
    ("ru", 6),
    ("de", 6),
    ("ja", 5),
    ("zh", 5),
    ("fr", 5),
    ("es", 5),
    ("it", 3),
    ("nl", 2),
    ("pl", 2),
    ("pt", 2),
    ("tr", 1),
    ("cs", 1),
    ("vi", 1),
    ("id", 1),
    ("fa", 1),
    ("ar", 1),
    ("ko", 1),
    ("sv", 1),
    ("hu", 1),
    ("el", 1),
    ("uk", 1),
];
const MENU: &str = "Home\nContact us\nAbout\n\nSign in\nPrivacy policy | Terms of use | Imprint\n";

pub fn measure(args: &Args, texts: &Path, folder: &Path) -> Result<()> {
    let lines = labelled(texts)?;
    let truth: HashMap<&str, (&str, bool)> = lines
        .iter()
        .enumerate()
        .map(|(number, (line, lang))| (line.as_str(), (lang.as_str(), number % FOLDS == FOLDS - 1)))
        .collect();
    let mut by_language: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    lines.iter().for_each(|(line, lang)| by_language.entry(lang).or_default().push(line));
    let mut random = fastrand::Rng::with_seed(1);

    let records = small(&by_language, &mut random);
    let small = folder.join("small.warc.wet.gz");
    let mut wet = Wet::create(&small)?;
    records.iter().try_for_each(|record| wet.record(&(record.join("\n") + "\nHome\nContact us\n")))?;
    wet.finish()?;
    labels(args, folder, &small, &records, &truth)?;

    let wanted = args.text_megabytes * 1_000_000;
    let path = folder.join("large.warc.wet.gz");
    let mut wet = Wet::create(&path)?;
    let all: Vec<&Vec<&str>> = by_language.values().collect();
    while wet.bytes < wanted {
        for lines in &all {
            let stranger = all[random.usize(..all.len())];
            wet.record(&(mixed(lines, stranger, &mut random) + "Home\nContact us\n"))?;
        }
    }
    speed(args, folder, "all languages", &path, wet.finish()?)?;

    let path = folder.join("web.warc.wet.gz");
    let mut wet = Wet::create(&path)?;
    while wet.bytes < wanted {
        let mut share = random.usize(..100);
        let known = SHARES.iter().find(|(_, percent)| {
            let found = share < *percent;
            share = share.saturating_sub(*percent);
            found
        });
        let lines = known.and_then(|(code, _)| by_language.get(code)).unwrap_or(all[random.usize(..all.len())]);
        let mut text = String::new();
        for line in mixed(lines, by_language.get("en").context("no English")?, &mut random).lines() {
            text.push_str(line);
            text.push('\n');
            // Two short lines for each long one: headings and links.
            for _ in 0..2 {
                let from = lines[random.usize(..lines.len())];
                let words: Vec<&str> = from.split(' ').take(random.usize(1..6)).collect();
                text.extend(words.join(" ").chars().take(60));
                text.push('\n');
            }
        }
        wet.record(&(MENU.to_owned() + &text))?;
    }
    speed(args, folder, "like the web", &path, wet.finish()?)
}

/// An archive of text, packed as crawls pack it.
struct Wet {
    file: BufWriter<File>,
    bytes: usize,
}

impl Wet {
    fn create(path: &Path) -> Result<Wet> {
        Ok(Wet { file: BufWriter::new(File::create(path)?), bytes: 0 })
    }

    fn record(&mut self, text: &str) -> Result<()> {
        self.bytes += text.len();
        let mut member = GzEncoder::new(&mut self.file, Compression::default());
        write!(
            member,
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://bench.example/\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )?;
        member.finish()?;
        Ok(())
    }

    /// Megabytes of text in it.
    fn finish(mut self) -> Result<f64> {
        self.file.flush()?;
        Ok(self.bytes as f64 / 1e6)
    }
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
        // Languages that cannot be distinguished are not measured here.
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

/// Every line once, in records of one language with one foreign line each.
fn small<'a>(by_language: &BTreeMap<&str, Vec<&'a str>>, random: &mut fastrand::Rng) -> Vec<Vec<&'a str>> {
    let (mut records, mut strangers) = (Vec::new(), Vec::new());
    for lines in by_language.values() {
        for some in lines.chunks(RECORD_LINES) {
            strangers.push(some[some.len() - 1]);
            records.push(some[..some.len() - 1].to_vec());
        }
    }
    random.shuffle(&mut strangers);
    for record in &mut records {
        record.extend(strangers.pop());
    }
    records
}

/// A record of new lines, each composed of thirds of three lines.
fn mixed(lines: &[&str], stranger: &[&str], random: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    for number in 0..RECORD_LINES {
        let from = if number + 1 == RECORD_LINES { stranger } else { lines };
        for third in 0..3 {
            let line = from[random.usize(..from.len())];
            let at = |third: usize| {
                let place = line.floor_char_boundary(line.len() * third / 3);
                line[place..].find(' ').map_or(place, |space| place + space)
            };
            text.push_str(match third {
                0 => &line[..at(1)],
                1 => &line[at(1)..at(2)],
                _ => &line[at(2)..],
            });
        }
        text.push('\n');
    }
    text
}

/// Hits, claims and members by language.
#[derive(Default)]
struct Scores(BTreeMap<String, [f64; 3]>);

impl Scores {
    fn count(&mut self, told: &str, right: &str) {
        // The labels have one Norwegian and one written Chinese.
        let told = match told {
            "nn" => "nb",
            "wuu" => "zh",
            told => told,
        };
        self.0.entry(told.to_owned()).or_default()[1] += 1.0;
        let row = self.0.entry(right.to_owned()).or_default();
        row[2] += 1.0;
        row[0] += f64::from(u8::from(told == right));
    }

    fn macro_f1(&self, among: Option<&BTreeSet<String>>) -> f64 {
        let is_asked = |code: &String| among.is_none_or(|among| among.contains(code));
        let members: Vec<_> = self.0.iter().filter(|(code, row)| row[2] > 0.0 && is_asked(code)).collect();
        members.iter().map(|(_, row)| 2.0 * row[0] / (row[1] + row[2])).sum::<f64>() / members.len() as f64
    }
}

/// The scores of all lines, and of the held-out ones.
#[derive(Default)]
struct Both {
    all: Scores,
    apart: Scores,
}

impl Both {
    fn count(&mut self, told: &str, (right, is_apart): (&str, bool)) {
        self.all.count(told, right);
        if is_apart {
            self.apart.count(told, right);
        }
    }

    /// Those of lines in files by language.
    fn of_files(folder: &Path, truth: &HashMap<&str, (&str, bool)>) -> Result<Both> {
        let mut scores = Both::default();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (code, ending) = name.split_once('.').unwrap_or_default();
            let reader: Box<dyn std::io::Read> = match ending {
                "txt.zst" => Box::new(zstd::Decoder::new(File::open(&path)?)?),
                "txt" => Box::new(File::open(&path)?),
                _ => continue,
            };
            // fastText uses "als" for Alemannic, not Albanian.
            let code = if code == "als" { "gsw" } else { tidings_lang::canonical(code).unwrap_or(code) };
            for line in BufReader::new(reader).lines() {
                if let Some(right) = truth.get(line?.as_str()) {
                    scores.count(code, *right);
                }
            }
        }
        Ok(scores)
    }

    fn print(&self, name: &str, known: Option<&BTreeSet<String>>) {
        print!("labels, {name}: macro-F1 {:.4}, lines apart {:.4}", self.all.macro_f1(None), self.apart.macro_f1(None));
        if let Some(known) = known {
            print!("; languages of the loop {:.4}", self.all.macro_f1(Some(known)));
        }
        println!();
    }
}

fn labels(
    args: &Args,
    folder: &Path,
    small: &Path,
    records: &[Vec<&str>],
    truth: &HashMap<&str, (&str, bool)>,
) -> Result<()> {
    let mut known = None;
    if let Some(python) = &args.r#loop {
        let out = folder.join("loop-labels");
        let said = looped(python, small, &out)?;
        let codes = said["labels"].as_array().into_iter().flatten().filter_map(Value::as_str);
        known = Some(codes.map(|code| tidings_lang::canonical(code).unwrap_or(code).to_owned()).collect());
        Both::of_files(&out, truth)?.print("Python loop", known.as_ref());
    }
    let (mut told, mut alone) = (Both::default(), Both::default());
    for record in records {
        for (line, code) in record.iter().zip(tidings_lang::identify_lines(record)) {
            told.count(code, truth[line]);
            alone.count(tidings_lang::identify(line, Hints::default()).lang, truth[line]);
        }
    }
    alone.print("each line asked alone", known.as_ref());
    told.print("told together", known.as_ref());
    if args.tidings.is_some() {
        let out = folder.join("labels");
        run(args, &["import", &small.display().to_string(), "--lines", &out.display().to_string()])?;
        Both::of_files(&out, truth)?.print("tidings import --lines", known.as_ref());
    }
    Ok(())
}

/// Runs the Python loop; returns its own measurements.
fn looped(python: &Path, wet: &Path, out: &Path) -> Result<Value> {
    let program: PathBuf = [env!("CARGO_MANIFEST_DIR"), "loop.py"].iter().collect();
    let (_, _, said) = measured(Command::new(python).arg(program).arg(wet).arg(out))?;
    Ok(serde_json::from_str(&said)?)
}

fn speed(args: &Args, folder: &Path, name: &str, wet: &Path, mb: f64) -> Result<()> {
    println!("\ntext, {name}: {mb:.0} MB");
    let mut loops = None;
    if let Some(python) = &args.r#loop {
        let said = looped(python, wet, &folder.join(format!("loop {name}")))?;
        let number = |name: &str| said[name].as_f64().unwrap_or(f64::NAN);
        let speeds = [mb / number("seconds"), number("predict_mb_s")];
        println!("Python loop: {:.2} MB/s, `predict` alone {:.2} MB/s", speeds[0], speeds[1]);
        loops = Some(speeds);
    }
    let times = |speed: f64, place: usize| match loops {
        Some(loops) => format!(", {:.1} times the loop", speed / loops[place]),
        None => String::new(),
    };
    let (reading, _, _) = part("read", wet)?;
    println!("read, not told: {:.0} MB/s", mb / reading);
    for name in ["tell", "identify"] {
        let (cpu, peak, said) = part(name, wet)?;
        let long: f64 = said.split(' ').nth(1).and_then(|mb| mb.parse().ok()).context("no megabytes")?;
        let speed = long / (cpu - reading);
        println!("{name}: {long:.0} MB of long lines, {speed:.1} MB/s{}, {peak:.0} MiB", times(speed, 1));
    }
    if args.tidings.is_none() {
        return Ok(());
    }
    for threads in ["1", "2"] {
        let out = folder.join(format!("lines {name} {threads}"));
        let words = ["import", &wet.display().to_string(), "--lines", &out.display().to_string(), "--threads", threads];
        let began = std::time::Instant::now();
        let (cpu, peak, said) = run(args, &words)?;
        println!(
            "tidings import --lines, {threads} threads: {:.1} MB/s of CPU time{}, {:.1} s, {peak:.0} MiB: {}",
            mb / cpu,
            times(mb / cpu, 0),
            began.elapsed().as_secs_f64(),
            said.trim()
        );
    }
    Ok(())
}
