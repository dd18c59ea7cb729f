//! `tidings run`: all stages, from the feeds to the index.

mod service;

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use tidings_pipeline::Pipeline;
use tidings_pipeline::outcome::Outcome;
use tidings_pipeline::round::{self, RoundOptions, RoundOutcome, RoundStage};
use tidings_pipeline::shard::Shard;
use tidings_pipeline::shard_round::{self, ShardOptions};
use tidings_pipeline::stage::StageId;
use tidings_store::Error;

use super::Report;
use crate::args::Global;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Stages: update, fetch, crawl (if the setting crawl.names names a crawl), clean, dedup, annotate, compile. The [run] settings give each a time limit. The command can be \
    started at any time, from cron or by hand: a second process exits with code 0 if one is running, and each stage resumes \
    where an earlier run stopped.\n\n\
    With --loop it runs as a service with systemd notifications (packaging/ has the unit): SIGHUP reloads the settings, SIGTERM \
    stops it within seconds.\n\n\
    With --shard, several processes do the stages from clean on together, also on several machines with a shared folder: each \
    does the days and languages of its shard, and a stage begins when the one before is complete in all shards. A process that \
    was killed is started again with the same command. `tidings status` shows who does what."
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
    /// Share of this process, such as 2/4; other processes do the others at the same time
    #[arg(long, value_name = "I/N", conflicts_with = "looping")]
    shard: Option<Shard>,
    /// Time to wait for days of other shards that no process is at work on
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = super::parse_time, requires = "shard")]
    wait: Duration,
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
    if let Some(shard) = args.shard.filter(|shard| !shard.is_whole()) {
        return one_shard(args, pipeline.with_shard(shard), global);
    }
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

/// Does the part of one of several processes.
fn one_shard(args: &Args, pipeline: Pipeline, global: &Global) -> Result<Report> {
    let options = ShardOptions {
        from: args.from,
        stages: args.stages.clone(),
        time_limit: Some(args.time_limit.unwrap_or(pipeline.config().run.total.0)),
        wait: args.wait,
    };
    let print = |stage, outcome: &_| super::print_stage(global, stage, outcome);
    Ok(shard_round::run_shard(&pipeline, &options, &print)?.into())
}

/// Runs the stages once and prints the outcome of each.
fn one_round(args: &Args, pipeline: &Pipeline, global: &Global, before: &dyn Fn(&str)) -> Result<RoundOutcome> {
    round::run_round(pipeline, &args.options(), before, &|stage, ended| {
        if let RoundStage::Ended(outcome) = ended {
            super::print_stage(global, stage, outcome);
        }
    })
}
