//! `tidings init`: a folder becomes a home.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::json;
use tidings_store::Home;

use super::Report;
use tidings_pipeline::config;

const FEEDS: &str = "# One feed address a line. What you know about a feed may follow, separated by tabs:
# https://example.org/feed.xml\ttopic=politics\tgenre=news\tcountry=gb\tlang=en
";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder; it is made if it does not exist
    dir: PathBuf,
    /// Start with the feeds of this file, one address a line
    #[arg(long, value_name = "FILE")]
    feeds: Option<PathBuf>,
    /// Start with this plan, for example FeedFetcher's plan.txt
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Report> {
    let feeds = match &args.feeds {
        Some(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
        None => FEEDS.to_owned(),
    };
    if let Some(plan) = &args.plan {
        // Read once as a whole: a file that is no plan must not become one.
        tidings_store::plan::read_file(plan, |_| {})?;
    }
    let made = Home::create(&args.dir, config::TEMPLATE, &feeds)?;
    if let Some(plan) = &args.plan {
        let target = args.dir.join("plan.tsv.zst");
        anyhow::ensure!(made.contains(&"plan.tsv.zst"), "{} has a plan already; it was left alone", args.dir.display());
        std::fs::copy(plan, &target)
            .with_context(|| format!("cannot copy {} to {}", plan.display(), target.display()))?;
    }
    let dir = args.dir.display();
    let text = if made.is_empty() {
        format!("{dir} is a home already; nothing was changed\n")
    } else {
        format!(
            "made a home in {dir} ({})\nnext: set `contact` in {dir}/tidings.toml, put feed addresses into \
             {dir}/feeds.txt, then `tidings update --home {dir}`\n",
            made.join(", ")
        )
    };
    Ok(Report { text, json: json!({ "done": true, "home": args.dir, "made": made }), ..Report::default() })
}
