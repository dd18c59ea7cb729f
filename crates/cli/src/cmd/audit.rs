//! `tidings audit`: proves from the run logs how politely the web was asked.

use anyhow::Result;
use tidings_pipeline::audit::{self, Options};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Look at the last N runs only [default: all]
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Also print a line per host, the most hurried first
    #[arg(long)]
    hosts: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let options = Options { last: args.last, hosts: args.hosts };
    Ok(audit::run(&super::open_home(global)?.0, &options)?.into())
}
