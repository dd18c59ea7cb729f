//! The engine of a crawl: one thread that owns the state on disk and the scheduler.
//!
//! Reports of pages arrive after the pages are durable. Their links go through the seen-set, their worth to the
//! scheduler, and both to the journal of the crawl; only then the next requests are chosen. Every decision is made when a
//! request can be sent, so that scores are those of this moment.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Result;
use tidings_crawl::policy::{DomainHints, PageWorth};
use tidings_crawl::queue::WaitingUrl;
use tidings_crawl::saved::{self, Checkpoints};
use tidings_crawl::steward::{Admission, Discovered, End, Gate, Judged, Next, Outcome, Request, Settings, Steward};
use tidings_crawl::tables::{COUNT_TABLE, LastEnd, PageCounts, TWIN};
use tidings_crawl::{CrawlState, Done, Link, fingerprint, shape};
use tidings_fetch::{CrawlStats, HostQueue, Partition};
use tidings_model::{FailureKind, LinkRegion, Status, address, clock};
use tidings_store::removed::Removed;
use tokio::sync::mpsc::UnboundedSender;
use url::Url;

use super::addresses::Addresses;
use super::finds::FoundSource;
use super::follow::{LinkFilter, Source, aliases};
use super::order::{Bounds, Order};
use super::processor::{JobUrls, PageReport, ReadPage};
use super::sharding::ShardMap;
use super::sitemaps::MAX_COST_BYTES;
use super::topic::Topic;
use crate::cancel::{CancelToken, StopReason};
use crate::context::elapsed;
use crate::ingest::CommitSender;
use crate::shard::Shard;

/// The longest time between two checkpoints.
const CHECKPOINT: Duration = Duration::from_secs(600);
/// The longest wait for a report.
const TICK: Duration = Duration::from_millis(100);
/// The rest of a site whose host is postponed.
const POSTPONED_MS: u64 = 24 * 3600 * 1000;
/// The rest of a site that failed or asked for patience.
const TROUBLE_MS: u64 = 60_000;
/// A crawl ends if nothing can be asked for so long.
const MAX_WAIT_MS: u64 = 120_000;
/// Links that are sifted at once while there are other requests to send, at least. A sift reads the runs of the seen-set,
/// so it waits for more links if that is large.
const MIN_SIFT: usize = 2000;
/// The shortest time between two sifts of a large seen-set because requests run low.
const LOW_SIFT: Duration = Duration::from_secs(1);
/// Links of the journal of the last run that are offered again before the first request, and between requests.
const BACKLOG_STEP: usize = 2000;
/// Known URLs from which on a seen-set is large.
const LARGE_SEEN: u64 = 1_000_000;

/// The parts of a crawl that the engine needs.
pub(super) struct EngineSetup {
    pub(super) folder: PathBuf,
    pub(super) order: Order,
    pub(super) removed: Arc<Removed>,
    pub(super) settings: Settings,
    /// Budgets of this run, counted from its start.
    pub(super) budget: Budget,
    pub(super) addresses: Addresses,
    pub(super) host_delay: Duration,
    /// Requests that may wait for an answer at a time.
    pub(super) max_in_flight: usize,
    pub(super) cancel: CancelToken,
    /// This machine's part of the crawl, if there are several.
    pub(super) shard: Option<Shard>,
    /// The domains of this part.
    pub(super) shards: Option<Arc<ShardMap>>,
    /// Folders with links of other shards.
    pub(super) inboxes: Vec<PathBuf>,
}

/// Budgets of a run; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Requests for pages.
    pub pages: Option<u64>,
    /// Bytes on the wire.
    pub bytes: Option<u64>,
    /// New tokens in wanted languages.
    pub tokens: Option<u64>,
    /// Time.
    pub time: Option<Duration>,
}

