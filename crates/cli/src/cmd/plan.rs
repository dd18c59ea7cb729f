//! `tidings plan`: prints the plan.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::views::plan::{self, Options};

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Status to show, such as new, ok, 404 or timeout; may be repeated [default: all]
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,
    /// Host to show [default: all]
    #[arg(long)]
    host: Option<String>,
    /// Feed to show [default: all]
    #[arg(long, value_name = "URL")]
    feed: Option<String>,
    /// Maximum number of entries [default: all]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// Print only the number of entries by status
    #[arg(long)]
    count: bool,
    /// Plan file of Tidings or FeedFetcher, plain or compressed [default: the plan of the home]
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
