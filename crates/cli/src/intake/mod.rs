//! The intake: from answers as they arrive to things that no power cut undoes.
//!
//! ```text
//!  crawler ──results──▶ collector ──batches──▶ clerks (all cores) ──▶ committer ──▶ pages, journal
//!     └─────events────▶ diary ─────────────────────────rules──────────▶ ┘ └▶ run log
//! ```
//!
//! Each arrow is bounded, so that a slow disk slows the harvest instead of filling memory. A page
//! counts as stored only when the committer has synced both the page and the journal.

mod committer;
mod diary;
pub mod feeds;
pub mod pages;
pub mod probes;
pub mod pulse;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Serialize;
use tidings_fetch::{
    CrawlOutcome, CrawlStats, Crawler, FetchResult, HostQueue, HttpResponse, JobSource, Kind, PolicyResponse, Settings,
};
use tidings_store::journal::{Journal, Record, Step};
use tidings_store::pages::Shelf;
use tidings_store::runs::RunLog;
use tidings_store::{Home, hosts::HostState, rfc3339};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout_at};

use crate::console::{Progress, span};
use crate::session::{Session, Stop};
use crate::signals;
use committer::Committer;

/// A batch is handed on when it holds about as much text as a frame should.
const BATCH_BYTES: usize = 2 << 20;

/// Or when its first delivery has waited this long: what is lost by a crash is never older.
const LINGER: Duration = Duration::from_secs(5);

/// How often the world is looked at while the harvest goes on.
const TICK: Duration = Duration::from_millis(500);

/// Turns results into what is kept of them. There is one clerk per core.
pub trait Clerk: Send + 'static {
    /// Works through a batch.
    fn process(&mut self, results: Vec<FetchResult>) -> Batch;
}

/// What a clerk made of some results.
#[derive(Default)]
pub struct Batch {
    /// A frame of pages.
    pub frame: Vec<u8>,
    /// The WARC records of the same pages.
    pub warc: Vec<u8>,
    /// What the journal must say about it.
    pub step: Step,
    /// What the journal must say if it turns out that the network is up.
    pub doubtful: Step,
    /// Counts, by the word for what happened.
    pub tally: Tally,
}

/// Counts by name.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct Tally(pub BTreeMap<String, u64>);

impl Tally {
    /// Adds to a count.
    pub fn add(&mut self, name: impl Into<String>, number: u64) {
        *self.0.entry(name.into()).or_default() += number;
    }

    /// A count.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    fn absorb(&mut self, other: Tally) {
        other.0.into_iter().for_each(|(name, number)| self.add(name, number));
    }
}

/// Everything a harvest of one kind needs.
pub struct Work<D: JobSource> {
    /// Pages or feeds.
    pub kind: Kind,
    /// How to ask.
    pub settings: Settings,
    /// Whom to ask what.
    pub queues: Vec<HostQueue>,
    /// How long all hosts have been idle, if an earlier run lost count of whom it asked.
    pub all_hosts_idle_for: Option<Duration>,
    /// Rules that are still good.
    pub remembered: Vec<PolicyResponse>,
    /// Where errands are looked up.
    pub source: D,
    /// Where pages go.
    pub shelf: Shelf,
    /// The end of the run, if time is limited.
    pub time_limit: Option<Duration>,
}

/// What a harvest brought.
pub struct Harvested {
    /// How it ended.
    pub outcome: CrawlOutcome,
    /// Errands that were not brought to an end, because time ran out or their host was given up.
    pub left: u64,
    /// What was made durable, by the word for what happened.
    pub tally: Tally,
    /// The network seemed to be down: failures were not held against anybody.
    pub offline: bool,
    /// Requests sent.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// The run's log, for its last lines.
    pub log: RunLog,
}

/// Runs a harvest from its queues to a journal that is ready to be folded.
pub fn run<D, C>(session: &Session, work: Work<D>, make_clerk: impl Fn() -> C) -> Result<Harvested>
where
    D: JobSource + 'static,
    C: Clerk,
{
    // SIGHUP is left alone: to wait for it would undo `nohup`, and the journal stands a kill.
    signals::heed(&session.stopper, None);
    let file_limit = tidings_fetch::raise_file_limit();
    let journal = Journal::create(&session.home, &session.run)?;
    let mut log = RunLog::create(&session.home, &session.run)?;
    log.push(&serde_json::json!({ "began": tidings_model::clock::now() }))?;
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
    let total: u64 = work.queues.iter().map(|queue| queue.jobs.len() as u64).sum();
    let threads = cores.clamp(2, 8);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(cores + 2)
        .enable_all()
        .build()
        .context("cannot start the threads of the harvest")?;

    let stats = Arc::new(CrawlStats::default());
    let committer = Committer::start(journal, work.shelf, stats.clone(), session.stopper.clone());
    let (events, diary) = diary::start(log, committer.sender(), session.stopper.clone());
    let (results, arriving) = mpsc::channel(64);
    let clerks = Clerks { free: Mutex::new((0..cores).map(|_| make_clerk()).collect()), places: Semaphore::new(cores) };

    let harvest = Crawler {
        settings: work.settings,
        kind: work.kind,
        source: work.source,
        results,
        events,
        stop: session.stopper.watch(),
        stats: stats.clone(),
        file_limit,
        all_hosts_idle_for: work.all_hosts_idle_for,
    };
    let (outcome, delivered) = runtime.block_on(async {
        let collecting = tokio::spawn(collect(arriving, Arc::new(clerks), committer.sender()));
        let watching = tokio::spawn(watch(Watch {
            home: session.home.clone(),
            stopper: session.stopper.clone(),
            stats: stats.clone(),
            min_free_bytes: session.config.store.min_free_mib << 20,
            time_limit: work.time_limit,
            progress: Progress::begin(noun(work.kind), total),
        }));
        let outcome = harvest.run(work.queues, work.remembered).await;
        let delivered = collecting.await.context("the collector failed")?;
        watching.abort();
        let _ = watching.await;
        anyhow::Ok((outcome?, delivered))
    })?;
    runtime.shutdown_timeout(Duration::from_millis(200));

    let mut log = diary.finish()?;
    let committed = committer.finish(hosts_step(&outcome))?;
    log.flush()?;
    Ok(Harvested {
        outcome,
        left: total - delivered,
        tally: committed.tally,
        offline: committed.offline,
        requests: stats.requests.load(Relaxed),
        bytes: stats.bytes.load(Relaxed),
        log,
    })
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Page => "pages",
        Kind::Feed => "feeds",
        Kind::Probe => "addresses",
    }
}

