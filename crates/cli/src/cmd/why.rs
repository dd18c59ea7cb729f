//! `tidings why`: the history of an item, stage by stage; with `--all` a check that no item was lost.

use anyhow::Result;
use tidings_pipeline::why;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A URL is a page, or a feed of the feed list; 32 hexadecimal digits are the ID of a document; anything else is a \
    host.\n\n\
    --all compares the counts of all stages: every input of a stage must be in its output or left out for a recorded reason. The \
    exit code is 1 if items are missing. Items that wait for a stage are not missing."
)]
pub struct Args {
    /// URL of a page or feed, ID of a document, or host
    #[arg(value_name = "URL|FEED|ID|HOST", required_unless_present = "all", conflicts_with = "all")]
    thing: Option<String>,
    /// Check all stages: items in = items out + items left out
    #[arg(long)]
    all: bool,
    /// With --all: read and compare every document instead of the counts in the recipes
    #[arg(long, requires = "all")]
    items: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = super::open_interruptible(global)?;
    match &args.thing {
        Some(thing) => Ok(why::trace(&pipeline, thing)?.into()),
        None => Ok(why::conservation(&pipeline, args.items)?.into()),
    }
}
