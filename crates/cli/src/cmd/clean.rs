//! `tidings clean`: pages → documents.

use anyhow::Result;
use tidings_pipeline::stage::clean::Clean;

use super::{Report, StepArgs};
use crate::args::Global;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Writes documents to docs/LANG/DAY.jsonl.zst and rejected pages, with the reason, to docs/dropped/. \
    docs/recipes/DAY.json records the inputs, settings and version of each day. Days that are up to date are skipped. If a day \
    has new pages, only these are processed. A day is rebuilt when its settings or the version of the stage have changed. \
    A day whose raw pages are missing is not rebuilt: the command ends with an error and its documents stay."
)]
pub struct Args {
    /// Process only this download day, such as 2026-03-01 [default: all days that are not up to date]
    #[arg(long, value_name = "DAY", value_parser = parse_day)]
    day: Option<String>,
    /// Rebuild days without raw pages that are missing, instead of stopping with an error
    #[arg(long)]
    accept_loss: bool,
    /// Number of threads [default: setting clean.threads, one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    steps: StepArgs,
}

fn parse_day(text: &str) -> Result<String, String> {
    match text.parse::<jiff::civil::Date>() {
        Ok(_) if text.len() == 10 => Ok(text.to_owned()),
        _ => Err("expected a day such as 2026-03-01".to_owned()),
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let stage = Clean { day: args.day.clone(), accept_loss: args.accept_loss };
    super::run_stage(global, &args.steps, &stage, |config| {
        config.clean.threads = args.threads.map_or(config.clean.threads, usize::from);
    })
}
