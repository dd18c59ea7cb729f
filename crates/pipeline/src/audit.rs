//! Audit: checks in the run logs that the crawler kept its politeness delays.
//!
//! For each host and each IP address, the pause between the end of a response and the next request is compared with the
//! required delay, within runs and across runs. The audit reads nothing but the logs, and names the runs whose logs are
//! missing: about them it proves nothing.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::fmt;
use std::hash::Hash;
use std::net::IpAddr;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tidings_model::{Fingerprint, FingerprintMap, Status as EntryStatus, clock};
use tidings_store::runs::{self, LoggedRun, Request, RequestKind};
use tidings_store::{Home, missing_logs};

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
    /// The number of days for which logs are kept (`store.runs_days`); 0: for ever. Older ones are not missed.
    pub runs_days: u32,
}

/// The requests to a host or an IP address.
#[derive(Debug, Default)]
struct Requests {
    count: u64,
    /// The end of the last response and the delay required after it, in milliseconds since the epoch.
    last: Option<(i64, i64)>,
    smallest_gap_ms: Option<i64>,
    too_early: u64,
    overlapping: u64,
}

/// Counters of the audit.
#[derive(Debug, Default)]
struct Audit {
    hosts: HashMap<String, Requests>,
    addresses: HashMap<IpAddr, Requests>,
    /// The homes that asked each host for more than its policy files, and each IP address with a limit.
    askers: HashMap<String, BTreeSet<usize>>,
    address_askers: HashMap<IpAddr, BTreeSet<usize>>,
    /// The home that downloaded each page.
    pages: FingerprintMap<u32>,
    sums: AuditOutcome,
}

impl Requests {
    /// Adds a request with the delay that is required after it.
    fn take(&mut self, sent: i64, ended: i64, delay: i64) {
        self.count += 1;
        if let Some((last, due)) = self.last {
            let gap = sent - last;
            self.smallest_gap_ms = Some(self.smallest_gap_ms.map_or(gap, |smallest| smallest.min(gap)));
            self.overlapping += u64::from(gap < -ROUNDING_MS);
            self.too_early += u64::from(gap + ROUNDING_MS < due);
        }
        // Of two requests at once, the one that ends later counts.
        self.last = self.last.max(Some((ended, delay)));
    }
}

/// The rows of a table by their shortest pauses.
fn by_gap<K: Ord + Clone + Hash>(rows: HashMap<K, Requests>) -> Vec<(K, Requests)> {
    let mut rows: Vec<(K, Requests)> = rows.into_iter().collect();
    rows.sort_by_key(|(name, requests)| (requests.smallest_gap_ms.unwrap_or(i64::MAX), name.clone()));
    rows
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
    /// Requests that were sent, by kind.
    pub requests: BTreeMap<RequestKind, u64>,
    /// Attempts that sent no request: the name has no address, or no connection opened.
    pub unsent: u64,
    /// The shortest pause between two requests to the same host.
    pub smallest_gap_s: Option<f64>,
    /// The host with the shortest pause.
    pub smallest_gap_host: Option<String>,
    /// Requests sent before the delay was over.
    pub too_early: u64,
    /// Requests sent while another one to the same host was active.
    pub overlapping: u64,
    /// IP addresses that were contacted, without those in shared networks.
    pub addresses: u64,
    /// The shortest pause between two requests to the same IP address.
    pub smallest_ip_gap_s: Option<f64>,
    /// The IP address with the shortest pause.
    pub smallest_gap_ip: Option<IpAddr>,
    /// Requests sent before the pause of their IP address was over.
    pub ip_too_early: u64,
    /// Requests sent while another one to the same IP address was active.
    pub ip_overlapping: u64,
    /// Requests without a limit per IP address: of version 0.1.0, or to a shared network.
    pub without_ip_limit: u64,
    /// Runs that sent requests and whose logs are missing.
    pub missing_logs: Vec<String>,
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
    /// Homes whose logs were audited together; absent for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homes: Option<u64>,
    /// Hosts that several homes asked, for more than their policy files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts_of_several: Vec<String>,
    /// IP addresses with a limit that several homes asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses_of_several: Vec<IpAddr>,
    /// Pages that several homes downloaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pages_of_several: Vec<String>,
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
    let mut audit = Audit::default();
    for run in audit.runs(home, options)? {
        let run = runs::requests(&run)?;
        let began = run.began.map_or(0, Timestamp::as_millisecond);
        run.requests.into_iter().for_each(|request| audit.take(0, began, request));
    }
    Ok(audit.finish(options.hosts))
}

