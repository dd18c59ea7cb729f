//! `tidings doctor`: checks the home and the machine for problems.

use anyhow::Result;
use tidings_pipeline::doctor::{self, Options};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 no problems, 3 warnings only, 1 a problem that stops Tidings from working. Nothing is changed without --repair; \
    the file system is tested in a temporary folder."
)]
pub struct Args {
    /// Verify the checksums of the plan and the index too
    #[arg(long)]
    thorough: bool,
    /// Resolve and connect to hosts of the feed list too, without sending requests
    #[arg(long)]
    network: bool,
    /// Restore a damaged or missing plan, and forget times in the future after a clock that was ahead
    #[arg(long)]
    repair: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let options = Options { thorough: args.thorough, network: args.network, repair: args.repair };
    Ok(doctor::run(&super::find_home(global)?, options)?.into())
}
