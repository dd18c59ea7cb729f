//! `tidings audit`: delays per host and IP address, robots.txt and missing logs, from the request logs.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::audit::{self, Options};
use tidings_pipeline::config::Config;
use tidings_store::Home;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "With --homes, the logs of several homes that share a harvest are checked together: also that no host and no IP \
    address was asked by two of them, and that no page was downloaded by two. Requests for robots.txt do not count, because it may \
    redirect to a host of another machine. Exit code 1: a delay was not kept, or one of these."
)]
pub struct Args {
    /// Number of last runs to check [default: all]
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Print a line per host, shortest delay first
    #[arg(long)]
    hosts: bool,
    /// Check the logs of these homes together, such as a,b,c
    #[arg(long, value_name = "DIRS", value_delimiter = ',')]
    homes: Vec<PathBuf>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if !args.homes.is_empty() {
        let homes: Vec<Home> = args.homes.iter().map(|folder| Home::at(folder)).collect::<Result<_, _>>()?;
        let config = Config::of_home(&homes[0])?;
        let options = Options { last: args.last, hosts: args.hosts, runs_days: config.store.runs_days };
        return Ok(audit::run_all(&homes, &options)?.into());
    }
    let (home, config) = super::open_home(global)?;
    let options = Options { last: args.last, hosts: args.hosts, runs_days: config.store.runs_days };
    Ok(audit::run(&home, &options)?.into())
}
