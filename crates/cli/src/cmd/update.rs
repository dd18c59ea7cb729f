//! `tidings update`: polls the feeds and adds what is new to the plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use http::header::{self, HeaderName, HeaderValue};
use jiff::Timestamp;
use serde_json::json;
use tidings_feeds::schedule::{Pulse, Tempo};
use tidings_fetch::{FetchJob, JobSource, Kind};
use tidings_model::address;
use tidings_store::feeds::{self, FeedState, Polled};
use tidings_store::pages::Shelf;
use tidings_store::runs::{self, RunLog};

use super::{HarvestArgs, HostMemory, Report};
use crate::args::Global;
use crate::console::{count, span};
use crate::intake::feeds::{FeedClerk, MOVES_TO_BELIEVE};
use crate::intake::{self, Work, pulse};
use crate::session::{Session, elapsed};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    harvest: HarvestArgs,
    /// Poll every feed, whether its turn has come or not
    #[arg(long)]
    all: bool,
    /// Ask feeds again whose server said they are gone
    #[arg(long)]
    retry_gone: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<Report> {
    let (home, config) = super::open_home(global)?;
    let config = args.harvest.over(&config)?;
    let session = Session::open(home, config, "update")?;
    let list = feeds::list(&session.home)?;
    for (line, fault) in &list.faults {
        log::warn!("{}, line {line}: {fault}", session.home.feed_list().display());
    }
    // A plan that is lost must be noticed before the feeds are asked.
    tidings_store::plan::path(&session.home)?;

    let mut states = feeds::states(&session.home)?;
    let mut known = |url: String| states.remove(&url).unwrap_or(FeedState { feed: url, ..FeedState::default() });
    let mut all: Vec<FeedState> = list.feeds.into_iter().map(|feed| known(feed.url)).collect();
    pulse::keep_worth(&mut all, &session.home)?;
    let listed = all.len() as u64;
    let (gone, living): (Vec<FeedState>, Vec<FeedState>) =
        all.into_iter().partition(|state| !args.retry_gone && state.polled == Polled::Gone);
    let gone = gone.len() as u64;
    let cadence_s = cadence_s(&session)?;
    let tempo = tempo(&session, &living, cadence_s);
    let now = session.started;
    let has_come = |state: &FeedState| {
        pulse::turn_of(state, &tempo).is_none_or(|(turn, asked)| turn.has_come(asked, now, cadence_s))
    };
    let (asked, waiting): (Vec<FeedState>, Vec<FeedState>) = living
        .into_iter()
        .partition(|state| args.all || args.retry_gone && state.polled == Polled::Gone || has_come(state));
    let due = asked.len() as u64;
    if asked.is_empty() {
        return nothing_to_do(&session, waiting, cadence_s, listed, gone);
    }

    let mut queues: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (job, state) in asked.iter().enumerate() {
        let host = address::normalise(address_of(state), None).and_then(|url| address::host(&url).map(str::to_owned));
        queues.entry(host.unwrap_or_default()).or_default().push(job as u32);
    }
    super::require_contact(&session.config, &session.home, queues.keys().map(String::as_str))?;
    let memory = HostMemory::load(&session, |host| queues.contains_key(host))?;
    let remembered = super::remembered_rules(&session, |host| queues.contains_key(host))?;
    let all_hosts_idle_for = memory.everybody;
    let queues = memory.queues(queues);

    let settings = session.config.fetch.for_feeds(args.harvest.seed())?;
    let ceiling = settings.ceiling();
    let asked = Arc::new(asked);
    let work = Work {
        kind: Kind::Feed,
        settings,
        queues,
        all_hosts_idle_for,
        remembered,
        source: FeedDesk(asked.clone()),
        shelf: Shelf::open(&session.home, &session.run, None),
        time_limit: super::time_left(&session),
    };
    let harvested = intake::run(&session, work, || FeedClerk::new(asked.clone(), ceiling, tempo))?;
    let folded = session.finish()?.unwrap_or_default();
    super::mention_given_up(&harvested);

    let tally = &harvested.tally;
    let (listed_now, unchanged) = (tally.get("listed"), tally.get("unchanged"));
    let entries = tally.get("entries listed");
    let fine = ["listed", "unchanged", "gone", "entries listed", "entries without link"];
    let (failed, failures) = super::failures(tally, &fine);
    let (ending, not_done) = super::ending(&session, &harvested);
    let outlook = Outlook::of(&session, waiting, asked.iter().map(|state| state.feed.as_str()), cadence_s)?;
    let mut text = format!(
        "{} polled: {listed_now} listed {}, {unchanged} unchanged",
        count(listed_now + unchanged + failed + tally.get("gone"), "feed"),
        count(entries, "entry"),
    );
    if failed > 0 {
        text.push_str(&format!(", {failed} failed ({failures})"));
    }
    if tally.get("gone") > 0 {
        text.push_str(&format!(", {} gone for good", tally.get("gone")));
    }
    text.push_str(&format!("; {} new in the plan{ending}, {}\n", folded.added, super::took(&session)));
    text.push_str(&outlook.text(now));
    let json = json!({
        "done": !not_done,
        "run": session.run,
        "feeds": listed,
        "due": due,
        "waiting": outlook.waiting,
        "next_due": outlook.next_due,
        "silent": outlook.silent.iter().map(|state| &state.feed).collect::<Vec<_>>(),
        "polled": tally,
        "gone": gone + tally.get("gone"),
        "new_entries": folded.added,
        "requests": harvested.requests,
        "bytes": harvested.bytes,
        "left": harvested.left,
        "seconds": session.began.elapsed().as_secs_f64(),
    });
    let mut log = harvested.log;
    log.push(&json!({ "summary": json }))?;
    log.publish()?;
    Ok(Report { text, json, failed: not_done, ..Report::default() })
}

