//! `tidings models`: the tagging models with their languages, treebanks, licences and accuracy.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_annotate::tagger::{ModelInfo, Models, TreebankInfo};
use tidings_lang::language_name;

use super::Report;
use crate::table::Table;
use tidings_pipeline::display::{count, grouped};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The models were trained on Universal Dependencies treebanks. Unlike the program, they have the licences of the \
    treebanks, which must be named when a model is passed on. Accuracy is the share of correct tokens on held-out text.\n\n\
    Exit codes: 0 all models are usable, 1 some are not, 2 wrong usage."
)]
pub struct Args {
    /// Model file to show [default: the models in the program]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Language whose model to show in detail
    #[arg(short, long, value_name = "CODE")]
    lang: Option<String>,
}

pub fn run(args: &Args) -> Result<Report> {
    let own;
    let models = match &args.file {
        None => tidings_annotate::models(),
        Some(path) => {
            let what = || path.display().to_string();
            let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", what()))?;
            own = Models::from_bytes(Cow::Owned(bytes)).with_context(what)?;
            own.check().with_context(what)?;
            &own
        }
    };
    let wanted: Vec<&ModelInfo> = match &args.lang {
        None => models.languages().collect(),
        Some(code) => models
            .tagger(code)
            .iter()
            .flat_map(|tagger| models.languages().filter(|about| about.language == tagger.info().language))
            .collect(),
    };
    let text = match (&args.lang, wanted.as_slice()) {
        (Some(code), []) => {
            format!("There is no model for {code}: lemmas are the lowercase words, and there are no tags.\n")
        }
        (Some(_), found) => found.iter().map(|about| described(about)).collect(),
        (None, all) => table(all),
    };
    let failed = args.lang.is_some() && wanted.is_empty();
    let rows: Vec<ModelRow<'_>> = wanted.into_iter().map(ModelRow::from).collect();
    Ok(Report { text, json: serde_json::to_value(rows)?, failed, ..Report::default() })
}

fn table(models: &[&ModelInfo]) -> String {
    let mut table = Table::new(&["code", "language", "#UPOS", "#lemma", "#feats", "#KB", "treebanks", "licence"]);
    for about in models {
        let names: Vec<&str> = about.treebanks.iter().map(|source| short(&source.name)).collect();
        table.push(vec![
            about.language.clone(),
            name(&about.language).to_owned(),
            percent(about.upos),
            percent(about.lemma),
            percent(about.feats),
            (about.bytes / 1000).to_string(),
            names.join(", "),
            about.licence(),
        ]);
    }
    let bytes: usize = models.iter().map(|about| about.bytes).sum();
    let all = count(models.len() as u64, "model");
    format!("{}{all}, {} KB; accuracy of UPOS, lemma and feats in %\n", table.text(), grouped(bytes as u64 / 1000))
}

fn described(about: &ModelInfo) -> String {
    let mut text =
        format!("{} ({}), {} KB, {}\n", name(&about.language), about.language, about.bytes / 1000, about.digest);
    let _ = writeln!(
        text,
        "accuracy: UPOS {} %, lemma {} %, all features {} %, on {}",
        percent(about.upos),
        percent(about.lemma),
        percent(about.feats),
        if about.measured == "dev" { "the development set" } else { about.measured.as_str() }
    );
    for source in &about.treebanks {
        let _ = writeln!(text, "{}, {} tokens, {}", source.name, grouped(u64::from(source.tokens)), source.licence);
    }
    let _ = writeln!(text, "{}", about.attribution());
    text
}

fn name(code: &str) -> &str {
    language_name(code).unwrap_or(code)
}

/// A treebank's name without the language.
fn short(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or(name)
}

fn percent(share: Option<f32>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1}", share * 100.0))
}

/// A model in JSON.
#[derive(Serialize)]
struct ModelRow<'a> {
    language: &'a str,
    treebanks: Vec<TreebankRow<'a>>,
    licence: String,
    attribution: String,
    upos: Option<f32>,
    lemma: Option<f32>,
    feats: Option<f32>,
    measured: &'a str,
    bytes: usize,
    digest: &'a str,
}

/// A treebank that a model was trained on.
#[derive(Serialize)]
struct TreebankRow<'a> {
    name: &'a str,
    licence: &'a str,
    tokens: u32,
}

impl<'a> From<&'a ModelInfo> for ModelRow<'a> {
    fn from(about: &'a ModelInfo) -> ModelRow<'a> {
        let treebank = |source: &'a TreebankInfo| TreebankRow {
            name: &source.name,
            licence: &source.licence,
            tokens: source.tokens,
        };
        ModelRow {
            language: &about.language,
            treebanks: about.treebanks.iter().map(treebank).collect(),
            licence: about.licence(),
            attribution: about.attribution(),
            upos: about.upos,
            lemma: about.lemma,
            feats: about.feats,
            measured: &about.measured,
            bytes: about.bytes,
            digest: &about.digest,
        }
    }
}
