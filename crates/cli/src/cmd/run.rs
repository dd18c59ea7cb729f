//! `tidings run`: the corridor in one command, from the feeds to the index.
//!
//! Each stage is the very command that can be typed by itself, with its own record in `runs/`. A stage that
//! could not do its work does not keep the others from what is there: a network that is down is no reason
//! to leave yesterday's pages unread.

mod round;
mod service;

use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use tidings_store::Error;

use super::Report;
use crate::args::Global;
use round::{Round, STAGES};

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
    #[arg(long, value_name = "STAGE", value_parser = STAGES)]
    from: Option<String>,
    /// Go on for ever, a round each run.every of the settings
    #[arg(long = "loop")]
    looping: bool,
    /// How far apart rounds begin, such as 15m [default: run.every of the settings, 1h]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, requires = "looping")]
    every: Option<Duration>,
    /// The time for all stages together, such as 50m [default: run.total of the settings, no limit]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time)]
    time_limit: Option<Duration>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    // The home is looked for once, so that every stage works in the same one.
    let (home, _) = super::open_home(global)?;
    let _lock = match home.lock_rounds() {
        Ok(lock) => lock,
        Err(Error::Locked { root, pid }) => {
            let by = pid.as_ref().map(|pid| format!(" (process {pid})")).unwrap_or_default();
            let text = format!("nothing done: another run is at work in {}{by}\n", root.display());
            let json = json!({ "done": false, "running": true, "process": pid });
            return Ok(Report { text, json, ..Report::default() });
        }
        Err(error) => return Err(error.into()),
    };
    if args.looping { service::serve(args, &home, global) } else { Round::begin(args, &home, global)?.go(&|_| {}) }
}