/// How far apart runs of `update` are, in seconds: the median of the last few. None is known
/// before there were two.
fn cadence_s(session: &Session) -> Result<f64> {
    const RECENT: usize = 6;
    let mut began: Vec<Timestamp> = runs::files(&session.home)?
        .iter()
        .rev()
        .filter_map(|path| runs::name_of(path).filter(|(_, verb)| verb == "update"))
        .map(|(began, _)| began)
        .take(RECENT - 1)
        .collect();
    began.insert(0, session.started);
    let mut gaps: Vec<f64> = began.windows(2).map(|two| elapsed(two[1], two[0]).as_secs_f64()).collect();
    gaps.sort_by(f64::total_cmp);
    Ok(if gaps.len() < 2 { 0.0 } else { gaps[(gaps.len() - 1) / 2] })
}

/// The tempo that the budget allows, given what is known about the feeds that answer.
fn tempo(session: &Session, feeds: &[FeedState], cadence_s: f64) -> Tempo {
    let answering = feeds.iter().filter(|state| state.failures < MANY_FAILURES);
    let pulses: Vec<Pulse> = answering.map(pulse::pulse_of).collect();
    Tempo::fit(session.config.feeds.budget(cadence_s), &pulses.iter().collect::<Vec<_>>())
}

/// The end of a run in which no feed's turn had come.
fn nothing_to_do(session: &Session, waiting: Vec<FeedState>, cadence_s: f64, listed: u64, gone: u64) -> Result<Report> {
    let outlook = Outlook::of(session, waiting, std::iter::empty(), cadence_s)?;
    let text = match (listed, outlook.waiting) {
        (0, _) => format!("no feeds to poll; put feed addresses into {}\n", session.home.feed_list().display()),
        (_, 0) => "no feeds to poll: all are gone for good; `update --retry-gone` asks them again\n".to_owned(),
        _ => format!("no feed is due; `update --all` polls them anyway\n{}", outlook.text(session.started)),
    };
    let json = json!({
        "done": true,
        "run": session.run,
        "feeds": listed,
        "due": 0,
        "waiting": outlook.waiting,
        "next_due": outlook.next_due,
        "silent": outlook.silent.iter().map(|state| &state.feed).collect::<Vec<_>>(),
        "gone": gone,
        "new_entries": 0,
        "requests": 0,
    });
    // Runs that found nothing to do count as well: they tell how often there is one.
    let mut log = RunLog::create(&session.home, &session.run)?;
    log.push(&json!({ "began": session.started }))?;
    log.push(&json!({ "summary": json }))?;
    log.publish()?;
    Ok(Report { text, json, ..Report::default() })
}

