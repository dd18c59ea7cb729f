//! Turns a folder of HTML files into an indexed corpus and queries it, in one process.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tidings_pipeline::Pipeline;
use tidings_pipeline::corpus::Corpus;
use tidings_pipeline::import::{self, ImportFormat};
use tidings_pipeline::stage::{StageId, StageOutcome};
use tidings_query::MatchRule;
use tidings_query::engine::Limits;

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, home] = &arguments[..] else {
        anyhow::bail!("give a folder of HTML files and a folder for the corpus")
    };
    run(folder, home, "\"the\" []", &mut stdout())
}

/// Imports the pages of a folder into a new home, runs every derived stage, and counts the hits of a query.
pub fn run(folder: &Path, home: &Path, query: &str, out: &mut dyn Write) -> Result<()> {
    let pipeline = Pipeline::create(home)?;
    let options = import::Options { format: Some(ImportFormat::Html), ..import::Options::new(vec![folder.to_owned()]) };
    let imported = import::run(&pipeline, &options)?;
    writeln!(out, "import: {} pages", imported.pages)?;
    for id in [StageId::Clean, StageId::Dedup, StageId::Annotate, StageId::Compile] {
        match pipeline.run(id.stage().as_ref()).with_context(|| format!("{id} failed"))? {
            StageOutcome::Clean(clean) => writeln!(out, "clean: {} documents", clean.documents)?,
            StageOutcome::Dedup(dedup) => writeln!(out, "dedup: {} copies", dedup.duplicates)?,
            StageOutcome::Compile(compile) => writeln!(out, "compile: {} new tokens", compile.tokens_added)?,
            other => write!(out, "{id}: {other}")?,
        }
    }
    for language in pipeline.home().indexed()? {
        let corpus = Corpus::open(pipeline.home(), Some(&language))?;
        let (query, search) = corpus.search(query, MatchRule::default(), None)?;
        writeln!(out, "{language}: {} hits of {query}", search.count(&Limits::default()).hits)?;
    }
    Ok(())
}
