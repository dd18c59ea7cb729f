//! `bench-text`: accuracy and speed of language identification, compared with other programs.
//!
//! Items are JSON lines with `text`, `lang`, `kind` and `src`. `--answers` scores the output of
//! another program, one code per line in the order of the items; see peers.py.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result};
use bench_text::{CLOSE, LangItem, close, iso3_label, noise, read, scores};
use clap::Parser;
use tidings_lang::{Hints, MaskRule, identify, mask};

#[derive(Parser)]
struct Args {
    /// Items as JSON lines
    items: PathBuf,
    /// Score the answers in this file instead of running Tidings
    #[arg(long)]
    answers: Option<PathBuf>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let open = |path: &PathBuf| File::open(path).with_context(|| format!("cannot read {}", path.display()));
    let items = read(BufReader::new(open(&args.items)?))?;
    let answers: Vec<String> = match &args.answers {
        Some(path) => std::fs::read_to_string(path)?.lines().map(|code| iso3_label(code).to_owned()).collect(),
        None => ours(&items),
    };
    println!("{:<6} {:<6} {:>6} {:>7} {:>7}", "source", "kind", "items", "core", "all");
    for ((src, kind), (count, core, all)) in scores(&items, &answers) {
        println!("{src:<6} {kind:<6} {count:>6} {:>7.2} {:>7.2}", core * 100.0, all * 100.0);
    }
    println!("noise answered with und: {:.1} %", noise(&items, &answers) * 100.0);
    println!("\n{:<12} {:>7} {:>7} {:>7} {:>7}", "close", "short", "sent", "para", "doc");
    for group in CLOSE {
        let [short, sent, para, doc] =
            ["short", "sent", "para", "doc"].map(|kind| close(&items, &answers, group, kind) * 100.0);
        println!("{group:<12} {short:>7.2} {sent:>7.2} {para:>7.2} {doc:>7.2}");
    }
    confusion(&items, &answers);
    Ok(())
}

/// Identifies all items and prints the speed.
fn ours(items: &[LangItem]) -> Vec<String> {
    let start = Instant::now();
    identify("start", Hints::default());
    println!("first answer after {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let answers = items.iter().map(|item| iso3_label(identify(&item.text, Hints::default()).lang).to_owned()).collect();
    let speed = |items: &[LangItem], seconds: f64| {
        items.iter().map(|item| item.text.len()).sum::<usize>() as f64 / 1e6 / seconds
    };
    println!("all items: {:.1} MB/s", speed(items, start.elapsed().as_secs_f64()));
    let documents: Vec<LangItem> = items.iter().filter(|item| item.kind == "doc").cloned().collect();
    let start = Instant::now();
    documents.iter().for_each(|item| {
        identify(&item.text, Hints::default());
    });
    println!("documents: {:.1} MB/s", speed(&documents, start.elapsed().as_secs_f64()));
    let start = Instant::now();
    let masked: usize = documents.iter().map(|item| mask(&item.text, &MaskRule::ALL).found.len()).sum();
    println!("masked: {:.1} MB/s, {masked} places", speed(&documents, start.elapsed().as_secs_f64()));
    answers
}

/// Prints the confusion matrix of each group of confusable languages, for sentences.
fn confusion(items: &[LangItem], answers: &[String]) {
    for group in CLOSE {
        println!("\n{:<8}{}  other", "", group.split(' ').map(|label| format!("{label:>6}")).collect::<String>());
        for gold in group.split(' ') {
            let of = |wanted: &dyn Fn(&str) -> bool| {
                let pairs = items.iter().zip(answers).filter(|(item, _)| item.kind == "sent" && item.lang == gold);
                pairs.filter(|(_, answer)| wanted(answer)).count()
            };
            let row: String = group.split(' ').map(|label| format!("{:>6}", of(&|answer| answer == label))).collect();
            println!("{gold:<8}{row}{:>7}", of(&|answer| !group.contains(answer)));
        }
    }
}
