//! Scores of the quotations layer on text that was annotated by hand.

mod annotate;
mod gold;
mod sample;
mod score;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_annotate::layers::names::names;
use tidings_annotate::layers::quotations::{VERSION, quotations};
use tidings_annotate::{Annotators, enrich, models};
use tidings_model::{Annotated, Document, LayerNames};

pub use gold::{GoldDocument, GoldQuote, Half, read_archive, read_own};
pub use score::{Counts, Score, offsets};

/// Languages with gold annotation.
pub const LANGUAGES: [&str; 5] = ["en", "de", "es", "ru", "zh"];

/// Arguments of `bench-layers quotations`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the blocks of the archive's articles in this language that have quotation marks, with numbers, to annotate
    /// them
    #[arg(long, value_name = "CODE")]
    print: Option<String>,
    /// Convert annotation that uses these numbers to stand-off rows
    #[arg(long, value_name = "FILE", requires = "language")]
    convert: Option<PathBuf>,
    /// The language of the file to convert
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Print the errors of the development half in this language
    #[arg(long, value_name = "CODE")]
    errors: Option<String>,
    /// Count marks and lengths in every Nth article of the archive, without gold annotation
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Results, as written by `--json`.
#[derive(Debug, Serialize)]
struct Results {
    benchmark: &'static str,
    version: u32,
    scores: BTreeMap<String, BTreeMap<&'static str, Score>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<sample::Sample>,
}

/// Runs the benchmark.
pub fn run(shared: &Path, args: &Args) -> Result<()> {
    if let Some(language) = &args.print {
        return annotate::print_marks(shared, language);
    }
    if let (Some(file), Some(language)) = (&args.convert, &args.language) {
        return annotate::convert(shared, file, language);
    }
    let predictor = Predictor::new();
    let mut scores: BTreeMap<String, BTreeMap<&'static str, Score>> = BTreeMap::new();
    for language in LANGUAGES {
        let mut documents = read_own(language)?;
        match read_archive(shared, language) {
            Ok(archive) => documents.extend(archive),
            Err(error) => eprintln!("{language}: without the sample archive: {error:#}"),
        }
        for document in &documents {
            let score = predictor.score(document)?;
            if document.half == Half::Development && args.errors.as_deref() == Some(language) {
                predictor.print_errors(document)?;
            }
            let halves = scores.entry(language.to_owned()).or_default();
            [document.half.name(), "both"].iter().for_each(|half| halves.entry(half).or_default().merge(&score));
        }
    }
    print(&scores);
    let sample = args.sample.map(|step| sample::run(shared, &predictor, step)).transpose()?;
    if let Some(sample) = &sample {
        println!("{}", serde_json::to_string_pretty(sample)?);
    }
    if let Some(path) = &args.json {
        let results = Results {
            benchmark: "quotations: exact spans without marks, with kind; speakers by overlap",
            version: VERSION,
            scores,
            sample,
        };
        let text = serde_json::to_string_pretty(&results)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn print(scores: &BTreeMap<String, BTreeMap<&'static str, Score>>) {
    println!(
        "{:<4} {:<12} {:>5} {:>14} {:>14} {:>14} {:>14}",
        "", "half", "gold", "quotations", "direct", "spans", "speakers"
    );
    for (language, halves) in scores {
        for (half, score) in halves {
            let cell = |counts: &Counts| format!("{:.3} / {:.3}", counts.precision(), counts.recall());
            println!(
                "{language:<4} {half:<12} {:>5} {:>14} {:>14} {:>14} {:>14}",
                score.quotations.gold,
                cell(&score.quotations),
                cell(&score.direct),
                cell(&score.spans),
                cell(&score.speakers)
            );
        }
    }
}

/// Annotates documents and finds their quotations.
pub struct Predictor {
    annotators: Annotators,
}

impl Default for Predictor {
    fn default() -> Predictor {
        Predictor::new()
    }
}

impl Predictor {
    /// Uses the embedded models.
    pub fn new() -> Predictor {
        Predictor { annotators: Annotators::new(models().clone()) }
    }

    /// Segments and tags a document and finds its names, as the product does before quotations.
    pub fn annotate(&self, document: Document, language: &str) -> Result<Annotated> {
        let annotated = tidings_annotate::annotate(document, &[], |_, _| true);
        let mut documents = [(language.to_owned(), annotated)];
        enrich(&mut documents, &[LayerNames::default()], &self.annotators).context("cannot tag the document")?;
        let [(_, mut annotated)] = documents;
        annotated.spans = names(&annotated, language);
        Ok(annotated)
    }

    /// The score of a document.
    pub fn score(&self, gold: &GoldDocument) -> Result<Score> {
        let annotated = self.annotate(gold.document.clone(), &gold.language)?;
        let spans = quotations(&annotated, &gold.language);
        Ok(score::score(gold, &score::found(&annotated, &spans)))
    }

    fn print_errors(&self, gold: &GoldDocument) -> Result<()> {
        let annotated = self.annotate(gold.document.clone(), &gold.language)?;
        let spans = quotations(&annotated, &gold.language);
        score::print_errors(gold, &annotated, &score::found(&annotated, &spans));
        Ok(())
    }
}
