//! `update`: polls the feeds that are due and adds new entries to the plan.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use anyhow::Result;
use http::header::{self, HeaderName, HeaderValue};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tidings_fetch::{CrawlKind, FetchJob, JobSource};
use tidings_store::feeds::{self, FeedState, Polled, SourceKind};
use tidings_store::runs::{self, LoggedRun};
use tidings_store::{Home, Stale};

use super::{Data, Due, Stage, StageId, StageOutcome, StageRun, Unit};
use crate::config::Config;
use crate::context::{RunContext, StageLog, elapsed};
use crate::display::{count, grouped, span, span_s};
use crate::harvest::{HarvestPart, MovedFeeds};
use crate::health::day_of;
use crate::ingest::feeds::{FeedProcessor, HISTORY, MOVES_TO_BELIEVE};
use crate::ingest::page_sources::PageRules;
use crate::ingest::poll_policies::PollPolicies;
use crate::ingest::sitemaps::{PollSource, SitemapRules, maps_to_poll};
use crate::ingest::{self, Counters, CrawlWork, Ingested, publishing_rate};
use crate::outcome::{Ending, Outcome, Status};

/// The names of successful polls in the counters.
const LISTED: &str = "listed";
const UNCHANGED: &str = "unchanged";
const GONE: &str = "gone";
const ENTRIES: &str = "entries listed";
const LINKLESS: &str = "entries without link";

/// Indexes of sitemaps inside each other that are followed.
const MAX_INDEX_DEPTH: usize = 3;

/// Feeds → plan.
#[derive(Debug, Clone, Default)]
pub struct Update {
    /// Poll every feed, due or not.
    pub all: bool,
    /// Also poll feeds that are gone (410).
    pub retry_gone: bool,
    /// Seed of the order of requests; random if absent.
    pub seed: Option<u64>,
}

/// The outcome of `update`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateOutcome {
    /// Whether all that could be done was done.
    pub done: bool,
    /// The name of the run.
    pub run: String,
    /// Feeds in the list.
    pub feeds: u64,
    /// Feeds that were due.
    pub due: u64,
    /// Feeds that will be polled later.
    pub waiting: u64,
    /// The time at which the first of them is due.
    pub next_due: Option<Timestamp>,
    /// Feeds that have failed many times in a row.
    pub silent: Vec<String>,
    /// Polls by result.
    pub polled: Counters,
    /// Feeds that are gone (410).
    pub gone: u64,
    /// Entries that are new in the plan.
    pub new_entries: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Bytes that were received.
    pub bytes: u64,
    /// Feeds that are left for a later run.
    pub left: u64,
    /// Duration in seconds.
    pub seconds: f64,
    /// The text that `Display` shows.
    #[serde(skip)]
    text: String,
}

impl Outcome for UpdateOutcome {
    fn status(&self) -> Status {
        if self.done { Status::Done } else { Status::NotDone }
    }
}

impl fmt::Display for UpdateOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Stage for Update {
    fn id(&self) -> StageId {
        StageId::Update
    }

    fn version(&self) -> u32 {
        1
    }

    fn inputs(&self) -> &'static [Data] {
        &[Data::FeedList, Data::Web]
    }

    fn outputs(&self) -> &'static [Data] {
        &[Data::Plan]
    }

    fn settings(&self, config: &Config) -> serde_json::Value {
        serde_json::json!({ "feeds": config.feeds, "fetch": config.fetch })
    }

    fn minutes_in_a_round(&self) -> u64 {
        10
    }

    fn due(&self, _: &Home, _: &Config) -> Result<Due> {
        // The due feeds are only known after fitting the schedule, which is part of the work.
        Ok(Due { units: vec![Unit { name: "feeds".to_owned(), why: Stale::Schedule }], ..Due::default() })
    }

    fn begin<'a>(&'a self, context: &'a RunContext, _: &Due) -> Result<Box<dyn StageRun + 'a>> {
        Ok(Box::new(UpdateRun { stage: self, context, outcome: None }))
    }
}

