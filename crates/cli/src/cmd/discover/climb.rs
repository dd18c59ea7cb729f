//! Climbs many ladders at once, in rounds. Each round is a run of its own in the intake, so that
//! pauses, robots.txt, guards, journal and audit hold for discovery as for any harvest.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use tidings_feeds::discover::{Finding, Ladder, Question, in_robots};
use tidings_fetch::{FetchJob, JobSource, Kind};
use tidings_model::address;
use tidings_store::candidates::Candidate;
use tidings_store::pages::Shelf;
use tidings_store::rules;

use crate::cmd::{self, HostMemory};
use crate::intake::probes::{ProbeClerk, Probed};
use crate::intake::{self, Work};
use crate::session::Session;

/// A ladder, and the candidate for whose sake it is climbed.
pub struct Climb {
    /// The ladder.
    pub ladder: Ladder,
    /// What is known about the address it begins with.
    pub candidate: Candidate,
}

/// What climbing cost.
#[derive(Debug, Default, Clone, Copy)]
pub struct Cost {
    /// Requests, robots.txt included.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Rounds.
    pub rounds: u64,
    /// Ladders that were not climbed to the end.
    pub left: u64,
    /// No host answered at all.
    pub offline: bool,
}

/// Climbs to the end, or until the budget of requests or the time is used up. `done` gets the
/// ladders that came to their end after each round.
pub fn climb(
    session: &mut Session,
    seed: u64,
    mut climbs: Vec<Climb>,
    budget: Option<u64>,
    mut done: impl FnMut(&Session, Vec<Climb>) -> Result<()>,
) -> Result<Cost> {
    let mut cost = Cost::default();
    let mut met: HashSet<String> = HashSet::new();
    while !climbs.is_empty() {
        let time_left = cmd::time_left(session);
        if time_left.is_some_and(|left| left.is_zero()) || session.stopper.reason().is_some() {
            break;
        }
        tell_sitemaps(session, &mut climbs)?;
        let mut room = budget.map_or(u64::MAX, |budget| budget.saturating_sub(cost.requests));
        let mut asked: Vec<(usize, Question)> = Vec::new();
        let mut at_end = vec![false; climbs.len()];
        for (at, climb) in climbs.iter_mut().enumerate() {
            // A host that is new to us costs its robots.txt too.
            let host = address::host(climb.ladder.start()).unwrap_or_default();
            let needed = if met.contains(host) { 1 } else { 2 };
            if room < needed {
                continue;
            }
            let questions = climb.ladder.next();
            at_end[at] = questions.is_empty();
            for question in questions {
                let host = address::host(&question.url).unwrap_or_default();
                room = room.saturating_sub(if met.insert(host.to_owned()) { 2 } else { 1 });
                asked.push((at, question));
            }
        }
        if !asked.is_empty() {
            let harvested = ask(session, seed, &asked, time_left, &mut cost)?;
            for (job, (at, question)) in asked.iter().enumerate() {
                let Some(found) = harvested.get(&(job as u32)) else {
                    climbs[*at].ladder.learn(question, &Finding::Unreachable("left for later".to_owned()));
                    continue;
                };
                let mut question = question.clone();
                if let (Some(moved_to), Finding::Feed(_)) = (&found.moved_to, &found.finding) {
                    question.url.clone_from(moved_to);
                }
                climbs[*at].ladder.learn(&question, &found.finding);
            }
        }
        let mut ended = Vec::new();
        let before = climbs.len();
        let mut at_end = at_end.into_iter();
        let mut still = Vec::new();
        for climb in climbs {
            if at_end.next().unwrap_or(false) { ended.push(climb) } else { still.push(climb) }
        }
        climbs = still;
        let idle = asked.is_empty() && climbs.len() == before;
        if cost.offline {
            break;
        }
        if !ended.is_empty() {
            done(session, ended)?;
        }
        if idle {
            break;
        }
    }
    cost.left = climbs.len() as u64;
    // What was found is found, even on ladders that were not climbed to the end.
    let (found, _): (Vec<Climb>, Vec<Climb>) = climbs.into_iter().partition(|climb| !climb.ladder.found().is_empty());
    if !found.is_empty() && !cost.offline {
        done(session, found)?;
    }
    Ok(cost)
}

