//! `tidings prune`: removes finished entries from the plan that left their feeds long ago.

use anyhow::Result;
use tidings_pipeline::prune::{self, Options};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Minimum number of updates since the entry was last in its feed
    #[arg(long, value_name = "CYCLES", default_value_t = 100)]
    min_age: u32,
    /// Count the entries, without removing them
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let options = Options { min_age: args.min_age, dry_run: args.dry_run };
    Ok(prune::run(&super::open_interruptible(global)?, &options)?.into())
}
