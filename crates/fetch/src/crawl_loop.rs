//! The crawl loop: a state machine that decides which host to contact next, whether the request is allowed, what a
//! response means for its host, and when its next request may be sent.
//!
//! It has no sockets, tasks or clocks. The driver ([`crate::Crawler`]) calls [`CrawlLoop::next_action`] with the
//! current time, executes the action, and reports the result to [`CrawlLoop::handle`]; tests do the same in virtual
//! time. All requests to a host pass through its queue in the [`Frontier`], including redirects and policy files, so a
//! thousand sites that redirect to one host still send it one request at a time; hosts that share an IP address share
//! its slot in [`AddressSlots`].

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use jiff::Timestamp;
use tidings_model::Status;
use url::Url;

use crate::Error;
use crate::address_slots::AddressSlots;
use crate::client::{HttpRequest, HttpResponse, RequestError};
use crate::frontier::{Frontier, Host, HostId};
use crate::policy::{Access, HostPolicy, Lookup, PolicyKind, PolicyResponse, RobotsPolicy};
use crate::request::{Completion, InFlight, PendingRequest, Permission, Purpose};
use crate::rights::TdmRules;
use crate::settings::Settings;
use crate::types::{
    CrawlEvent, CrawlKind, CrawlOutcome, CrawlStats, FetchJob, FetchResult, HostNote, HostQueue, JobId, JobSource,
    Redirect,
};

mod backoff;
mod dispatch;
mod open;

/// A moment on both clocks: the monotonic one of the crawl and the calendar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// Time since the crawl began.
    pub(crate) elapsed: Duration,
    pub(crate) wall: Timestamp,
}

/// Inputs from the driver.
pub(crate) enum Input {
    /// The IP address of a host was found.
    Resolved(HostId, IpAddr),
    /// The request of a host ended, or its IP address could not be found.
    Completed(HostId, Box<Completion>),
    /// The consumer took the result of a host's request.
    Delivered(HostId),
    /// The request of a host was lost because of a bug in this program.
    Lost(HostId),
    /// The consumer accepts no more results.
    ResultsClosed,
    /// Jobs for a host arrived.
    Queue(HostQueue),
    /// No more queues arrive: the crawl ends when all jobs have results.
    QueuesClosed,
    /// The crawl must end: cancelled, out of time, or out of disk space.
    Stop,
}

/// Actions for the driver.
pub(crate) enum Action {
    /// Find the IP address for a URL and report [`Input::Resolved`], or [`Input::Completed`] with the failure.
    Resolve(HostId, Url),
    /// Send a request and report [`Input::Completed`].
    Send(HostId, Box<HttpRequest>),
    /// Pass a result to the consumer. With a host, the result came from its request, which keeps its place among the
    /// concurrent requests until [`Input::Delivered`]: bodies cannot pile up.
    Deliver(Option<HostId>, Box<FetchResult>),
    /// Write an event to the log.
    Record(Box<CrawlEvent>),
    /// The number of a host may be given to another one: forget what is kept under it.
    Evicted(HostId),
    /// Wait for the next input, or until a time if one is given.
    Wait(Option<Duration>),
    /// Abandon requests in flight: the crawl is over.
    Finish,
}

/// Decision about a pending request.
enum Admission {
    Send(Permission),
    /// A policy file has to be fetched first.
    FetchPolicy(PolicyKind),
    /// A policy file is being fetched.
    WaitForPolicy,
    Refuse(Status, String),
}

/// Parameters of a crawl.
pub(crate) struct LoopConfig {
    pub(crate) settings: Settings,
    pub(crate) kind: CrawlKind,
    /// Limit of open sockets; concurrency never exceeds it.
    pub(crate) max_open: usize,
    /// Time for which all hosts have been idle, if the last requests are unknown.
    pub(crate) all_hosts_idle_for: Option<Duration>,
    pub(crate) started: Timestamp,
}

