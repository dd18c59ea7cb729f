//! Compares token and sentence segmentation with other segmenters on treebanks.

mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bench_segment::learn::{Settings, learn};
use bench_segment::peers::Peer;
use bench_segment::score::{Score, score};
use bench_segment::split::{self, LanguageTreebanks};
use bench_segment::treebank::{self, Treebank};
use clap::Parser;
use table::Table;
use tidings_annotate::{BoundaryModel, Segmenter};

#[derive(Debug, Parser)]
struct Args {
    /// Folder that contains `ud-train/` and `text-dev/ud/`
    #[arg(long, default_value = "../shared")]
    shared: PathBuf,
    /// Only these languages
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Peers of peers.py to run as well: spacy, syntok, pysbd
    #[arg(long, value_delimiter = ',')]
    peers: Vec<String>,
    /// Python interpreter with the peers installed
    #[arg(long, default_value = "bench/segment/.venv/bin/python")]
    python: PathBuf,
    /// Evaluate the embedded models on the treebanks of this folder
    #[arg(long, value_name = "DIR")]
    shipped: Option<PathBuf>,
    /// Train on one treebank, test on the others of its language
    #[arg(long)]
    cross: bool,
    /// Print up to N errors of the trained segmenter per treebank
    #[arg(long, value_name = "N", default_value_t = 0)]
    show: usize,
    /// L1 penalties for tokens and for sentences
    #[arg(long, value_delimiter = ',', num_args = 2)]
    keep: Option<Vec<f32>>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut settings = Settings::default();
    if let Some([tokens, sentences]) = args.keep.as_deref() {
        settings.l1 = [*tokens, *sentences];
    }
    if let Some(folder) = &args.shipped {
        return shipped(folder, &args);
    }
    let list = split::read(&args.shared, &args.only)?;
    if args.cross {
        let mut table = Table::new(&["icu", "rules", "learned"]);
        for (code, treebanks) in &list {
            cross(code, treebanks, settings, &mut table)?;
        }
        table.print();
        return Ok(());
    }
    let mut names = vec!["tidings", "rules", "icu", "unicode"];
    names.extend(args.peers.iter().map(String::as_str));
    let mut table = Table::new(&names);
    let icu = Peer::icu();
    for (code, treebanks) in &list {
        let (train, tests) = treebanks.train_and_test();
        let model = BoundaryModel::read(&learn(code, &train, settings)).context("the model cannot be read")?;
        for test in &tests {
            let learned = Peer::with_model(code, &model);
            let rules = Peer::Tidings(Segmenter::by_rules(code));
            let mut row =
                vec![timed(&learned, test), timed(&rules, test), timed(&icu, test), timed(&Peer::Unicode, test)];
            for peer in &args.peers {
                row.push(bench_segment::python::run(&args.python, peer, test)?);
            }
            table.row(&test.name, test.tokens(), row);
            show(&learned, test, args.show);
        }
    }
    table.print();
    Ok(())
}

fn shipped(folder: &Path, args: &Args) -> Result<()> {
    let mut table = Table::new(&["tidings", "rules", "icu", "unicode"]);
    for file in treebank::files(folder)? {
        let test = Treebank::read(&file)?;
        let code = test.language();
        if !args.only.is_empty() && !args.only.iter().any(|only| only == code) {
            continue;
        }
        let learned = Peer::Tidings(Segmenter::for_language(code));
        let rules = Peer::Tidings(Segmenter::by_rules(code));
        let peers = [&learned, &rules, &Peer::icu(), &Peer::Unicode];
        table.row(&test.name, test.tokens(), peers.iter().map(|peer| timed(peer, &test)).collect());
        show(&learned, &test, args.show);
    }
    table.print();
    Ok(())
}

fn cross(code: &str, treebanks: &LanguageTreebanks, settings: Settings, table: &mut Table) -> Result<()> {
    let names = treebanks.by_name();
    for (from, train) in names.iter().filter(|_| names.len() > 1) {
        let model =
            BoundaryModel::read(&learn(code, train.iter().copied(), settings)).context("the model cannot be read")?;
        for (to, tests) in names.iter().filter(|(to, _)| *to != from) {
            let peers = [Peer::icu(), Peer::Tidings(Segmenter::by_rules(code)), Peer::with_model(code, &model)];
            let row = peers.iter().map(|peer| {
                let mut sum = Score::default();
                tests.iter().for_each(|test| sum.merge(&score(peer, test)));
                (sum, 0.0)
            });
            table.row(&format!("{from} > {to}"), 0, row.collect());
        }
    }
    Ok(())
}

/// Score of a peer on a treebank, and the CPU seconds it took.
fn timed(peer: &Peer<'_>, treebank: &Treebank) -> (Score, f64) {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let began = bench_segment::cpu_seconds();
        for document in &treebank.documents {
            std::hint::black_box(peer.segment(&document.text));
        }
        least = least.min(bench_segment::cpu_seconds() - began);
    }
    (score(peer, treebank), least)
}

/// Prints boundaries where a peer and the treebank disagree.
fn show(peer: &Peer<'_>, treebank: &Treebank, limit: usize) {
    let mut left = [limit, limit];
    for document in &treebank.documents {
        let expected = document.ends();
        let found = peer.segment(&document.text);
        let found = bench_segment::treebank::ends(&found);
        for (which, expected, found) in [(0, expected.0, found.0), (1, expected.1, found.1)] {
            let mut wrong: Vec<usize> = expected.symmetric_difference(&found).copied().collect();
            wrong.sort_unstable();
            for offset in wrong.into_iter().take(left[which]) {
                left[which] -= 1;
                let (before, after) = document.text.split_at(offset);
                let start = before.char_indices().rev().nth(30).map_or(0, |(at, _)| at);
                let after: String = after.chars().take(30).collect();
                let what = if expected.contains(&offset) { "missed" } else { "spurious" };
                println!("{} {} {what}: {}¦{after}", treebank.name, ["token", "sentence"][which], &before[start..]);
            }
        }
    }
}