/// The stage at work.
struct UpdateRun<'a> {
    stage: &'a Update,
    context: &'a RunContext,
    outcome: Option<UpdateOutcome>,
}

impl StageRun for UpdateRun<'_> {
    fn unit(&mut self, _: &Unit, log: &mut StageLog<'_>) -> Result<()> {
        self.outcome = Some(self.stage.poll(self.context, log)?);
        Ok(())
    }

    fn finish(self: Box<Self>, ending: Ending, _: &mut StageLog<'_>) -> Result<StageOutcome> {
        let mut outcome = self.outcome.unwrap_or_else(|| {
            let text = match ending.left {
                0 => super::LEFT_TO_FIRST_SHARD.to_owned(),
                _ => format!("no feeds polled{}\n", ending.after(String::new())),
            };
            UpdateOutcome { done: ending.is_done(), text, ..UpdateOutcome::default() }
        });
        outcome.run.clone_from(&self.context.run);
        outcome.seconds = self.context.seconds();
        Ok(StageOutcome::Update(outcome))
    }
}

/// The feeds of the list by what to do with them.
struct Feeds {
    listed: u64,
    gone: u64,
    asked: Vec<FeedState>,
    kinds: Kinds,
    waiting: Vec<FeedState>,
    policies: PollPolicies,
    cadence_s: f64,
}

impl Update {
    fn poll(&self, context: &RunContext, log: &mut StageLog<'_>) -> Result<UpdateOutcome> {
        let part = HarvestPart::open(context)?;
        let received = part.as_ref().map(|part| part.receive(context)).transpose()?.unwrap_or_default();
        let Feeds { listed, gone, asked, kinds, waiting, policies, cadence_s } =
            self.sort_feeds(context, part.as_ref())?;
        let due = asked.len() as u64;
        if asked.is_empty() {
            // Runs with nothing to do are logged too: they give the interval between runs.
            let run_log = log.take()?;
            log.put_back(run_log);
            part.map_or(Ok(0), |part| part.send(context, &MovedFeeds::default()))?;
            let outlook = Outlook::of(context, &kinds, waiting, std::iter::empty(), cadence_s)?;
            let outcome = nothing_due(context, outlook, listed, gone);
            return Ok(UpdateOutcome { new_entries: received.new_entries, ..outcome });
        }
        let asked = Arc::new(asked);
        let kind_of = |state: &FeedState| kind_of(&kinds, state);
        let sources = asked.iter().map(|state| PollSource { kind: kind_of(state), index: None }).collect();
        let sitemaps = SitemapRules { max_age: context.config.feeds.sitemap_age(), ..SitemapRules::default() };
        let is_page = |state: &&FeedState| kind_of(state) == SourceKind::Page;
        let pages = asked.iter().filter(is_page).map(|state| state.feed.as_str());
        let pages = Arc::new(PageRules::load(&context.home, pages)?);
        let moved = MovedFeeds::default();
        let polls =
            Polls { asked: &asked, sources, sitemaps: &sitemaps, pages, policies, moved: &moved, part: part.as_ref() };
        let mut ingested = self.crawl(context, log, polls)?;
        let applied = context.apply_journal()?;
        // A journal that is left for the next run must be applied before another one is begun.
        let part_to_send = part.as_ref().filter(|_| applied.is_some());
        let mut applied = applied.unwrap_or_default();
        ingest::log_given_up(&ingested);
        for _ in 0..MAX_INDEX_DEPTH {
            // An index may list indexes, although the protocol forbids it.
            applied.added += self.follow_indexes(context, &sitemaps, policies, &mut ingested, part.as_ref())?;
        }
        applied.added += received.new_entries;
        let handed_over = part_to_send.map_or(Ok(0), |part| part.send(context, &moved))?;
        let polled = asked.iter().map(|state| state.feed.as_str());
        let outlook = Outlook::of(context, &kinds, waiting, polled, cadence_s)?;
        let (ending, done) = ingested.ending(context);
        let mut text = polled_text(&ingested.counters);
        let others = match handed_over {
            0 => String::new(),
            number => format!(", {} handed over to other machines", grouped(number)),
        };
        text.push_str(&format!(
            "; {} added to the plan{others}{ending}, {}\n",
            applied.added,
            span_s(context.seconds())
        ));
        text.push_str(&outlook.text(context.started));
        Ok(UpdateOutcome {
            done,
            feeds: listed,
            due,
            gone: gone + ingested.counters.get(GONE),
            polled: ingested.counters,
            new_entries: applied.added,
            requests: ingested.requests,
            bytes: ingested.bytes,
            left: ingested.left,
            text,
            ..outlook.outcome()
        })
    }