/// State of a crawl.
pub(crate) struct CrawlLoop<J: JobSource> {
    config: LoopConfig,
    source: J,
    stats: Arc<CrawlStats>,
    frontier: Frontier,
    addresses: AddressSlots,
    /// By origin.
    policies: HashMap<String, HostPolicy>,
    actions: VecDeque<Action>,
    /// A host whose turn continues after a result that needed no request.
    current: Option<HostId>,
    active: usize,
    concurrency: usize,
    stopped: bool,
    /// True while queues may arrive.
    is_open: bool,
    /// Number of hosts above which idle ones are evicted.
    evict_above: usize,
}

impl<J: JobSource> CrawlLoop<J> {
    pub(crate) fn new(
        config: LoopConfig,
        source: J,
        stats: Arc<CrawlStats>,
        queues: Vec<HostQueue>,
        known: &[PolicyResponse],
    ) -> CrawlLoop<J> {
        let idle_for = queues.iter().filter_map(|queue| queue.idle_for).chain(config.all_hosts_idle_for).min();
        let mut this = CrawlLoop {
            addresses: AddressSlots::new(&config.settings, idle_for),
            concurrency: config.settings.concurrency.clamp(1, config.max_open.max(1)),
            config,
            source,
            stats,
            frontier: Frontier::default(),
            policies: HashMap::new(),
            actions: VecDeque::new(),
            current: None,
            active: 0,
            stopped: false,
            is_open: false,
            evict_above: open::MIN_KEPT,
        };
        for policy in known {
            this.learn_policy(policy);
        }
        this.fill_frontier(queues);
        this
    }

    /// Puts hosts and their jobs in the order of the seed.
    fn fill_frontier(&mut self, queues: Vec<HostQueue>) {
        let mut random = fastrand::Rng::with_seed(self.config.settings.seed);
        // Hosts without jobs must not change the order of the others.
        let (mut queues, history): (Vec<HostQueue>, Vec<HostQueue>) =
            queues.into_iter().partition(|queue| !queue.jobs.is_empty() || !queue.later.is_empty());
        random.shuffle(&mut queues);
        for HostQueue { host, mut jobs, later, idle_for, blocked_for } in queues.into_iter().chain(history) {
            random.shuffle(&mut jobs);
            // The last job is taken first.
            let jobs = later.into_iter().rev().chain(jobs).collect();
            let id = self.frontier.id(&host);
            let host = self.frontier.get_mut(id);
            host.jobs = jobs;
            host.idle_before_start = idle_for;
            host.not_before = blocked_for;
            if blocked_for.is_some_and(|wait| wait > self.config.settings.max_retry_after) {
                host.given_up = Some("Retry-After or backoff of an earlier run");
            }
            self.schedule(id);
        }
    }

    /// Limit of open sockets, which shrinks when the machine runs out of them.
    pub(crate) fn max_open(&self) -> usize {
        self.config.max_open
    }

    /// True if an idle connection to a host should be kept.
    pub(crate) fn has_work(&self, host: HostId) -> bool {
        self.frontier.get(host).has_work()
    }

    /// Decides on the next action. The driver calls this until it gets `Wait` or `Finish`.
    pub(crate) fn next_action(&mut self, now: Now) -> Result<Action, Error> {
        loop {
            if let Some(action) = self.actions.pop_front() {
                return Ok(action);
            }
            if self.stopped {
                return Ok(Action::Finish);
            }
            let free = self.active < self.concurrency;
            let due = self.current.take();
            let due = due.or_else(|| if free { self.frontier.pop_due(now.elapsed) } else { None });
            if let Some(host) = due {
                self.take_turn(host, now)?;
                if self.current.is_none() {
                    self.wake_neighbour(host);
                    self.return_jobs(host);
                }
                continue;
            }
            self.stats.in_flight.store(self.active as u64, Relaxed);
            self.evict_idle(now);
            if !self.actions.is_empty() {
                continue;
            }
            let next_turn = self.frontier.next_turn().filter(|_| free);
            return Ok(match next_turn {
                None if self.active == 0 && !self.is_open => Action::Finish,
                next_turn => Action::Wait(next_turn),
            });
        }
    }

