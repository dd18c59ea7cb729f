//! Ingest: HTTP responses → durable records.
//!
//! ```text
//!  crawler ──results──▶ collector ──batches──▶ processors (all cores) ──▶ committer ──▶ pages, journal
//!     └──────events──────▶ request log ─────────────────────policies──────▶ ┘ └▶ run log
//! ```
//!
//! Each channel is bounded, so that a slow disk slows the crawler down instead of filling memory. A page counts as
//! stored after the committer has synced both the page and the journal.

mod committer;
pub mod equivalents;
pub(crate) mod feed_text;
pub mod feeds;
pub mod host_memory;
mod known_urls;
pub mod page_sources;
pub mod pages;
pub mod poll_policies;
pub mod probes;
pub mod publishing_rate;
mod request_log;
pub mod sitemaps;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use serde::{Deserialize, Serialize};
use tidings_fetch::{
    CrawlKind, CrawlOutcome, CrawlStats, Crawler, FetchResult, HostNote, HostQueue, HttpResponse, JobSource,
    PolicyResponse, Settings,
};
use tidings_store::journal::{Journal, JournalBatch, Record};
use tidings_store::pages::PageWriter;
use tidings_store::{Home, hosts::HostState, rfc3339};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout_at};

use crate::cancel::{CancelToken, StopReason};
use crate::context::{RunContext, StageLog};
use crate::display::{count, span};
use crate::reporter::ProgressScope;
use committer::Committer;

/// The size of a batch, about that of a frame.
const BATCH_BYTES: usize = 2 << 20;

/// The maximum age of a batch. With the time to process and to sync it, a crash costs about a second of requests. A
/// batch costs two syncs, and only if there is something in it.
const LINGER: Duration = Duration::from_millis(750);

/// The same for crawls that choose their next requests by the results.
const OPEN_LINGER: Duration = Duration::from_millis(150);

/// The interval of checks of the clock and the disk during a crawl.
const TICK: Duration = Duration::from_millis(500);

/// Converts responses to records. There is one processor per core.
pub trait Processor: Send + 'static {
    /// Works through a batch.
    fn process(&mut self, results: Vec<FetchResult>) -> Batch;
}

/// The records of some responses.
#[derive(Default)]
pub struct Batch {
    /// A frame of pages.
    pub frame: Vec<u8>,
    /// The WARC records of the same pages.
    pub warc: Vec<u8>,
    /// Records for the journal.
    pub step: JournalBatch,
    /// Records for the journal, unless the network turns out to be down.
    pub provisional: JournalBatch,
    /// Counts by outcome.
    pub counters: Counters,
    /// Called when all this is durable.
    pub on_commit: Option<Box<dyn FnOnce() + Send>>,
    /// Publish pages and apply the journal after it.
    pub checkpoint: bool,
}

/// Passes records to the committer besides the processors.
#[derive(Clone)]
pub struct CommitSender(committer::Sender);

impl CommitSender {
    /// Publishes the pages so far and applies the journal.
    pub fn checkpoint(&self) {
        self.0.batch(Batch { checkpoint: true, ..Batch::default() });
    }
}

/// The part of an open crawl that chooses its jobs while it runs, in a thread of its own.
pub struct JobFeeder<T> {
    /// The queues that it sends.
    pub arriving: mpsc::UnboundedReceiver<HostQueue>,
    /// Its work; it ends when no more results come.
    pub work: Box<dyn FnOnce(CommitSender, Arc<CrawlStats>) -> T + Send>,
}

/// Counts by name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Counters(pub BTreeMap<String, u64>);

impl Counters {
    /// Adds to a count.
    pub fn add(&mut self, name: impl Into<String>, number: u64) {
        *self.0.entry(name.into()).or_default() += number;
    }

    /// A count.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    fn absorb(&mut self, other: Counters) {
        other.0.into_iter().for_each(|(name, number)| self.add(name, number));
    }
}

/// The parameters of a crawl.
pub struct CrawlWork<D: JobSource> {
    /// Pages or feeds.
    pub kind: CrawlKind,
    /// Crawler settings.
    pub settings: Settings,
    /// Jobs by host.
    pub queues: Vec<HostQueue>,
    /// The time since the last request to any host, if an earlier run lost its records.
    pub all_hosts_idle_for: Option<Duration>,
    /// Rules that are still good.
    pub remembered: Vec<PolicyResponse>,
    /// The source of jobs.
    pub source: D,
    /// The writer of pages.
    pub page_writer: PageWriter,
}

