//! Scores extractors on annotated pages, Tidings and its peers in the same run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bench_extract::run::{self, Results};
use bench_extract::sets::{self, SETS, Sample};
use bench_extract::table::{Scores, header};
use clap::{Parser, ValueEnum};

/// Maximum number of differing pages listed.
const DIFFERENCES_SHOWN: usize = 20;

/// Scores extractors on annotated pages
#[derive(Debug, Parser)]
struct Args {
    /// Folder that contains the annotated pages in extract-dev
    #[arg(long, default_value = "../shared", value_name = "DIR")]
    shared: PathBuf,

    /// Sets of pages
    #[arg(long, value_delimiter = ',', default_values = SETS, hide_default_value = true)]
    sets: Vec<String>,

    /// Peers, by their names in peers.py
    #[arg(long, value_delimiter = ',')]
    peers: Vec<String>,

    /// Command that reads pages and writes results as JSON lines; repeatable
    #[arg(long, value_name = "COMMAND")]
    ours: Vec<String>,

    /// Pass the declared language to our commands, as for peers
    #[arg(long)]
    tell_language: bool,

    /// Python interpreter with the peers installed
    #[arg(long, default_value = "bench/extract/.venv/bin/python", value_name = "PATH")]
    python: PathBuf,

    /// Script that runs the peers
    #[arg(long, default_value = "bench/extract/peers.py", value_name = "PATH")]
    script: PathBuf,

    /// Cache results of peers in this folder
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,

    /// Break scores down, of our commands or else of the peers
    #[arg(long)]
    by: Option<By>,

    /// Count the pages on which our commands give the same paragraphs as this peer
    #[arg(long, value_name = "PEER")]
    same: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// Declared language
    Lang,
    /// Article, forum, product and so on
    Type,
}

impl By {
    fn group(self, sample: &Sample) -> String {
        let group = match self {
            By::Lang => &sample.lang,
            By::Type => &sample.page_type,
        };
        group.clone().unwrap_or_else(|| "unknown".to_owned())
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    for set in &args.sets {
        let samples = sets::read(&args.shared.join("extract-dev"), set)?;
        println!("{}", header(set));
        let mut ours = Vec::new();
        for line in &args.ours {
            let results = run::command(line, &samples, args.tell_language)?;
            let name = label(line);
            println!("{}", score(&samples, &results).row(&name, Some(results.ms)));
            ours.push((name, results));
        }
        let mut peers = Vec::new();
        for name in &args.peers {
            let results = run::peer(&args.python, &args.script, name, set, &samples, args.cache.as_deref())?;
            println!("{}", score(&samples, &results).row(name, Some(results.ms)));
            peers.push((name.clone(), results));
        }
        if let Some(name) = &args.same {
            let theirs = run::peer(&args.python, &args.script, name, set, &samples, args.cache.as_deref())?;
            for (line, results) in &ours {
                compare(line, results, name, &theirs, &samples);
            }
        }
        if let Some(by) = args.by {
            let shown = if ours.is_empty() { &peers } else { &ours };
            for (name, results) in shown {
                println!("\n{}", header(&format!("{set}, {name}")));
                break_down(by, &samples, results);
            }
        }
        println!();
    }
    Ok(())
}

/// The command without the directory of its program.
fn label(line: &str) -> String {
    let (program, arguments) = line.split_once(' ').unwrap_or((line, ""));
    let program = program.rsplit('/').next().unwrap_or(program);
    format!("{program} {arguments}").trim_end().to_owned()
}

fn score(samples: &[Sample], results: &Results) -> Scores {
    let mut scores = Scores::default();
    for sample in samples {
        scores.add(sample, &results.outputs[&sample.id]);
    }
    scores
}

fn break_down(by: By, samples: &[Sample], results: &Results) {
    let mut groups: BTreeMap<String, Scores> = BTreeMap::new();
    for sample in samples {
        groups.entry(by.group(sample)).or_default().add(sample, &results.outputs[&sample.id]);
    }
    for (group, scores) in groups {
        println!("{}", scores.row(&group, None));
    }
}

/// Counts equal pages. Paragraphs without text are ignored, since some extractors emit them.
fn compare(line: &str, ours: &Results, name: &str, theirs: &Results, samples: &[Sample]) {
    let paragraphs = |results: &Results, id: &str| -> Vec<String> {
        let listed = results.outputs[id].paragraphs.clone().unwrap_or_default();
        listed.into_iter().filter(|paragraph| !paragraph.is_empty()).collect()
    };
    let differ: Vec<&str> = samples
        .iter()
        .map(|sample| sample.id.as_str())
        .filter(|id| paragraphs(ours, id) != paragraphs(theirs, id))
        .collect();
    let same = samples.len() - differ.len();
    let share = same as f64 / samples.len() as f64;
    println!("\n{line} and {name} agree on {same} of {} pages ({share:.4}).", samples.len());
    for id in differ.iter().take(DIFFERENCES_SHOWN) {
        println!("- differs: {id}");
    }
}
