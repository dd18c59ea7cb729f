//! `tidings annotate`: documents → sentences of tokens.

use anyhow::Result;
use tidings_pipeline::stage::annotate::Annotate;

use super::{Report, StepArgs};
use crate::args::Global;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Tokens come to text/LANG/DAY.vert.zst in the vertical format, a token a line, which other corpus tools read \
    as it is; text/recipes/DAY.json says what each day was made of. Days that are up to date are left alone."
)]
pub struct Args {
    /// Documents cut at the same time [default: clean.threads of the settings, one for each core]
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