    /// Reads the feed list and selects the feeds that are due.
    fn sort_feeds(&self, context: &RunContext, part: Option<&HarvestPart>) -> Result<Feeds> {
        let list = feeds::list(&context.home)?;
        for (line, fault) in &list.faults {
            log::warn!("{}, line {line}: {fault}", context.home.feed_list().display());
        }
        // A missing plan must be noticed before feeds are polled.
        tidings_store::plan::path(&context.home)?;
        let mut states = feeds::states(&context.home)?;
        let mut known = |url: String| states.remove(&url).unwrap_or(FeedState { feed: url, ..FeedState::default() });
        let kinds = list.feeds.iter().filter(|feed| feed.kind != SourceKind::Feed);
        let kinds: Kinds = kinds.map(|feed| (feed.url.clone(), feed.kind)).collect();
        let mut all: Vec<FeedState> = list.feeds.into_iter().map(|feed| known(feed.url)).collect();
        // Those on hosts of other machines are polled there.
        all.retain(|state| part.is_none_or(|part| part.owns(address_of(state))));
        publishing_rate::store_yield_weights(&mut all, &context.home)?;
        let listed = all.len() as u64;
        let (gone, living): (Vec<FeedState>, Vec<FeedState>) =
            all.into_iter().partition(|state| !self.retry_gone && state.polled == Polled::Gone);
        let cadence_s = cadence_s(context)?;
        let policies = poll_policies(context, &kinds, &living, cadence_s);
        let is_due = |state: &FeedState| {
            publishing_rate::next_poll_of(state, policies.of(kind_of(&kinds, state)), context.started)
                .is_none_or(|(poll, asked)| poll.is_due(asked, context.started, cadence_s))
        };
        let (asked, waiting) = living
            .into_iter()
            .partition(|state| self.all || self.retry_gone && state.polled == Polled::Gone || is_due(state));
        Ok(Feeds { listed, gone: gone.len() as u64, asked, kinds, waiting, policies, cadence_s })
    }

    /// Polls the sitemaps of the indexes that were just read, as far as they changed. Returns the number of new entries.
    fn follow_indexes(
        &self,
        context: &RunContext,
        sitemaps: &SitemapRules,
        policies: PollPolicies,
        first: &mut Ingested,
        part: Option<&HarvestPart>,
    ) -> Result<u64> {
        let found = std::mem::take(&mut *sitemaps.found.lock().expect("no panic while held"));
        if found.is_empty() || first.offline || context.cancel.is_cancelled() || context.is_over() {
            return Ok(0);
        }
        let mut states = feeds::states(&context.home)?;
        let oldest = context.started.checked_sub(sitemaps.max_age).unwrap_or(Timestamp::MIN);
        let mut maps = maps_to_poll(found, |url| states.remove(url), oldest, context.started);
        maps.retain(|(_, state)| part.is_none_or(|part| part.owns(&state.feed)));
        if maps.is_empty() {
            return Ok(0);
        }
        let source = |index: &str| PollSource { kind: SourceKind::Sitemap, index: Some(index.to_owned()) };
        let sources = maps.iter().map(|(map, _)| source(&map.index)).collect();
        let asked = Arc::new(maps.into_iter().map(|(_, state)| state).collect());
        let follow_up = context.follow_up("sitemaps")?;
        let mut log = follow_up.log();
        let ingested = self.crawl(
            &follow_up,
            &mut log,
            Polls {
                asked: &asked,
                sources,
                sitemaps,
                pages: Arc::default(),
                policies,
                moved: &MovedFeeds::default(),
                part,
            },
        )?;
        let added = follow_up.apply_journal()?.unwrap_or_default().added;
        log.finish(&serde_json::json!({
            "run": follow_up.run, "polled": ingested.counters, "new_entries": added,
            "requests": ingested.requests, "bytes": ingested.bytes,
        }))?;
        ingested.counters.0.into_iter().for_each(|(name, number)| first.counters.add(name, number));
        first.left += ingested.left;
        first.requests += ingested.requests;
        first.bytes += ingested.bytes;
        Ok(added)
    }