/// The result of an engine.
#[derive(Debug, Clone, Default)]
pub(super) struct Crawled {
    /// The reason of the end; `None` if the crawl was stopped.
    pub(super) end: Option<End>,
    /// Pages that were stored.
    pub(super) kept: u64,
    /// Pages that were not stored.
    pub(super) refused: u64,
    /// Requests that gave no page.
    pub(super) failed: u64,
    /// Pages of this run by outcome.
    pub(super) counts: PageCounts,
    /// URLs that were skipped because a twin of their site was asked for the page.
    pub(super) twins: u64,
    /// URLs that led to another shard.
    pub(super) moved: u64,
    /// New tokens of this run.
    pub(super) tokens: u64,
    /// Domains that were met so far.
    pub(super) domains: u64,
    /// URLs that wait.
    pub(super) waiting: u64,
    /// URLs that were met so far.
    pub(super) seen: u64,
    /// News sitemaps that were read.
    pub(super) news: Vec<FoundSource>,
    /// Whether all that is left waits for hosts that did not answer.
    pub(super) unreachable: bool,
}

/// A request that was sent to the crawler.
pub(super) struct InFlight {
    pub(super) url: WaitingUrl,
    pub(super) request: Request,
}

/// State and scheduler of a crawl.
pub(super) struct Engine {
    pub(super) setup: EngineSetup,
    pub(super) bounds: Bounds,
    topic: Topic,
    /// Pages of all runs.
    counts: PageCounts,
    pub(super) state: CrawlState,
    pub(super) steward: Steward,
    began: Instant,
    in_flight: HashMap<u32, InFlight>,
    next_job: u32,
    /// URLs whose host failed at the first attempt.
    troubled: HashSet<u64>,
    checkpoints: Checkpoints,
    checkpointed: Instant,
    sifted: Instant,
    /// Hosts whose sitemaps were offered.
    pub(super) mapped: HashSet<u64>,
    pub(super) crawled: Crawled,
    tokens_before: f64,
}

/// The ends of the channels between the engine and the crawler.
pub(super) struct Channels {
    /// Sends jobs; `None` when no more are sent.
    pub(super) queues: Option<UnboundedSender<HostQueue>>,
    pub(super) reports: Receiver<Vec<PageReport>>,
    pub(super) jobs: JobUrls,
    pub(super) commits: CommitSender,
    pub(super) stats: Arc<CrawlStats>,
}

impl Engine {
    /// Opens a crawl: its last checkpoint, then its journal, then new seeds. The journal goes on until the next checkpoint,
    /// and most of its links are offered again while requests are sent, so that a large crawl sends the first one soon.
    pub(super) fn open(mut setup: EngineSetup, seeds: &[String]) -> Result<Engine> {
        let mut state = CrawlState::open(&setup.folder)?;
        if let Some(shard) = setup.shard {
            state.set_shard(shard.index(), shard.count());
        }
        // Budgets count from here: also pages that no checkpoint has count as before.
        let mut totals = saved::totals(&state)?;
        let finished = state.finished()?;
        for done in finished.iter().filter(|done| done.requested) {
            totals.pages += 1;
            totals.bytes += done.worth.bytes;
        }
        let settings = &mut setup.settings;
        settings.max_pages = setup.budget.pages.map(|pages| totals.pages + pages);
        settings.max_bytes = setup.budget.bytes.map(|bytes| totals.bytes + bytes);
        settings.max_tokens = setup.budget.tokens.map(|tokens| totals.tokens as u64 + tokens);
        settings.until = setup.budget.time.map(|time| time.as_millis() as u64);
        let mut steward = saved::restore(&state, setup.settings.clone())?;
        let mut counts = PageCounts::default();
        state.read_table(COUNT_TABLE, |_, text| counts = PageCounts::parse(text))?;
        for done in &finished {
            replay(&mut steward, &setup.order, done);
            counts.add(done);
        }
        let order = setup.order.clone();
        state.recover(&finished)?;
        state.offer_backlog(BACKLOG_STEP)?;
        state.sift(|link| admit(&mut steward, &order, link))?;
        steward.count_waiting(|domain, section| state.waiting_in(domain, section));
        let now = Instant::now();
        let bounds = setup.order.bounds();
        let mut engine = Engine {
            bounds,
            topic: Topic::of(&setup.order.topic),
            counts,
            tokens_before: steward.totals().tokens,
            setup,
            state,
            steward,
            began: now,
            in_flight: HashMap::new(),
            next_job: 0,
            troubled: HashSet::new(),
            checkpoints: Checkpoints::default(),
            checkpointed: now,
            sifted: now,
            mapped: HashSet::new(),
            crawled: Crawled::default(),
        };
        engine.settle_shards();
        engine.add_seeds(seeds);
        engine.fold_inboxes()?;
        engine.sift()?;
        match CrawlState::exists(&engine.setup.folder) {
            true => engine.state.commit()?,
            false => engine.checkpoint()?,
        }
        Ok(engine)
    }

