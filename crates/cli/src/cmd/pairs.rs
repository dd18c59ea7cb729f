//! `tidings pairs`: documents that are translations of each other.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::document_pairs;

use crate::args::Global;
use crate::cmd::{Report, open_interruptible};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: PairsAction,
}

#[derive(Debug, clap::Subcommand)]
enum PairsAction {
    /// Find pairs of documents whose pages name each other as versions in other languages (hreflang); repeat it for new ones
    Find,
    /// Add the pairs of a file: two ids or addresses of documents a line, separated by a tab
    Add {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = open_interruptible(global)?;
    Ok(match &args.action {
        PairsAction::Find => document_pairs::find(&pipeline)?.into(),
        PairsAction::Add { file } => document_pairs::add(&pipeline, file)?.into(),
    })
}
