//! `tidings audit`: proves from the run logs how politely the web was asked.
//!
//! For each host the pause between the end of an answer and the next request is held against the
//! pause that was due, within runs and from run to run; nothing is taken from memory or settings.

use std::collections::HashMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;
use tidings_store::runs::{self, Request};

use super::Report;
use crate::args::Global;
use tidings_pipeline::display::count;

/// Clocks in the log count milliseconds, cut off.
const ROUNDING_MS: i64 = 1;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Look at the last N runs only [default: all]
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Also print a line per host, the most hurried first
    #[arg(long)]
    hosts: bool,
}

/// A line of a run log, as far as it concerns us.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Request(Request),
    Began { began: Timestamp },
    Other {},
}

#[derive(Default)]
struct Host {
    requests: u64,
    /// When the last answer ended and which pause was due then, in milliseconds since the epoch.
    last: Option<(i64, i64)>,
    smallest_gap_ms: Option<i64>,
    too_early: u64,
    overlapping: u64,
}

#[derive(Default)]
struct Audit {
    runs: u64,
    requests: HashMap<String, u64>,
    feeds_conditional: u64,
    feeds_unchanged: u64,
    reused: u64,
    oldest_robots_s: u64,
    without_robots: u64,
    hosts: HashMap<String, Host>,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, _) = super::open_home(global)?;
    let files = runs::files(&home)?;
    let skipped = args.last.map_or(0, |last| files.len().saturating_sub(last));
    let mut audit = Audit::default();
    for file in &files[skipped..] {
        audit.runs += 1;
        let mut began = 0;
        let mut fault = None;
        // Requests are logged as they end; their order by sending is what politeness is about.
        let mut requests = Vec::new();
        runs::read(file, |line| match serde_json::from_str(line) {
            Ok(Line::Request(request)) => requests.push(request),
            Ok(Line::Began { began: at }) => began = at.as_millisecond(),
            Ok(Line::Other {}) => {}
            Err(error) => fault = Some(error),
        })?;
        if let Some(error) = fault {
            return Err(error).with_context(|| format!("{} has a line that cannot be read", file.display()));
        }
        requests.sort_by_key(|request| (request.sent_ms, request.ended_ms));
        requests.into_iter().for_each(|request| audit.take(began, request));
    }
    Ok(audit.report(args.hosts))
}

impl Audit {
    fn take(&mut self, began: i64, request: Request) {
        let (sent, ended) = (began + request.sent_ms as i64, began + request.ended_ms as i64);
        *self.requests.entry(request.kind.clone()).or_default() += 1;
        self.reused += u64::from(request.reused);
        if request.kind == "feed" {
            self.feeds_conditional += u64::from(request.conditional);
            self.feeds_unchanged += u64::from(request.status == "304");
        }
        if matches!(request.kind.as_str(), "page" | "feed" | "probe") {
            match request.robots_age_s {
                Some(age) => self.oldest_robots_s = self.oldest_robots_s.max(age),
                None => self.without_robots += 1,
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

    fn report(&self, with_hosts: bool) -> Report {
        let total: u64 = self.requests.values().sum();
        let too_early: u64 = self.hosts.values().map(|host| host.too_early).sum();
        let overlapping: u64 = self.hosts.values().map(|host| host.overlapping).sum();
        let mut hosts: Vec<(&String, &Host)> = self.hosts.iter().collect();
        hosts.sort_by_key(|(name, host)| (host.smallest_gap_ms.unwrap_or(i64::MAX), name.to_owned()));
        let smallest = hosts.first().and_then(|(name, host)| Some((name, host.smallest_gap_ms?)));
        let feeds = self.requests.get("feed").copied().unwrap_or(0);
        let percent = |part: u64, whole: u64| if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };

        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} to {} in {}",
            count(total, "request"),
            count(hosts.len() as u64, "host"),
            count(self.runs, "run")
        );
        let mut kinds: Vec<_> = self.requests.iter().collect();
        kinds.sort();
        for (kind, number) in kinds {
            let _ = writeln!(text, "  {kind:<8} {number}");
        }
        match smallest {
            Some((host, gap)) => {
                let _ =
                    writeln!(text, "smallest pause between two requests to a host: {:.3} s ({host})", gap as f64 / 1e3);
            }
            None => text.push_str("no host was asked twice\n"),
        }
        let _ = writeln!(text, "requests before the pause was over: {too_early}");
        let _ = writeln!(text, "requests while another was under way at the same host: {overlapping}");
        let _ = writeln!(
            text,
            "feed requests with validators: {:.1} %, answered by 304: {:.1} %",
            percent(self.feeds_conditional, feeds),
            percent(self.feeds_unchanged, feeds)
        );
        let _ =
            writeln!(text, "requests over a connection that was open already: {:.1} %", percent(self.reused, total));
        let _ = writeln!(text, "oldest robots.txt that was relied on: {:.1} h", self.oldest_robots_s as f64 / 3600.0);
        let _ = writeln!(text, "pages and feeds asked for without a robots.txt: {}", self.without_robots);
        if with_hosts {
            for (name, host) in &hosts {
                let gap = host.smallest_gap_ms.map_or("-".to_owned(), |gap| format!("{:.3}", gap as f64 / 1e3));
                let _ = writeln!(text, "{gap}\t{}\t{}\t{name}", host.requests, host.too_early);
            }
        }
        let json = json!({
            "done": too_early + overlapping == 0,
            "runs": self.runs,
            "hosts": hosts.len(),
            "requests": self.requests,
            "smallest_gap_s": smallest.map(|(_, gap)| gap as f64 / 1e3),
            "smallest_gap_host": smallest.map(|(name, _)| name),
            "too_early": too_early,
            "overlapping": overlapping,
            "feeds_conditional": self.feeds_conditional,
            "feeds_unchanged": self.feeds_unchanged,
            "connections_reused": self.reused,
            "oldest_robots_s": self.oldest_robots_s,
            "without_robots": self.without_robots,
        });
        Report { text, json, failed: too_early + overlapping > 0, ..Report::default() }
    }
}