    /// Handles an input.
    pub(crate) fn handle(&mut self, input: Input) {
        match input {
            Input::Resolved(host, ip) => self.on_resolved(host, ip),
            Input::Completed(host, completion) => {
                self.on_complete(host, *completion);
                self.return_jobs(host);
            }
            Input::Delivered(host) => {
                self.stats.delivered.fetch_add(1, Relaxed);
                self.release(host);
                match self.frontier.get(host).passes_over {
                    // Nothing is sent, so there is no pause to wait for.
                    true => self.frontier.enqueue(host, Duration::ZERO),
                    false => self.schedule(host),
                }
                self.return_jobs(host);
            }
            Input::Queue(queue) => self.on_queue(queue),
            Input::QueuesClosed => self.is_open = false,
            Input::Lost(host) => {
                if let Some(InFlight::Sending(..)) = self.release(host) {
                    self.free_address(host, None);
                }
                self.frontier.get_mut(host).given_up = Some("internal error in a request");
                self.return_jobs(host);
            }
            Input::ResultsClosed | Input::Stop => {
                self.stopped = true;
                self.actions.retain(|action| matches!(action, Action::Record(_)));
            }
        }
    }

    /// Frees the place of a host's request.
    fn release(&mut self, host: HostId) -> Option<InFlight> {
        let in_flight = self.frontier.get_mut(host).in_flight.take();
        self.active -= usize::from(in_flight.is_some());
        in_flight
    }

    /// Starts the next request of a host, or returns one result that needs none.
    fn take_turn(&mut self, id: HostId, now: Now) -> Result<(), Error> {
        if self.frontier.get(id).in_flight.is_some() {
            // The end of that request queues the host again.
            return Ok(());
        }
        let Some(pending) = self.next_pending(id, now)? else { return Ok(()) };
        let Purpose::Job(job) = pending.purpose else {
            self.send(id, pending, Permission::default(), now);
            return Ok(());
        };
        match self.admit(&pending, now) {
            Admission::Send(permission) => self.send(id, pending, permission, now),
            Admission::FetchPolicy(kind) => self.fetch_policy(id, pending, kind, now),
            Admission::WaitForPolicy => self.wait_for_policy(id, pending, now),
            Admission::Refuse(status, detail) => {
                self.refuse(id, job, pending.url.into(), pending.redirects, (status, detail), now);
            }
        }
        Ok(())
    }

    /// Next request of a host.
    fn next_pending(&mut self, id: HostId, now: Now) -> Result<Option<PendingRequest>, Error> {
        let host = self.frontier.get_mut(id);
        if host.passes_over {
            self.pass_over(id, now)?;
            return Ok(None);
        }
        if host.given_up.is_some() {
            return Ok(None);
        }
        if let Some(pending) = host.front_queue.pop_front() {
            return Ok(Some(pending));
        }
        let Some(job) = host.jobs.pop() else { return Ok(None) };
        self.load(id, job, now)
    }

    /// The request of a job. One without a valid URL is rejected.
    fn load(&mut self, id: HostId, job: JobId, now: Now) -> Result<Option<PendingRequest>, Error> {
        let FetchJob { url, headers } = self.source.job(job).map_err(Error::JobSource)?;
        match Url::parse(&url) {
            Ok(url) if url.has_host() && matches!(url.scheme(), "http" | "https") => {
                Ok(Some(PendingRequest::new(Purpose::Job(job), url, headers)))
            }
            _ => {
                let failure = (Status::failed("bad-url"), "not a valid http or https URL".to_owned());
                self.refuse(id, job, url, Vec::new(), failure, now);
                Ok(None)
            }
        }
    }

