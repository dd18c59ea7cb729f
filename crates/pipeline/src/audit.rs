//! Audit: checks in the run logs that the crawler kept its politeness delays.
//!
//! For each host, the pause between the end of a response and the next request is compared with the required delay,
//! within runs and across runs. The audit reads nothing but the logs.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use tidings_model::Status as EntryStatus;
use tidings_store::Home;
use tidings_store::runs::{self, Request, RequestKind};

use crate::display::count;
use crate::outcome::{Outcome, Status};

/// The resolution of the timestamps in the log, which are truncated to milliseconds.
const ROUNDING_MS: i64 = 1;

/// Options of an audit.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only this many runs, counted from the newest.
    pub last: Option<usize>,
    /// Also list every host, the one with the shortest pause first.
    pub hosts: bool,
}

/// The requests to a host.
#[derive(Debug, Default)]
struct Host {
    requests: u64,
    /// The end of the last response and the delay required after it, in milliseconds since the epoch.
    last: Option<(i64, i64)>,
    smallest_gap_ms: Option<i64>,
    too_early: u64,
    overlapping: u64,
}

/// Counters of the audit.
#[derive(Debug, Default)]
struct Audit {
    hosts: HashMap<String, Host>,
    sums: AuditOutcome,
}

/// The requests of the audited runs, and whether they kept the delays.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AuditOutcome {
    /// Whether every delay was kept.
    pub done: bool,
    /// Audited runs.
    pub runs: u64,
    /// Hosts that were contacted.
    pub hosts: u64,
    /// Requests by kind.
    pub requests: BTreeMap<RequestKind, u64>,
    /// The shortest pause between two requests to the same host.
    pub smallest_gap_s: Option<f64>,
    /// The host with the shortest pause.
    pub smallest_gap_host: Option<String>,
    /// Requests sent before the delay was over.
    pub too_early: u64,
    /// Requests sent while another one to the same host was active.
    pub overlapping: u64,
    /// Requests for feeds with validators.
    pub feeds_conditional: u64,
    /// Conditional requests answered with 304.
    pub feeds_unchanged: u64,
    /// Requests that reused an open connection.
    pub connections_reused: u64,
    /// The age of the oldest robots.txt that was used.
    pub oldest_robots_s: u64,
    /// Requests for pages and feeds without a robots.txt.
    pub without_robots: u64,
    /// A line per host, if requested.
    #[serde(skip)]
    host_lines: String,
}

impl Outcome for AuditOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

/// Audits the runs of a home.
pub fn run(home: &Home, options: &Options) -> Result<AuditOutcome> {
    runs::check(home)?;
    let logged = runs::all(home)?;
    let skipped = options.last.map_or(0, |last| logged.len().saturating_sub(last));
    let mut audit = Audit::default();
    for run in &logged[skipped..] {
        audit.sums.runs += 1;
        let run = runs::requests(run)?;
        let began = run.began.map_or(0, Timestamp::as_millisecond);
        run.requests.into_iter().for_each(|request| audit.take(began, request));
    }
    Ok(audit.finish(options.hosts))
}

impl Audit {
    /// Adds the next request, in the order of the times at which they were sent.
    fn take(&mut self, began: i64, request: Request) {
        let (sent, ended) = (began + request.sent_ms as i64, began + request.ended_ms as i64);
        let sums = &mut self.sums;
        *sums.requests.entry(request.kind).or_default() += 1;
        sums.connections_reused += u64::from(request.reused);
        if request.kind == RequestKind::Feed {
            sums.feeds_conditional += u64::from(request.conditional);
            sums.feeds_unchanged += u64::from(request.status() == EntryStatus::Http(304));
        }
        if request.kind.needs_permission() {
            match request.robots_age_s {
                Some(age) => sums.oldest_robots_s = sums.oldest_robots_s.max(age),
                None => sums.without_robots += 1,
            }
        }
        let host = self.hosts.entry(request.host).or_default();
        host.requests += 1;
        if let Some((last, due)) = host.last {
            let gap = sent - last;
            host.smallest_gap_ms = Some(host.smallest_gap_ms.map_or(gap, |smallest| smallest.min(gap)));
            host.overlapping += u64::from(gap < -ROUNDING_MS);
            host.too_early += u64::from(gap + ROUNDING_MS < due);
        }
        host.last = Some((ended, request.delay_ms as i64));
    }

