//! Tests of the crawl loop under virtual time.

mod behaviour;
mod open;
mod properties;

use std::collections::HashMap;

use super::*;
use crate::types::RequestRecord;

/// Start of virtual time.
const STARTED: &str = "2026-03-01T12:00:00Z";
const SECOND: Duration = Duration::from_secs(1);

/// Response or failure of a simulated server, and when.
struct Reply {
    latency: Duration,
    result: Result<HttpResponse, RequestError>,
    decoded: Result<(), Status>,
}

impl Reply {
    fn status(code: u16) -> Reply {
        Reply::with(code, &[], "")
    }

    fn with(code: u16, headers: &[(&'static str, &str)], body: &str) -> Reply {
        let result = Ok(HttpResponse::for_test(code, headers, body.as_bytes().to_vec()));
        Reply { latency: SECOND, result, decoded: Ok(()) }
    }

    fn redirect(to: &str) -> Reply {
        Reply::with(302, &[("location", to)], "")
    }

    fn failed(name: &'static str) -> Reply {
        Reply::error(RequestError::Failed(Status::failed(name), "simulated".to_owned()))
    }

    fn stale() -> Reply {
        Reply::error(RequestError::StaleConnection(Status::failed("cut"), "simulated".to_owned()))
    }

    fn error(error: RequestError) -> Reply {
        Reply { latency: SECOND, result: Err(error), decoded: Ok(()) }
    }

    fn after(self, latency: Duration) -> Reply {
        Reply { latency, ..self }
    }
}

/// A request that the loop sent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    host: HostId,
    ip: IpAddr,
    url: String,
    at: Duration,
    ended: Duration,
}

/// Reports of the driver, with their times.
enum Report {
    Completed(Box<Completion>),
    Delivered,
}

struct Jobs(Vec<String>);

impl JobSource for Jobs {
    fn job(&mut self, id: JobId) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>> {
        let url = self.0.get(id as usize).ok_or("no such job")?.clone();
        Ok(FetchJob { url, headers: Vec::new() })
    }
}

/// A driver of the loop with simulated servers, a simulated consumer and virtual time.
struct Simulation<W> {
    crawl: CrawlLoop<Jobs>,
    web: W,
    /// Time the consumer takes for a result.
    consumer: Duration,
    now: Duration,
    reports: Vec<(Duration, u64, HostId, Report)>,
    counter: u64,
    /// Addresses of host names; a name without one has an address of its own.
    names: HashMap<String, IpAddr>,
    /// Address that connections to a host have at last, whatever was expected.
    connects_to: HashMap<String, IpAddr>,
    /// True if no connection opens.
    unanswered: bool,
    sent: Vec<Sent>,
    results: Vec<FetchResult>,
    events: Vec<CrawlEvent>,
    evicted: Vec<HostId>,
}

impl<W: FnMut(&HttpRequest) -> Reply> Simulation<W> {
    fn now(&self) -> Now {
        Now { elapsed: self.now, wall: STARTED.parse::<Timestamp>().unwrap() + self.now }
    }

    fn address_of(&mut self, name: &str) -> IpAddr {
        let next = u32::try_from(self.names.len()).expect("few names") + 1;
        *self.names.entry(name.to_owned()).or_insert_with(|| IpAddr::V4((0x0A00_0000 + next).into()))
    }

    fn report(&mut self, at: Duration, host: HostId, report: Report) {
        self.counter += 1;
        self.reports.push((at, self.counter, host, report));
    }

