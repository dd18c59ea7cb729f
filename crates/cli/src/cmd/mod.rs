//! The commands, one file each: arguments in, one call, rendering out.

pub mod annotate;
pub mod audit;
pub mod backup;
pub mod clean;
pub mod compile;
pub mod config;
pub mod crawl;
pub mod dedup;
pub mod demo;
pub mod digest;
pub mod discover;
pub mod doctor;
pub mod export;
pub mod extract;
pub mod feed;
pub mod fetch;
pub mod help;
pub mod import;
pub mod init;
pub mod lang;
pub mod licenses;
pub mod merge;
pub mod models;
pub mod pages;
pub mod pairs;
pub mod plan;
pub mod prune;
pub mod query;
pub mod rebuild;
pub mod remove;
pub mod report;
pub mod restore;
pub mod revisions;
pub mod run;
pub mod searches;
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
use tidings_pipeline::stage::{Stage, StageId, StageOutcome};
use tidings_store::Home;

use crate::args::Global;
use crate::{console, signals};

/// The output and the exit status of a command.
#[derive(Debug, Default)]
pub struct Report {
    /// Output without `--json`.
    pub text: String,
    /// Output with `--json`; null if everything is printed already.
    pub json: Value,
    /// Exit code 1: not done.
    pub failed: bool,
    /// Exit code 3: done except for items that were reported, or an answer that was cut off.
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
    /// Rows as a table and as a JSON array.
    fn list(text: String, rows: &[impl Serialize]) -> Report {
        let json = serde_json::to_value(rows).expect("rows serialise");
        Report { text, json, ..Report::default() }
    }
}

/// The home of a command.
fn find_home(global: &Global) -> Result<Home> {
    Ok(match &global.home {
        Some(root) => Home::at(root)?,
        None => Home::find(&std::env::current_dir()?)?,
    })
}

/// The home of a command with its settings.
fn open_home(global: &Global) -> Result<(Home, Config)> {
    let home = find_home(global)?;
    let config = Config::of_home(&home)?;
    Ok((home, config))
}

/// A client for single downloads, with the settings of the home if there is one.
fn http_get(global: &Global, allow_private: Option<&[String]>) -> Result<HttpGet> {
    let client = match open_home(global) {
        Ok((home, config)) => HttpGet::new(config, Some(home.settings())),
        // A home given by --home must exist; otherwise none is needed.
        Err(error) if global.home.is_some() => return Err(error),
        Err(_) => HttpGet::new(Config::without_home(&|name| std::env::var(name).ok())?, None),
    };
    Ok(client.allow_private(allow_private.unwrap_or_default()))
}

/// A pipeline that signals cancel and whose progress the terminal shows.
fn open(global: &Global) -> Result<Pipeline> {
    let (home, config) = open_home(global)?;
    let pipeline = Pipeline::new(home, config);
    Ok(pipeline.with_reporter(console::reporter()).with_cancel(signals::cancel_token().clone()))
}

/// A pipeline of a command that any signal may end at once.
fn open_interruptible(global: &Global) -> Result<Pipeline> {
    let (home, config) = open_home(global)?;
    Ok(Pipeline::new(home, config).with_reporter(console::reporter()))
}

/// Runs a stage with the settings changed by flags.
fn run_stage(global: &Global, flags: &StepArgs, stage: &dyn Stage, config: impl FnOnce(&mut Config)) -> Result<Report> {
    let pipeline = flags.over(open(global)?);
    let mut settings = pipeline.config().clone();
    config(&mut settings);
    Ok(pipeline.with_config(settings).run(stage)?.into())
}

/// Prints the outcome of a stage that is one of several.
fn print_stage(global: &Global, stage: StageId, outcome: &StageOutcome) {
    if !global.json && !global.quiet {
        let text = outcome.to_string();
        console::print(&text.lines().map(|line| format!("{stage:<9} {line}\n")).collect::<String>());
    }
}

/// The flags of commands that crawl.
#[derive(Debug, Clone, clap::Args)]
pub struct CrawlArgs {
    /// Maximum number of hosts in parallel [default: setting fetch.concurrency, 500]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    concurrency: Option<u32>,
    /// Seconds between a response and the next request to its host [default: 5, feeds 3]
    #[arg(long, value_name = "SECONDS", value_parser = parse_delay)]
    delay: Option<f64>,
    /// Time limit, such as 90s, 30m or 2h; 0 is no limit [default: 55m]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time_limit: Option<Duration>,
    /// Allow requests to non-public IP addresses: all, or only these networks
    #[arg(long, value_name = "NETWORK", num_args = 0.., value_delimiter = ',', require_equals = true,
          default_missing_values = ["0.0.0.0/0", "::/0"])]
    allow_private: Option<Vec<String>>,
    /// Seed of the random order of pages [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Share of this process, such as 2/4; only the first of the processes sends requests
    #[arg(long, value_name = "I/N", default_value_t, hide_default_value = true)]
    shard: Shard,
}

impl CrawlArgs {
    /// Overrides the settings by these flags.
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
        _ => Err("expected a number of seconds from 0 to 86400".to_owned()),
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    text.parse::<Span>().map(|span| span.0)
}

/// The flags of stages that process day by day.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct StepArgs {
    /// Time after which no further day is started, such as 90s, 30m or 2h [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time_limit: Option<Duration>,
    /// Share of this process, such as 2/4; other processes do the others at the same time
    #[arg(long, value_name = "I/N", default_value_t, hide_default_value = true)]
    shard: Shard,
}

impl StepArgs {
    fn over(&self, pipeline: Pipeline) -> Pipeline {
        pipeline.with_time_limit(self.time_limit).with_shard(self.shard)
    }
}

/// A parser of the names of stages that `is_accepted`; the help lists them.
fn stage_parser(is_accepted: impl Fn(&dyn Stage) -> bool) -> impl clap::builder::TypedValueParser<Value = StageId> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    let stages = StageId::ALL.iter().filter(|id| is_accepted(id.stage().as_ref())).map(|id| id.name());
    PossibleValuesParser::new(stages.collect::<Vec<_>>())
        .map(|name| name.parse().expect("only names of stages are possible"))
}