/// Audits the runs of several homes together, which share a harvest: also that no host was asked by two of them, and that
/// no page was downloaded by two.
pub fn run_all(homes: &[Home], options: &Options) -> Result<AuditOutcome> {
    let mut audit = Audit::default();
    let mut logged: Vec<(usize, LoggedRun)> = Vec::new();
    for (at, home) in homes.iter().enumerate() {
        logged.extend(audit.runs(home, options)?.into_iter().map(|run| (at, run)));
    }
    // Runs of different homes overlap, so their requests are merged by the times at which they were sent. Runs that
    // overlap with no other one are read one after the other.
    logged.sort_by_key(|(_, run)| run.began());
    let mut pending: BinaryHeap<Reverse<SentRequest>> = BinaryHeap::new();
    for (home, run) in logged {
        let run = runs::requests(&run)?;
        let began = run.began.map_or(0, Timestamp::as_millisecond);
        while let Some(Reverse(earliest)) = pending.peek()
            && earliest.sent < began
        {
            let Some(Reverse(request)) = pending.pop() else { break };
            audit.take(request.home, request.began, request.request);
        }
        let sent = |request: Request| SentRequest { sent: began + request.sent_ms as i64, home, began, request };
        pending.extend(run.requests.into_iter().map(sent).map(Reverse));
    }
    while let Some(Reverse(request)) = pending.pop() {
        audit.take(request.home, request.began, request.request);
    }
    audit.sums.homes = Some(homes.len() as u64);
    Ok(audit.finish(options.hosts))
}

/// A request of one of several homes.
#[derive(Debug)]
struct SentRequest {
    sent: i64,
    home: usize,
    began: i64,
    request: Request,
}

impl Ord for SentRequest {
    fn cmp(&self, other: &SentRequest) -> Ordering {
        (self.sent, self.home).cmp(&(other.sent, other.home))
    }
}

