//! `tidings doctor`: looks for what could go wrong before it does, and says what to do.

use anyhow::Result;
use tidings_pipeline::doctor::{self, Options};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing found, 3 warnings only, 1 something that keeps Tidings from its work. Nothing is \
    changed: a file system is tried in a folder of its own that goes away again."
)]
pub struct Args {
    /// Also read everything that has checksums: the plan and all of the index
    #[arg(long)]
    thorough: bool,
    /// Also try to reach hosts of the feed list: names and connections, no requests
    #[arg(long)]
    network: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let options = Options { thorough: args.thorough, network: args.network };
    Ok(doctor::run(&super::find_home(global)?, options)?.into())
}