    /// Returns the next job of a host that refuses every page as refused, without a request: its consumer may have the
    /// page from elsewhere. Jobs whose policy is not known stay for a later crawl.
    fn pass_over(&mut self, id: HostId, now: Now) -> Result<(), Error> {
        let host = self.frontier.get_mut(id);
        let Some(job) = host.jobs.pop() else {
            host.jobs = std::mem::take(&mut host.kept);
            host.passes_over = false;
            return Ok(());
        };
        host.passed_over += 1;
        let Some(pending) = self.load(id, job, now)? else { return Ok(()) };
        let permission = match self.admit(&pending, now) {
            Admission::Send(permission) => permission,
            Admission::Refuse(status, detail) => {
                self.refuse(id, job, pending.url.into(), Vec::new(), (status, detail), now);
                return Ok(());
            }
            Admission::FetchPolicy(_) | Admission::WaitForPolicy => {
                self.frontier.get_mut(id).kept.push(job);
                self.current = Some(id);
                return Ok(());
            }
        };
        let detail = "not requested, because the host refused the requests before".to_owned();
        let result = FetchResult {
            job,
            url: pending.url.into(),
            at: now.wall,
            requested: false,
            redirects: Vec::new(),
            result: Err((Status::Http(403), detail)),
            robots: permission.robots,
            tdm: permission.tdm,
            sitemaps: permission.sitemaps,
        };
        self.deliver_unsent(id, result);
        Ok(())
    }

    /// Delivers a result that needed no request. The turn of the host then continues.
    fn deliver_unsent(&mut self, id: HostId, result: FetchResult) {
        self.stats.delivered.fetch_add(1, Relaxed);
        self.actions.push_back(Action::Deliver(None, Box::new(result)));
        self.current = Some(id);
    }

    /// Decides whether a request may be sent, as far as the policy of its origin is known.
    fn admit(&mut self, pending: &PendingRequest, now: Now) -> Admission {
        let policy = self.policies.entry(origin(&pending.url)).or_default();
        let mut permission = Permission::default();
        if self.config.settings.obey_robots {
            let robots = match &policy.robots {
                Lookup::Known(robots) => robots,
                Lookup::Requested => return Admission::WaitForPolicy,
                Lookup::Unknown => {
                    policy.robots = Lookup::Requested;
                    return Admission::FetchPolicy(PolicyKind::Robots);
                }
            };
            if let Access::Unreachable(status, detail) = &robots.access {
                return Admission::Refuse(status.clone(), detail.clone());
            }
            if !robots.allows(&pending.url[url::Position::BeforePath..url::Position::AfterQuery]) {
                return Admission::Refuse(Status::failed("robots"), "robots.txt forbids it".to_owned());
            }
            permission.robots = robots.evidence.clone();
            permission.sitemaps = robots.sitemaps();
            permission.robots_age =
                Some(Duration::try_from(now.wall.duration_since(robots.fetched)).unwrap_or_default());
        }
        if self.config.kind == CrawlKind::Page {
            match &policy.tdm {
                Lookup::Known(tdm) => permission.tdm = tdm.of(pending.url.path()),
                Lookup::Requested => return Admission::WaitForPolicy,
                Lookup::Unknown => {
                    policy.tdm = Lookup::Requested;
                    return Admission::FetchPolicy(PolicyKind::Tdmrep);
                }
            }
        }
        Admission::Send(permission)
    }

    /// Returns a failure that needed no request. The turn of the host then continues.
    fn refuse(
        &mut self,
        id: HostId,
        job: JobId,
        url: String,
        redirects: Vec<Redirect>,
        failure: (Status, String),
        now: Now,
    ) {
        let result = FetchResult {
            job,
            url,
            at: now.wall,
            requested: !redirects.is_empty(),
            redirects,
            result: Err(failure),
            robots: None,
            tdm: (None, None),
            sitemaps: Arc::default(),
        };
        self.deliver_unsent(id, result);
    }