/// Asks the questions of a round.
fn ask(
    session: &mut Session,
    seed: u64,
    asked: &[(usize, Question)],
    time_limit: Option<Duration>,
    cost: &mut Cost,
) -> Result<HashMap<u32, Probed>> {
    if cost.rounds > 0 {
        session.next_run("discover")?;
    }
    let mut queues: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (job, (_, question)) in asked.iter().enumerate() {
        let host = address::host(&question.url).unwrap_or_default().to_ascii_lowercase();
        queues.entry(host).or_default().push(job as u32);
    }
    cmd::require_contact(&session.config, &session.home, queues.keys().map(String::as_str))?;
    let memory = HostMemory::load(session, |host| queues.contains_key(host))?;
    let remembered = cmd::remembered_rules(session, |host| queues.contains_key(host))?;
    let all_hosts_idle_for = memory.everybody;
    let queues = memory.queues(queues);
    let settings = session.config.fetch.for_probes(seed)?;
    let ceiling = settings.ceiling();
    let work = Work {
        kind: Kind::Probe,
        settings,
        queues,
        all_hosts_idle_for,
        remembered,
        source: ProbeDesk(asked.iter().map(|(_, question)| question.url.clone()).collect()),
        shelf: Shelf::open(&session.home, &session.run, None),
        time_limit,
    };
    let found = Arc::new(Mutex::new(Vec::new()));
    let harvested = intake::run(session, work, || ProbeClerk::new(ceiling, found.clone()))?;
    session.finish()?;
    cost.rounds += 1;
    cost.requests += harvested.requests;
    cost.bytes += harvested.bytes;
    cost.offline |= harvested.offline;
    let mut log = harvested.log;
    let summary = json!({
        "run": session.run,
        "round": cost.rounds,
        "addresses": asked.len(),
        "answers": harvested.tally,
        "requests": harvested.requests,
        "bytes": harvested.bytes,
    });
    log.push(&json!({ "summary": summary }))?;
    log.publish()?;
    let found = std::mem::take(&mut *found.lock().expect("no panic while held"));
    Ok(found.into_iter().map(|probed| (probed.job, probed)).collect())
}

/// Tells the ladders that have come so far which site maps their robots.txt names. The harvest has
/// read that file anyway, so this costs nothing.
fn tell_sitemaps(session: &Session, climbs: &mut [Climb]) -> Result<()> {
    let origin = |start: &str| url::Url::parse(start).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    let wanting: HashSet<String> =
        climbs.iter().filter(|climb| climb.ladder.wants_sitemaps()).map(|climb| origin(climb.ladder.start())).collect();
    if wanting.is_empty() {
        return Ok(());
    }
    let mut named: HashMap<String, Vec<String>> = HashMap::new();
    let wanted = |answer: &rules::RulesAnswer| answer.kind == "robots" && wanting.contains(&answer.origin);
    rules::read(&session.home, wanted, |answer| {
        let maps = in_robots(answer.body.as_deref().unwrap_or_default(), &answer.origin);
        named.insert(answer.origin, maps);
    })?;
    for climb in climbs.iter_mut().filter(|climb| climb.ladder.wants_sitemaps()) {
        let maps = named.get(&origin(climb.ladder.start())).map(Vec::as_slice).unwrap_or_default();
        climb.ladder.learn_sitemaps(maps);
    }
    Ok(())
}

struct ProbeDesk(Vec<String>);

impl JobSource for ProbeDesk {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        Ok(FetchJob { url: self.0[job as usize].clone(), headers: Vec::new() })
    }
}