    fn finish(self, with_hosts: bool) -> AuditOutcome {
        let Audit { hosts, mut sums } = self;
        sums.too_early = hosts.values().map(|host| host.too_early).sum();
        sums.overlapping = hosts.values().map(|host| host.overlapping).sum();
        sums.done = sums.too_early + sums.overlapping == 0;
        let mut hosts: Vec<(String, Host)> = hosts.into_iter().collect();
        hosts.sort_by(|a, b| {
            let key = |(name, host): &(String, Host)| (host.smallest_gap_ms.unwrap_or(i64::MAX), name.clone());
            key(a).cmp(&key(b))
        });
        sums.hosts = hosts.len() as u64;
        if let Some((name, Host { smallest_gap_ms: Some(gap), .. })) = hosts.first() {
            sums.smallest_gap_s = Some(*gap as f64 / 1e3);
            sums.smallest_gap_host = Some(name.clone());
        }
        if with_hosts {
            let line = |(name, host): &(String, Host)| {
                let gap = host.smallest_gap_ms.map_or("-".to_owned(), |gap| format!("{:.3}", gap as f64 / 1e3));
                format!("{gap}\t{}\t{}\t{name}\n", host.requests, host.too_early)
            };
            sums.host_lines = hosts.iter().map(line).collect();
        }
        sums
    }
}

