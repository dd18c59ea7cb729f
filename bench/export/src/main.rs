//! Export throughput: rows and megabytes per second of CPU time, by format.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use tidings_model::{Dated, Document, PageMetadata, Paragraph};
use tidings_store::Home;
use tidings_store::docs::{DayDraft, Recipe};
use wait4::Wait4 as _;

const WORDS: [&str; 32] = [
    "the",
    "river",
    "town",
    "mayor",
    "said",
    "that",
    "people",
    "would",
    "come",
    "back",
    "before",
    "winter",
    "and",
    "nobody",
    "knew",
    "what",
    "it",
    "was",
    "of",
    "in",
    "school",
    "market",
    "year",
    "government",
    "price",
    "water",
    "new",
    "old",
    "children",
    "street",
    "minister",
    "report",
];
const DAYS: usize = 12;
const FORMATS: [(&str, &str); 5] =
    [("jsonl", "out.jsonl"), ("jsonl", "out.jsonl.zst"), ("parquet", "out"), ("csv", "out.csv"), ("tei", "out.xml")];

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let Some(program) = args.next() else { bail!("usage: bench-export PATH/TO/tidings [DOCUMENTS]") };
    let documents: usize =
        args.next().map_or(Ok(50_000), |number| number.parse()).context("invalid number of documents")?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("home");
    Home::create(&root, "", "")?;
    let text_bytes = fill(&Home::at(&root)?, documents)?;
    println!("{documents} documents, {:.0} MB of text", text_bytes as f64 / 1e6);
    println!("{:<16} {:>8} {:>8} {:>10} {:>10} {:>10}", "", "cpu s", "wall s", "rows/cpu s", "MB/cpu s", "file MB");
    for (format, name) in FORMATS {
        let target = folder.path().join(name);
        let began = std::time::Instant::now();
        let mut child = Command::new(&program)
            .args(["export", "--quiet", "--format", format, "--home"])
            .args([&root, &target])
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let used = child.wait4()?;
        if !used.status.success() {
            bail!("{format} failed");
        }
        let cpu = (used.rusage.utime + used.rusage.stime).as_secs_f64();
        println!(
            "{:<16} {cpu:>8.2} {:>8.2} {:>10.0} {:>10.1} {:>10.1}",
            name,
            began.elapsed().as_secs_f64(),
            documents as f64 / cpu,
            text_bytes as f64 / 1e6 / cpu,
            size(&target)? as f64 / 1e6
        );
    }
    Ok(())
}

/// Writes the documents; returns the number of bytes of text.
fn fill(home: &Home, documents: usize) -> Result<usize> {
    let mut dice = fastrand::Rng::with_seed(1);
    let mut bytes = 0;
    for day in 0..DAYS {
        let name = format!("2026-03-{:02}", day + 1);
        let mut draft = DayDraft::create(home, Recipe::new(&name, "bench", "bench", serde_json::Value::Null))?;
        let of_day = documents / DAYS + usize::from(day < documents % DAYS);
        for number in 0..of_day {
            let document = document(day, number, &mut dice);
            bytes += document.text().len();
            let mut line = serde_json::to_vec(&document)?;
            line.push(b'\n');
            draft.push(&document.language_code(), &line)?;
        }
        draft.publish(of_day as u64)?;
    }
    Ok(bytes)
}

fn document(day: usize, number: usize, dice: &mut fastrand::Rng) -> Document {
    let mut paragraph = || {
        let words: Vec<&str> = (0..60).map(|_| WORDS[dice.usize(..WORDS.len())]).collect();
        Paragraph { text: words.join(" ") + ".", ..Paragraph::default() }
    };
    let mut document = Document {
        url: format!("https://gazette.example/{day}/{number}"),
        site: "gazette.example".into(),
        feed: "https://gazette.example/feed".into(),
        downloaded: format!("2026-03-{:02}T12:00:00.000Z", day + 1),
        dated: Some(Dated {
            day: format!("2026-{:02}-01", 1 + number % 12),
            source: "meta".into(),
            confidence: 0.97,
            doubts: Vec::new(),
        }),
        about: PageMetadata {
            title: format!("Report {number} of the day"),
            authors: vec!["Ann Lee".into()],
            language: if number.is_multiple_of(3) { "de" } else { "en" }.into(),
            ..PageMetadata::default()
        },
        paragraphs: (0..9).map(|_| paragraph()).collect(),
        extractor: "bench".into(),
        ..Document::default()
    };
    document.identify();
    document
}

fn size(path: &Path) -> Result<u64> {
    if path.is_file() {
        return Ok(path.metadata()?.len());
    }
    let mut sum = 0;
    for entry in path.read_dir()? {
        sum += size(&entry?.path())?;
    }
    Ok(sum)
}