fn hosts_step(outcome: &CrawlOutcome) -> Step {
    let mut step = Step::default();
    for note in &outcome.hosts {
        step.push(&Record::Host(Box::new(HostState {
            host: note.host.clone(),
            last_request: rfc3339(note.last_request),
            not_before: note.not_before.map(rfc3339).unwrap_or_default(),
            failures: u32::from(!note.answered),
            requests: note.requests.into(),
        })));
    }
    step
}

/// Clerks that wait for work, and places to work at.
struct Clerks<C> {
    free: Mutex<Vec<C>>,
    places: Semaphore,
}

/// Gathers results into batches of a good size and gives them to clerks; tells how many came.
async fn collect<C: Clerk>(
    mut arriving: mpsc::Receiver<FetchResult>,
    clerks: Arc<Clerks<C>>,
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
            false => timeout_at(oldest + LINGER, arriving.recv()).await,
        };
        let (full, ended) = match next {
            Ok(Some(delivery)) => {
                delivered += 1;
                if batch.is_empty() {
                    oldest = Instant::now();
                }
                weight += unpacked_bytes(&delivery);
                let large = delivery.result.as_ref().is_ok_and(HttpResponse::is_large);
                batch.push(delivery);
                (large || weight >= BATCH_BYTES, false)
            }
            Ok(None) => (true, true),
            Err(_) => (true, false),
        };
        if full && !batch.is_empty() {
            let results = std::mem::take(&mut batch);
            weight = 0;
            let (clerks, committer) = (clerks.clone(), committer.clone());
            // While all clerks are busy nothing is taken in: the harvest feels it and slows down.
            let place = clerks.places.acquire().await.expect("never closed");
            place.forget();
            at_work.spawn_blocking(move || {
                let clerk = clerks.free.lock().expect("no panic while held").pop();
                let mut clerk = clerk.expect("as many clerks as places");
                let batch = clerk.process(results);
                clerks.free.lock().expect("no panic while held").push(clerk);
                committer.batch(batch);
                clerks.places.add_permits(1);
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

/// About how much text a delivery will be.
fn unpacked_bytes(delivery: &FetchResult) -> usize {
    const RECORD: usize = 300;
    let Ok(answer) = &delivery.result else { return RECORD };
    let encoded = answer.headers.get(http::header::CONTENT_ENCODING).map_or("", |value| value.to_str().unwrap_or(""));
    let bytes = match (encoded, answer.body.last_chunk::<4>()) {
        // A gzip body ends with its unpacked length; whether it lies does not matter here.
        ("gzip", Some(length)) => (u32::from_le_bytes(*length) as usize).min(BATCH_BYTES),
        ("", _) => answer.body.len(),
        _ => answer.body.len() * 4,
    };
    RECORD + bytes
}

struct Watch {
    home: Home,
    stopper: crate::session::Stopper,
    stats: Arc<CrawlStats>,
    min_free_bytes: u64,
    time_limit: Option<Duration>,
    progress: Progress,
}

/// Looks at the clock and the disk while a harvest goes on.
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
                watch.stopper.stop(Stop::TimeLimit);
                watch.time_limit = None;
            }
            _ = ticks.tick() => {
                let stats = &watch.stats;
                let elapsed = began.elapsed();
                let delivered = stats.delivered.load(Relaxed);
                let detail = format!(
                    "{} under way, {:.1}/s, {:.1} MB, {}",
                    stats.in_flight.load(Relaxed),
                    delivered as f64 / elapsed.as_secs_f64().max(0.1),
                    stats.bytes.load(Relaxed) as f64 / 1e6,
                    span(elapsed),
                );
                watch.progress.show(delivered, &detail);
                if free_bytes(&watch.home).is_some_and(|free| free < watch.min_free_bytes) {
                    watch.stopper.stop(Stop::DiskFull);
                }
            }
        }
    }
}

/// The room that is left on the disk of a home.
pub fn free_bytes(home: &Home) -> Option<u64> {
    let stat = rustix::fs::statvfs(home.root()).ok()?;
    Some(stat.f_bavail * stat.f_frsize)
}