/// The results of a crawl.
pub struct Ingested {
    /// The outcome of the crawler.
    pub outcome: CrawlOutcome,
    /// Jobs that were not finished, because of the time limit or because their host was skipped.
    pub left: u64,
    /// Durable counts by outcome.
    pub counters: Counters,
    /// The network seemed to be down: no failure was recorded.
    pub offline: bool,
    /// Requests sent.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
}

/// Runs a crawl up to a journal that is ready to be applied.
pub fn run<D, C>(
    context: &RunContext,
    log: &mut StageLog<'_>,
    work: CrawlWork<D>,
    make_processor: impl Fn() -> C,
) -> Result<Ingested>
where
    D: JobSource + 'static,
    C: Processor,
{
    run_fed(context, log, work, make_processor, None::<JobFeeder<()>>).map(|(ingested, _)| ingested)
}

/// Runs a crawl whose jobs are chosen while it runs; returns also the result of the feeder.
pub fn run_open<D, C, T>(
    context: &RunContext,
    log: &mut StageLog<'_>,
    work: CrawlWork<D>,
    make_processor: impl Fn() -> C,
    feeder: JobFeeder<T>,
) -> Result<(Ingested, T)>
where
    D: JobSource + 'static,
    C: Processor,
    T: Send + 'static,
{
    let (ingested, fed) = run_fed(context, log, work, make_processor, Some(feeder))?;
    Ok((ingested, fed.expect("there is a feeder")))
}

fn run_fed<D, C, T>(
    context: &RunContext,
    log: &mut StageLog<'_>,
    work: CrawlWork<D>,
    make_processor: impl Fn() -> C,
    feeder: Option<JobFeeder<T>>,
) -> Result<(Ingested, Option<T>)>
where
    D: JobSource + 'static,
    C: Processor,
    T: Send + 'static,
{
    let file_limit = tidings_fetch::raise_file_limit();
    let journal = Journal::create(&context.home, &context.run)?;
    let run_log = log.take()?;
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
    let total: u64 = work.queues.iter().map(|queue| (queue.jobs.len() + queue.later.len()) as u64).sum();
    let runtime = runtime(cores)?;
    let stats = Arc::new(CrawlStats::default());
    let committer = Committer::start_for(
        &context.home,
        &context.run,
        journal,
        work.page_writer,
        stats.clone(),
        context.cancel.clone(),
    );
    let (events, request_log) = request_log::start(run_log, committer.sender(), context.cancel.clone());
    let (results, arriving) = mpsc::channel(64);
    let processors =
        Processors { free: Mutex::new((0..cores).map(|_| make_processor()).collect()), places: Semaphore::new(cores) };
    // It may hold a channel that has to close.
    drop(make_processor);
    let linger = if feeder.is_some() { OPEN_LINGER } else { LINGER };
    let (queues, feeding) = start_feeder(feeder, &committer, &stats);
    let harvest = Crawler {
        settings: work.settings,
        kind: work.kind,
        source: work.source,
        results,
        events,
        stop: context.cancel.watch(),
        stats: stats.clone(),
        file_limit,
        all_hosts_idle_for: work.all_hosts_idle_for,
    };
    let (outcome, delivered) = runtime.block_on(async {
        let collecting = tokio::spawn(collect(arriving, linger, Arc::new(processors), committer.sender()));
        let progress = context.progress(noun(work.kind), total);
        let watching = tokio::spawn(watch(Watch::new(context, stats.clone(), progress, queues.is_some())));
        let outcome = match queues {
            Some(queues) => harvest.run_open(work.queues, work.remembered, queues).await,
            None => harvest.run(work.queues, work.remembered).await,
        };
        let delivered = collecting.await.context("the collector task panicked")?;
        watching.abort();
        let _ = watching.await;
        anyhow::Ok((outcome?, delivered))
    })?;
    runtime.shutdown_timeout(Duration::from_millis(200));
    let fed = feeding.map(JoinHandle::join).transpose();
    let fed = fed.map_err(|_| anyhow!("the scheduler thread of the crawl panicked"))?;
    let mut run_log = request_log.finish()?;
    let committed = committer.finish(|offline| hosts_step(&outcome, work.kind, offline))?;
    run_log.flush()?;
    log.put_back(run_log);
    let ingested = Ingested {
        outcome,
        left: total.saturating_sub(delivered),
        counters: committed.counters,
        offline: committed.offline,
        requests: stats.requests.load(Relaxed),
        bytes: stats.bytes.load(Relaxed),
    };
    Ok((ingested, fed))
}

