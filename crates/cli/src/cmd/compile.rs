//! `tidings compile`: annotated text → index.

use anyhow::Result;
use tidings_pipeline::stage::compile::Compile;

use super::{Report, StepArgs};
use crate::args::Global;

#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Writes one index per language to index/LANG/. If it is deleted, the next run rebuilds it.")]
pub struct Args {
    /// Build only the index of this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Check the whole index against its checksums
    #[arg(long)]
    verify: bool,
    /// Hide a document, by URL or ID, from all results; applies to rebuilt indexes too
    #[arg(long, value_name = "DOCUMENT")]
    hide: Vec<String>,
    #[command(flatten)]
    steps: StepArgs,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let stage = Compile { language: args.lang.clone(), verify: args.verify, hide: args.hide.clone() };
    super::run_stage(global, &args.steps, &stage, |_| {})
}
