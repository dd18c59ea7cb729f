//! `tidings update`: polls the feeds and adds what is new to the plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use http::header::{self, HeaderName, HeaderValue};
use serde_json::json;
use tidings_fetch::{Desk, Errand, Kind};
use tidings_model::address;
use tidings_store::feeds::{self, FeedState, Polled};
use tidings_store::pages::Shelf;

use super::{HarvestArgs, HostMemory, Report};
use crate::args::Global;
use crate::console::count;
use crate::intake::feeds::{FeedClerk, MOVES_TO_BELIEVE};
use crate::intake::{self, Work};
use crate::session::Session;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    harvest: HarvestArgs,
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
    let all: Vec<FeedState> = list.feeds.into_iter().map(|feed| known(feed.url)).collect();
    let listed = all.len() as u64;
    let asked: Vec<FeedState> =
        all.into_iter().filter(|state| args.retry_gone || state.polled != Polled::Gone).collect();
    let gone = listed - asked.len() as u64;
    if asked.is_empty() {
        let hint = if listed == 0 {
            format!("; put feed addresses into {}", session.home.feed_list().display())
        } else {
            String::new()
        };
        let text = format!("no feeds to poll{hint}\n");
        return Ok(Report {
            text,
            json: json!({ "done": true, "run": session.run, "feeds": 0, "gone": gone }),
            failed: false,
        });
    }

    let mut queues: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (ticket, state) in asked.iter().enumerate() {
        let host = address::normalise(address_of(state), None).and_then(|url| address::host(&url).map(str::to_owned));
        queues.entry(host.unwrap_or_default()).or_default().push(ticket as u32);
    }
    super::require_contact(&session.config, &session.home, queues.keys().map(String::as_str))?;
    let memory = HostMemory::load(&session, |host| queues.contains_key(host))?;
    let remembered = super::remembered_rules(&session, |host| queues.contains_key(host))?;
    let everybody_rested = memory.everybody;
    let queues = memory.queues(queues);

    let settings = session.config.for_feeds(args.harvest.seed())?;
    let ceiling = settings.ceiling();
    let asked = Arc::new(asked);
    let work = Work {
        kind: Kind::Feed,
        settings,
        queues,
        everybody_rested,
        remembered,
        desk: FeedDesk(asked.clone()),
        shelf: Shelf::open(&session.home, &session.run, None),
        time_limit: super::time_limit(&session.config),
    };
    let harvested = intake::run(&session, work, || FeedClerk::new(asked.clone(), ceiling))?;
    let folded = session.finish()?.unwrap_or_default();
    super::mention_given_up(&harvested);

    let tally = &harvested.tally;
    let (listed_now, unchanged) = (tally.get("listed"), tally.get("unchanged"));
    let entries = tally.get("entries listed");
    let fine = ["listed", "unchanged", "gone", "entries listed", "entries without link"];
    let (failed, failures) = super::failures(tally, &fine);
    let (ending, not_done) = super::ending(&session, &harvested);
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
    let json = json!({
        "done": !not_done,
        "run": session.run,
        "feeds": listed,
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
    Ok(Report { text, json, failed: not_done })
}

/// Where a feed is asked for: where it moved to, once that is beyond doubt.
fn address_of(state: &FeedState) -> &str {
    if state.moved_times >= MOVES_TO_BELIEVE && !state.moved_to.is_empty() { &state.moved_to } else { &state.feed }
}

struct FeedDesk(Arc<Vec<FeedState>>);

impl Desk for FeedDesk {
    fn errand(&mut self, ticket: u32) -> Result<Errand, Box<dyn std::error::Error + Send + Sync>> {
        let state = &self.0[ticket as usize];
        let validators = [(header::IF_NONE_MATCH, &state.etag), (header::IF_MODIFIED_SINCE, &state.last_modified)];
        let headers = validators
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .filter_map(|(name, value)| Some((name, HeaderValue::from_str(value).ok()?)))
            .collect::<Vec<(HeaderName, HeaderValue)>>();
        Ok(Errand { url: address_of(state).to_owned(), headers })
    }
}