/// The threads of the crawler and of the processors.
fn runtime(cores: usize) -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.clamp(2, 8))
        .max_blocking_threads(cores + 2)
        .enable_all()
        .build()
        .context("cannot start the threads of the crawler")
}

/// The queues of an open crawl, and the thread that sends them.
type Feeding<T> = (Option<mpsc::UnboundedReceiver<HostQueue>>, Option<JoinHandle<T>>);

fn start_feeder<T: Send + 'static>(
    feeder: Option<JobFeeder<T>>,
    committer: &Committer,
    stats: &Arc<CrawlStats>,
) -> Feeding<T> {
    let Some(JobFeeder { arriving, work }) = feeder else { return (None, None) };
    let (sender, stats) = (CommitSender(committer.sender()), stats.clone());
    (Some(arriving), Some(std::thread::spawn(move || work(sender, stats))))
}

fn noun(kind: CrawlKind) -> &'static str {
    match kind {
        CrawlKind::Page => "pages",
        CrawlKind::Feed => "feeds",
        CrawlKind::Probe => "addresses",
    }
}

/// The states of the hosts after a crawl. The failures of a host are those of its pages: feeds have a schedule of their
/// own. Without a network no host failed.
fn hosts_step(outcome: &CrawlOutcome, kind: CrawlKind, offline: bool) -> JournalBatch {
    let mut step = JournalBatch::default();
    for note in &outcome.hosts {
        let trouble = note.trouble.as_ref().filter(|_| kind == CrawlKind::Page && !offline);
        step.push(&Record::Host(Box::new(host_state(note, trouble))));
    }
    step
}

/// The state of a host after a crawl, with its failure if that counts.
fn host_state(note: &HostNote, trouble: Option<&String>) -> HostState {
    let last_failure = trouble.map(|_| rfc3339(note.last_request)).unwrap_or_default();
    HostState {
        host: note.host.clone(),
        last_request: rfc3339(note.last_request),
        not_before: note.not_before.map(rfc3339).unwrap_or_default(),
        failures: u32::from(trouble.is_some()),
        requests: note.requests.into(),
        failing_since: last_failure.clone(),
        last_failure,
        error: trouble.cloned().unwrap_or_default(),
        served: note.served,
    }
}

/// Idle processors, and permits for the working ones.
struct Processors<C> {
    free: Mutex<Vec<C>>,
    places: Semaphore,
}

/// Collects results into batches and passes them to processors; returns the number of results.
async fn collect<C: Processor>(
    mut arriving: mpsc::Receiver<FetchResult>,
    linger: Duration,
    processors: Arc<Processors<C>>,
    committer: committer::Sender,
) -> u64 {
    let mut delivered = 0;
    let mut batch = Vec::new();
    let mut weight = 0;
    let mut oldest = Instant::now();
    let mut at_work = tokio::task::JoinSet::new();
    loop {
        let next = match batch.is_empty() {
            true => Ok(arriving.recv().await),
            false => timeout_at(oldest + linger, arriving.recv()).await,
        };
        let (full, ended) = match next {
            Ok(Some(result)) => {
                delivered += 1;
                if batch.is_empty() {
                    oldest = Instant::now();
                }
                weight += unpacked_bytes(&result);
                let large = result.result.as_ref().is_ok_and(HttpResponse::is_large);
                batch.push(result);
                (large || weight >= BATCH_BYTES, false)
            }
            Ok(None) => (true, true),
            Err(_) => (true, false),
        };
        if full && !batch.is_empty() {
            let results = std::mem::take(&mut batch);
            weight = 0;
            let (processors, committer) = (processors.clone(), committer.clone());
            // While all processors are busy no result is taken: backpressure reaches the crawler.
            let place = processors.places.acquire().await.expect("the semaphore is never closed");
            place.forget();
            at_work.spawn_blocking(move || {
                let processor = processors.free.lock().expect("no panic while held").pop();
                let mut processor = processor.expect("as many processors as permits");
                let batch = processor.process(results);
                processors.free.lock().expect("no panic while held").push(processor);
                committer.batch(batch);
                processors.places.add_permits(1);
            });
        }
        while at_work.try_join_next().is_some() {}
        if ended {
            break;
        }
    }
    while at_work.join_next().await.is_some() {}
    delivered
}

