//! `tidings run`: all stages in one command, from the feeds to the index.

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
    after_help = "Stages: update, fetch, clean, dedup, annotate, compile, each with a time of its own in the [run] table of the \
    settings. Safe to start at any time, from cron or by hand: a second one says that there is one at work and ends well, \
    and each stage goes on where an earlier run was stopped.\n\n\
    With --loop it is a service that speaks to systemd (packaging/ has the unit): SIGHUP reads the settings again, SIGTERM \
    ends within seconds."
)]
pub struct Args {
    /// Begin with this stage, such as clean
    #[arg(long, value_name = "STAGE", value_parser = super::stage_parser(|_| true))]
    from: Option<StageId>,
    /// Go on as a service, a round each run.every of the settings
    #[arg(long = "loop")]
    looping: bool,
    /// How far apart rounds begin, such as 15m [default: run.every of the settings, 1h]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, requires = "looping")]
    every: Option<Duration>,
    /// The time for all stages together, such as 50m [default: run.total of the settings, no limit]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time)]
    time_limit: Option<Duration>,
}

impl Args {
    fn options(&self) -> RoundOptions {
        RoundOptions { from: self.from, time_limit: self.time_limit }
    }
}

/// The outcome of a run that found another one at work.
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
        writeln!(f, "nothing done: another run is at work in {}{by}", self.home)
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

/// Goes through the stages once and prints what came of each as it ends.
fn one_round(
    args: &Args,
    pipeline: &tidings_pipeline::Pipeline,
    global: &Global,
    before: &dyn Fn(&str),
) -> Result<RoundOutcome> {
    round::run_round(pipeline, &args.options(), before, &|stage, ended| match ended {
        RoundStage::Ended(outcome) if !global.json => {
            let text = outcome.to_string();
            console::print(&text.lines().map(|line| format!("{stage:<9} {line}\n")).collect::<String>());
        }
        _ => {}
    })
}