impl PartialOrd for SentRequest {
    fn partial_cmp(&self, other: &SentRequest) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SentRequest {
    fn eq(&self, other: &SentRequest) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SentRequest {}

/// The rows that more than one home has.
fn of_several<K: Ord + Clone>(askers: &HashMap<K, BTreeSet<usize>>) -> Vec<K> {
    let mut rows: Vec<K> = askers.iter().filter(|(_, homes)| homes.len() > 1).map(|(key, _)| key.clone()).collect();
    rows.sort_unstable();
    rows
}

/// The time since which every run must have a log.
fn first_expected(options: &Options, audited: &[LoggedRun]) -> Timestamp {
    let first_audited = audited.first().filter(|_| options.last.is_some()).map(LoggedRun::began);
    let first_kept = match options.runs_days {
        0 => Timestamp::MIN,
        days => clock::now() - SignedDuration::from_hours(24 * i64::from(days)),
    };
    first_audited.map_or(first_kept, |began| began.max(first_kept))
}

impl Audit {
    /// The runs of a home that are audited, oldest first.
    fn runs(&mut self, home: &Home, options: &Options) -> Result<Vec<LoggedRun>> {
        runs::check(home)?;
        let mut logged = runs::all(home)?;
        let skipped = options.last.map_or(0, |last| logged.len().saturating_sub(last));
        let logged = logged.split_off(skipped);
        self.sums.missing_logs.extend(missing_logs::missing(home, first_expected(options, &logged))?);
        self.sums.runs += logged.len() as u64;
        Ok(logged)
    }

    /// Adds the next request, in the order of the times at which they were sent.
    fn take(&mut self, home: usize, began: i64, request: Request) {
        let (sent, ended) = (began + request.sent_ms as i64, began + request.ended_ms as i64);
        let sums = &mut self.sums;
        if request.unsent {
            sums.unsent += 1;
            return;
        }
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
        self.note_home(home, &request);
        self.hosts.entry(request.host).or_default().take(sent, ended, request.delay_ms as i64);
        match (request.ip, request.ip_delay_ms) {
            (Some(ip), Some(delay)) => self.addresses.entry(ip).or_default().take(sent, ended, delay as i64),
            _ => self.sums.without_ip_limit += 1,
        }
    }

    /// Notes which home sent a request. A policy file may redirect to a host of another machine, where it is read.
    fn note_home(&mut self, home: usize, request: &Request) {
        if !matches!(request.kind, RequestKind::Page | RequestKind::Feed | RequestKind::Probe) {
            return;
        }
        self.askers.entry(request.host.clone()).or_default().insert(home);
        if let (Some(ip), Some(_)) = (request.ip, request.ip_delay_ms) {
            self.address_askers.entry(ip).or_default().insert(home);
        }
        if request.kind == RequestKind::Page && request.status() == EntryStatus::Http(200) {
            let known = *self.pages.entry(Fingerprint::of(&request.url)).or_insert(home as u32);
            if known as usize != home && !self.sums.pages_of_several.contains(&request.url) {
                self.sums.pages_of_several.push(request.url.clone());
            }
        }
    }

    fn finish(self, with_hosts: bool) -> AuditOutcome {
        let Audit { hosts, addresses, askers, address_askers, mut sums, .. } = self;
        (sums.hosts_of_several, sums.addresses_of_several) = (of_several(&askers), of_several(&address_askers));
        let doubles = sums.hosts_of_several.len() + sums.addresses_of_several.len() + sums.pages_of_several.len();
        sums.too_early = hosts.values().map(|host| host.too_early).sum();
        sums.overlapping = hosts.values().map(|host| host.overlapping).sum();
        sums.ip_too_early = addresses.values().map(|address| address.too_early).sum();
        sums.ip_overlapping = addresses.values().map(|address| address.overlapping).sum();
        let violations = sums.too_early + sums.overlapping + sums.ip_too_early + sums.ip_overlapping;
        sums.done = violations == 0 && doubles == 0 && sums.missing_logs.is_empty();
        let (hosts, addresses) = (by_gap(hosts), by_gap(addresses));
        (sums.hosts, sums.addresses) = (hosts.len() as u64, addresses.len() as u64);
        if let Some((name, Requests { smallest_gap_ms: Some(gap), .. })) = hosts.first() {
            sums.smallest_gap_s = Some(*gap as f64 / 1e3);
            sums.smallest_gap_host = Some(name.clone());
        }
        if let Some((ip, Requests { smallest_gap_ms: Some(gap), .. })) = addresses.first() {
            sums.smallest_ip_gap_s = Some(*gap as f64 / 1e3);
            sums.smallest_gap_ip = Some(*ip);
        }
        if with_hosts {
            let line = |(name, host): &(String, Requests)| {
                let gap = host.smallest_gap_ms.map_or("-".to_owned(), |gap| format!("{:.3}", gap as f64 / 1e3));
                format!("{gap}\t{}\t{}\t{name}\n", host.count, host.too_early)
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
        if self.unsent > 0 {
            writeln!(f, "attempts that sent no request (no address, no connection): {}", self.unsent)?;
        }
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
        self.fmt_addresses(f)?;
        let (conditional, unchanged) = (percent(self.feeds_conditional, feeds), percent(self.feeds_unchanged, feeds));
        writeln!(f, "feed requests with validators: {conditional:.1} %, answered with 304: {unchanged:.1} %")?;
        let reused = percent(self.connections_reused, total);
        writeln!(f, "requests over a reused connection: {reused:.1} %")?;
        let oldest_h = self.oldest_robots_s as f64 / 3600.0;
        writeln!(f, "oldest robots.txt used: {oldest_h:.1} h")?;
        writeln!(f, "pages and feeds requested without a robots.txt: {}", self.without_robots)?;
        if !self.missing_logs.is_empty() {
            let runs = self.missing_logs.join(", ");
            writeln!(f, "missing run logs, so that nothing is proven about their requests: {runs}")?;
        }
        if let Some(homes) = self.homes {
            let several: [(&str, Vec<String>); 3] = [
                ("hosts", self.hosts_of_several.clone()),
                ("IP addresses", self.addresses_of_several.iter().map(IpAddr::to_string).collect()),
                ("pages", self.pages_of_several.clone()),
            ];
            for (what, rows) in several {
                let number = rows.len();
                let named = if rows.is_empty() { String::new() } else { format!(": {}", first(&rows)) };
                writeln!(f, "{what} asked by several of {}: {number}{named}", count(homes, "home"))?;
            }
        }
        f.write_str(&self.host_lines)
    }
}

/// The first of some names.
fn first(rows: &[String]) -> String {
    const NAMED: usize = 5;
    let more = if rows.len() > NAMED { ", …" } else { "" };
    rows.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ") + more
}

impl AuditOutcome {
    fn fmt_addresses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.smallest_ip_gap_s, self.smallest_gap_ip) {
            (Some(gap), Some(ip)) => {
                writeln!(f, "shortest pause between two requests to an IP address: {gap:.3} s ({ip})")?;
            }
            _ => writeln!(f, "no IP address with a limit was contacted twice")?,
        }
        writeln!(f, "requests before the pause of their IP address was over: {}", self.ip_too_early)?;
        writeln!(f, "concurrent requests to the same IP address: {}", self.ip_overlapping)?;
        if self.without_ip_limit > 0 {
            let reason = "logged by version 0.1.0 or in shared networks";
            writeln!(f, "requests without a limit per IP address ({reason}): {}", self.without_ip_limit)?;
        }
        Ok(())
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
        requests.into_iter().for_each(|(began, request)| audit.take(0, began, request));
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
    fn two_names_of_one_address_must_keep_its_pause() {
        let to = |host: &str, ip: [u8; 4], sent, ended| Request {
            host: host.into(),
            ip: Some(ip.into()),
            ip_delay_ms: Some(500),
            ..request(sent, ended)
        };
        let (one, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        let kept =
            audited([to("a.org", one, 0, 100), to("c.org", other, 50, 60), to("b.org", one, 600, 700)].map(at_0));
        assert_eq!((kept.done, kept.addresses, kept.hosts), (true, 2, 3));
        assert_eq!((kept.smallest_ip_gap_s, kept.smallest_gap_ip), (Some(0.5), Some(one.into())));
        let early = audited([to("a.org", one, 0, 100), to("b.org", one, 400, 500)].map(at_0));
        assert_eq!((early.done, early.ip_too_early, early.ip_overlapping, early.too_early), (false, 1, 0, 0));
        let at_once = audited([to("a.org", one, 0, 100), to("b.org", one, 90, 200)].map(at_0));
        assert_eq!((at_once.ip_overlapping, at_once.overlapping, at_once.status()), (1, 0, Status::NotDone));
        let text = at_once.to_string();
        assert!(text.contains("concurrent requests to the same IP address: 1\n"), "{text}");
        let long = [to("a.org", one, 0, 900), to("b.org", one, 90, 200), to("c.org", one, 800, 950)];
        assert_eq!(audited(long.map(at_0)).ip_overlapping, 2, "the request that ends last counts");
    }

    fn at_0(request: Request) -> (i64, Request) {
        (0, request)
    }

    #[test]
    fn a_request_that_never_left_is_no_request() {
        let unsent = Request { unsent: true, status: "dns".to_owned(), robots_age_s: None, ..request(1100, 1200) };
        let outcome = audited([request(0, 1000), unsent].map(at_0));
        assert_eq!((outcome.done, outcome.unsent, outcome.requests[&RequestKind::Page]), (true, 1, 1));
        assert!(outcome.to_string().contains("sent no request (no address, no connection): 1\n"));
        assert_eq!(outcome.without_robots, 0);
    }

    #[test]
    fn a_missing_log_is_named_and_fails_the_audit() {
        let (_folder, pipeline) = crate::test_home::empty();
        let home = pipeline.home();
        for hour in ["10", "11", "12"] {
            let history = home.root().join("history");
            std::fs::create_dir_all(&history).unwrap();
            std::fs::write(history.join(format!("20260301T{hour}0000000Z-update.plan.tsv.zst")), b"").unwrap();
            if hour != "11" {
                runs::RunLog::create(home, &format!("20260301T{hour}0000000Z-update")).unwrap().publish().unwrap();
            }
        }
        let audit = |options| run(home, &options).unwrap();
        let outcome = audit(Options::default());
        assert_eq!(
            (outcome.done, outcome.missing_logs.as_slice()),
            (false, &["20260301T110000000Z-update".to_owned()][..])
        );
        assert!(outcome.to_string().contains("missing run logs"), "{outcome}");
        assert!(audit(Options { last: Some(1), ..Options::default() }).done, "only the last run is audited");
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
        let audit = |last| run(pipeline.home(), &Options { last, ..Options::default() }).unwrap();
        assert_eq!((audit(Some(1)).runs, audit(Some(1)).done), (1, true));
        assert_eq!((audit(None).runs, audit(None).done), (2, false));
        assert_eq!(audit(Some(9)).runs, 2);
    }
}