/// The approximate decompressed size of a result.
fn unpacked_bytes(result: &FetchResult) -> usize {
    const RECORD: usize = 300;
    let Ok(answer) = &result.result else { return RECORD };
    let encoded = answer.headers.get(http::header::CONTENT_ENCODING).map_or("", |value| value.to_str().unwrap_or(""));
    let bytes = match (encoded, answer.body.last_chunk::<4>()) {
        // A gzip body ends with its decompressed length; a wrong value does no harm here.
        ("gzip", Some(length)) => (u32::from_le_bytes(*length) as usize).min(BATCH_BYTES),
        ("", _) => answer.body.len(),
        _ => answer.body.len() * 4,
    };
    RECORD + bytes
}

struct Watch {
    home: Home,
    cancel: CancelToken,
    stats: Arc<CrawlStats>,
    min_free_bytes: u64,
    time_limit: Option<Duration>,
    progress: ProgressScope,
    /// Whether the number of jobs is not known.
    is_open: bool,
}

impl Watch {
    fn new(context: &RunContext, stats: Arc<CrawlStats>, progress: ProgressScope, is_open: bool) -> Watch {
        Watch {
            home: context.home.clone(),
            cancel: context.cancel.clone(),
            stats,
            min_free_bytes: context.config.store.min_free_mib << 20,
            time_limit: context.time_left(),
            progress,
            is_open,
        }
    }
}

/// Checks the clock and the disk during a crawl.
async fn watch(mut watch: Watch) {
    let began = Instant::now();
    let mut ticks = tokio::time::interval(TICK);
    loop {
        let limit = async {
            match watch.time_limit {
                Some(limit) => tokio::time::sleep_until(began + limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = limit => {
                watch.cancel.cancel(StopReason::TimeLimit);
                watch.time_limit = None;
            }
            _ = ticks.tick() => {
                let stats = &watch.stats;
                let elapsed = began.elapsed();
                let delivered = stats.delivered.load(Relaxed);
                let detail = format!(
                    "{} active, {:.1}/s, {:.1} MB, {}",
                    stats.in_flight.load(Relaxed),
                    delivered as f64 / elapsed.as_secs_f64().max(0.1),
                    stats.bytes.load(Relaxed) as f64 / 1e6,
                    span(elapsed),
                );
                if watch.is_open {
                    watch.progress.set_total(delivered + stats.in_flight.load(Relaxed));
                }
                watch.progress.show(delivered, &detail);
                if watch.home.free_bytes().is_some_and(|free| free < watch.min_free_bytes) {
                    watch.cancel.cancel(StopReason::DiskFull);
                }
            }
        }
    }
}

/// The failures as one line: the total and `6 timeout, 3 404`.
pub fn failures(counters: &Counters, except: &[&str]) -> (u64, String) {
    let mut rows: Vec<(&String, &u64)> = counters.0.iter().filter(|row| !except.contains(&row.0.as_str())).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(*row.1), row.0.clone()));
    let total = rows.iter().map(|row| row.1).sum();
    let listed: Vec<String> = rows.iter().map(|(word, number)| format!("{number} {word}")).collect();
    (total, listed.join(", "))
}

/// Logs the skipped hosts, the first ones by name.
pub fn log_given_up(ingested: &Ingested) {
    let given_up = &ingested.outcome.given_up;
    for (host, reason) in given_up.iter().take(5) {
        log::info!("{host} is postponed to a later run: {reason}");
    }
    if given_up.len() > 5 {
        log::info!("… and {} more", count(given_up.len() as u64 - 5, "host"));
    }
}

