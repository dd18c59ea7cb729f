//! `tidings-train`: makes models of languages from treebanks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Parser;
use tidings_annotate::tagger::{ModelInfo, Models, Tagger};
use tidings_train::model::{Settings, TrainingData, train};
use tidings_train::score::{Score, score, tokens};
use tidings_train::treebank::{Sentence, Treebank};
use tidings_train::treebank_list::{self, TreebankList, Trial};

/// Learns taggers and lemmatisers from treebanks of Universal Dependencies
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Treebanks of one language: CoNLL-U, or JSON lines packed by xz; with --join, files of models
    files: Vec<PathBuf>,
    /// The code of their language
    #[arg(long, value_name = "CODE", requires = "files")]
    lang: Option<String>,
    /// The licence of the treebanks, which will be the model's
    #[arg(long, default_value = "CC BY-SA 4.0")]
    licence: String,
    /// Learn every language of a folder with `ud-train/` and `text-dev/ud/` in it instead
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    shared: Option<PathBuf>,
    /// Join files of models to one instead; where several know a language, the last wins
    #[arg(long, requires = "files", conflicts_with = "lang")]
    join: bool,
    /// Only these languages of the folder
    #[arg(long, value_delimiter = ',', value_name = "CODES")]
    only: Vec<String>,
    /// Where the models go; without it, only scores are printed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Into how many parts text is divided to be tested where there is no other
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Test on one part only
    #[arg(long)]
    quick: bool,
    /// Test on these treebanks only, such as pt_bosque
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    trials: Vec<String>,
    /// Learn without testing
    #[arg(long)]
    untested: bool,
    /// Print up to so many words of each trial that were wrong
    #[arg(long, value_name = "N", default_value_t = 0)]
    show: usize,
    /// How many languages are learned at once
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    jobs: usize,
    /// Change a setting, as in tags.rounds=8
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if args.join {
        return join(&args.files, args.output.as_deref());
    }
    let settings = settings(&args.set)?;
    let list = match &args.shared {
        Some(folder) => treebank_list::read(folder, &[])?,
        None => own(&args)?,
    };
    let codes: Vec<&String> = list.keys().filter(|code| args.only.is_empty() || args.only.contains(code)).collect();
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<&String, Learned>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                while let Some(code) = codes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let learned = learn(code, &list, &args, &settings);
                    results.lock().expect("no thread panics with it").insert(code, learned);
                }
            });
        }
    });
    let results = results.into_inner().expect("a thread that panics ends the scope");
    report(&results);
    if let Some(path) = &args.output {
        let models: Vec<(&ModelInfo, &[u8])> =
            results.values().filter_map(|learned| Some((&learned.about, learned.packed.as_deref()?))).collect();
        write(path, &models)?;
    }
    Ok(())
}

/// Writes models in the order of their languages.
fn write(path: &Path, models: &[(&ModelInfo, &[u8])]) -> Result<()> {
    std::fs::write(path, Models::write(models)).with_context(|| format!("cannot write {}", path.display()))
}

/// Makes one file of several.
fn join(files: &[PathBuf], output: Option<&Path>) -> Result<()> {
    let mut all = Models::default();
    for file in files {
        let what = || file.display().to_string();
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", what()))?;
        let models = Models::from_bytes(bytes.into()).with_context(what)?;
        models.check().with_context(what)?;
        ensure!(models.are_current(), "{} is of an older version; train it anew", what());
        all = all.with(models);
    }
    write(output.context("--join needs --output")?, &all.packed().collect::<Vec<_>>())
}

/// What came of a language.
struct Learned {
    about: ModelInfo,
    packed: Option<Vec<u8>>,
    /// By treebank: whether it has a file for training, the score, the size of the tested model.
    scores: BTreeMap<String, (bool, Score, usize)>,
}

/// Treebanks given by name.
fn own(args: &Args) -> Result<TreebankList> {
    let Some(lang) = args.lang.as_ref().filter(|_| !args.files.is_empty()) else {
        bail!("give --lang CODE and treebanks, or --shared DIR");
    };
    let mut treebanks = treebank_list::LanguageTreebanks::default();
    for file in &args.files {
        treebanks.train.push(Treebank::read(file)?);
    }
    Ok(TreebankList::from([(lang.clone(), treebanks)]))
}

