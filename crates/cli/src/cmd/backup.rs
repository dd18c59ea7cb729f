//! `tidings backup`: copies what cannot be made again to another place; only what is new since the last time.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::backup::{self, Options};

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Saved are settings, feeds, the plan, pages, states, lists of hidden and removed documents, tokens and the logs of runs: all but \
    docs/, seen/, text/, index/ and history/, which can be made again. Pages are copied once. It may run at any time, also while \
    pages are fetched; those of a run under way are left to the next backup. `tidings restore` makes a home of it."
)]
pub struct Args {
    /// The folder of the backup, best on another disk or machine
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Only read the backup and hold every byte against its digest
    #[arg(long)]
    verify: bool,
    /// Write to a backup of another home
    #[arg(long)]
    replace: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if args.verify {
        return Ok(backup::verify(&args.to, &console::reporter())?.into());
    }
    let options = Options { to: args.to.clone(), replace: args.replace };
    Ok(backup::run(&super::open_interruptible(global)?, &options)?.into())
}
