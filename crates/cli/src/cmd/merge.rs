//! `tidings merge`: combines the results of shards.

use anyhow::Result;
use tidings_pipeline::merge;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Run it after `tidings clean --shard 1/4` … `--shard 4/4` and the like, in several processes or on several machines \
    with a shared folder. It recovers the work of killed processes and reports what is missing. `tidings run` does the same."
)]
pub struct Args {}

pub fn run(global: &Global) -> Result<Report> {
    Ok(merge::merge(&super::open(global)?)?.into())
}
