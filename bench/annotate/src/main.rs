//! Compares lemmas, part-of-speech tags and morphological features with other taggers on treebanks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bench_annotate::{python, seconds};
use clap::Parser;
use tidings_annotate::tagger::{ModelInfo, Models, Tagger};
use tidings_train::model::{Settings, TrainingData, train};
use tidings_train::score::{Score, score};
use tidings_train::treebank::{self, Sentence, Treebank};
use tidings_train::treebank_list::{self, TreebankList};

#[derive(Debug, Parser)]
struct Args {
    /// Folder that contains `ud-train/` and `text-dev/ud/`
    #[arg(long, default_value = "../shared")]
    shared: PathBuf,
    /// Only these languages
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Peers of peers.py to run as well: simplemma, hanta, pymorphy3
    #[arg(long, value_delimiter = ',')]
    peers: Vec<String>,
    /// Python interpreter with the peers installed
    #[arg(long, default_value = "bench/annotate/.venv/bin/python")]
    python: PathBuf,
    /// Evaluate the embedded models on the treebanks of this folder
    #[arg(long, value_name = "DIR")]
    shipped: Option<PathBuf>,
}

/// Results of a treebank.
#[derive(Default)]
struct Row {
    is_trained: bool,
    own: Measure,
    bytes: usize,
    peers: BTreeMap<String, Measure>,
}

#[derive(Default)]
struct Measure {
    score: Score,
    seconds: f64,
    /// Without features; our own tagger only.
    seconds_without_feats: f64,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    match &args.shipped {
        Some(folder) => {
            for file in treebank::files(folder)? {
                let treebank = Treebank::read(&file)?;
                let code = treebank.language().to_owned();
                let Some(tagger) = tidings_annotate::models().tagger(&code) else { continue };
                if args.only.is_empty() || args.only.contains(&code) {
                    let test: Vec<Sentence> = treebank.sentences().cloned().collect();
                    let row = rows.entry(treebank.name.clone()).or_default();
                    row.bytes = tagger.info().bytes;
                    measure(row, &tagger, &code, &test, &args)?;
                }
            }
        }
        None => trials(&treebank_list::read(&args.shared, &[])?, &args, &mut rows)?,
    }
    print(&rows, &args.peers);
    Ok(())
}

fn trials(list: &TreebankList, args: &Args, rows: &mut BTreeMap<String, Row>) -> Result<()> {
    for (code, treebanks) in list.iter().filter(|(code, _)| args.only.is_empty() || args.only.contains(code)) {
        let (related, related_weight) = treebank_list::related(list, code);
        for trial in treebanks.trials(5, true, false) {
            let sentences: Vec<&Sentence> = trial.train.sentences.iter().collect();
            let model = train(
                TrainingData { own: &sentences, weights: &trial.train.weights, related: &related, related_weight },
                &Settings::default(),
            );
            let tagger = Tagger::read(ModelInfo::default(), &model).context("a model cannot be read")?;
            let row = rows.entry(trial.name.clone()).or_default();
            row.is_trained = trial.is_trained;
            row.bytes = Models::pack(&model).len();
            measure(row, &tagger, code, &trial.test, args)?;
        }
    }
    Ok(())
}

fn measure(row: &mut Row, tagger: &Tagger, code: &str, test: &[Sentence], args: &Args) -> Result<()> {
    row.own.score.merge(&score(tagger, test));
    let [with_feats, without_feats] = seconds(tagger, test);
    row.own.seconds += with_feats;
    row.own.seconds_without_feats += without_feats;
    for peer in &args.peers {
        if let Some((score, seconds)) = python::run(&args.python, peer, code, test)? {
            let measure = row.peers.entry(peer.clone()).or_default();
            measure.score.merge(&score);
            measure.seconds += seconds;
        }
    }
    Ok(())
}

/// Prints a row per treebank with a column per peer, and the means with and without a training
/// file.
fn print(rows: &BTreeMap<String, Row>, peers: &[String]) {
    let speed = |measure: &Measure| f64::from(measure.score.tags.0) / measure.seconds.max(1e-9) / 1000.0;
    println!("| UPOS / lemma / caseless lemma / features, % | tidings | KB | k tokens/s | {} |", peers.join(" | "));
    println!("| --- | --: | --: | --: |{}", " --: |".repeat(peers.len()));
    for (name, row) in rows {
        let cells: Vec<String> = peers.iter().map(|peer| row.peers.get(peer).map_or("".to_owned(), cell)).collect();
        let star = if row.is_trained { "" } else { " *" };
        let (kb, speed) = (row.bytes / 1000, speed(&row.own));
        println!("| {name}{star} | {} | {kb} | {speed:.0} | {} |", cell(&row.own), cells.join(" | "));
    }
    for (is_trained, what) in [(true, "with a training file"), (false, "without (*)")] {
        let own = || rows.values().filter(|row| row.is_trained == is_trained);
        let means = mean(own().map(|row| &row.own));
        println!("| **mean, {what}** | {means} | | | |");
    }
    for peer in peers {
        let both = || rows.values().filter(|row| row.peers.contains_key(peer));
        let theirs = mean(both().map(|row| &row.peers[peer]));
        let ours = mean(both().map(|row| &row.own));
        let (words, seconds) = both().fold((0, 0.0), |sum, row| {
            let measure = &row.peers[peer];
            (sum.0 + measure.score.tags.0.max(measure.score.lemmas.0), sum.1 + measure.seconds)
        });
        let speed = f64::from(words) / f64::max(seconds, 1e-9) / 1000.0;
        println!("{peer}, {} treebanks: {theirs} at {speed:.0} k tokens/s; tidings there {ours}", both().count());
    }
    let speed_of_all = |seconds: fn(&Measure) -> f64| {
        let words: u32 = rows.values().map(|row| row.own.score.tags.0).sum();
        f64::from(words) / f64::max(rows.values().map(|row| seconds(&row.own)).sum(), 1e-9) / 1000.0
    };
    println!(
        "all: {:.0} k tokens per CPU second, without features {:.0}",
        speed_of_all(|own| own.seconds),
        speed_of_all(|own| own.seconds_without_feats)
    );
}

fn shown(share: Option<f32>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.2}", share * 100.0))
}

/// Formats accuracies of tags, lemmas, caseless lemmas and bundles; `tidings-train` prints the F1 of
/// single features.
fn join([upos, lemma, caseless, bundle, _]: [Option<f32>; 5]) -> String {
    let feats = bundle.map_or(String::new(), |bundle| format!(" / {}", shown(Some(bundle))));
    format!("{} / {} / {}{feats}", shown(upos), shown(lemma), shown(caseless))
}

fn cell(measure: &Measure) -> String {
    join(measure.score.shares())
}

fn mean<'m>(measures: impl Iterator<Item = &'m Measure>) -> String {
    let mut all: [Vec<f32>; 5] = Default::default();
    for measure in measures {
        all.iter_mut().zip(measure.score.shares()).for_each(|(all, share)| all.extend(share));
    }
    join(all.map(|shares| (!shares.is_empty()).then(|| shares.iter().sum::<f32>() / shares.len() as f32)))
}
