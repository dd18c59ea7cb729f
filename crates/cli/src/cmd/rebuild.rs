//! `tidings rebuild`: throws away what was derived, from a stage on, and makes it anew from what is left.
//!
//! The same pages, settings and program give the same bytes, so that a rebuild proves that nothing
//! depends on how a corpus came about.

use anyhow::Result;
use serde_json::json;
use tidings_store::{docs, seen};

use super::{Report, clean, dedup};
use crate::args::Global;
use crate::session::Session;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first stage to do again
    #[arg(long, value_name = "STAGE")]
    from: Stage,
}

/// A stage of the corridor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// Documents from pages, and all after them
    Clean,
    /// Verdicts on duplicates, and all after them
    Dedup,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let session = Session::open(home, config, "rebuild")?;
    // What depends on others goes before them.
    seen::clear(&session.home)?;
    if args.from == Stage::Clean {
        docs::clear(&session.home)?;
    }
    // The stages take the home themselves.
    drop(session);
    let mut reports = Vec::new();
    if args.from == Stage::Clean {
        reports.push(("clean", clean::run(&clean::Args::default(), global)?));
    }
    reports.push(("dedup", dedup::run(&dedup::Args::default(), global)?));
    let text = reports.iter().map(|(_, report)| report.text.as_str()).collect();
    let failed = reports.iter().any(|(_, report)| report.failed);
    let partly = reports.iter().any(|(_, report)| report.partly);
    let mut json = json!({ "done": !failed });
    reports.into_iter().for_each(|(stage, report)| json[stage] = report.json);
    Ok(Report { text, json, failed, partly })
}
