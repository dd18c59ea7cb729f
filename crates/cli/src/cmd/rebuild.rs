//! `tidings rebuild`: throws away what was derived, from a stage on, and makes it anew from what is left.
//!
//! The same pages, settings and program give the same bytes, so that a rebuild proves that nothing
//! depends on how a corpus came about.

use anyhow::{Context as _, Result};
use serde_json::json;
use tidings_store::{Home, docs, seen, text};

use super::{Report, annotate, clean, compile, dedup};
use crate::args::Global;
use crate::session::Session;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first stage to do again
    #[arg(long, value_name = "STAGE")]
    from: Stage,
}

/// A stage of the corridor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, clap::ValueEnum)]
enum Stage {
    /// Documents from pages, and all after them
    Clean,
    /// Verdicts on duplicates, and all after them
    Dedup,
    /// Text from documents, and all after it
    Annotate,
    /// The index from text
    Compile,
}

impl Stage {
    const ALL: [Stage; 4] = [Stage::Clean, Stage::Dedup, Stage::Annotate, Stage::Compile];

    /// Throws away what the stage has made.
    fn clear(self, home: &Home) -> Result<()> {
        match self {
            Stage::Clean => docs::clear(home)?,
            Stage::Dedup => seen::clear(home)?,
            Stage::Annotate => text::clear(home)?,
            Stage::Compile => {
                if home.index().exists() {
                    std::fs::remove_dir_all(home.index()).context("cannot remove index/")?;
                }
            }
        }
        Ok(())
    }

    fn run(self, global: &Global) -> Result<(&'static str, Report)> {
        Ok(match self {
            Stage::Clean => ("clean", clean::run(&clean::Args::default(), global)?),
            Stage::Dedup => ("dedup", dedup::run(&dedup::Args::default(), global)?),
            Stage::Annotate => ("annotate", annotate::run(&annotate::Args::default(), global)?),
            Stage::Compile => ("compile", compile::run(&compile::Args::default(), global)?),
        })
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let session = Session::open(home, config, "rebuild")?;
    let stages = || Stage::ALL.into_iter().filter(|stage| *stage >= args.from);
    // What depends on others goes before them.
    stages().rev().try_for_each(|stage| stage.clear(&session.home))?;
    // The stages take the home themselves.
    drop(session);
    let reports = stages().map(|stage| stage.run(global)).collect::<Result<Vec<_>>>()?;
    let text = reports.iter().map(|(_, report)| report.text.as_str()).collect();
    let failed = reports.iter().any(|(_, report)| report.failed);
    let partly = reports.iter().any(|(_, report)| report.partly);
    let mut json = json!({ "done": !failed });
    reports.into_iter().for_each(|(stage, report)| json[stage] = report.json);
    Ok(Report { text, json, failed, partly })
}
