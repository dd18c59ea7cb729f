//! The verbs, one file each.

pub mod annotate;
pub mod ask;
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
pub mod models;
pub mod pages;
pub mod plan;
pub mod prune;
pub mod rebuild;
pub mod remove;
pub mod report;
pub mod restore;
pub mod run;
pub mod serve;
pub mod shell;
pub mod status;
pub mod tag;
pub mod token;
pub mod tokenize;
pub mod update;
mod web;
pub mod why;

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Result, bail};
use jiff::Timestamp;
use serde_json::Value;
use tidings_fetch::{HostQueue, PolicyKind, PolicyResponse};
use tidings_model::address;
use tidings_store::{Home, hosts, rules};

use crate::args::Global;
use crate::config::{Config, Span};
use crate::console::{count, span};
use crate::intake::{Harvested, Tally};
use crate::session::{Session, Stop, elapsed};

/// How a verb ended: what to print, and whether its work was done.
#[derive(Debug, Default)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For programs; null if all has been said already.
    pub json: Value,
    /// Whether the work was not done although nothing is broken.
    pub failed: bool,
    /// Whether it was done but for some things, each of which was named with its reason.
    pub partly: bool,
}

/// The home a verb works in, with its settings.
fn open_home(global: &Global) -> Result<(Home, Config)> {
    let home = match &global.home {
        Some(root) => Home::at(root)?,
        None => Home::find(&std::env::current_dir()?)?,
    };
    let config = Config::load(&home.settings(), &|name| std::env::var(name).ok())?;
    Ok((home, config))
}

/// What `update` and `fetch` have in common on the command line.
#[derive(Debug, Clone, clap::Args)]
pub struct HarvestArgs {
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
}

impl HarvestArgs {
    /// The settings with these flags put over them.
    fn over(&self, config: &Config) -> Result<Config> {
        let mut config = config.clone();
        if let Some(concurrency) = self.concurrency {
            config.fetch.concurrency = concurrency as usize;
        }
        if let Some(delay) = self.delay {
            (config.fetch.delay_s, config.fetch.feed_delay_s) = (delay, delay);
        }
        if let Some(networks) = &self.allow_private {
            config.fetch.allow_private.extend(networks.iter().cloned());
        }
        if let Some(limit) = self.time_limit {
            config.fetch.time_limit_min = limit.as_secs_f64() / 60.0;
        }
        Ok(config)
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| fastrand::u64(..))
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

/// What stages of text have in common on the command line.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct StepArgs {
    /// Begin no further day after this long, such as 90s, 30m or 2h; 0 is no limit [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time_limit: Option<Duration>,
}

/// What is left of the time a run may take, reading a large plan included.
fn time_left(session: &Session) -> Option<Duration> {
    let minutes = session.config.fetch.time_limit_min;
    let limit = (minutes > 0.0).then(|| Duration::from_secs_f64(minutes * 60.0));
    limit.map(|limit| limit.saturating_sub(session.began.elapsed()))
}

/// Whoever asks the public Internet says who they are.
fn require_contact<'a>(config: &Config, home: &Home, hosts: impl Iterator<Item = &'a str>) -> Result<()> {
    match asked_without_contact(config, hosts) {
        Some(host) => bail!(
            "nobody would know who asks {host}: set `contact` in the [fetch] table of {} to a web page or mail \
             address that publishers can turn to",
            home.settings().display()
        ),
        None => Ok(()),
    }
}

/// A public host that would not learn who asks it.
fn asked_without_contact<'a>(config: &Config, mut hosts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let is_local = |host: &str| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || bare.parse().is_ok_and(|ip: std::net::IpAddr| !tidings_fetch::guard::is_public(ip))
    };
    let named = !config.fetch.contact.trim().is_empty() || config.fetch.user_agent.contains(['@', '+']);
    hosts.find(|host| !named && !is_local(host))
}

/// What is known about hosts, so that this run is polite towards what earlier ones did.
struct HostMemory {
    states: HashMap<String, (Option<Duration>, Option<Duration>)>,
    /// How long all hosts have been idle, since a crash that kept no record of the last requests.
    everybody: Option<Duration>,
}

impl HostMemory {
    /// Loads what is known about the hosts to be asked, and about others that were asked just now
    /// or want to be left alone: a redirect may lead there.
    fn load(session: &Session, is_asked: impl Fn(&str) -> bool) -> Result<HostMemory> {
        let now = session.started;
        let longest_pause = Duration::from_secs_f64(session.config.fetch.max_crawl_delay_s.max(60.0));
        let mut memory = HostMemory { states: HashMap::new(), everybody: None };
        hosts::read(&session.home, |state| {
            let idle_for = state.last_request.parse::<Timestamp>().ok().map(|last| elapsed(last, now));
            let blocked_for = state.not_before.parse::<Timestamp>().ok().map(|until| elapsed(now, until));
            let blocked_for = blocked_for.filter(|wait| !wait.is_zero());
            let matters = blocked_for.is_some() || idle_for.is_some_and(|idle_for| idle_for < longest_pause);
            if state.host == hosts::EVERYBODY {
                memory.everybody = idle_for;
            } else if matters || is_asked(&state.host) {
                memory.states.insert(state.host, (idle_for, blocked_for));
            }
        })?;
        Ok(memory)
    }