    /// Puts a request back until the policy of its origin is known.
    fn wait_for_policy(&mut self, id: HostId, pending: PendingRequest, now: Now) {
        let host = self.frontier.get_mut(id);
        let policy_at = host.front_queue.iter().position(PendingRequest::is_policy);
        // Another host may wait for a policy file that redirects here.
        let policy = policy_at.and_then(|at| host.front_queue.remove(at));
        host.front_queue.push_front(pending);
        match policy {
            Some(policy) => self.send(id, policy, Permission::default(), now),
            None => host.waiting_for_policy = true,
        }
    }

    /// Sends the request for a policy file before the request that needs it.
    fn fetch_policy(&mut self, id: HostId, pending: PendingRequest, kind: PolicyKind, now: Now) {
        let url = pending.url.join(kind.path()).expect("a fixed path on an http URL");
        let purpose = Purpose::Policy { kind, origin: origin(&pending.url), waiting: id };
        self.frontier.get_mut(id).front_queue.push_front(pending);
        self.send(id, PendingRequest::new(purpose, url, Vec::new()), Permission::default(), now);
    }

    /// Draws the conclusions from a request that ended.
    fn on_complete(&mut self, id: HostId, mut completion: Completion) {
        let (mut pending, permission) = match self.release(id) {
            Some(InFlight::Sending(pending, permission)) => {
                self.end_at_address(id, &completion);
                (*pending, *permission)
            }
            Some(InFlight::Resolving(pending, permission)) => (*pending, *permission),
            Some(InFlight::Delivering) | None => return,
        };
        match completion.result {
            Err(RequestError::OutOfSockets) => return self.on_socket_shortage(id, pending, completion.ended),
            Err(RequestError::OtherAddress(ip)) if pending.may_change_address() => {
                return self.on_other_address(id, pending, ip);
            }
            Err(RequestError::OtherAddress(_)) => {
                let detail = "each connection has another address".to_owned();
                completion.result = Err(RequestError::Failed(Status::failed("connect"), detail));
            }
            _ => {}
        }
        let pause = self.update_backoff(id, &pending, &completion);
        self.record(id, &pending, &permission, &completion, pause);
        let Completion { result, decoded, wall, .. } = completion;
        let result = match result {
            Err(RequestError::StaleConnection(..)) if !pending.retried => {
                pending.retried = true;
                self.frontier.get_mut(id).front_queue.push_front(pending);
                return self.schedule(id);
            }
            Err(RequestError::Failed(status, detail) | RequestError::StaleConnection(status, detail)) => {
                Err((status, detail))
            }
            Err(RequestError::OutOfSockets | RequestError::OtherAddress(_)) => unreachable!("handled above"),
            Ok(response) => match pending.redirect_target(&response, self.config.settings.max_redirects) {
                Ok(None) => Ok(response),
                Ok(Some(url)) if pending.is_policy() || self.owns(&url) => {
                    let status = response.status.as_u16();
                    return self.follow_redirect(id, pending, status, url);
                }
                Ok(Some(url)) => Err(pending.moved(response.status.as_u16(), url)),
                Err(failure) => Err(failure),
            },
        };
        match &pending.purpose {
            Purpose::Policy { .. } => {
                self.on_policy(pending, result, decoded, wall);
                self.schedule(id);
            }
            Purpose::Job(job) => {
                let job = *job;
                let PendingRequest { url, redirects, .. } = pending;
                let Permission { robots, tdm, sitemaps, .. } = permission;
                let url = url.into();
                let result =
                    FetchResult { job, url, redirects, at: wall, result, requested: true, robots, tdm, sitemaps };
                self.frontier.get_mut(id).in_flight = Some(InFlight::Delivering);
                self.active += 1;
                self.actions.push_back(Action::Deliver(Some(id), Box::new(result)));
            }
        }
    }

