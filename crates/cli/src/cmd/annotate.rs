//! `tidings annotate`: documents → annotated text.

use anyhow::Result;
use tidings_pipeline::stage::annotate::Annotate;

use super::{Report, StepArgs};
use crate::args::Global;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Writes text/LANG/DAY.vert.zst in the vertical format (one token per line), which other corpus tools can read. \
    text/recipes/DAY.json records the inputs, settings and version of each day. Days that are up to date are skipped."
)]
pub struct Args {
    /// Number of threads [default: setting clean.threads, one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    steps: StepArgs,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    super::run_stage(global, &args.steps, &Annotate, |config| {
        config.clean.threads = args.threads.map_or(config.clean.threads, usize::from);
    })
}
