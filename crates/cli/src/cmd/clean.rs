//! `tidings clean`: pages → documents.

use anyhow::Result;
use tidings_pipeline::stage::clean::Clean;

use super::{Report, StepArgs};
use crate::args::Global;

#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Documents come to docs/LANG/DAY.jsonl.zst, pages that gave none to docs/dropped/ with the reason, \
    and docs/recipes/DAY.json says what each day was made of. Days that are up to date are left alone; of a day \
    that has grown only the new pages are read; one is made again when the settings or the program have changed."
)]
pub struct Args {
    /// Only this day of download, such as 2026-03-01 [default: every day that is not up to date]
    #[arg(long, value_name = "DAY", value_parser = parse_day)]
    day: Option<String>,
    /// Pages read at the same time [default: clean.threads of the settings, one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    steps: StepArgs,
}

fn parse_day(text: &str) -> Result<String, String> {
    match text.parse::<jiff::civil::Date>() {
        Ok(_) if text.len() == 10 => Ok(text.to_owned()),
        _ => Err("give a day such as 2026-03-01".to_owned()),
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let stage = Clean { day: args.day.clone() };
    super::run_stage(global, &args.steps, &stage, |config| {
        config.clean.threads = args.threads.map_or(config.clean.threads, usize::from);
    })
}
