//! The commands, one file each: arguments in, one call, rendering out.

pub mod annotate;
pub mod audit;
pub mod backup;
pub mod clean;
pub mod compile;
pub mod config;
pub mod dedup;
pub mod demo;
pub mod digest;
pub mod discover;
pub mod doctor;
pub mod export;
pub mod extract;
pub mod feed;
pub mod fetch;
pub mod import;
pub mod init;
pub mod lang;
pub mod merge;
pub mod models;
pub mod pages;
pub mod plan;
pub mod prune;
pub mod query;
pub mod rebuild;
pub mod remove;
pub mod report;
pub mod restore;
pub mod run;
pub mod serve;
pub mod shell;
pub mod status;
mod stream;
pub mod tag;
pub mod token;
pub mod tokenize;
pub mod update;
pub mod why;

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use tidings_pipeline::Pipeline;
use tidings_pipeline::config::{Config, Span};
use tidings_pipeline::http_get::HttpGet;
use tidings_pipeline::outcome::{Outcome, Status};
use tidings_pipeline::shard::Shard;
use tidings_pipeline::stage::{Stage, StageId};
use tidings_store::Home;

use crate::args::Global;
use crate::{console, signals};

/// What a command prints, and whether its work was done.
#[derive(Debug, Default)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For programs; null if all has been printed already.
    pub json: Value,
    /// Whether the work was not done although nothing is broken.
    pub failed: bool,
    /// Whether it was done but for some things, each of which was named with its reason.
    pub partly: bool,
}

impl<T: Outcome> From<T> for Report {
    fn from(outcome: T) -> Report {
        Report {
            text: outcome.to_string(),
            json: serde_json::to_value(&outcome).expect("outcomes serialise"),
            failed: outcome.status() == Status::NotDone,
            partly: outcome.status() == Status::Partly,
        }
    }
}

impl Report {
    /// Rows with their table.
    fn list(text: String, rows: &[impl Serialize]) -> Report {
        let json = serde_json::to_value(rows).expect("rows serialise");
        Report { text, json, ..Report::default() }
    }
}

/// The home a command works in.
fn find_home(global: &Global) -> Result<Home> {
    Ok(match &global.home {
        Some(root) => Home::at(root)?,
        None => Home::find(&std::env::current_dir()?)?,
    })
}

/// The home a command works in, with its settings.
fn open_home(global: &Global) -> Result<(Home, Config)> {
    let home = find_home(global)?;
    let config = Config::of_home(&home)?;
    Ok((home, config))
}

/// A client for a few documents, with the settings of the home if there is one.
fn http_get(global: &Global, allow_private: Option<&[String]>) -> Result<HttpGet> {
    let client = match open_home(global) {
        Ok((home, config)) => HttpGet::new(config, Some(home.settings())),
        // A home that was named must be there; otherwise none is needed.
        Err(error) if global.home.is_some() => return Err(error),
        Err(_) => HttpGet::new(Config::without_home(&|name| std::env::var(name).ok())?, None),
    };
    Ok(client.allow_private(allow_private.unwrap_or_default()))
}

/// The home a command works in, opened for work that signals cancel and the terminal shows.
fn open(global: &Global) -> Result<Pipeline> {
    let (home, config) = open_home(global)?;
    let pipeline = Pipeline::new(home, config);
    Ok(pipeline.with_reporter(console::reporter()).with_cancel(signals::cancel_token().clone()))
}

/// The home of a command that a signal may end at any moment, as signals usually do.
fn open_interruptible(global: &Global) -> Result<Pipeline> {
    let (home, config) = open_home(global)?;
    Ok(Pipeline::new(home, config).with_reporter(console::reporter()))
}

/// Runs a stage with settings that flags were put over.
fn run_stage(global: &Global, flags: &StepArgs, stage: &dyn Stage, config: impl FnOnce(&mut Config)) -> Result<Report> {
    let pipeline = flags.over(open(global)?);
    let mut settings = pipeline.config().clone();
    config(&mut settings);
    Ok(pipeline.with_config(settings).run(stage)?.into())
}

/// The flags of commands that crawl.
#[derive(Debug, Clone, clap::Args)]
pub struct CrawlArgs {
    /// Hosts asked at the same time [default: fetch.concurrency of the settings, 500]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    concurrency: Option<u32>,
    /// Seconds between an answer and the next request to its host [default: 5, feeds 3]
    #[arg(long, value_name = "SECONDS", value_parser = parse_delay)]
    delay: Option<f64>,
    /// End the run after this long, such as 90s, 30m or 2h; 0 is no limit [default: 55m]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time_limit: Option<Duration>,
    /// Ask non-public addresses too: all of them, or the given networks
    #[arg(long, value_name = "NETWORK", num_args = 0.., value_delimiter = ',', require_equals = true,
          default_missing_values = ["0.0.0.0/0", "::/0"])]
    allow_private: Option<Vec<String>>,
    /// A number that fixes the random order of pages [default: another one each run]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// One of N processes that share the work of all stages; the first of them asks the web
    #[arg(long, value_name = "I/N", default_value_t, hide_default_value = true)]
    shard: Shard,
}

impl CrawlArgs {
    /// The settings with these flags put over them.
    fn over(&self, config: &mut Config) {
        if let Some(concurrency) = self.concurrency {
            config.fetch.concurrency = concurrency as usize;
        }
        if let Some(delay) = self.delay {
            (config.fetch.delay_s, config.fetch.feed_delay_s) = (delay, delay);
        }
        if let Some(networks) = &self.allow_private {
            config.fetch.allow_private.extend(networks.iter().cloned());
        }
    }

    fn steps(&self) -> StepArgs {
        StepArgs { time_limit: self.time_limit, shard: self.shard }
    }
}

fn parse_delay(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("give a number of seconds from 0 to 86400".to_owned()),
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    text.parse::<Span>().map(|span| span.0)
}

/// The flags of stages that work day by day.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct StepArgs {
    /// Begin no further day after this long, such as 90s, 30m or 2h; 0 is no limit [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time_limit: Option<Duration>,
    /// Do one part of the work, such as 2/4; other processes may do the others at the same time
    #[arg(long, value_name = "I/N", default_value_t, hide_default_value = true)]
    shard: Shard,
}

impl StepArgs {
    fn over(&self, pipeline: Pipeline) -> Pipeline {
        pipeline.with_time_limit(self.time_limit).with_shard(self.shard)
    }
}

/// Reads the name of a stage that `is_wanted`, and lists the names in the help.
fn stage_parser(is_wanted: impl Fn(&dyn Stage) -> bool) -> impl clap::builder::TypedValueParser<Value = StageId> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    let stages = StageId::ALL.iter().filter(|id| is_wanted(id.stage().as_ref())).map(|id| id.name());
    PossibleValuesParser::new(stages.collect::<Vec<_>>())
        .map(|name| name.parse().expect("only names of stages are possible"))
}
