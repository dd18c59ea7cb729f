//! `tidings plan`: shows the plan, or the part of it that was asked for.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::views::plan::{self, Options};

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only entries with this status (new, ok, 404, timeout, …); may be given several times
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Only entries of this host
    #[arg(long)]
    host: Option<String>,
    /// Only entries of this feed
    #[arg(long, value_name = "URL")]
    feed: Option<String>,
    /// Stop after this many entries
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// Print only how many entries have each status
    #[arg(long)]
    count: bool,
    /// Read this plan file instead of the home's: ours or FeedFetcher's, plain or compressed
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let options = Options {
        status: args.status.clone(),
        host: args.host.clone(),
        feed: args.feed.clone(),
        limit: args.limit,
        count: args.count,
    };
    let mut stdout = console::Stdout;
    let out = (!global.json).then_some(&mut stdout as &mut dyn std::io::Write);
    let outcome = match &args.file {
        Some(path) => plan::of_file(path, &options, out)?,
        None => plan::of_home(&super::open_home(global)?.0, &options, out)?,
    };
    Ok(outcome.into())
}