/// From as many failures on, a feed is mentioned by name.
const MANY_FAILURES: u32 = 5;
/// How many are mentioned.
const FEW: usize = 5;

/// What lies ahead, for all feeds of the list that are not gone for good.
struct Outlook {
    /// Feeds whose turn is yet to come.
    waiting: u64,
    /// When the first of them is due.
    next_due: Option<Timestamp>,
    /// Feeds that have failed many times in a row, the longest silent first.
    silent: Vec<FeedState>,
}

impl Outlook {
    /// Looks at the feeds that were left waiting and, as they stand now, at those just polled.
    fn of<'a>(
        session: &Session,
        waiting: Vec<FeedState>,
        polled: impl Iterator<Item = &'a str>,
        cadence_s: f64,
    ) -> Result<Outlook> {
        let mut states = waiting;
        let mut polled = polled.peekable();
        if polled.peek().is_some() {
            let mut now = feeds::states(&session.home)?;
            states.extend(polled.filter_map(|feed| now.remove(feed)));
        }
        states.retain(|state| state.polled != Polled::Gone);
        // What was learned in this run is in the tempo of the next.
        let tempo = tempo(session, &states, cadence_s);
        let next_due = states.iter().filter_map(|state| pulse::turn_of(state, &tempo)).map(|turn| turn.0.due).min();
        let waiting = states.len() as u64;
        let mut silent = states;
        silent.retain(|state| state.failures >= MANY_FAILURES);
        silent.sort_by(|a, b| (&a.succeeded, &a.feed).cmp(&(&b.succeeded, &b.feed)));
        Ok(Outlook { waiting, next_due, silent })
    }

    fn text(&self, now: Timestamp) -> String {
        let mut text = String::new();
        if let Some(due) = self.next_due {
            let waits = if self.waiting == 1 { "waits for its turn" } else { "wait for their turn" };
            text.push_str(&format!("{} {waits}", count(self.waiting, "feed")));
            let wait = elapsed(now, due);
            match wait.is_zero() {
                true => text.push_str("; the next is due now\n"),
                false => text.push_str(&format!("; the next is due in {}\n", span(wait))),
            }
        }
        if !self.silent.is_empty() {
            let verb = if self.silent.len() == 1 { "has" } else { "have" };
            text.push_str(&format!("{} {verb} failed for long:\n", count(self.silent.len() as u64, "feed")));
            for state in self.silent.iter().take(FEW) {
                let times = count(state.failures.into(), "time");
                let since = match state.succeeded.get(..10) {
                    Some(day) => format!("{times} since {day}"),
                    None => format!("{times}, never answered"),
                };
                text.push_str(&format!("  {} ({since}; {})\n", state.feed, state.error));
            }
            if self.silent.len() > FEW {
                text.push_str(&format!("  … and {} more, in state/feeds.tsv\n", self.silent.len() - FEW));
            }
        }
        text
    }
}

/// Where a feed is asked for: where it moved to, once that is beyond doubt.
fn address_of(state: &FeedState) -> &str {
    if state.moved_times >= MOVES_TO_BELIEVE && !state.moved_to.is_empty() { &state.moved_to } else { &state.feed }
}

struct FeedDesk(Arc<Vec<FeedState>>);

impl JobSource for FeedDesk {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        let state = &self.0[job as usize];
        let conditional = pulse::is_conditional(state);
        let validators = [(header::IF_NONE_MATCH, &state.etag), (header::IF_MODIFIED_SINCE, &state.last_modified)];
        let headers = validators
            .into_iter()
            .filter(|(_, value)| conditional && !value.is_empty())
            .filter_map(|(name, value)| Some((name, HeaderValue::from_str(value).ok()?)))
            .collect::<Vec<(HeaderName, HeaderValue)>>();
        Ok(FetchJob { url: address_of(state).to_owned(), headers })
    }
}