    fn crawl(&self, context: &RunContext, log: &mut StageLog<'_>, polls: Polls<'_>) -> Result<Ingested> {
        let Polls { asked, sources, sitemaps, pages, policies, moved, part } = polls;
        let sources: Arc<Vec<PollSource>> = Arc::new(sources);
        let mut settings = context.config.fetch.for_feeds(super::seed(self.seed))?;
        settings.partition = part.map(HarvestPart::partition);
        if sources.iter().any(|source| source.kind == SourceKind::Sitemap) {
            settings.max_body_bytes = settings.max_body_bytes.max(tidings_feeds::sitemap::MAX_BYTES);
        }
        let ceiling = settings.ceiling();
        let urls = asked.iter().map(address_of);
        let work = CrawlWork::of_urls(context, CrawlKind::Feed, settings, urls, FeedJobs(asked.clone()))?;
        ingest::run(context, log, work, || {
            FeedProcessor::new(asked.clone(), ceiling, policies)
                .with_sources(sources.clone(), sitemaps.clone())
                .with_pages(pages.clone())
                .with_moved(moved.clone())
        })
    }
}

/// The sources of a crawl.
struct Polls<'a> {
    asked: &'a Arc<Vec<FeedState>>,
    sources: Vec<PollSource>,
    sitemaps: &'a SitemapRules,
    pages: Arc<PageRules>,
    policies: PollPolicies,
    /// Receives feeds that have moved to hosts of other machines.
    moved: &'a MovedFeeds,
    part: Option<&'a HarvestPart>,
}

fn polled_text(counters: &Counters) -> String {
    let (listed, unchanged, gone) = (counters.get(LISTED), counters.get(UNCHANGED), counters.get(GONE));
    let (failed, failures) = ingest::failures(counters, &[LISTED, UNCHANGED, GONE, ENTRIES, LINKLESS, HISTORY]);
    let mut text = format!(
        "{} polled: {listed} listed {}, {unchanged} unchanged",
        count(listed + unchanged + failed + gone, "feed"),
        count(counters.get(ENTRIES), "entry"),
    );
    if failed > 0 {
        text.push_str(&format!(", {failed} failed ({failures})"));
    }
    if gone > 0 {
        text.push_str(&format!(", {gone} gone"));
    }
    if counters.get(HISTORY) > 0 {
        let older = count(counters.get(HISTORY), "older entry");
        text.push_str(&format!(", {older} of sitemaps left to `tidings crawl --archive`"));
    }
    text
}

/// The outcome of a run in which no feed was due.
fn nothing_due(context: &RunContext, outlook: Outlook, listed: u64, gone: u64) -> UpdateOutcome {
    let text = match (listed, outlook.waiting) {
        (0, _) => format!("no feeds to poll; add feed URLs to {}\n", context.home.feed_list().display()),
        (_, 0) => "no feeds to poll: all are gone; `tidings update --retry-gone` polls them again\n".to_owned(),
        _ => format!("no feed is due; `tidings update --all` polls them anyway\n{}", outlook.text(context.started)),
    };
    UpdateOutcome { done: true, feeds: listed, gone, text, ..outlook.outcome() }
}

