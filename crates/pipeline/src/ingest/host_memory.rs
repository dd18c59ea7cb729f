//! State of hosts from earlier runs, so that delays hold across runs.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Result, bail};
use jiff::Timestamp;
use tidings_fetch::{CrawlKind, HostQueue, PolicyKind, PolicyResponse};
use tidings_model::address;
use tidings_store::failures::host_backoff_until;
use tidings_store::{Home, hosts, rules};

use crate::config::Config;
use crate::context::{RunContext, elapsed};

/// Rejects requests to public hosts if no contact is set.
pub fn require_contact<'a>(config: &Config, home: &Home, hosts: impl Iterator<Item = &'a str>) -> Result<()> {
    match asked_without_contact(config, hosts) {
        Some(host) => bail!(
            "no contact set: set `contact` in the [fetch] table of {} to a web page or an email \
             address for publishers (required before fetching from {host})",
            home.settings().display()
        ),
        None => Ok(()),
    }
}

/// The first public host, if the user agent has no contact.
pub fn asked_without_contact<'a>(config: &Config, mut hosts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let is_local = |host: &str| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let fixed = config.fetch.hosts.get(host).map(|address| address.ip());
        host == "localhost"
            || fixed.or_else(|| bare.parse().ok()).is_some_and(|ip| !tidings_fetch::guard::is_public(ip))
    };
    let named = !config.fetch.contact.trim().is_empty() || config.fetch.user_agent.contains(['@', '+']);
    hosts.find(|host| !named && !is_local(host))
}

/// The times of the last requests to hosts, and their Retry-After times.
pub struct HostMemory {
    states: HashMap<String, (Option<Duration>, Option<Duration>)>,
    /// The time since a crash that lost the last requests: all hosts count as contacted at that time.
    pub all_hosts_idle_for: Option<Duration>,
}

impl HostMemory {
    /// Loads the state of the hosts to be contacted, and of other hosts that were contacted recently or sent
    /// Retry-After: a redirect may lead to them. For pages, hosts that failed wait for the end of their backoff.
    pub fn load(context: &RunContext, kind: CrawlKind, is_asked: impl Fn(&str) -> bool) -> Result<HostMemory> {
        let now = context.started;
        let longest_pause = Duration::from_secs_f64(context.config.fetch.max_crawl_delay_s.max(60.0));
        let mut memory = HostMemory { states: HashMap::new(), all_hosts_idle_for: None };
        hosts::read(&context.home, |state| {
            // A request in the future comes from a clock that was ahead: the host gets one full delay.
            let idle_for = state.last_request.parse::<Timestamp>().ok().map(|last| elapsed(last, now));
            let backoff = match (kind, state.last_failure.parse()) {
                (CrawlKind::Page, Ok(last)) => host_backoff_until(state.failures, last, now),
                _ => None,
            };
            let blocked_for = state.blocked_until(now).max(backoff).map(|until| elapsed(now, until));
            let matters = blocked_for.is_some() || idle_for.is_some_and(|idle_for| idle_for < longest_pause);
            if state.host == hosts::ALL_HOSTS {
                memory.all_hosts_idle_for = idle_for.filter(|_| !state.is_ahead_of(now));
            } else if matters || is_asked(&state.host) {
                memory.states.insert(state.host, (idle_for, blocked_for));
            }
        })?;
        Ok(memory)
    }

    /// The queues of a run, and empty ones for other hosts with a running delay.
    pub fn queues(self, jobs: impl IntoIterator<Item = (String, Vec<u32>)>) -> Vec<HostQueue> {
        self.queues_with_later(jobs.into_iter().map(|(host, jobs)| (host, jobs, Vec::new())))
    }

    /// The same with jobs that follow when all others of their host were sent.
    pub fn queues_with_later(mut self, jobs: impl IntoIterator<Item = (String, Vec<u32>, Vec<u32>)>) -> Vec<HostQueue> {
        let mut queues = Vec::new();
        for (host, jobs, later) in jobs {
            let (idle_for, blocked_for) = self.states.remove(&host).unwrap_or_default();
            let idle_for = idle_for.into_iter().chain(self.all_hosts_idle_for).min();
            queues.push(HostQueue { host, jobs, later, idle_for, blocked_for });
        }
        let others = self.states.into_iter();
        queues.extend(others.map(|(host, (idle_for, blocked_for))| HostQueue {
            host,
            jobs: Vec::new(),
            later: Vec::new(),
            idle_for,
            blocked_for,
        }));
        // Sorted, so that the same seed gives the same order on every machine.
        queues.sort_by(|a, b| a.host.cmp(&b.host));
        queues
    }
}

