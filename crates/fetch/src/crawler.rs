//! The tokio driver of the crawl loop: executes its actions and reports the results.
//!
//! Each request runs as a task of its own, and there are never more tasks than requests in flight.
//! All decisions are made by [`CrawlLoop`].

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tidings_model::clock;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::client::{Exchange, HttpClient, HttpRequest, RequestError};
use crate::connect::Connection;
use crate::crawl_loop::{Action, CrawlLoop, Input, LoopConfig, Now};
use crate::decode::Ceiling;
use crate::frontier::HostId;
use crate::policy::PolicyResponse;
use crate::pool::ConnectionPool;
use crate::request::Completion;
use crate::settings::Settings;
use crate::types::{CrawlEvent, CrawlKind, CrawlOutcome, CrawlStats, FetchResult, HostQueue, JobSource};
use crate::{Error, robots};

/// Files that the rest of the program needs open.
const RESERVED_FILES: u64 = 64;

/// A polite crawl over per-host queues.
pub struct Crawler<J: JobSource> {
    /// Limits and politeness.
    pub settings: Settings,
    /// The purpose of the requests.
    pub kind: CrawlKind,
    /// Storage of the jobs.
    pub source: J,
    /// Receives the results. A full channel slows the crawl down.
    pub results: mpsc::Sender<FetchResult>,
    /// Receives events for the log.
    pub events: std::sync::mpsc::Sender<CrawlEvent>,
    /// Becomes true when the crawl must end.
    pub stop: watch::Receiver<bool>,
    /// Live counters.
    pub stats: Arc<CrawlStats>,
    /// Limit of open files of this process.
    pub file_limit: u64,
    /// Time for which all hosts have been idle, if the last requests are unknown.
    pub all_hosts_idle_for: Option<Duration>,
}

impl<J: JobSource> Crawler<J> {
    /// Crawls until all jobs have a result, their hosts are given up, or the crawl is stopped.
    /// `known` are policy files of an earlier crawl that are still valid.
    pub async fn run(self, queues: Vec<HostQueue>, known: Vec<PolicyResponse>) -> Result<CrawlOutcome, Error> {
        self.start(queues, known, None)?.run().await
    }

    /// Crawls jobs that arrive while it runs, until the sender of the queues is dropped and all jobs have a result, or
    /// the crawl is stopped. Memory is bounded: hosts and policies without work are forgotten. Jobs of a host that is
    /// postponed are returned with the failure `postponed`.
    pub async fn run_open(
        self,
        queues: Vec<HostQueue>,
        known: Vec<PolicyResponse>,
        arriving: mpsc::UnboundedReceiver<HostQueue>,
    ) -> Result<CrawlOutcome, Error> {
        self.start(queues, known, Some(arriving))?.run().await
    }

    fn start(
        self,
        queues: Vec<HostQueue>,
        known: Vec<PolicyResponse>,
        arriving: Option<mpsc::UnboundedReceiver<HostQueue>>,
    ) -> Result<Driver<J>, Error> {
        let max_open = self.file_limit.saturating_sub(RESERVED_FILES).max(1) as usize;
        let client = Arc::new(HttpClient::new(&self.settings, self.settings.concurrency.clamp(1, max_open))?);
        let config = LoopConfig {
            settings: self.settings,
            kind: self.kind,
            max_open,
            all_hosts_idle_for: self.all_hosts_idle_for,
            started: clock::now(),
        };
        let crawl = CrawlLoop::new(config, self.source, self.stats, queues, &known);
        Ok(Driver {
            started: Instant::now(),
            crawl: if arriving.is_some() { crawl.open() } else { crawl },
            arriving,
            client,
            pool: ConnectionPool::new(),
            tasks: JoinSet::new(),
            hosts: HashMap::new(),
            sending: 0,
            results: self.results,
            events: self.events,
            stop: self.stop,
        })
    }
}

/// End of a task.
enum TaskEnd {
    Resolved(HostId, IpAddr),
    Completed(HostId, Box<Completion>, Option<Connection>),
    /// A result was delivered, or the consumer is gone.
    Delivered(HostId, bool),
}

struct Driver<J: JobSource> {
    started: Instant,
    crawl: CrawlLoop<J>,
    /// Queues of an open crawl.
    arriving: Option<mpsc::UnboundedReceiver<HostQueue>>,
    client: Arc<HttpClient>,
    pool: ConnectionPool<Connection>,
    tasks: JoinSet<TaskEnd>,
    /// Host of each task, for tasks that end by a panic.
    hosts: HashMap<task::Id, HostId>,
    /// Tasks that hold a socket.
    sending: usize,
    results: mpsc::Sender<FetchResult>,
    events: std::sync::mpsc::Sender<CrawlEvent>,
    stop: watch::Receiver<bool>,
}

impl<J: JobSource> Driver<J> {
    async fn run(mut self) -> Result<CrawlOutcome, Error> {
        loop {
            let now = Now { elapsed: self.started.elapsed(), wall: clock::now() };
            match self.crawl.next_action(now)? {
                Action::Resolve(host, url) => self.resolve(host, url),
                Action::Send(host, request) => self.send(host, *request),
                Action::Deliver(Some(host), result) => self.deliver(host, *result),
                Action::Deliver(None, result) => self.deliver_now(*result).await,
                // A closed channel means that the consumer stopped the crawl or keeps no log.
                Action::Record(event) => drop(self.events.send(*event)),
                Action::Evicted(host) => drop(self.pool.take(host)),
                Action::Wait(until) => self.wait(until).await,
                Action::Finish => break,
            }
        }
        self.tasks.abort_all();
        Ok(self.crawl.outcome())
    }

