//! `tidings-train`: trains models on treebanks.

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
use tidings_train::treebank_list::{self, TreebankList, Trial, WeightedSentences};

/// Train taggers and lemmatisers on Universal Dependencies treebanks
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Treebanks of one language (CoNLL-U, or xz-compressed JSON lines); with --join, model files
    files: Vec<PathBuf>,
    /// Language code of the treebanks
    #[arg(long, value_name = "CODE", requires = "files")]
    lang: Option<String>,
    /// Licence of the treebanks, recorded in the model
    #[arg(long, default_value = "CC BY-SA 4.0")]
    licence: String,
    /// Train every language in a folder that contains `ud-train/` and `text-dev/ud/`
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    shared: Option<PathBuf>,
    /// Merge model files; for a language in several files, the last one wins
    #[arg(long, requires = "files", conflicts_with = "lang")]
    join: bool,
    /// Write one file per language (a pack) to this folder; with --join, of these model files
    #[arg(long, value_name = "DIR")]
    packs: Option<PathBuf>,
    /// Only these languages of the folder
    #[arg(long, value_delimiter = ',', value_name = "CODES")]
    only: Vec<String>,
    /// Model file to write; without it, only scores are printed
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Folds of cross-validation for treebanks without a development file
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Evaluate on one fold only
    #[arg(long)]
    quick: bool,
    /// Evaluate on one fold of a development file even if there is a training file, and train on the others: comparable
    /// with the scores before there was one
    #[arg(long)]
    fold_of_dev: bool,
    /// Evaluate on these treebanks only, such as pt_bosque
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    trials: Vec<String>,
    /// Leave out these training files of the folder, such as ko_ksl: what they are worth
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "shared")]
    without: Vec<String>,
    /// Train without evaluation
    #[arg(long)]
    untested: bool,
    /// Print up to N wrong words per evaluation
    #[arg(long, value_name = "N", default_value_t = 0)]
    show: usize,
    /// Languages to train in parallel
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    jobs: usize,
    /// Override a setting, such as tags.epochs=8
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if args.join {
        return join(&args);
    }
    let settings = settings(&args.set)?;
    let mut list = match &args.shared {
        Some(folder) => treebank_list::read(folder, &treebank_list::with_related(&args.only))?,
        None => from_args(&args)?,
    };
    for name in &args.without {
        let is_named =
            |treebanks: &treebank_list::LanguageTreebanks| treebanks.train.iter().any(|one| one.name == *name);
        ensure!(
            list.values().any(is_named),
            "--without {name}: the folder has no such training file of these languages"
        );
        list.values_mut().for_each(|treebanks| treebanks.train.retain(|one| one.name != *name));
    }
    let codes: Vec<&String> = list.keys().filter(|code| args.only.is_empty() || args.only.contains(code)).collect();
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<&String, TrainedLanguage>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                while let Some(code) = codes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let trained = train_language(code, &list, &args, &settings);
                    results.lock().expect("no thread panics while holding the lock").insert(code, trained);
                }
            });
        }
    });
    let results = results.into_inner().expect("a thread that panics ends the scope");
    report(&results);
    if args.output.is_some() || args.packs.is_some() {
        let models: Vec<(&ModelInfo, &[u8])> =
            results.values().filter_map(|trained| Some((&trained.about, trained.packed.as_deref()?))).collect();
        write(&args, &Models::from_bytes(Models::write(&models).into())?)?;
    }
    Ok(())
}