    /// Moves a request to the queue of its redirect's target.
    fn follow_redirect(&mut self, from: HostId, mut pending: PendingRequest, status: u16, url: Url) {
        let target = self.frontier.id(url.host_str().unwrap_or_default());
        pending.redirect(status, url);
        self.frontier.get_mut(target).front_queue.push_back(pending);
        self.schedule(target);
        self.schedule(from);
    }

    /// Handles a policy file and wakes the host that waits for it.
    fn on_policy(
        &mut self,
        pending: PendingRequest,
        result: Result<HttpResponse, (Status, String)>,
        decoded: Result<(), Status>,
        wall: Timestamp,
    ) {
        let Purpose::Policy { kind, origin, waiting } = pending.purpose else { return };
        let result = result.map_err(|(status, detail)| {
            // Only the redirect led to a private address; the host itself is public.
            let redirected = !pending.redirects.is_empty() && status == Status::failed("private");
            (if redirected { Status::failed("robots-unreachable") } else { status }, detail)
        });
        let policy = PolicyResponse::new(origin, kind, wall, result, decoded);
        self.learn_policy(&policy);
        self.actions.push_back(Action::Record(Box::new(CrawlEvent::Policy(policy))));
        self.frontier.get_mut(waiting).waiting_for_policy = false;
        self.schedule(waiting);
    }

    fn learn_policy(&mut self, response: &PolicyResponse) {
        let policy = self.policies.entry(response.origin.clone()).or_default();
        match response.kind {
            PolicyKind::Robots => {
                let robots = RobotsPolicy::from(response);
                let delay = robots.crawl_delay().unwrap_or_default().min(self.config.settings.max_crawl_delay);
                let trouble = robots.host_trouble();
                policy.robots = Lookup::Known(Arc::new(robots));
                if let Some(name) = Url::parse(&response.origin).ok().as_ref().and_then(Url::host_str) {
                    let id = self.frontier.id(name);
                    let host = self.frontier.get_mut(id);
                    host.require_delay(delay);
                    host.trouble = trouble.map(Into::into).or(host.trouble.take());
                }
            }
            PolicyKind::Tdmrep => {
                let body = response.body.as_deref().filter(|_| matches!(response.status, Ok(200..300)));
                policy.tdm = Lookup::Known(Arc::new(body.map(TdmRules::parse).unwrap_or_default()));
            }
        }
    }

    /// Queues a host with work for the end of its delay.
    fn schedule(&mut self, id: HostId) {
        let host = self.frontier.get(id);
        let at = host.pause_until.unwrap_or_else(|| {
            // Not contacted in this crawl: use the time since an earlier one.
            let idle = host.idle_before_start.or(self.config.all_hosts_idle_for);
            idle.map_or(Duration::ZERO, |idle| host.pause(self.config.settings.delay).saturating_sub(idle))
        });
        let at = at.max(host.not_before.unwrap_or_default());
        self.frontier.enqueue(id, at);
    }

    /// Summary at the end.
    pub(crate) fn outcome(&self) -> CrawlOutcome {
        let mut outcome = CrawlOutcome { stopped: self.stopped, ..CrawlOutcome::default() };
        for host in self.frontier.iter() {
            if let Some(reason) = host.given_up.filter(|_| host.has_left_work()) {
                outcome.given_up.push((host.name.to_string(), reason));
            }
            outcome.hosts.extend(self.note(host));
        }
        outcome
    }

    /// State of a host for the next crawl; `None` if it was not contacted.
    fn note(&self, host: &Host) -> Option<HostNote> {
        let wall = |at: Duration| self.config.started + at;
        Some(HostNote {
            host: host.name.to_string(),
            last_request: wall(host.last_ended?),
            // The delay also holds for the next crawl, regardless of its settings.
            not_before: host.not_before.max(host.pause_until).map(wall),
            served: host.served,
            trouble: host.trouble.as_deref().filter(|_| !host.served).map(str::to_owned),
            requests: host.requests,
        })
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests;