fn learn(code: &str, list: &TreebankList, args: &Args, settings: &Settings) -> Learned {
    let treebanks = &list[code];
    let (related, related_weight) = treebank_list::related(list, code);
    let model =
        |sentences: &[&Sentence]| train(TrainingData { own: sentences, related: &related, related_weight }, settings);
    let mut learned = Learned { about: ModelInfo::default(), packed: None, scores: BTreeMap::new() };
    let mut trials: Vec<Trial> = if args.untested { Vec::new() } else { treebanks.trials(args.folds, args.quick) };
    trials.retain(|trial| args.trials.is_empty() || args.trials.contains(&trial.name));
    for trial in &trials {
        let sentences: Vec<&Sentence> = trial.learn.iter().collect();
        let model = model(&sentences);
        let tagger = Tagger::read(ModelInfo::default(), &model).expect("it was just written");
        let row = learned.scores.entry(trial.name.clone()).or_insert((trial.is_trained, Score::default(), 0));
        let found = score(&tagger, &trial.test);
        row.1.merge(&found);
        eprintln!("{} {}", trial.name, shares(&found));
        show(&trial.name, &tagger, &trial.test, args.show);
        row.2 = Models::pack(&model).len();
    }
    let mut all = Score::default();
    learned.scores.values().for_each(|row| all.merge(&row.1));
    let fold = if args.quick { "held-out fifth" } else { "cross-validation" };
    let mut measured: Vec<&str> = trials.iter().map(|trial| if trial.is_dev { "dev" } else { fold }).collect();
    measured.sort_unstable();
    measured.dedup();
    learned.about = ModelInfo {
        language: code.to_owned(),
        treebanks: treebank_list::sources(treebanks, args.shared.is_none().then_some(args.licence.as_str())),
        upos: all.upos(),
        lemma: all.lemma(),
        feats: all.bundle(),
        measured: if measured.is_empty() { "-".to_owned() } else { measured.join(", ") },
        ..ModelInfo::default()
    };
    if args.output.is_some() {
        let sentences: Vec<&Sentence> = treebanks.all().flat_map(Treebank::sentences).collect();
        learned.packed = Some(Models::pack(&model(&sentences)));
    }
    learned
}

/// Prints words that were wrong, as they were and as they should have been.
fn show(name: &str, tagger: &Tagger, sentences: &[Sentence], limit: usize) {
    let mut left = limit;
    for sentence in sentences {
        let mut tokens = tokens(sentence);
        tagger.tag(&mut tokens);
        for (gold, token) in sentence.iter().zip(&tokens).filter(|(gold, _)| !gold.is_joined()) {
            let lemma = gold.lemma.as_ref().unwrap_or(&token.lemma);
            let feats = gold.feats.as_ref().unwrap_or(&token.feats);
            if left > 0 && (gold.tag != token.tag || *lemma != token.lemma || *feats != token.feats) {
                left -= 1;
                let (form, tag) = (&gold.form, &gold.tag);
                println!("{name} {form}: {lemma} {tag} {feats}, not {} {} {}", token.lemma, token.tag, token.feats);
            }
        }
    }
}

fn report(results: &BTreeMap<&String, Learned>) {
    let mut means: BTreeMap<bool, [Vec<f32>; 4]> = BTreeMap::new();
    println!("treebank\tUPOS\tlemma\tfeats\tF1\tKB");
    for learned in results.values() {
        for (name, (is_trained, score, bytes)) in &learned.scores {
            let mark = if *is_trained { "+" } else { "" };
            println!("{name}{mark}\t{}\t{}", shares(score), bytes / 1000);
            let row = means.entry(*is_trained).or_default();
            row.iter_mut().zip(score.shares()).for_each(|(all, share)| all.extend(share));
        }
    }
    for (is_trained, scores) in means {
        let mean = |scores: &Vec<f32>| format!("{:.2}", scores.iter().sum::<f32>() / scores.len() as f32 * 100.0);
        let what = if is_trained { "with" } else { "without" };
        let means: Vec<String> = scores.iter().map(mean).collect();
        println!("mean of {} {what} a file for training\t{}", scores[0].len(), means.join("\t"));
    }
    let sizes: Vec<usize> = results.values().filter_map(|learned| Some(learned.packed.as_ref()?.len())).collect();
    if let Some(largest) = sizes.iter().max() {
        let all: usize = sizes.iter().sum();
        println!("{} models, {} KB, the largest {} KB", sizes.len(), all / 1000, largest / 1000);
    }
}

