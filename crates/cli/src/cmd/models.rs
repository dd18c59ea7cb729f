//! `tidings models`: the models of lemmas and tags with their languages, treebanks, licences and scores.

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
    after_help = "Models were learned from treebanks of Universal Dependencies. Unlike the program they are published under the \
    treebanks' licences; whoever passes them on names the treebanks. Scores are shares of tokens that were right on text \
    that was not learned from.\n\n\
    Exit codes: 0 all models can be used, 1 some cannot, 2 wrong usage."
)]
pub struct Args {
    /// A file of models to show instead of those that come with the program
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Only this language, with all that is known about its model
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
            format!("There is no model of {code}: its lemmas are its words in small letters, and it has no tags.\n")
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
    format!("{}{all}, {} KB; UPOS, lemma and features: % right\n", table.text(), grouped(bytes as u64 / 1000))
}

fn described(about: &ModelInfo) -> String {
    let mut text =
        format!("{} ({}), {} KB, {}\n", name(&about.language), about.language, about.bytes / 1000, about.digest);
    let _ = writeln!(
        text,
        "UPOS {} %, lemma {} %, all features {} % right, by {}",
        percent(about.upos),
        percent(about.lemma),
        percent(about.feats),
        if about.measured == "dev" { "text set apart for development" } else { about.measured.as_str() }
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

/// The part of a treebank's name that distinguishes it from others of its language.
fn short(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or(name)
}

fn percent(share: Option<f32>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1}", share * 100.0))
}

/// A model as programs read it.
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
