//! `tidings init`: a folder becomes a home.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::init::{self, Options};

use super::Report;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder; it is made if it does not exist
    dir: PathBuf,
    /// Start with the feeds of this file, one address a line
    #[arg(long, value_name = "FILE")]
    feeds: Option<PathBuf>,
    /// Start with this plan, for example FeedFetcher's plan.txt
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Report> {
    let options = Options { folder: args.dir.clone(), feeds: args.feeds.clone(), plan: args.plan.clone() };
    Ok(init::run(&options)?.into())
}