/// Writes a model file, and packs.
fn write(args: &Args, models: &Models) -> Result<()> {
    let write = |path: &Path, bytes: &[u8]| {
        std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    if let Some(path) = &args.output {
        write(path, &Models::write(&models.packed().collect::<Vec<_>>()))?;
    }
    if let Some(folder) = &args.packs {
        for (info, bytes) in models.packs() {
            write(&folder.join(format!("{}.tags", info.language)), &bytes)?;
        }
    }
    Ok(())
}

/// Merges model files.
fn join(args: &Args) -> Result<()> {
    let mut all = Models::default();
    for file in &args.files {
        let what = || file.display().to_string();
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", what()))?;
        let models = Models::from_bytes(bytes.into()).with_context(what)?;
        models.check().with_context(what)?;
        ensure!(
            args.output.is_none() || models.are_current(),
            "{} has an older format version; train it again",
            what()
        );
        all = all.with(models);
    }
    ensure!(args.output.is_some() || args.packs.is_some(), "--join needs --output or --packs");
    write(args, &all)
}

/// Result of a language.
struct TrainedLanguage {
    about: ModelInfo,
    packed: Option<Vec<u8>>,
    /// By treebank: whether it has a training file, the score, the size of the evaluated model.
    scores: BTreeMap<String, (bool, Score, usize)>,
}

/// Treebanks given on the command line.
fn from_args(args: &Args) -> Result<TreebankList> {
    let Some(lang) = args.lang.as_ref().filter(|_| !args.files.is_empty()) else {
        bail!("no treebanks given: use --lang CODE FILE… or --shared DIR");
    };
    let mut treebanks = treebank_list::LanguageTreebanks::default();
    for file in &args.files {
        treebanks.train.push(Treebank::read(file)?);
    }
    Ok(TreebankList::from([(lang.clone(), treebanks)]))
}

fn train_language(code: &str, list: &TreebankList, args: &Args, settings: &Settings) -> TrainedLanguage {
    let treebanks = &list[code];
    let (related, related_weight) = treebank_list::related(list, code);
    let model = |own: &WeightedSentences| {
        let sentences: Vec<&Sentence> = own.sentences.iter().collect();
        train(TrainingData { own: &sentences, weights: &own.weights, related: &related, related_weight }, settings)
    };
    let mut trained = TrainedLanguage { about: ModelInfo::default(), packed: None, scores: BTreeMap::new() };
    let mut trials: Vec<Trial> =
        if args.untested { Vec::new() } else { treebanks.trials(args.folds, args.quick, args.fold_of_dev) };
    trials.retain(|trial| args.trials.is_empty() || args.trials.contains(&trial.name));
    for trial in &trials {
        let model = model(&trial.train);
        let tagger = Tagger::read(ModelInfo::default(), &model).expect("it was just serialised");
        let row = trained.scores.entry(trial.name.clone()).or_insert((trial.is_trained, Score::default(), 0));
        let found = score(&tagger, &trial.test);
        row.1.merge(&found);
        eprintln!("{} {}", trial.name, shares(&found));
        show(&trial.name, &tagger, &trial.test, args.show);
        row.2 = Models::pack(&model).len();
    }
    let mut all = Score::default();
    trained.scores.values().for_each(|row| all.merge(&row.1));
    let fold = if args.quick { "held-out fifth" } else { "cross-validation" };
    let mut measured: Vec<&str> = trials.iter().map(|trial| if trial.is_dev { "dev" } else { fold }).collect();
    measured.sort_unstable();
    measured.dedup();
    trained.about = ModelInfo {
        language: code.to_owned(),
        treebanks: treebank_list::sources(treebanks, args.shared.is_none().then_some(args.licence.as_str())),
        upos: all.upos(),
        lemma: all.lemma(),
        feats: all.bundle(),
        measured: if measured.is_empty() { "-".to_owned() } else { measured.join(", ") },
        ..ModelInfo::default()
    };
    if args.output.is_some() || args.packs.is_some() {
        trained.packed = Some(Models::pack(&model(&treebanks.sentences())));
    }
    trained
}

/// Prints wrongly annotated words with the expected annotation.
fn show(name: &str, tagger: &Tagger, sentences: &[Sentence], limit: usize) {
    let mut left = limit;
    for sentence in sentences {
        let mut tokens = tokens(sentence);
        tagger.tag(&mut tokens);
        for (gold, token) in sentence.iter().zip(&tokens).filter(|(gold, _)| !gold.is_joined()) {
            let lemma = gold.lemma.as_deref().unwrap_or(&token.lemma);
            let feats = gold.feats.as_deref().unwrap_or(&token.feats);
            if left > 0 && (gold.tag != token.tag || token.lemma != lemma || token.feats != feats) {
                left -= 1;
                let (form, tag) = (&gold.form, &gold.tag);
                println!("{name} {form}: {lemma} {tag} {feats}, not {} {} {}", token.lemma, token.tag, token.feats);
            }
        }
    }
}

fn report(results: &BTreeMap<&String, TrainedLanguage>) {
    let mut means: BTreeMap<bool, [Vec<f32>; 5]> = BTreeMap::new();
    println!("treebank\tUPOS\tlemma\tcaseless lemma\tfeats\tF1\tKB");
    for trained in results.values() {
        for (name, (is_trained, score, bytes)) in &trained.scores {
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
        println!("mean of {} {what} a training file\t{}", scores[0].len(), means.join("\t"));
    }
    let sizes: Vec<usize> = results.values().filter_map(|trained| Some(trained.packed.as_ref()?.len())).collect();
    if let Some(largest) = sizes.iter().max() {
        let all: usize = sizes.iter().sum();
        println!("{} models, {} KB, the largest {} KB", sizes.len(), all / 1000, largest / 1000);
    }
}

/// Scores in per cent, as columns.
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
            // The second name of each setting is its former name.
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
