//! `tidings update`: polls the feeds and adds new articles to the plan.

use anyhow::Result;
use tidings_pipeline::stage::update::Update;

use super::{CrawlArgs, Report};
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    crawl: CrawlArgs,
    /// Poll all feeds, also those that are not due
    #[arg(long)]
    all: bool,
    /// Poll feeds again that their servers reported as gone
    #[arg(long)]
    retry_gone: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let stage = Update { all: args.all, retry_gone: args.retry_gone, seed: args.crawl.seed };
    super::run_stage(global, &args.crawl.steps(), &stage, |config| args.crawl.over(config))
}
