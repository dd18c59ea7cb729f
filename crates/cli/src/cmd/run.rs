//! `tidings run`: all stages, from the feeds to the index.

mod service;

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use tidings_pipeline::outcome::Outcome;
use tidings_pipeline::round::{self, RoundOptions, RoundOutcome, RoundStage};
use tidings_pipeline::stage::StageId;
use tidings_store::Error;

use super::Report;
use crate::args::Global;
use crate::console;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Stages: update, fetch, crawl (if the setting crawl.names names a crawl), clean, dedup, annotate, compile. The [run] settings give each a time limit. The command can be \
    started at any time, from cron or by hand: a second process exits with code 0 if one is running, and each stage resumes \
    where an earlier run stopped.\n\n\
    With --loop it runs as a service with systemd notifications (packaging/ has the unit): SIGHUP reloads the settings, SIGTERM \
    stops it within seconds."
)]
pub struct Args {
    /// First stage to run [default: update]
    #[arg(long, value_name = "STAGE", value_parser = super::stage_parser(|_| true))]
    from: Option<StageId>,
    /// Only these stages, such as crawl,clean [default: all]
    #[arg(long, value_name = "STAGES", value_delimiter = ',', value_parser = super::stage_parser(|_| true), conflicts_with = "from")]
    stages: Vec<StageId>,
    /// Run as a service, with a round every --every
    #[arg(long = "loop")]
    looping: bool,
    /// Time between the starts of two rounds, such as 15m [default: setting run.every, 1h]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, requires = "looping")]
    every: Option<Duration>,
    /// Time limit of all stages together, such as 50m [default: setting run.total, no limit]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time)]
    time_limit: Option<Duration>,
}

impl Args {
    fn options(&self) -> RoundOptions {
        RoundOptions { from: self.from, stages: self.stages.clone(), time_limit: self.time_limit }
    }
}

/// The outcome if another run holds the lock.
#[derive(Serialize)]
struct Running {
    done: bool,
    running: bool,
    process: Option<String>,
    #[serde(skip)]
    home: String,
}

impl Outcome for Running {}

impl std::fmt::Display for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = self.process.as_ref().map(|process| format!(" (process {process})")).unwrap_or_default();
        writeln!(f, "nothing done: another run is active in {}{by}", self.home)
    }
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let pipeline = super::open(global)?;
    let _lock = match pipeline.home().lock_rounds() {
        Ok(lock) => lock,
        Err(Error::Locked { root, pid }) => {
            let home = root.display().to_string();
            return Ok(Running { done: false, running: true, process: pid, home }.into());
        }
        Err(error) => return Err(error.into()),
    };
    if args.looping {
        return service::serve(args, &pipeline, global);
    }
    Ok(one_round(args, &pipeline, global, &|_| {})?.into())
}

/// Runs the stages once and prints the outcome of each.
fn one_round(
    args: &Args,
    pipeline: &tidings_pipeline::Pipeline,
    global: &Global,
    before: &dyn Fn(&str),
) -> Result<RoundOutcome> {
    round::run_round(pipeline, &args.options(), before, &|stage, ended| match ended {
        RoundStage::Ended(outcome) if !global.json && !global.quiet => {
            let text = outcome.to_string();
            console::print(&text.lines().map(|line| format!("{stage:<9} {line}\n")).collect::<String>());
        }
        _ => {}
    })
}
