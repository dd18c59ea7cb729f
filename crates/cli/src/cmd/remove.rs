//! `tidings remove`: takes something out of everything, and keeps it out.

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::takedown::{self, Options};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "WHAT is an address with ://, a host (with all hosts under it), or a pattern in which * stands for anything, such as \
    example.org/private/* or https://*.example.org/2024/*. An address goes where it was asked for and where redirects led to it.\n\
    removed.tsv keeps what was removed, as a hash where it is one address, with date and reason and without content. Nothing it \
    covers is fetched or made a document again. Without WHAT, work that was stopped is finished.\n\
    What remains: the address in the plan and in the logs of runs, and spellings of words in the lexicon of the index, \
    which no document has any more; `tidings rebuild --from compile` clears those."
)]
pub struct Args {
    /// An address, a host or a pattern [default: what was not finished]
    what: Option<String>,
    /// Why, in a few words, for the record
    #[arg(long, value_name = "TEXT", requires = "what")]
    reason: Option<String>,
    /// Show what would go, and change nothing
    #[arg(long, requires = "what")]
    dry_run: bool,
    /// Also name the exports under this folder that hold it
    #[arg(long, value_name = "DIR", requires = "what")]
    exports: Option<PathBuf>,
    /// Leave it to the next run to make what is left of the days anew
    #[arg(long)]
    later: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    if let (true, Some(what)) = (args.dry_run, &args.what) {
        let pipeline = super::open_interruptible(global)?;
        return Ok(takedown::preview(&pipeline, what, args.exports.as_deref())?.into());
    }
    let options = Options {
        what: args.what.clone(),
        reason: args.reason.clone(),
        exports: args.exports.clone(),
        later: args.later,
    };
    Ok(takedown::run(&super::open(global)?, &options)?.into())
}