    /// Executes all actions that are possible now; `None` at the end of the crawl.
    fn settle(&mut self) -> Result<Option<Option<Duration>>, Error> {
        loop {
            match self.crawl.next_action(self.now())? {
                Action::Resolve(host, url) => {
                    let ip = self.address_of(url.host_str().unwrap_or_default());
                    self.crawl.handle(Input::Resolved(host, ip));
                }
                Action::Send(host, request) => {
                    let expected = request.address.expect("the loop knows the address");
                    let ip = request.url.host_str().and_then(|name| self.connects_to.get(name)).copied();
                    if let Some(ip) = ip.filter(|ip| *ip != expected) {
                        let error = RequestError::OtherAddress(ip);
                        let completion = Completion::unsent(self.now, self.now, self.now().wall, error);
                        self.report(self.now, host, Report::Completed(Box::new(completion)));
                        continue;
                    }
                    let Reply { latency, result, decoded } = (self.web)(&request);
                    let ended = self.now + latency;
                    let wall = STARTED.parse::<Timestamp>().unwrap() + ended;
                    let bytes = result.as_ref().map_or(0, |response| response.body.len() as u64);
                    self.sent.push(Sent { host, ip: expected, url: request.url.into(), at: self.now, ended });
                    let is_sent = !self.unanswered && !matches!(result, Err(RequestError::OutOfSockets));
                    let peer = is_sent.then_some(expected);
                    let completion =
                        Completion { sent: self.now, ended, wall, reused: false, bytes, peer, result, decoded };
                    self.report(ended, host, Report::Completed(Box::new(completion)));
                }
                Action::Deliver(host, result) => {
                    self.results.push(*result);
                    if let Some(host) = host {
                        self.report(self.now + self.consumer, host, Report::Delivered);
                    }
                }
                Action::Record(event) => self.events.push(*event),
                Action::Evicted(host) => self.evicted.push(host),
                Action::Wait(until) => return Ok(Some(until)),
                Action::Finish => return Ok(None),
            }
        }
    }

    /// Reports the next event, or advances time until the loop must be called.
    fn advance(&mut self, until: Option<Duration>) {
        let next = (0..self.reports.len()).min_by_key(|at| (self.reports[*at].0, self.reports[*at].1));
        match (next.map(|at| self.reports[at].0), until) {
            (Some(at), until) if until.is_none_or(|until| at <= until) => {
                let (at, _, host, report) = self.reports.swap_remove(next.expect("found above"));
                self.now = self.now.max(at);
                self.crawl.handle(match report {
                    Report::Completed(completion) => Input::Completed(host, completion),
                    Report::Delivered => Input::Delivered(host),
                });
            }
            (_, Some(until)) => self.now = self.now.max(until),
            (_, None) => panic!("the loop waits for a report, but nothing is in flight"),
        }
    }

    /// Runs to the end, or until a time.
    fn run_until(&mut self, limit: Duration) -> bool {
        while let Some(until) = self.settle().expect("jobs exist") {
            let next = self.reports.iter().map(|report| report.0).chain(until).min().expect("something is to come");
            if next > limit {
                self.now = limit;
                return false;
            }
            self.advance(until);
        }
        true
    }

    fn run(&mut self) -> CrawlOutcome {
        assert!(self.run_until(SECOND * 1_000_000), "the crawl does not end");
        self.crawl.outcome()
    }

    /// URLs of the requests with the seconds at which they were sent.
    fn timeline(&self) -> Vec<(u64, &str)> {
        self.sent.iter().map(|sent| (sent.at.as_secs(), sent.url.trim_start_matches("http://"))).collect()
    }

    /// Results as job and status, in the order of jobs.
    fn statuses(&self) -> Vec<(JobId, String)> {
        let mut all: Vec<_> = self
            .results
            .iter()
            .map(|result| match &result.result {
                Ok(response) => (result.job, response.status.as_u16().to_string()),
                Err((status, _)) => (result.job, status.to_string()),
            })
            .collect();
        all.sort();
        all
    }

    fn records(&self) -> Vec<&RequestRecord> {
        let mut records = Vec::new();
        for event in &self.events {
            if let CrawlEvent::Request(record) = event {
                records.push(record);
            }
        }
        records
    }

