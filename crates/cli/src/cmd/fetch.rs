//! `tidings fetch`: downloads the pages in the plan.

use anyhow::Result;
use tidings_pipeline::stage::fetch::Fetch;

use super::{CrawlArgs, Report};
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    crawl: CrawlArgs,
    /// Write WARC 1.1 files too
    #[arg(long)]
    warc: bool,
    /// Show what would be fetched, without fetching
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let stage = Fetch { dry_run: args.dry_run, seed: args.crawl.seed };
    super::run_stage(global, &args.crawl.steps(), &stage, |config| {
        args.crawl.over(config);
        config.fetch.warc |= args.warc;
    })
}