    fn add_seeds(&mut self, seeds: &[String]) {
        if !seeds.is_empty() {
            self.counts.ended = None;
        }
        let filter = self.filter();
        let mut found = Vec::new();
        for seed in seeds {
            match filter.waiting(seed, LinkRegion::Text, 0, 1.0) {
                Some(url) => found.push(Link::new(url, "")),
                None => log::warn!("the seed {seed} is not followed: it was removed, or is no page by its form"),
            }
        }
        found.into_iter().for_each(|link| self.offer(link));
    }

    /// The hosts that this crawl may ask, if there are several shards.
    pub(super) fn partition(&self) -> Option<Arc<dyn Partition>> {
        self.setup.shards.clone().map(|shards| shards as Arc<dyn Partition>)
    }

    /// The rules for links.
    pub(super) fn filter(&self) -> LinkFilter<'_> {
        let order = &self.setup.order;
        LinkFilter { bounds: &self.bounds, removed: &self.setup.removed, topic: &self.topic, order, today: today() }
    }

    /// The hosts that would be asked first, with their URLs.
    pub(super) fn preview(&mut self, count: usize) -> Result<Vec<String>> {
        self.catch_up()?;
        let mut urls = Vec::new();
        while urls.len() < count {
            let Next::Request(request) = self.steward.next(0, &mut |_| Gate::Open) else { break };
            let (domain, section) = self.names(&request);
            let taken = self.state.take(&domain, &section)?;
            // The site may be chosen again, as if its page had told nothing.
            let outcome = if taken.is_some() { Outcome::NotCounted } else { Outcome::Empty };
            self.steward.done(&request, outcome, 0);
            urls.extend(taken.map(|url| url.url));
        }
        Ok(urls)
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    fn names(&self, request: &Request) -> (String, String) {
        let domain = self.steward.domain_name(request.domain).to_owned();
        (domain, self.steward.section_name(request.domain, request.section))
    }

    /// Crawls until a budget is spent, nothing is left, or the crawler ends.
    pub(super) fn run(mut self, mut channels: Channels) -> Result<Crawled> {
        self.began = Instant::now();
        self.counts.ended = None;
        let result = self.work(&mut channels);
        if result.is_err() {
            self.setup.cancel.cancel(StopReason::Failure);
        }
        result?;
        let unreachable = self.crawled.end == Some(End::Dry) && self.state.waiting() > 0;
        self.crawled.unreachable = unreachable;
        let seeds = self.setup.order.seeds.len();
        self.counts.ended = Some(LastEnd { reason: self.crawled.end, at: clock::now(), unreachable, seeds });
        self.checkpoint()?;
        self.crawled.tokens = (self.steward.totals().tokens - self.tokens_before) as u64;
        (self.crawled.waiting, self.crawled.seen) = (self.state.waiting(), self.state.seen());
        self.crawled.domains = self.steward.domain_count() as u64;
        Ok(self.crawled)
    }

    fn work(&mut self, channels: &mut Channels) -> Result<()> {
        loop {
            self.state.offer_backlog(BACKLOG_STEP)?;
            let wait = self.send_requests(channels)?;
            match channels.reports.recv_timeout(wait.min(TICK)) {
                Ok(reports) => self.take_reports(reports, channels)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Ok(reports) = channels.reports.try_recv() {
                self.take_reports(reports, channels)?;
            }
            self.state.commit()?;
            if self.state.needs_checkpoint() || self.checkpointed.elapsed() > CHECKPOINT {
                channels.commits.checkpoint();
                self.fold_inboxes()?;
                self.checkpoint()?;
            }
        }
    }

    /// Sends requests while there is room; returns when more can be sent.
    fn send_requests(&mut self, channels: &mut Channels) -> Result<Duration> {
        if self.state.buffered() >= MIN_SIFT.max((self.state.seen() / 1000) as usize) || self.state.needs_sift() {
            self.sift()?;
        }
        while channels.queues.is_some() && self.in_flight.len() < self.setup.max_in_flight {
            let now = self.now();
            let addresses = &self.setup.addresses;
            let next = self.steward.next(now, &mut |host| addresses.gate(host, now));
            match next {
                Next::Request(request) => self.send(request, channels)?,
                Next::Wait(_) | Next::Idle | Next::Finished(End::Dry) if self.may_sift() => self.sift()?,
                // Links of the last run's journal follow; reports are taken between their pieces.
                Next::Wait(_) | Next::Idle | Next::Finished(End::Dry) if self.state.has_backlog() => {
                    return Ok(Duration::ZERO);
                }
                Next::Finished(End::Dry) if self.fold_inboxes()? => {}
                Next::Wait(at) if at > now + MAX_WAIT_MS && self.in_flight.is_empty() => self.end(End::Dry, channels),
                Next::Wait(at) => return Ok(Duration::from_millis(at.saturating_sub(now))),
                Next::Idle => return Ok(TICK),
                Next::Finished(end) => self.end(end, channels),
            }
        }
        Ok(TICK)
    }

    /// Whether links are sifted because requests run low.
    fn may_sift(&self) -> bool {
        let is_cheap = self.state.seen() < LARGE_SEEN || self.sifted.elapsed() > LOW_SIFT;
        self.state.buffered() > 0 && (is_cheap || self.in_flight.is_empty())
    }

    /// Sends no more requests: the crawler ends when those in flight are answered.
    fn end(&mut self, end: End, channels: &mut Channels) {
        self.crawled.end = Some(end);
        channels.queues = None;
    }

    fn send(&mut self, request: Request, channels: &mut Channels) -> Result<()> {
        let (domain, section) = self.names(&request);
        let Some(url) = self.state.take(&domain, &section)? else {
            self.steward.done(&request, Outcome::Empty, 0);
            return Ok(());
        };
        if self.steward.has_twin(&request, &url.url) {
            self.skip_twin(&request, url);
            return Ok(());
        }
        self.next_job = self.next_job.wrapping_add(1);
        let job = self.next_job;
        let host = address::host(&url.url).unwrap_or_default().to_ascii_lowercase();
        channels.jobs.lock().expect("no panic while held").insert(job, url.url.clone());
        self.setup.addresses.sent(&host);
        self.in_flight.insert(job, InFlight { url, request });
        if let Some(queues) = &channels.queues {
            // A crawler that has ended closes the reports too.
            let _ = queues.send(HostQueue { host, jobs: vec![job], ..HostQueue::default() });
        }
        Ok(())
    }

    /// Finishes a URL without a request: a domain with the same pages was asked for it.
    fn skip_twin(&mut self, request: &Request, url: WaitingUrl) {
        let (status, worth) = (TWIN.to_owned(), PageWorth::default());
        let done = Done { url: url.url, status, worth, requested: false, refused: None, text: None };
        self.crawled.twins += 1;
        self.state.done(done);
        self.steward.done(request, Outcome::NotCounted, 0);
    }

    pub(super) fn sift(&mut self) -> Result<()> {
        self.sifted = Instant::now();
        let Engine { state, steward, setup, .. } = self;
        Ok(state.sift(|link| admit(steward, &setup.order, link))?)
    }

    /// Offers and sifts what is left of the last run's journal.
    fn catch_up(&mut self) -> Result<()> {
        let Engine { state, steward, setup, .. } = self;
        Ok(state.catch_up(|link| admit(steward, &setup.order, link))?)
    }

    fn take_reports(&mut self, reports: Vec<PageReport>, channels: &Channels) -> Result<()> {
        let is_online = channels.stats.answering_hosts.load(Relaxed) > 0;
        for report in reports {
            channels.jobs.lock().expect("no panic while held").remove(&report.job);
            if let Some(flight) = self.in_flight.remove(&report.job) {
                self.take_report(flight, report, is_online)?;
            }
        }
        Ok(())
    }

    fn take_report(&mut self, flight: InFlight, report: PageReport, is_online: bool) -> Result<()> {
        let now = self.now();
        // The pause began with the response, not with its report.
        let age = elapsed(report.at, clock::now());
        let ready_at = now + self.setup.host_delay.saturating_sub(age).as_millis() as u64;
        let host = address::host(&flight.url.url).unwrap_or_default().to_ascii_lowercase();
        if let Some((group, free_at)) = self.setup.addresses.ended(&host, report.ip, now) {
            self.steward.group_is_free(group, free_at);
        }
        if report.status == Status::Failed(FailureKind::MovedShard) {
            return self.take_moved(flight, report, ready_at);
        }
        if let Some(rest_ms) = self.rest_after(&flight.url, &report, is_online) {
            self.state.put_back(&flight.url.url);
            self.steward.put_back(&flight.request, now + rest_ms);
            return Ok(());
        }
        let judged = match &report.page {
            Some(page) if page.map.is_some() => {
                let bytes = report.bytes.min(MAX_COST_BYTES);
                self.steward.done(&flight.request, Outcome::Nothing { bytes }, ready_at)
            }
            Some(page) if page.failed => self.steward.done(&flight.request, Outcome::NotCounted, ready_at),
            Some(page) => {
                let front = Url::parse(&flight.url.url).is_ok_and(|url| url.path() == "/" && url.query().is_none());
                let worth = PageWorth {
                    bytes: report.bytes,
                    clean_bytes: page.clean_bytes,
                    tokens: page.tokens,
                    new_share: 1.0,
                    exact_duplicate: false,
                    foreign: page.foreign,
                };
                self.steward.fetched(&flight.request, &flight.url.url, page.text.as_ref());
                self.steward.done(&flight.request, Outcome::Page { worth, text: page.text.as_ref(), front }, ready_at)
            }
            None if report.requested => {
                self.steward.done(&flight.request, Outcome::Nothing { bytes: report.bytes }, ready_at)
            }
            None => self.steward.done(&flight.request, Outcome::NotCounted, now),
        };
        self.follow(&flight.url, &report, &judged);
        self.finish(flight.url, report, judged.worth);
        Ok(())
    }

    /// The rest of a site whose URL waits again: its host is postponed, cannot be asked, or failed for the first time.
    fn rest_after(&mut self, url: &WaitingUrl, report: &PageReport, is_online: bool) -> Option<u64> {
        let status = &report.status;
        // Without a network no site has failed.
        let is_outage = status.is_network_trouble() && !is_online;
        // A seed at a private address waits until the settings allow it; a link to one is not worth that.
        let is_closed_seed = url.depth == 0 && *status == Status::Failed(FailureKind::Private);
        let is_unasked = !report.requested && status.is_host_trouble() || is_closed_seed;
        if is_outage || is_unasked || *status == Status::Failed(FailureKind::Postponed) {
            return Some(POSTPONED_MS);
        }
        let is_first = status.is_host_trouble() && self.troubled.insert(fingerprint::fingerprint(&url.url));
        is_first.then_some(TROUBLE_MS)
    }

    /// Offers the links of a page, and notes its other URLs.
    fn follow(&mut self, asked: &WaitingUrl, report: &PageReport, judged: &Judged) {
        if report.final_url != asked.url {
            self.state.alias(&report.final_url);
        }
        self.follow_robots(asked, report);
        if let Some(map) = report.page.as_ref().and_then(|page| page.map.as_ref()) {
            return self.follow_map(asked, report, map);
        }
        let (Some(page), Ok(url)) = (&report.page, Url::parse(&report.final_url)) else { return };
        if !self.bounds.holds(&url) {
            if asked.depth > 0 {
                return;
            }
            // A seed has moved, as from example.org to www.example.org.
            self.bounds.extend(&url);
            self.setup.order.seeds.insert(report.final_url.clone());
            self.save_order();
        }
        for alias in aliases(&url, &page.links) {
            self.state.alias(alias);
        }
        let clean_share = clean_share(page, report.bytes);
        let source = Source {
            url: &url,
            depth: asked.depth,
            clean_share,
            follows_out: judged.follow_out,
            language: page.language.as_deref(),
        };
        for link in self.filter().links(&source, &page.links) {
            if *link.source != *link.url.domain {
                self.steward.linked(&link.source, &link.url.domain);
            }
            self.offer(link);
        }
    }

    fn finish(&mut self, url: WaitingUrl, report: PageReport, worth: PageWorth) {
        let status = report.status.to_string();
        let text = report.page.as_ref().and_then(|page| page.text.clone());
        let refused = report.refused.filter(|_| report.page.is_some());
        let done = Done { url: url.url, status, worth, requested: report.requested, refused, text };
        match (&report.page, &done.refused) {
            (Some(_), None) => self.crawled.kept += 1,
            (Some(_), Some(_)) => {
                self.crawled.refused += 1;
                self.state.refuse(&report.at.strftime("%Y-%m-%d").to_string(), &done);
            }
            (None, _) => self.crawled.failed += 1,
        }
        self.counts.add(&done);
        self.crawled.counts.add(&done);
        self.state.done(done);
    }

    /// Writes the state. URLs in flight are named and wait again after a crash.
    fn checkpoint(&mut self) -> Result<()> {
        self.catch_up()?;
        self.sift()?;
        self.checkpoints.write(&mut self.state, &mut self.steward, &self.counts)?;
        self.checkpointed = Instant::now();
        Ok(())
    }
}

pub(super) fn today() -> jiff::civil::Date {
    clock::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

fn clean_share(page: &ReadPage, bytes: u64) -> f32 {
    (page.clean_bytes as f32 / bytes.max(1) as f32).min(1.0)
}

/// Asks the scheduler about a new link.
fn admit(steward: &mut Steward, order: &Order, link: &mut Link) -> bool {
    let url = &link.url;
    let host = address::host(&url.url).unwrap_or_default();
    let hints = DomainHints {
        tld_language: order.expects(host),
        link_language: link.wanted_language,
        source_yield: url.source_yield,
        host_len: host.len() as u16,
        distance: url.depth,
    };
    let source = Some(&*link.source).filter(|source| !source.is_empty());
    let found = Discovered { domain: &url.domain, section: &url.section, source, hints };
    match steward.discovered(&found) {
        Admission::Admit(admitted) => {
            link.url.section = steward.section_name(admitted.domain, admitted.section);
            true
        }
        Admission::Refuse(_) => false,
    }
}

/// Tells the scheduler of a page that was finished after the last checkpoint.
fn replay(steward: &mut Steward, order: &Order, done: &Done) {
    let Some(url) = Url::parse(&done.url).ok().filter(|_| done.requested) else { return };
    let hints =
        DomainHints { tld_language: order.expects(url.host_str().unwrap_or_default()), ..DomainHints::default() };
    let found = Discovered { domain: shape::domain(&url), section: &shape::section(&url), source: None, hints };
    let Admission::Admit(admitted) = steward.discovered(&found) else { return };
    steward.replay(&Request { domain: admitted.domain, section: admitted.section }, done);
}
