//! `tidings restore`: creates a home from a backup, without removed pages.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::backup::{self, RestoreOptions};

use super::Report;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every file is checked against its checksum. Run `tidings run --from clean` afterwards to rebuild documents, text and \
    index. If pages were removed after the backup, give the newer removed.tsv with --removed, so that they stay removed."
)]
pub struct Args {
    /// Folder of the backup
    #[arg(value_name = "BACKUP")]
    from: PathBuf,
    /// Folder of the new home; empty or nonexistent
    #[arg(value_name = "HOME")]
    to: PathBuf,
    /// Newer removed.tsv whose removals apply too
    #[arg(long, value_name = "FILE")]
    removed: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Report> {
    let options = RestoreOptions { from: args.from.clone(), to: args.to.clone(), removed: args.removed.clone() };
    Ok(backup::restore(&options, &console::reporter())?.into())
}
