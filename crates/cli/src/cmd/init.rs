//! `tidings init`: creates a home.

use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use tidings_pipeline::Pipeline;
use tidings_pipeline::discover::{self, DiscoverOutcome, Task};
use tidings_pipeline::init::{self, InitOutcome, Options};
use tidings_pipeline::outcome::{Outcome, Status};

use super::Report;
use crate::{console, signals};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    tidings init news --contact you@example.org\n  \
    tidings init news --contact you@example.org --opml subscriptions.opml\n  \
    tidings init news --contact you@example.org --sites newspapers.txt   finds their feeds, which takes a while")]
pub struct Args {
    /// Folder of the home; it is created if it does not exist
    dir: PathBuf,
    /// Your e-mail or web address, which publishers see in their logs (setting fetch.contact)
    #[arg(long, value_name = "ADDRESS")]
    contact: Option<String>,
    /// File with initial feeds, one URL per line
    #[arg(long, value_name = "FILE")]
    feeds: Option<PathBuf>,
    /// OPML file with initial feeds, as feed readers export it
    #[arg(long, value_name = "FILE")]
    opml: Option<PathBuf>,
    /// File with websites, one URL per line; their feeds are found and added
    #[arg(long, value_name = "FILE", requires = "contact")]
    sites: Option<PathBuf>,
    /// Initial plan, for example FeedFetcher's plan.txt
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
}

/// A new home, and the feeds of its sites.
#[derive(Serialize)]
struct InitWithSites {
    #[serde(flatten)]
    home: InitOutcome,
    sites: DiscoverOutcome,
}

impl Outcome for InitWithSites {
    fn status(&self) -> Status {
        self.sites.status()
    }
}

impl std::fmt::Display for InitWithSites {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.sites, self.home)
    }
}

pub fn run(args: &Args) -> Result<Report> {
    let options = Options {
        folder: args.dir.clone(),
        feeds: args.feeds.clone(),
        plan: args.plan.clone(),
        contact: args.contact.clone(),
        opml: args.opml.clone(),
    };
    // A list that cannot be read must not leave a home behind.
    let sites = args.sites.as_deref().map(init::read_sites).transpose()?;
    let mut home = init::run(&options)?;
    let Some(sites) = sites else { return Ok(home.into()) };
    let pipeline = Pipeline::open(&args.dir)?;
    let pipeline = pipeline.with_reporter(console::reporter()).with_cancel(signals::cancel_token().clone());
    let task = discover::Options {
        task: Task::Search(sites),
        probe: None,
        add: true,
        again: false,
        paper_rule: false,
        seed: None,
    };
    let sites = discover::run(&pipeline, &task)?;
    home.count_feeds()?;
    Ok(InitWithSites { home, sites }.into())
}
