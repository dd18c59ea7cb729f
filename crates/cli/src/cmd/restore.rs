//! `tidings restore`: makes a home of a backup, without what was removed.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::backup::{self, RestoreOptions};

use super::Report;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every file is held against its digest on the way. The home gets what was saved; `tidings run --from clean` makes the rest of it. \
    What was removed since the backup was taken stays removed with --removed, which takes the removed.tsv of then."
)]
pub struct Args {
    /// The folder of the backup
    #[arg(value_name = "BACKUP")]
    from: PathBuf,
    /// The folder of the new home: empty, or not there yet
    #[arg(value_name = "HOME")]
    to: PathBuf,
    /// A newer removed.tsv, whose tombstones hold here too
    #[arg(long, value_name = "FILE")]
    removed: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Report> {
    let options = RestoreOptions { from: args.from.clone(), to: args.to.clone(), removed: args.removed.clone() };
    Ok(backup::restore(&options, &console::reporter())?.into())
}
