//! `tidings why`: what happened to one thing, stage by stage, with the rule that decided; with `--all` that nothing vanished.

use anyhow::Result;
use tidings_pipeline::why;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "An address with :// is a page, or a feed if it is one of ours; 32 hexadecimal digits are a document; anything else is a host.\n\
    --all holds the numbers of all stages against each other: what went in came out or was left out for a named reason. It ends with \
    exit code 1 if something vanished. What waits for its stage is not lost."
)]
pub struct Args {
    /// The address of a page or a feed, the id of a document, or a host
    #[arg(value_name = "URL|FEED|ID|HOST", required_unless_present = "all", conflicts_with = "all")]
    thing: Option<String>,
    /// Check that nothing vanished: at every stage, items in = items out + items left out by reason
    #[arg(long)]
    all: bool,
    /// With --all: item by item, reading every document, instead of by the counts in the recipes
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