/// The interval between runs of `update` in seconds: the median of the recent runs, if there were at least two.
fn cadence_s(context: &RunContext) -> Result<f64> {
    const RECENT: usize = 6;
    let is_update = |run: &LoggedRun| run.verb() == StageId::Update.name();
    let mut began = vec![context.started];
    // The logs of the last days are found by their names: the folder has a file for each day.
    let mut day = Some(day_of(context.started));
    for _ in 0..=RECENT {
        let Some(this) = day.filter(|_| began.len() < RECENT) else { break };
        let runs = runs::of_day(&context.home, this)?;
        began.extend(runs.iter().rev().filter(|run| is_update(run)).map(LoggedRun::began).take(RECENT - began.len()));
        day = this.yesterday().ok();
    }
    // After a long pause.
    if began.len() < RECENT {
        began.truncate(1);
        for run in runs::newest_first(&context.home)? {
            began.extend(Some(run?).filter(is_update).map(|run| run.began()));
            if began.len() == RECENT {
                break;
            }
        }
    }
    let mut gaps: Vec<f64> = began.windows(2).map(|two| elapsed(two[1], two[0]).as_secs_f64()).collect();
    gaps.sort_by(f64::total_cmp);
    Ok(if gaps.len() < 2 { 0.0 } else { gaps[(gaps.len() - 1) / 2] })
}

/// The kinds of the sources that are not feeds, by address.
type Kinds = HashMap<String, SourceKind>;

fn kind_of(kinds: &Kinds, state: &FeedState) -> SourceKind {
    kinds.get(&state.feed).copied().unwrap_or_default()
}

/// The poll policies that meet the budgets, fitted to the feeds that respond.
fn poll_policies(context: &RunContext, kinds: &Kinds, feeds: &[FeedState], cadence_s: f64) -> PollPolicies {
    let answering = feeds.iter().filter(|state| state.failures < MANY_FAILURES);
    let rates = answering.map(|state| (kind_of(kinds, state), publishing_rate::publishing_rate_of(state)));
    PollPolicies::fit(&context.config.feeds, cadence_s, rates)
}

/// From as many failures on, a feed is mentioned by name.
const MANY_FAILURES: u32 = 5;
/// The number of feeds that are listed.
const FEW: usize = 5;

/// The schedule of all feeds in the list that are not gone.
struct Outlook {
    /// Feeds that are not due yet.
    waiting: u64,
    /// The time at which the first of them is due.
    next_due: Option<Timestamp>,
    /// Feeds that have failed many times in a row, the longest failing first.
    silent: Vec<FeedState>,
}

