//! `tidings models`: the tagging models with their languages, treebanks, licences and accuracy; their check, and the
//! installation of packs in a home.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use tidings_annotate::tagger::{ModelInfo, Models, TreebankInfo};
use tidings_lang::language_name;
use tidings_pipeline::display::{count, grouped};
use tidings_pipeline::stage::annotate::{install_models, installed_packs, read_models};

use super::Report;
use crate::args::Global;
use crate::style::Style;
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The models were trained on Universal Dependencies treebanks. Unlike the program, they have the licences of the \
    treebanks, which must be named when a model is passed on. Accuracy is the share of correct tokens on held-out text.\n\n\
    A model file holds one language (a pack) or several. Installed packs are in the folder `models` of the home; they have \
    priority over the models in the program. Packs for all homes are in the folders of TIDINGS_MODELS; by default those are \
    `models` beside the program and `share/tidings/models` of its prefix.\n\n\
    Exit codes: 0 all models are usable, 1 some are not, 2 wrong usage."
)]
pub struct Args {
    /// Model files to show [default: the models in the program and in the home]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Language whose model to show in detail
    #[arg(short, long, value_name = "CODE")]
    lang: Option<String>,
    /// Read every model and compare it with its digest
    #[arg(long, conflicts_with = "lang")]
    check: bool,
    /// Install the model files in the home
    #[arg(long, requires = "files", conflicts_with_all = ["lang", "check"])]
    install: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if args.install {
        return install(args, global);
    }
    let mut models = Models::default();
    if args.files.is_empty() {
        models = tidings_annotate::models().clone();
        let packs = match super::find_home(global) {
            Ok(home) => installed_packs(&home)?,
            // A home given by --home must exist; otherwise none is needed.
            Err(error) if global.home.is_some() => return Err(error),
            Err(_) => Vec::new(),
        };
        for pack in packs {
            models = models.with(read_models(&pack)?);
        }
    }
    for file in &args.files {
        models = models.with(read_models(file)?);
    }
    if args.check {
        models.check()?;
        let text =
            format!("{}: all can be read and have their digests\n", count(models.languages().count() as u64, "model"));
        let rows: Vec<ModelRow<'_>> = models.languages().map(ModelRow::from).collect();
        return Ok(Report { text, json: serde_json::to_value(rows)?, ..Report::default() });
    }
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

/// Copies model files into the home, as packs.
fn install(args: &Args, global: &Global) -> Result<Report> {
    let home = super::find_home(global)?;
    let mut text = String::new();
    let mut all = Models::default();
    for file in &args.files {
        let models = install_models(&home, file)?;
        for about in models.languages() {
            let _ = writeln!(text, "installed {} ({}), {}", name(&about.language), about.language, about.licence());
        }
        all = all.with(models);
    }
    let rows: Vec<ModelRow<'_>> = all.languages().map(ModelRow::from).collect();
    Ok(Report { text, json: serde_json::to_value(rows)?, ..Report::default() })
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
    format!(
        "{}{all}, {} KB; accuracy of UPOS, lemma and feats in %\n",
        table.text(Style::stdout()),
        grouped(bytes as u64 / 1000)
    )
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