    /// Jobs that have no result yet, by the state of the loop.
    fn jobs_left(&self) -> usize {
        let left = |host: &crate::frontier::Host| {
            let is_job = |pending: &PendingRequest| !pending.is_policy();
            let sending = match &host.in_flight {
                Some(InFlight::Sending(pending, _) | InFlight::Resolving(pending, _)) => is_job(pending),
                _ => false,
            };
            host.jobs.len() + host.front_queue.iter().filter(|pending| is_job(pending)).count() + usize::from(sending)
        };
        self.crawl.frontier.iter().map(left).sum()
    }
}

/// A crawl about to begin.
struct Setup {
    settings: Settings,
    kind: CrawlKind,
    max_open: usize,
    all_hosts_idle_for: Option<Duration>,
    queues: Vec<HostQueue>,
    known: Vec<PolicyResponse>,
    jobs: Vec<String>,
    names: HashMap<String, IpAddr>,
}

impl Setup {
    /// Jobs for these URLs (without scheme), in queues by host, with a delay of ten seconds.
    fn pages(urls: &[&str]) -> Setup {
        let mut queues: Vec<HostQueue> = Vec::new();
        for (job, url) in urls.iter().enumerate().rev() {
            let host = url.split(['/', ':']).next().unwrap_or_default();
            match queues.iter_mut().find(|queue| queue.host == host) {
                Some(queue) => queue.jobs.push(job as JobId),
                None => {
                    queues.push(HostQueue { host: host.to_owned(), jobs: vec![job as JobId], ..HostQueue::default() })
                }
            }
        }
        Setup {
            settings: Settings { delay: SECOND * 10, ..Settings::default() },
            kind: CrawlKind::Feed,
            max_open: 1000,
            all_hosts_idle_for: None,
            queues,
            known: Vec::new(),
            jobs: urls.iter().map(|url| format!("http://{url}")).collect(),
            names: HashMap::new(),
        }
    }

    fn queue(&mut self, host: &str) -> &mut HostQueue {
        if !self.queues.iter().any(|queue| queue.host == host) {
            self.queues.push(HostQueue { host: host.to_owned(), ..HostQueue::default() });
        }
        self.queues.iter_mut().find(|queue| queue.host == host).expect("added above")
    }

    /// Gives host names one address.
    fn at_one_address(mut self, names: &[&str]) -> Setup {
        let ip = IpAddr::from([192, 0, 2, 1 + u8::try_from(self.names.len()).expect("few names")]);
        self.names.extend(names.iter().map(|name| ((*name).to_owned(), ip)));
        self
    }

    /// Adds a robots.txt known from an earlier crawl.
    fn know_robots(mut self, host: &str, body: &str) -> Setup {
        self.known.push(PolicyResponse {
            origin: format!("http://{host}"),
            kind: PolicyKind::Robots,
            fetched: STARTED.parse::<Timestamp>().unwrap() - SECOND * 3600,
            status: Ok(200),
            body: Some(body.as_bytes().to_vec()),
            digest: "digest".to_owned(),
        });
        self
    }

    fn simulate<W: FnMut(&HttpRequest) -> Reply>(self, web: W) -> Simulation<W> {
        let config = LoopConfig {
            settings: self.settings,
            kind: self.kind,
            max_open: self.max_open,
            all_hosts_idle_for: self.all_hosts_idle_for,
            started: STARTED.parse().unwrap(),
        };
        let stats = Arc::new(CrawlStats::default());
        Simulation {
            crawl: CrawlLoop::new(config, Jobs(self.jobs), stats, self.queues, &self.known),
            web,
            consumer: Duration::ZERO,
            now: Duration::ZERO,
            reports: Vec::new(),
            counter: 0,
            names: self.names,
            connects_to: HashMap::new(),
            unanswered: false,
            sent: Vec::new(),
            results: Vec::new(),
            events: Vec::new(),
            evicted: Vec::new(),
        }
    }

    /// A web with these replies, each used once in order; everything else is 404 for policy files
    /// and 200 for pages.
    fn with_replies(self, replies: Vec<(&'static str, Reply)>) -> Simulation<impl FnMut(&HttpRequest) -> Reply> {
        let mut by_url: HashMap<String, VecDeque<Reply>> = HashMap::new();
        for (url, reply) in replies {
            by_url.entry(format!("http://{url}")).or_default().push_back(reply);
        }
        self.simulate(move |request| {
            let scripted = by_url.get_mut(request.url.as_str()).and_then(VecDeque::pop_front);
            scripted.unwrap_or_else(|| Reply::status(if request.decode { 404 } else { 200 }))
        })
    }
}
