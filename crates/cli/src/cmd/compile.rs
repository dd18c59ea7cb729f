//! `tidings compile`: annotated text → indexes.

use anyhow::Result;
use tidings_pipeline::stage::compile::Compile;

use super::{Report, StepArgs};
use crate::args::Global;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "The index of a language is in index/LANG/. It is derived: if it is deleted, the next run makes it again."
)]
pub struct Args {
    /// Only this language, such as de
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Check every byte of the index against its digests
    #[arg(long)]
    verify: bool,
    /// Hide a document from every answer, by its address or id, now and whenever the index is made again
    #[arg(long, value_name = "DOCUMENT")]
    hide: Vec<String>,
    #[command(flatten)]
    steps: StepArgs,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let stage = Compile { language: args.lang.clone(), verify: args.verify, hide: args.hide.clone() };
    super::run_stage(global, &args.steps, &stage, |_| {})
}
