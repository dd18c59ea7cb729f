//! `tidings remove`: deletes pages everywhere, and blocks them (takedown).

use std::path::PathBuf;

use anyhow::Result;
use tidings_pipeline::takedown::{self, Options};

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "WHAT is a URL, a host (with its subdomains), or a pattern in which * matches any text, such as \
    example.org/private/* or https://*.example.org/2024/*. A URL also matches pages that redirected to it.\n\n\
    removed.tsv records each removal with date and reason; single URLs are stored as a hash. Matching pages are not fetched, \
    imported or processed again. Without WHAT, an interrupted removal is completed.\n\n\
    Not removed: the URL in the plan and in the request logs, and words in the lexicon of the index that no document has any \
    more; `tidings rebuild --from compile` removes these."
)]
pub struct Args {
    /// URL, host or pattern [default: complete an interrupted removal]
    what: Option<String>,
    /// Reason for the record
    #[arg(long, value_name = "TEXT", requires = "what")]
    reason: Option<String>,
    /// Show what would be removed, without removing
    #[arg(long, requires = "what")]
    dry_run: bool,
    /// Folder of exports; those that contain the pages are listed
    #[arg(long, value_name = "DIR", requires = "what")]
    exports: Option<PathBuf>,
    /// Leave the rebuild of the affected days to the next run
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
