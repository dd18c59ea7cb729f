//! `tidings audit`: delays per host and IP address, robots.txt and missing logs, from the request logs.

use anyhow::Result;
use tidings_pipeline::audit::{self, Options};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of last runs to check [default: all]
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Print a line per host, shortest delay first
    #[arg(long)]
    hosts: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let options = Options { last: args.last, hosts: args.hosts, runs_days: config.store.runs_days };
    Ok(audit::run(&home, &options)?.into())
}
