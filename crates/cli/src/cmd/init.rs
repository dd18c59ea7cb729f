//! `tidings init`: creates a home.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::init::{self, Options};

use super::Report;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder of the home; it is created if it does not exist
    dir: PathBuf,
    /// File with initial feeds, one URL per line
    #[arg(long, value_name = "FILE")]
    feeds: Option<PathBuf>,
    /// Initial plan, for example FeedFetcher's plan.txt
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Report> {
    let options =
        Options { folder: args.dir.clone(), feeds: args.feeds.clone(), plan: args.plan.clone(), contact: None };
    Ok(init::run(&options)?.into())
}