/// The shares of a score in per cent, as columns.
fn shares(score: &Score) -> String {
    let shown = |share: Option<f32>| share.map_or("-".to_owned(), |share| format!("{:.2}", share * 100.0));
    score.shares().map(shown).join("\t")
}

fn settings(changes: &[String]) -> Result<Settings> {
    let mut settings = Settings::default();
    for change in changes {
        let (name, value) = change.split_once('=').with_context(|| format!("--set {change}: expected NAME=VALUE"))?;
        let number: f32 = value.parse().with_context(|| format!("--set {change}: `{value}` is not a number"))?;
        match name {
            // The second name of a setting is that of earlier versions.
            "tags.epochs" | "tags.rounds" => settings.tags.adagrad.epochs = number as usize,
            "tags.step" => settings.tags.adagrad.step = number,
            "tags.initial_squares" | "tags.calm" => settings.tags.adagrad.initial_squares = number,
            "tags.l1" | "tags.draw" => settings.tags.adagrad.l1 = number,
            "tags.lexical_dropout" | "tags.forget" => settings.tags.lexical_dropout = number,
            "tags.dropout" | "tags.noise" => settings.tags.dropout = number,
            "tags.min_count" | "tags.least" => settings.tags.min_count = number as u32,
            "tags.min_class_count" | "tags.class_least" => settings.tags.min_class_count = number as u32,
            "tags.min_weight" | "tags.keep" => settings.tags.min_weight = number,
            "tags.bits" => settings.tags.bits = number as u32,
            "lemmas.epochs" | "lemmas.rounds" => settings.lemmas.adagrad.epochs = number as usize,
            "lemmas.initial_squares" | "lemmas.calm" => settings.lemmas.adagrad.initial_squares = number,
            "lemmas.step" => settings.lemmas.adagrad.step = number,
            "lemmas.l1" | "lemmas.draw" => settings.lemmas.adagrad.l1 = number,
            "lemmas.min_count" | "lemmas.least" => settings.lemmas.min_count = number as u32,
            "lemmas.frequent_count" | "lemmas.frequent" => settings.lemmas.frequent_count = number as u32,
            "lemmas.unit" => settings.lemmas.unit = number,
            "lemmas.bits" => settings.lemmas.bits = number as u32,
            "max_bytes" | "most_bytes" => settings.max_bytes = number as usize,
            "min_feats_bytes" | "least_feats" => settings.min_feats_bytes = number as usize,
            "feats.epochs" | "feats.rounds" => settings.feats.adagrad.epochs = number as usize,
            "feats.step" => settings.feats.adagrad.step = number,
            "feats.initial_squares" | "feats.calm" => settings.feats.adagrad.initial_squares = number,
            "feats.l1" | "feats.draw" => settings.feats.adagrad.l1 = number,
            "feats.lexical_dropout" | "feats.forget" => settings.feats.lexical_dropout = number,
            "feats.dropout" | "feats.noise" => settings.feats.dropout = number,
            "feats.min_count" | "feats.least" => settings.feats.min_count = number as u32,
            "feats.min_per_mille" | "feats.common" => settings.feats.min_per_mille = number,
            "feats.candidates" => settings.feats.candidates = number as usize,
            "feats.unambiguous_count" | "feats.sure" => settings.feats.unambiguous_count = number as u32,
            "feats.min_weight" | "feats.keep" => settings.feats.min_weight = number,
            "feats.bits" => settings.feats.bits = number as u32,
            "feats.max_bytes" | "feats.most_bytes" => settings.feats.max_bytes = number as usize,
            _ => bail!("unknown setting `{name}` in --set"),
        }
    }
    Ok(settings)
}