impl Ingested {
    /// The end of a sentence about this crawl, and whether it counts as done.
    pub fn ending(&self, context: &RunContext) -> (String, bool) {
        if self.offline {
            let text = "; no host answered at all, so the network seems to be down and nothing was recorded";
            return (text.to_owned(), false);
        }
        let ending = context.ending(self.left);
        let left = if self.left == 0 { String::new() } else { format!("; {} left for a later run", self.left) };
        (ending.after(left), ending.is_done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_model::FailureKind;

    use crate::testing::{answer, answered, apply, context, failed, home};

    fn ingested(left: u64, offline: bool) -> Ingested {
        Ingested {
            outcome: CrawlOutcome::default(),
            left,
            counters: Counters::default(),
            offline,
            requests: 0,
            bytes: 0,
        }
    }

    #[test]
    fn failures_are_listed_the_most_frequent_first() {
        let mut counters = Counters::default();
        for (word, number) in [("ok", 100), ("404", 3), ("timeout", 6), ("403", 3)] {
            counters.add(word, number);
        }
        assert_eq!(failures(&counters, &["ok"]), (12, "6 timeout, 3 403, 3 404".to_owned()));
        assert_eq!(failures(&Counters::default(), &[]), (0, String::new()));
    }

    #[test]
    fn a_crawl_without_a_network_is_not_done() {
        let (_folder, pipeline) = home();
        let (text, done) = ingested(5, true).ending(&context(&pipeline));
        assert!(text.contains("the network seems to be down") && !done, "{text}");
    }

    #[test]
    fn the_ending_of_a_crawl_shows_what_is_left_and_why() {
        let (_folder, pipeline) = home();
        let context = context(&pipeline);
        assert_eq!(ingested(0, false).ending(&context), (String::new(), true));
        assert_eq!(ingested(2, false).ending(&context), ("; 2 left for a later run".to_owned(), true));
        context.cancel.cancel(StopReason::TimeLimit);
        let late = "; 2 left for a later run, the time limit was reached".to_owned();
        assert_eq!(ingested(2, false).ending(&context), (late, true));
    }

    #[test]
    fn the_weight_of_a_response_is_about_its_decompressed_size() {
        let weight = |encoding: &str, body: &[u8]| {
            unpacked_bytes(&answered(0, "https://e.org/", answer(200, &[("content-encoding", encoding)], body)))
        };
        assert_eq!(weight("br", &[0; 100]), 700);
        assert_eq!(weight("gzip", &[9, 9, 0xe8, 3, 0, 0]), 1300);
        // A wrong or missing length does no harm.
        assert_eq!(weight("gzip", &[0xff; 8]), 300 + BATCH_BYTES);
        assert_eq!(weight("gzip", &[1]), 304);
        assert_eq!(unpacked_bytes(&failed(0, "https://e.org/", FailureKind::Dns)), 300);
    }

    #[test]
    fn the_failures_of_hosts_are_counted_for_pages_and_with_a_network_only() {
        let note = |host: &str, trouble: Option<&str>| HostNote {
            host: host.to_owned(),
            last_request: "2026-03-01T12:00:00Z".parse().unwrap(),
            not_before: None,
            served: trouble.is_none(),
            trouble: trouble.map(str::to_owned),
            requests: 3,
        };
        let failures = |kind, offline| {
            let (_folder, pipeline) = home();
            let hosts = vec![note("a.example", None), note("b.example", Some("dns: no such host"))];
            let outcome = CrawlOutcome { hosts, ..CrawlOutcome::default() };
            apply(pipeline.home(), "20260301T120000000Z-fetch", hosts_step(&outcome, kind, offline));
            let mut rows = Vec::new();
            tidings_store::hosts::read(pipeline.home(), |state| rows.push((state.host, state.failures, state.error)))
                .unwrap();
            rows.sort();
            assert_eq!((rows.len(), rows[0].1), (2, 0));
            (rows[1].1, rows[1].2.clone())
        };
        assert_eq!(failures(CrawlKind::Page, false), (1, "dns: no such host".to_owned()));
        assert_eq!(failures(CrawlKind::Page, true), (0, String::new()));
        assert_eq!(failures(CrawlKind::Feed, false), (0, String::new()));
    }
}