/// The cached robots.txt and tdmrep responses of these hosts.
pub fn remembered_rules(context: &RunContext, is_asked: impl Fn(&str) -> bool) -> Result<Vec<PolicyResponse>> {
    let max_age = Duration::from_secs_f64(context.config.fetch.robots_max_age_h * 3600.0);
    let mut remembered = Vec::new();
    let wanted = |answer: &rules::RulesAnswer| {
        let fetched = answer.fetched.parse::<Timestamp>().ok();
        // A response with a future date comes from a wrong clock and is requested again.
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

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_store::hosts::HostState;
    use tidings_store::journal::{JournalBatch, Record};

    use crate::testing::{apply, context, home};

    fn with_hosts(rows: &[(&str, &str, &str)]) -> (tempfile::TempDir, RunContext) {
        let (folder, pipeline) = home();
        let mut batch = JournalBatch::default();
        for (host, last_request, not_before) in rows {
            batch.push(&Record::Host(Box::new(HostState {
                host: (*host).to_owned(),
                last_request: (*last_request).to_owned(),
                not_before: (*not_before).to_owned(),
                ..HostState::default()
            })));
        }
        apply(pipeline.home(), "20260301T100000000Z-update", batch);
        let mut context = context(&pipeline);
        context.started = "2026-03-01T12:00:00Z".parse().unwrap();
        (folder, context)
    }

    #[test]
    fn hosts_of_the_run_and_hosts_with_a_running_delay_are_loaded() {
        let (_folder, context) = with_hosts(&[
            ("asked.example", "2026-01-01T00:00:00Z", ""),
            ("idle.example", "2026-01-01T00:00:00Z", ""),
            ("recent.example", "2026-03-01T11:59:50Z", ""),
            ("blocked.example", "2026-01-01T00:00:00Z", "2026-03-01T13:00:00Z"),
            ("forgiven.example", "2026-01-01T00:00:00Z", "2026-03-01T11:00:00Z"),
        ]);
        let memory = HostMemory::load(&context, CrawlKind::Page, |host| host == "asked.example").unwrap();
        let queues = memory.queues([("asked.example".to_owned(), vec![0, 1])]);
        let hosts: Vec<&str> = queues.iter().map(|queue| queue.host.as_str()).collect();
        assert_eq!(hosts, ["asked.example", "blocked.example", "recent.example"]);
        assert_eq!(queues[0].jobs, [0, 1]);
        assert_eq!(queues[1].blocked_for, Some(Duration::from_secs(3600)));
        assert_eq!((queues[2].idle_for, queues[2].jobs.len()), (Some(Duration::from_secs(10)), 0));
    }

    #[test]
    fn a_host_that_failed_waits_for_its_backoff_with_pages_and_not_with_feeds() {
        let (_folder, context) = with_hosts(&[]);
        let mut batch = JournalBatch::default();
        for (host, failures) in [("a.example", 1), ("b.example", 9)] {
            batch.push(&Record::Host(Box::new(HostState {
                host: host.to_owned(),
                failures,
                last_failure: "2026-03-01T11:30:00Z".to_owned(),
                ..HostState::default()
            })));
        }
        apply(&context.home, "20260301T113000000Z-fetch", batch);
        let blocked_for = |kind| {
            let memory = HostMemory::load(&context, kind, |_| true).unwrap();
            let queues = memory.queues(["a.example", "b.example"].map(|host| (host.to_owned(), vec![0])));
            queues.iter().map(|queue| queue.blocked_for.map(|wait| wait.as_secs() / 60)).collect::<Vec<_>>()
        };
        assert_eq!(blocked_for(CrawlKind::Page), [None, Some(23 * 60 + 30)]);
        assert_eq!(blocked_for(CrawlKind::Feed), [None, None]);
    }

    #[test]
    fn a_host_noted_under_a_clock_that_was_ahead_is_not_blocked() {
        let (_folder, context) = with_hosts(&[
            ("ahead.example", "2027-03-01T12:00:00Z", "2027-03-01T12:00:05Z"),
            ("far.example", "2026-03-01T11:00:00Z", "2026-03-09T12:00:00Z"),
            (hosts::ALL_HOSTS, "2027-03-01T12:00:00Z", ""),
        ]);
        let memory = HostMemory::load(&context, CrawlKind::Page, |_| true).unwrap();
        assert_eq!(memory.all_hosts_idle_for, None);
        let queues = memory.queues(["ahead.example", "far.example"].map(|host| (host.to_owned(), vec![0])));
        assert!(queues.iter().all(|queue| queue.blocked_for.is_none()));
        assert_eq!(queues[0].idle_for, Some(Duration::ZERO), "it gets a full delay");
    }

    #[test]
    fn a_host_that_was_never_contacted_has_no_state() {
        let (_folder, context) = with_hosts(&[]);
        let queues = HostMemory::load(&context, CrawlKind::Page, |_| true)
            .unwrap()
            .queues([("new.example".to_owned(), vec![7])]);
        assert_eq!((queues.len(), queues[0].idle_for, queues[0].blocked_for), (1, None, None));
    }

    #[test]
    fn after_a_crash_every_host_counts_as_contacted_then() {
        let (_folder, context) = with_hosts(&[(hosts::ALL_HOSTS, "2026-03-01T11:59:00Z", "")]);
        let memory = HostMemory::load(&context, CrawlKind::Page, |_| false).unwrap();
        assert_eq!(memory.all_hosts_idle_for, Some(Duration::from_secs(60)));
        let queues = memory.queues([("new.example".to_owned(), vec![0])]);
        assert_eq!(queues[0].idle_for, Some(Duration::from_secs(60)));
    }

    #[test]
    fn a_public_host_is_not_contacted_without_a_contact_setting() {
        let (_folder, pipeline) = home();
        let mut config = Config::default();
        config.fetch.contact = String::new();
        let error = require_contact(&config, pipeline.home(), ["gazette.example"].into_iter()).unwrap_err().to_string();
        assert!(
            error.starts_with("no contact set: set `contact`") && error.contains("from gazette.example"),
            "{error}"
        );
        config.fetch.contact = "mailto:news@example.org".into();
        assert!(require_contact(&config, pipeline.home(), ["gazette.example"].into_iter()).is_ok());
    }

    #[test]
    fn local_hosts_need_no_contact() {
        let mut config = Config::default();
        config.fetch.contact = " ".into();
        let local = ["localhost", "127.0.0.1", "10.1.2.3", "[::1]"];
        assert_eq!(asked_without_contact(&config, local.into_iter()), None);
        assert_eq!(asked_without_contact(&config, ["127.0.0.1", "8.8.8.8"].into_iter()), Some("8.8.8.8"));
        config.fetch.hosts.insert("gazette.example".into(), ([127, 1, 0, 1], 80).into());
        assert_eq!(asked_without_contact(&config, ["gazette.example"].into_iter()), None);
    }

    #[test]
    fn a_user_agent_with_a_url_is_a_contact() {
        let mut config = Config::default();
        config.fetch.contact = String::new();
        config.fetch.user_agent = "Bot/1.0 (+https://example.org/bot)".into();
        assert_eq!(asked_without_contact(&config, ["gazette.example"].into_iter()), None);
    }

    #[test]
    fn policies_are_cached_while_fresh_and_not_from_the_future() {
        let (folder, pipeline) = home();
        let mut batch = JournalBatch::default();
        let rows =
            [("fresh", "2026-03-01T11:00:00Z"), ("stale", "2026-01-01T00:00:00Z"), ("future", "2026-03-02T00:00:00Z")];
        for (name, fetched) in rows {
            let body = format!("User-agent: {name}");
            batch.push(&Record::Rules(Box::new(rules::RulesAnswer {
                origin: format!("https://{name}.example"),
                kind: "robots".into(),
                fetched: fetched.into(),
                status: 200,
                digest: rules::digest(body.as_bytes()),
                body: Some(body),
            })));
        }
        apply(pipeline.home(), "20260301T100000000Z-update", batch);
        let mut context = context(&pipeline);
        context.started = "2026-03-01T12:00:00Z".parse().unwrap();
        let remembered = remembered_rules(&context, |_| true).unwrap();
        assert_eq!(remembered.len(), 1);
        assert_eq!(remembered[0].origin, "https://fresh.example");
        assert_eq!(
            (remembered[0].kind, remembered[0].body.as_deref()),
            (PolicyKind::Robots, Some(&b"User-agent: fresh"[..]))
        );
        assert!(remembered_rules(&context, |host| host == "other.example").unwrap().is_empty());
        drop(folder);
    }
}
