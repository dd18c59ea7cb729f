//! `tidings prune`: takes settled entries out of the plan that left their feeds long ago.

use anyhow::Result;
use serde_json::json;
use tidings_store::fold;

use super::Report;
use crate::args::Global;
use tidings_pipeline::context::RunContext;
use tidings_pipeline::display::count;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Update cycles since the entry was last in its feed
    #[arg(long, value_name = "CYCLES", default_value_t = 100)]
    min_age: u32,
    /// Only say how many entries would go
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let session = RunContext::open(&tidings_pipeline::Pipeline::new(home, config), "prune")?;
    let retries = session.config.fetch.retries;
    let (kept, pruned) = fold::prune(&session.home, session.started, args.min_age, retries, args.dry_run)?;
    session.apply_journal()?;
    let text = match args.dry_run {
        true => format!("would prune {}, {} would stay\n", count(pruned, "entry"), kept),
        false => format!("{} pruned, {kept} kept; what was fetched is not fetched again\n", count(pruned, "entry")),
    };
    let json = json!({ "done": true, "kept": kept, "pruned": pruned, "dry_run": args.dry_run });
    Ok(Report { text, json, ..Report::default() })
}
