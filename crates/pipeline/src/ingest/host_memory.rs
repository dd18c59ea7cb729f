//! What earlier runs know about hosts, so that this one is polite too.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Result, bail};
use jiff::Timestamp;
use tidings_fetch::{HostQueue, PolicyKind, PolicyResponse};
use tidings_model::address;
use tidings_store::{Home, hosts, rules};

use crate::config::Config;
use crate::context::{RunContext, elapsed};

/// Refuses to ask public hosts without a contact that publishers can turn to.
pub fn require_contact<'a>(config: &Config, home: &Home, hosts: impl Iterator<Item = &'a str>) -> Result<()> {
    match asked_without_contact(config, hosts) {
        Some(host) => bail!(
            "{host} would not learn who asks: set `contact` in the [fetch] table of {} to a web page or mail \
             address that publishers can turn to",
            home.settings().display()
        ),
        None => Ok(()),
    }
}

/// A public host that would not learn who asks it.
pub fn asked_without_contact<'a>(config: &Config, mut hosts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let is_local = |host: &str| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || bare.parse().is_ok_and(|ip: std::net::IpAddr| !tidings_fetch::guard::is_public(ip))
    };
    let named = !config.fetch.contact.trim().is_empty() || config.fetch.user_agent.contains(['@', '+']);
    hosts.find(|host| !named && !is_local(host))
}

/// The times at which hosts were asked, and want to be asked again.
pub struct HostMemory {
    states: HashMap<String, (Option<Duration>, Option<Duration>)>,
    /// The time since a crash that kept no record of the last requests: all hosts count as asked then.
    pub everybody: Option<Duration>,
}

impl HostMemory {
    /// Loads the state of the hosts to be asked, and of others that were asked just now
    /// or want to be left alone: a redirect may lead there.
    pub fn load(context: &RunContext, is_asked: impl Fn(&str) -> bool) -> Result<HostMemory> {
        let now = context.started;
        let longest_pause = Duration::from_secs_f64(context.config.fetch.max_crawl_delay_s.max(60.0));
        let mut memory = HostMemory { states: HashMap::new(), everybody: None };
        hosts::read(&context.home, |state| {
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
    pub fn queues(mut self, jobs: impl IntoIterator<Item = (String, Vec<u32>)>) -> Vec<HostQueue> {
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

/// The robots.txt and tdmrep answers of these hosts that are still fresh.
pub fn remembered_rules(context: &RunContext, is_asked: impl Fn(&str) -> bool) -> Result<Vec<PolicyResponse>> {
    let max_age = Duration::from_secs_f64(context.config.fetch.robots_max_age_h * 3600.0);
    let mut remembered = Vec::new();
    let wanted = |answer: &rules::RulesAnswer| {
        let fetched = answer.fetched.parse::<Timestamp>().ok();
        // An answer from the future is from a wrong clock: ask again.
        let fresh = fetched.is_some_and(|at| at <= context.started && elapsed(at, context.started) < max_age);
        fresh && address::host(&answer.origin).is_some_and(&is_asked)
    };
    rules::read(&context.home, wanted, |answer| {
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
