//! `tidings update`: polls the feeds and adds what is new to the plan.

use anyhow::Result;
use tidings_pipeline::stage::update::Update;

use super::{CrawlArgs, Report};
use crate::args::Global;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    crawl: CrawlArgs,
    /// Poll every feed, whether its turn has come or not
    #[arg(long)]
    all: bool,
    /// Ask feeds again whose server said they are gone
    #[arg(long)]
    retry_gone: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let stage = Update { all: args.all, retry_gone: args.retry_gone, seed: args.crawl.seed };
    super::run_stage(global, &args.crawl.steps(), &stage, |config| args.crawl.over(config))
}