impl Outlook {
    /// Combines the feeds that were not due with the new states of those just polled.
    fn of<'a>(
        context: &RunContext,
        kinds: &Kinds,
        waiting: Vec<FeedState>,
        polled: impl Iterator<Item = &'a str>,
        cadence_s: f64,
    ) -> Result<Outlook> {
        let mut states = waiting;
        let mut polled = polled.peekable();
        if polled.peek().is_some() {
            let mut now = feeds::states(&context.home)?;
            states.extend(polled.filter_map(|feed| now.remove(feed)));
        }
        states.retain(|state| state.polled != Polled::Gone);
        // The next run fits the schedule with the results of this one.
        let policies = poll_policies(context, kinds, &states, cadence_s);
        let next_due = states
            .iter()
            .filter_map(|state| {
                publishing_rate::next_poll_of(state, policies.of(kind_of(kinds, state)), context.started)
            })
            .map(|turn| turn.0.due)
            .min();
        let waiting = states.len() as u64;
        let mut silent = states;
        silent.retain(|state| state.failures >= MANY_FAILURES);
        silent.sort_by(|a, b| (&a.succeeded, &a.feed).cmp(&(&b.succeeded, &b.feed)));
        Ok(Outlook { waiting, next_due, silent })
    }

    /// An outcome with the schedule only.
    fn outcome(&self) -> UpdateOutcome {
        UpdateOutcome {
            waiting: self.waiting,
            next_due: self.next_due,
            silent: self.silent.iter().map(|state| state.feed.clone()).collect(),
            ..UpdateOutcome::default()
        }
    }

    fn text(&self, now: Timestamp) -> String {
        let mut text = String::new();
        if let Some(due) = self.next_due {
            let waits = if self.waiting == 1 { "is not due yet" } else { "are not due yet" };
            text.push_str(&format!("{} {waits}", count(self.waiting, "feed")));
            let wait = elapsed(now, due);
            match wait.is_zero() {
                true => text.push_str("; the next is due now\n"),
                false => text.push_str(&format!("; the next is due in {}\n", span(wait))),
            }
        }
        if !self.silent.is_empty() {
            let verb = if self.silent.len() == 1 { "has" } else { "have" };
            text.push_str(&format!("{} {verb} been failing for long:\n", count(self.silent.len() as u64, "feed")));
            for state in self.silent.iter().take(FEW) {
                let times = count(state.failures.into(), "time");
                let since = match state.succeeded.get(..10) {
                    Some(day) => format!("{times} since {day}"),
                    None => format!("{times}, never successful"),
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

/// The URL of a feed: its new one after a confirmed move.
fn address_of(state: &FeedState) -> &str {
    if state.moved_times >= MOVES_TO_BELIEVE && !state.moved_to.is_empty() { &state.moved_to } else { &state.feed }
}

struct FeedJobs(Arc<Vec<FeedState>>);

impl JobSource for FeedJobs {
    fn job(&mut self, job: u32) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        let state = &self.0[job as usize];
        let conditional = publishing_rate::is_conditional(state);
        let validators = [(header::IF_NONE_MATCH, &state.etag), (header::IF_MODIFIED_SINCE, &state.last_modified)];
        let headers = validators
            .into_iter()
            .filter(|(_, value)| conditional && !value.is_empty())
            .filter_map(|(name, value)| Some((name, HeaderValue::from_str(value).ok()?)))
            .collect::<Vec<(HeaderName, HeaderValue)>>();
        Ok(FetchJob { url: address_of(state).to_owned(), headers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_store::journal::{JournalBatch, Record};

    use crate::testing::{FEED, apply, context, home, home_with_feeds, logged_runs};

    fn state(feed: &str, failures: u32, succeeded: &str) -> FeedState {
        let (feed, succeeded) = (feed.to_owned(), succeeded.to_owned());
        FeedState { feed, failures, succeeded, error: "dns".into(), ..FeedState::default() }
    }

    #[test]
    fn polls_are_summed_with_the_failures_by_reason() {
        let mut counters = Counters::default();
        for (word, number) in
            [(LISTED, 2), (UNCHANGED, 1), (GONE, 1), (ENTRIES, 30), (LINKLESS, 4), ("dns", 2), ("failed", 3)]
        {
            counters.add(word, number);
        }
        let expected = "9 feeds polled: 2 listed 30 entries, 1 unchanged, 5 failed (3 failed, 2 dns), 1 gone";
        assert_eq!(polled_text(&counters), expected);
        assert_eq!(polled_text(&Counters::default()), "0 feeds polled: 0 listed 0 entries, 0 unchanged");
    }

    #[test]
    fn an_empty_list_is_reported_with_its_path_and_logged() {
        let (_folder, pipeline) = home_with_feeds("# none yet\n");
        let outcome = pipeline.run(&Update::default()).unwrap();
        assert!(outcome.to_string().starts_with("no feeds to poll; add feed URLs to "), "{outcome}");
        assert_eq!((outcome.status(), logged_runs(pipeline.home())), (Status::Done, vec!["update".to_owned()]));
    }

    #[test]
    fn if_all_feeds_are_gone_the_text_names_retry_gone() {
        let (_folder, pipeline) = home_with_feeds(FEED);
        let mut batch = JournalBatch::default();
        let gone = FeedState { feed: FEED.into(), polled: Polled::Gone, ..FeedState::default() };
        batch.push(&Record::Poll(Box::new(gone)));
        apply(pipeline.home(), "20260301T120000000Z-update", batch);
        let StageOutcome::Update(outcome) = pipeline.run(&Update::default()).unwrap() else { panic!("not update") };
        assert_eq!((outcome.feeds, outcome.gone, outcome.due), (1, 1, 0));
        assert!(outcome.to_string().contains("`tidings update --retry-gone`"), "{outcome}");
    }

    #[test]
    fn a_feed_that_has_moved_is_polled_at_its_new_url() {
        let moved =
            |moved_times| FeedState { moved_to: "https://new.example/".into(), moved_times, ..state(FEED, 0, "") };
        assert_eq!(address_of(&moved(MOVES_TO_BELIEVE - 1)), FEED);
        assert_eq!(address_of(&moved(MOVES_TO_BELIEVE)), "https://new.example/");
        assert_eq!(address_of(&FeedState { moved_to: String::new(), ..moved(9) }), FEED);
    }

    #[test]
    fn validators_are_sent_as_received_if_there_are_any() {
        let known = FeedState { etag: "W/\"a\"".into(), last_modified: "bad\nvalue".into(), ..state(FEED, 0, "") };
        let lying = FeedState { false_304s: 1, ..known.clone() };
        let mut jobs = FeedJobs(Arc::new(vec![known, lying]));
        let headers = jobs.job(0).unwrap().headers;
        assert_eq!(headers, [(header::IF_NONE_MATCH, HeaderValue::from_static("W/\"a\""))]);
        assert_eq!(jobs.job(1).unwrap().headers, []);
    }

    #[test]
    fn the_first_failing_feeds_are_listed() {
        let mut silent: Vec<FeedState> = (0..7).map(|at| state(&format!("https://{at}.example/"), 6, "")).collect();
        silent[0].succeeded = "2026-01-02T03:04:05Z".into();
        let text = Outlook { waiting: 7, next_due: None, silent }.text(Timestamp::UNIX_EPOCH);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "7 feeds have been failing for long:");
        assert_eq!(lines[1], "  https://0.example/ (6 times since 2026-01-02; dns)");
        assert_eq!(lines[2], "  https://1.example/ (6 times, never successful; dns)");
        assert_eq!(lines[6], "  … and 2 more, in state/feeds.tsv");
    }

    #[test]
    fn the_next_poll_is_shown_relative_to_now() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let outlook =
            |due: &str, waiting| Outlook { waiting, next_due: Some(due.parse().unwrap()), silent: Vec::new() };
        let later = outlook("2026-03-01T13:05:00Z", 2).text(now);
        assert_eq!(later, "2 feeds are not due yet; the next is due in 1 h 5 min\n");
        assert_eq!(outlook("2026-03-01T11:00:00Z", 1).text(now), "1 feed is not due yet; the next is due now\n");
    }

    #[test]
    fn the_cadence_is_the_median_gap_between_updates_and_needs_three_of_them() {
        let (_folder, pipeline) = home();
        let mut context = context(&pipeline);
        context.started = "2026-03-01T12:00:00Z".parse().unwrap();
        let run = |name: &str| runs::RunLog::create(&context.home, name).unwrap().publish().unwrap();
        run("20260301T110000000Z-update");
        assert_eq!(cadence_s(&context).unwrap(), 0.0);
        run("20260301T105000000Z-update");
        run("20260301T010000000Z-update");
        run("20260301T115900000Z-fetch");
        assert_eq!(cadence_s(&context).unwrap(), 3600.0);
    }
}
