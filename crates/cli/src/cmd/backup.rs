//! `tidings backup`: an incremental copy of everything that cannot be rebuilt.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::backup::{self, Options};

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Saves everything except docs/, seen/, text/, index/ and history/, which can be rebuilt: settings, feeds, the plan, pages, \
    state, lists of hidden and removed documents, access tokens and run logs. Each page is copied once. A backup can run at any \
    time; pages of a fetch that is still running are left to the next backup. `tidings restore` creates a home from it."
)]
pub struct Args {
    /// Folder of the backup, preferably on another disk or machine
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// Check every file of the backup against its checksum, and copy nothing
    #[arg(long)]
    verify: bool,
    /// Overwrite the backup of another home
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
