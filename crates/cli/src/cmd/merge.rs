//! `tidings merge`: joins what shards made.

use anyhow::Result;
use tidings_pipeline::merge;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "After `tidings clean --shard 1/4` … `--shard 4/4` and the like in several processes or on several machines over a \
    shared folder: recovers what a killed process left and names what is missing. The next `tidings run` does the same."
)]
pub struct Args {}

pub fn run(global: &Global) -> Result<Report> {
    Ok(merge::merge(&super::open(global)?)?.into())
}