    /// The queues of a run, and empty ones for the other hosts that must not be asked too soon.
    fn queues(mut self, jobs: impl IntoIterator<Item = (String, Vec<u32>)>) -> Vec<HostQueue> {
        let mut queues = Vec::new();
        for (host, jobs) in jobs {
            let (idle_for, blocked_for) = self.states.remove(&host).unwrap_or_default();
            let idle_for = idle_for.into_iter().chain(self.everybody).min();
            queues.push(HostQueue { host, jobs, idle_for, blocked_for });
        }
        let others = self.states.into_iter();
        queues.extend(others.map(|(host, (idle_for, blocked_for))| HostQueue {
            host,
            jobs: Vec::new(),
            idle_for,
            blocked_for,
        }));
        // The same order on every machine, so that a seed means the same everywhere.
        queues.sort_by(|a, b| a.host.cmp(&b.host));
        queues
    }
}

/// Rules of these hosts that are still good.
fn remembered_rules(session: &Session, is_asked: impl Fn(&str) -> bool) -> Result<Vec<PolicyResponse>> {
    let max_age = Duration::from_secs_f64(session.config.fetch.robots_max_age_h * 3600.0);
    let mut remembered = Vec::new();
    let wanted = |answer: &rules::RulesAnswer| {
        let fetched = answer.fetched.parse::<Timestamp>().ok();
        // An answer from the future is from a wrong clock: ask again.
        let fresh = fetched.is_some_and(|at| at <= session.started && elapsed(at, session.started) < max_age);
        fresh && address::host(&answer.origin).is_some_and(&is_asked)
    };
    rules::read(&session.home, wanted, |answer| {
        let Ok(fetched) = answer.fetched.parse() else { return };
        remembered.push(PolicyResponse {
            origin: answer.origin,
            kind: if answer.kind == "robots" { PolicyKind::Robots } else { PolicyKind::Tdmrep },
            fetched,
            status: Ok(answer.status),
            digest: answer.digest,
            body: answer.body.map(String::into_bytes),
        });
    })?;
    Ok(remembered)
}

/// How a harvest ended, in words, and whether that counts as done.
fn ending(session: &Session, harvested: &Harvested) -> (String, bool) {
    let left = match harvested.left {
        0 => String::new(),
        left => format!("; {left} left for a later run"),
    };
    if harvested.offline {
        return (
            "; no host answered at all, so the network seems to be down and nothing was recorded".to_owned(),
            true,
        );
    }
    ended_early(session, left)
}

/// What a stage of text has left to do, in words.
fn days_left(left: u64) -> String {
    if left == 0 { String::new() } else { format!("; {} left for a later run", count(left, "day")) }
}

/// What `ending` says of any stage, given what it left.
fn ended_early(session: &Session, left: String) -> (String, bool) {
    match session.stopper.reason() {
        None => (left, false),
        Some(Stop::TimeLimit) => (format!("{left}, the time limit was reached"), false),
        Some(Stop::Signal(name)) => (format!("{left}, stopped by {name}"), true),
        Some(Stop::DiskFull) => {
            let least = session.config.store.min_free_mib;
            (format!("{left}, stopped because the disk has less than {least} MiB free (store.min_free_mib)"), true)
        }
        Some(Stop::Failure) => (left, true),
    }
}

/// `9 failed (6 timeout, 3 404)`.
fn failures(tally: &Tally, except: &[&str]) -> (u64, String) {
    let mut rows: Vec<(&String, &u64)> = tally.0.iter().filter(|row| !except.contains(&row.0.as_str())).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(*row.1), row.0.clone()));
    let total = rows.iter().map(|row| row.1).sum();
    let listed: Vec<String> = rows.iter().map(|(word, number)| format!("{number} {word}")).collect();
    (total, listed.join(", "))
}

fn took(session: &Session) -> String {
    span(session.began.elapsed())
}

/// Says which hosts were given up, a few of them by name.
fn mention_given_up(harvested: &Harvested) {
    let given_up = &harvested.outcome.given_up;
    for (host, reason) in given_up.iter().take(5) {
        log::info!("{host} was left for a later run: {reason}");
    }
    if given_up.len() > 5 {
        log::info!("… and {} more", count(given_up.len() as u64 - 5, "host"));
    }
}