    /// Starts the search for the address of a host.
    fn resolve(&mut self, host: HostId, url: Url) {
        let (client, started) = (self.client.clone(), self.started);
        let task = self.tasks.spawn(async move {
            let sent = started.elapsed();
            match client.resolve(&url).await {
                Ok(ip) => TaskEnd::Resolved(host, ip),
                Err(error) => {
                    let (ended, wall) = (started.elapsed(), clock::now());
                    let completion = Completion::unsent(sent, ended, wall, error);
                    TaskEnd::Completed(host, Box::new(completion), None)
                }
            }
        });
        self.sending += 1;
        self.hosts.insert(task.id(), host);
    }

    /// Starts a request, over the host's idle connection if there is one.
    fn send(&mut self, host: HostId, request: HttpRequest) {
        self.pool.make_room(self.sending, self.crawl.max_open());
        let idle = self.pool.take(host);
        let (client, started) = (self.client.clone(), self.started);
        let task = self.tasks.spawn(async move {
            let sent = started.elapsed();
            let Exchange { mut result, connection, reused, bytes, peer } = client.send(&request, idle).await;
            let (ended, wall) = (started.elapsed(), clock::now());
            let decoded = match &mut result {
                Ok(response) if request.decode => {
                    response.decode_body(Ceiling { max_bytes: robots::MAX_BYTES * 4, max_ratio: 100 })
                }
                _ => Ok(()),
            };
            let completion = Completion { sent, ended, wall, reused, bytes, peer, result, decoded };
            TaskEnd::Completed(host, Box::new(completion), connection)
        });
        self.sending += 1;
        self.hosts.insert(task.id(), host);
    }

    /// Passes the result of a request to the consumer, in a separate task if the consumer is busy.
    fn deliver(&mut self, host: HostId, result: FetchResult) {
        match self.results.try_send(result) {
            Ok(()) => self.crawl.handle(Input::Delivered(host)),
            Err(TrySendError::Closed(_)) => self.crawl.handle(Input::ResultsClosed),
            Err(TrySendError::Full(result)) => {
                let results = self.results.clone();
                let task =
                    self.tasks.spawn(async move { TaskEnd::Delivered(host, results.send(result).await.is_ok()) });
                self.hosts.insert(task.id(), host);
            }
        }
    }

    /// Passes a result without a request to the consumer before anything else is started.
    async fn deliver_now(&mut self, result: FetchResult) {
        tokio::select! {
            biased;
            _ = self.stop.wait_for(|stop| *stop) => self.crawl.handle(Input::Stop),
            sent = self.results.send(result) => if sent.is_err() {
                self.crawl.handle(Input::ResultsClosed);
            }
        }
    }

    /// Waits for a stop, the end of a task, or a time.
    async fn wait(&mut self, until: Option<Duration>) {
        let alarm = self.started + until.unwrap_or_default();
        let ended = tokio::select! {
            biased;
            _ = self.stop.wait_for(|stop| *stop) => return self.crawl.handle(Input::Stop),
            Some(ended) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => ended,
            queue = next_queue(&mut self.arriving), if self.crawl.is_open() => {
                return self.crawl.handle(queue.map_or(Input::QueuesClosed, Input::Queue));
            }
            () = sleep_until(alarm), if until.is_some() => return,
        };
        let (id, end) = match ended {
            Ok((id, end)) => (id, Some(end)),
            Err(error) => (error.id(), None),
        };
        let host = self.hosts.remove(&id);
        self.on_task_end(host, end);
    }

    fn on_task_end(&mut self, host: Option<HostId>, end: Option<TaskEnd>) {
        match end {
            Some(TaskEnd::Resolved(host, ip)) => {
                self.sending -= 1;
                self.crawl.handle(Input::Resolved(host, ip));
            }
            Some(TaskEnd::Completed(host, completion, connection)) => {
                self.sending -= 1;
                if matches!(completion.result, Err(RequestError::OutOfSockets)) {
                    self.pool.close_oldest();
                }
                self.crawl.handle(Input::Completed(host, completion));
                if let Some(connection) = connection.filter(|_| self.crawl.has_work(host) || self.crawl.is_open()) {
                    self.pool.put(host, connection);
                }
            }
            Some(TaskEnd::Delivered(host, true)) => self.crawl.handle(Input::Delivered(host)),
            Some(TaskEnd::Delivered(_, false)) => self.crawl.handle(Input::ResultsClosed),
            None => {
                // Only an exchange runs code that could panic.
                self.sending = self.sending.saturating_sub(1);
                if let Some(host) = host {
                    self.crawl.handle(Input::Lost(host));
                }
            }
        }
    }
}

/// The next queue of an open crawl; `None` if no more arrive.
async fn next_queue(arriving: &mut Option<mpsc::UnboundedReceiver<HostQueue>>) -> Option<HostQueue> {
    match arriving {
        Some(arriving) => arriving.recv().await,
        None => None,
    }
}
