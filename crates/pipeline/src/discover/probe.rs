//! Runs many probe sequences at once, in rounds. Each round is a crawl, so that delays, robots.txt, address checks,
//! journal and audit apply as for every other request.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use serde::Serialize;
use tidings_feeds::discover::{ProbeRequest, ProbeResult, ProbeSequence, in_robots};
use tidings_fetch::{CrawlKind, FetchJob, JobSource};
use tidings_model::address;
use tidings_store::candidates::Candidate;
use tidings_store::rules;

use crate::context::RunContext;
use crate::ingest::probes::{ProbeProcessor, Probed};
use crate::ingest::{self, Counters, CrawlWork};

/// A probe sequence, and the candidate that it is about.
pub struct Probe {
    /// The sequence.
    pub sequence: ProbeSequence,
    /// The candidate with which it begins.
    pub candidate: Candidate,
}

/// The cost of probing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Cost {
    /// Requests, robots.txt included.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Rounds.
    pub rounds: u64,
    /// Sequences that were not finished.
    pub left: u64,
    /// No host responded.
    pub offline: bool,
}

/// Runs the sequences to their ends, or until the request budget or the time is used up. `done` receives the finished
/// ones after each round.
pub fn run_probes(
    context: &RunContext,
    seed: u64,
    mut probes: Vec<Probe>,
    budget: Option<u64>,
    mut done: impl FnMut(&RunContext, Vec<Probe>) -> Result<()>,
) -> Result<Cost> {
    let mut cost = Cost::default();
    let mut met: HashSet<String> = HashSet::new();
    while !probes.is_empty() {
        if context.is_over() || context.cancel.is_cancelled() {
            break;
        }
        tell_sitemaps(context, &mut probes)?;
        let mut remaining = budget.map_or(u64::MAX, |budget| budget.saturating_sub(cost.requests));
        let mut asked: Vec<(usize, ProbeRequest)> = Vec::new();
        let mut at_end = vec![false; probes.len()];
        for (at, probe) in probes.iter_mut().enumerate() {
            // A host that is new to us costs its robots.txt too.
            let host = address::host(probe.sequence.start()).unwrap_or_default();
            let needed = if met.contains(host) { 1 } else { 2 };
            if remaining < needed {
                continue;
            }
            let requests = probe.sequence.next();
            at_end[at] = requests.is_empty();
            for request in requests {
                let host = address::host(&request.url).unwrap_or_default();
                remaining = remaining.saturating_sub(if met.insert(host.to_owned()) { 2 } else { 1 });
                asked.push((at, request));
            }
        }
        if !asked.is_empty() {
            let harvested = ask(context, seed, &asked, &mut cost)?;
            for (job, (at, request)) in asked.iter().enumerate() {
                let Some(found) = harvested.get(&(job as u32)) else {
                    probes[*at].sequence.record(request, &ProbeResult::Unreachable("postponed".to_owned()));
                    continue;
                };
                let mut request = request.clone();
                if let (Some(moved_to), ProbeResult::Feed(_)) = (&found.moved_to, &found.result) {
                    request.url.clone_from(moved_to);
                }
                probes[*at].sequence.record(&request, &found.result);
            }
        }
        let mut ended = Vec::new();
        let before = probes.len();
        let mut at_end = at_end.into_iter();
        let mut still = Vec::new();
        for probe in probes {
            if at_end.next().unwrap_or(false) { ended.push(probe) } else { still.push(probe) }
        }
        probes = still;
        let idle = asked.is_empty() && probes.len() == before;
        if cost.offline {
            break;
        }
        if !ended.is_empty() {
            done(context, ended)?;
        }
        if idle {
            break;
        }
    }
    cost.left = probes.len() as u64;
    // Results count even if the sequence was not finished.
    let (found, _): (Vec<Probe>, Vec<Probe>) = probes.into_iter().partition(|probe| !probe.sequence.found().is_empty());
    if !found.is_empty() && !cost.offline {
        done(context, found)?;
    }
    Ok(cost)
}

/// A round in the run log.
#[derive(Serialize)]
struct RoundSummary<'a> {
    run: &'a str,
    round: u64,
    addresses: usize,
    answers: &'a Counters,
    requests: u64,
    bytes: u64,
}

/// Sends the requests of a round.
fn ask(
    context: &RunContext,
    seed: u64,
    asked: &[(usize, ProbeRequest)],
    cost: &mut Cost,
) -> Result<HashMap<u32, Probed>> {
    let follow_up = if cost.rounds > 0 { Some(context.follow_up("discover")?) } else { None };
    let context = follow_up.as_ref().unwrap_or(context);
    let settings = context.config.fetch.for_probes(seed)?;
    let ceiling = settings.ceiling();
    let urls: Vec<String> = asked.iter().map(|(_, request)| request.url.clone()).collect();
    let work = CrawlWork::of_urls(context, CrawlKind::Probe, settings, urls.clone(), ProbeJobs(urls))?;
    let found = Arc::new(Mutex::new(Vec::new()));
    let mut log = context.log();
    let ingested = ingest::run(context, &mut log, work, || ProbeProcessor::new(ceiling, found.clone()))?;
    context.apply_journal()?;
    cost.rounds += 1;
    cost.requests += ingested.requests;
    cost.bytes += ingested.bytes;
    cost.offline |= ingested.offline;
    log.finish(&RoundSummary {
        run: &context.run,
        round: cost.rounds,
        addresses: asked.len(),
        answers: &ingested.counters,
        requests: ingested.requests,
        bytes: ingested.bytes,
    })?;
    let found = std::mem::take(&mut *found.lock().expect("no panic while held"));
    Ok(found.into_iter().map(|probed| (probed.job, probed)).collect())
}

/// Passes the sitemaps of robots.txt to the sequences that reached this step. The crawler has already read that file,
/// so this costs no request.
fn tell_sitemaps(context: &RunContext, probes: &mut [Probe]) -> Result<()> {
    let origin = |start: &str| url::Url::parse(start).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    let wanting: HashSet<String> = probes
        .iter()
        .filter(|probe| probe.sequence.needs_sitemaps())
        .map(|probe| origin(probe.sequence.start()))
        .collect();
    if wanting.is_empty() {
        return Ok(());
    }
    let mut named: HashMap<String, Vec<String>> = HashMap::new();
    let wanted = |answer: &rules::RulesAnswer| answer.kind == "robots" && wanting.contains(&answer.origin);
    rules::read(&context.home, wanted, |answer| {
        let maps = in_robots(answer.body.as_deref().unwrap_or_default(), &answer.origin);
        named.insert(answer.origin, maps);
    })?;
    for probe in probes.iter_mut().filter(|probe| probe.sequence.needs_sitemaps()) {
        let maps = named.get(&origin(probe.sequence.start())).map(Vec::as_slice).unwrap_or_default();
        probe.sequence.add_sitemaps(maps);
    }
    Ok(())
}

struct ProbeJobs(Vec<String>);

impl JobSource for ProbeJobs {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        Ok(FetchJob { url: self.0[job as usize].clone(), headers: Vec::new() })
    }
}