impl fmt::Display for AuditOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: u64 = self.requests.values().sum();
        let feeds = self.requests.get(&RequestKind::Feed).copied().unwrap_or(0);
        let percent = |part: u64, whole: u64| if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
        let (requests, hosts) = (count(total, "request"), count(self.hosts, "host"));
        writeln!(f, "{requests} to {hosts} in {}", count(self.runs, "run"))?;
        let mut kinds: Vec<(&str, u64)> = self.requests.iter().map(|(kind, number)| (kind.word(), *number)).collect();
        kinds.sort_unstable();
        kinds.iter().try_for_each(|(kind, number)| writeln!(f, "  {kind:<8} {number}"))?;
        match (self.smallest_gap_s, &self.smallest_gap_host) {
            (Some(gap), Some(host)) => {
                writeln!(f, "shortest pause between two requests to a host: {gap:.3} s ({host})")?;
            }
            _ => writeln!(f, "no host was contacted twice")?,
        }
        writeln!(f, "requests before the delay was over: {}", self.too_early)?;
        writeln!(f, "concurrent requests to the same host: {}", self.overlapping)?;
        let (conditional, unchanged) = (percent(self.feeds_conditional, feeds), percent(self.feeds_unchanged, feeds));
        writeln!(f, "feed requests with validators: {conditional:.1} %, answered with 304: {unchanged:.1} %")?;
        let reused = percent(self.connections_reused, total);
        writeln!(f, "requests over a reused connection: {reused:.1} %")?;
        let oldest_h = self.oldest_robots_s as f64 / 3600.0;
        writeln!(f, "oldest robots.txt used: {oldest_h:.1} h")?;
        writeln!(f, "pages and feeds requested without a robots.txt: {}", self.without_robots)?;
        f.write_str(&self.host_lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(sent_ms: u64, ended_ms: u64) -> Request {
        let (host, status) = ("e.org".to_owned(), "200".to_owned());
        Request { sent_ms, ended_ms, host, status, delay_ms: 5000, robots_age_s: Some(60), ..Request::default() }
    }

    fn audited(requests: impl IntoIterator<Item = (i64, Request)>) -> AuditOutcome {
        let mut audit = Audit::default();
        requests.into_iter().for_each(|(began, request)| audit.take(began, request));
        audit.finish(true)
    }

    #[test]
    fn a_pause_is_measured_from_the_end_of_a_response_also_across_runs() {
        let kept = audited([(0, request(0, 1000)), (0, request(6000, 6500)), (11_600, request(0, 10))]);
        assert!(kept.done);
        assert_eq!((kept.smallest_gap_s, kept.smallest_gap_host.as_deref()), (Some(5.0), Some("e.org")));
        assert!(kept.to_string().ends_with("5.000\t3\t0\te.org\n"));
        let hurried = audited([(0, request(0, 1000)), (0, request(5900, 6000))]);
        assert_eq!((hurried.done, hurried.too_early, hurried.overlapping), (false, 1, 0));
    }

    #[test]
    fn concurrent_requests_are_detected() {
        let outcome = audited([(0, request(0, 1000)), (0, request(500, 600))]);
        assert_eq!((outcome.overlapping, outcome.status()), (1, Status::NotDone));
    }

    #[test]
    fn only_pages_and_feeds_count_as_requested_without_robots() {
        let of = |kind| Request { kind, robots_age_s: None, ..request(0, 1) };
        let outcome = audited([(0, of(RequestKind::Robots)), (9000, of(RequestKind::Feed))]);
        assert_eq!(outcome.without_robots, 1);
        assert!(outcome.to_string().contains("  feed     1\n  robots   1\n"));
        assert_eq!(serde_json::to_value(&outcome).unwrap()["requests"]["feed"], 1);
    }

    #[test]
    fn the_host_contacted_too_early_is_listed_and_others_are_not() {
        let to = |host: &str, sent, ended| Request { host: host.into(), ..request(sent, ended) };
        let requests =
            [to("calm.org", 0, 10), to("rushed.org", 0, 10), to("rushed.org", 900, 950), to("calm.org", 6000, 6010)];
        let outcome = audited(requests.map(|request| (0, request)));
        assert_eq!((outcome.too_early, outcome.smallest_gap_host.as_deref()), (1, Some("rushed.org")));
        assert!(outcome.to_string().ends_with("0.890\t2\t1\trushed.org\n5.990\t2\t0\tcalm.org\n"), "{outcome}");
    }

    #[test]
    fn a_difference_of_one_millisecond_is_a_rounding_error() {
        let gap = |sent| audited([(0, request(0, 1000)), (0, request(sent, sent + 1))]).too_early;
        assert_eq!((gap(6000), gap(5999), gap(5998)), (0, 0, 1));
    }

    #[test]
    fn an_audit_without_requests_passes() {
        let (_folder, pipeline) = crate::test_home::empty();
        let outcome = run(pipeline.home(), &Options::default()).unwrap();
        assert_eq!((outcome.done, outcome.runs, outcome.hosts), (true, 0, 0));
        assert!(outcome.to_string().contains("no host was contacted twice"));
    }

    #[test]
    fn only_the_requested_number_of_newest_runs_is_audited() {
        let (_folder, pipeline) = crate::test_home::empty();
        for (second, sent) in [("01", 500), ("02", 9000)] {
            let began = format!("2026-03-01T10:00:{second}Z").parse().unwrap();
            let name = format!("{}-fetch", tidings_store::stamp(began));
            let mut log = runs::RunLog::create(pipeline.home(), &name).unwrap();
            log.push(&serde_json::json!({ "began": began })).unwrap();
            log.push(&request(0, 10)).unwrap();
            log.push(&request(sent, sent + 10)).unwrap();
            log.publish().unwrap();
        }
        let audit = |last| run(pipeline.home(), &Options { last, hosts: false }).unwrap();
        assert_eq!((audit(Some(1)).runs, audit(Some(1)).done), (1, true));
        assert_eq!((audit(None).runs, audit(None).done), (2, false));
        assert_eq!(audit(Some(9)).runs, 2);
    }
}
