//! The harvest: whose turn is it, may we, what did they say, and when may we come again.
//!
//! One loop decides everything and never waits for a server. Each request runs as a task of its
//! own, and there are never more tasks than requests under way. All requests to a host pass
//! through its place in [`Hosts`], redirects and robots.txt included, so that a thousand sites
//! which point at one host still ask it one thing at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use http::header::{self, HeaderName, HeaderValue};
use jiff::Timestamp;
use tidings_model::{RobotsEvidence, Status};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use crate::Error;
use crate::connect::Connection;
use crate::decode::{Ceiling, Decoder};
use crate::exchange::{Answer, Ask, Asker, Exchanged, NoAnswer};
use crate::hosts::{HostId, Hosts};
use crate::robots;
use crate::rules::{Known, RobotsRules, Rules, RulesFound, RulesKind, Verdict};
use crate::settings::Settings;

/// Files that the rest of the program needs open.
const RESERVED_FILES: u64 = 64;

/// Network troubles in a row after which a host is left for a later run.
const MAX_STRIKES: u8 = 2;

/// Times in a row that a host may refuse us or ask for patience before it is left alone.
const MAX_SLOWED: u8 = 3;

/// What a harvest is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Article pages.
    Page,
    /// Feeds.
    Feed,
    /// Addresses of which it is not known yet whether they are feeds, pages or nothing.
    Probe,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Page => "page",
            Kind::Feed => "feed",
            Kind::Probe => "probe",
        }
    }

    fn accept(self) -> &'static str {
        match self {
            Kind::Page => "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
            Kind::Feed => {
                "application/rss+xml,application/atom+xml,application/feed+json,application/rdf+xml;q=0.9,\
                 application/xml;q=0.8,text/xml;q=0.8,*/*;q=0.1"
            }
            Kind::Probe => {
                "application/rss+xml,application/atom+xml,application/feed+json,text/html,application/xml;q=0.9,*/*;q=0.5"
            }
        }
    }
}

/// Something to ask for.
#[derive(Debug, Clone)]
pub struct Errand {
    /// Its address.
    pub url: String,
    /// Headers of its own, such as validators.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// Where errands are kept until their host's turn comes.
pub trait Desk: Send {
    /// The errand of a ticket.
    fn errand(&mut self, ticket: u32) -> Result<Errand, Box<dyn std::error::Error + Send + Sync>>;
}

/// The errands for one host; without any, what must be kept in mind if a redirect leads there.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// The host's name, without port.
    pub host: String,
    /// Its errands.
    pub tickets: Vec<u32>,
    /// How long ago its last answer ended, if that was recently.
    pub rested: Option<Duration>,
    /// How long it wants to be left alone.
    pub not_for: Option<Duration>,
}

/// A redirect that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Its status.
    pub status: u16,
    /// Where it led.
    pub to: String,
}

/// What became of an errand.
pub struct Delivery {
    /// Its ticket.
    pub ticket: u32,
    /// The address that was asked last.
    pub url: String,
    /// How it was led there.
    pub redirects: Vec<Redirect>,
    /// When that was decided.
    pub at: Timestamp,
    /// The answer, whatever its status; or why there is none.
    pub result: Result<Answer, (Status, String)>,
    /// The robots.txt that allowed it.
    pub robots: Option<RobotsEvidence>,
    /// Reservation and policy by tdmrep.json.
    pub tdm: (Option<String>, Option<String>),
}

/// A request that was sent, for the record.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When, since the harvest began.
    pub sent: Duration,
    /// When its answer ended or was given up.
    pub ended: Duration,
    /// The host.
    pub host: String,
    /// `page`, `feed`, `probe`, `robots` or `tdmrep`.
    pub kind: &'static str,
    /// The address.
    pub url: String,
    /// The HTTP status or the word for the failure.
    pub status: String,
    /// The pause that the host gets before the next request.
    pub delay: Duration,
    /// Whether validators were sent.
    pub conditional: bool,
    /// Whether an open connection served again.
    pub reused: bool,
    /// The age of the robots.txt that allowed it.
    pub robots_age: Option<Duration>,
    /// Bytes of body on the wire.
    pub bytes: u64,
}

/// Something to write down.
pub enum Event {
    /// A request was sent.
    Asked(Asked),
    /// An origin told its rules.
    Rules(RulesFound),
    /// A host wants to be left alone for a while.
    Patience {
        /// The host.
        host: String,
        /// Until when.
        until: Timestamp,
    },
}

/// What must be remembered about a host after the harvest.
#[derive(Debug, Clone)]
pub struct HostNote {
    /// Its name.
    pub host: String,
    /// When its last answer ended.
    pub last_request: Timestamp,
    /// It asked not to be asked before then.
    pub not_before: Option<Timestamp>,
    /// Whether it answered at all.
    pub answered: bool,
    /// Requests sent to it.
    pub requests: u32,
}

/// How a harvest ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Hosts that were given up, with the reason.
    pub given_up: Vec<(String, &'static str)>,
    /// What to remember about the hosts that were asked.
    pub hosts: Vec<HostNote>,
    /// Whether it was stopped before everything was done.
    pub stopped: bool,
}

/// Counts for whoever watches.
#[derive(Debug, Default)]
pub struct Gauge {
    /// Requests under way.
    pub under_way: AtomicU64,
    /// Requests that were answered or failed.
    pub asked: AtomicU64,
    /// Errands that were delivered.
    pub delivered: AtomicU64,
    /// Bytes received.
    pub bytes: AtomicU64,
    /// Hosts that answered at least once: proof that the network is there.
    pub answering_hosts: AtomicU64,
}

/// A request on its way from address to address.
pub(crate) struct Trip {
    purpose: Purpose,
    url: Url,
    headers: Vec<(HeaderName, HeaderValue)>,
    redirects: Vec<Redirect>,
    /// An idle connection closed under it, and it may be tried once more.
    unheard: bool,
}

#[derive(Clone)]
enum Purpose {
    Errand(u32),
    /// The rules of an origin, for whose sake a host waits.
    Rules {
        kind: RulesKind,
        origin: String,
        waiting: HostId,
    },
}

/// Whether a trip may be made.
enum May {
    Go(Licence),
    /// These rules have to be known first.
    Ask(RulesKind),
    /// They are being asked for.
    Wait,
    Not((Status, String)),
}

/// What allowed a request, as evidence.
#[derive(Default)]
struct Licence {
    robots: Option<RobotsEvidence>,
    robots_age: Option<Duration>,
    tdm: (Option<String>, Option<String>),
}

/// What a task tells the loop when its request is over.
struct Report {
    host: HostId,
    sent: Instant,
    ended: Instant,
    connection: Option<Connection>,
    reused: bool,
    bytes: u64,
    kind: &'static str,
    url: String,
    conditional: bool,
    robots_age: Option<Duration>,
    /// The status or the word for the failure.
    status: Result<u16, Status>,
    retry_after: Option<Duration>,
    next: Next,
}

enum Next {
    /// The errand was delivered.
    Delivered,
    /// It goes on at another address.
    Elsewhere(Trip),
    /// Rules were found, or not.
    Rules(RulesFound, HostId),
    /// There was no socket: the trip has not begun.
    Again(Trip),
    /// Perhaps nobody heard: once more, after the pause.
    Unheard(Trip),
    /// Nobody takes deliveries any more.
    Unwanted,
}

/// A harvest about to begin.
pub struct Harvest<D: Desk> {
    /// How to ask.
    pub settings: Settings,
    /// What for.
    pub kind: Kind,
    /// Where the errands are.
    pub desk: D,
    /// Where answers go.
    pub deliveries: mpsc::Sender<Delivery>,
    /// Where the record goes.
    pub events: std::sync::mpsc::Sender<Event>,
    /// Turns true when the harvest shall end.
    pub stop: watch::Receiver<bool>,
    /// Counts for whoever watches.
    pub gauge: Arc<Gauge>,
    /// How many files this process may have open.
    pub file_limit: u64,
    /// How long every host has rested, if nobody knows which were asked last.
    pub everybody_rested: Option<Duration>,
}

impl<D: Desk> Harvest<D> {
    /// Runs the harvest to its end.
    pub async fn run(self, queues: Vec<Queue>, remembered: Vec<RulesFound>) -> Result<Outcome, Error> {
        let usable = self.file_limit.saturating_sub(RESERVED_FILES).max(1) as usize;
        // A reserve of connections can stay open between requests only where files are left.
        let concurrency = self.settings.concurrency.clamp(1, usable);
        let asker = Arc::new(Asker::new(&self.settings, concurrency)?);
        let mut run = Run {
            began: Instant::now(),
            began_at: Timestamp::now(),
            hosts: Hosts::default(),
            rules: HashMap::new(),
            tasks: JoinSet::new(),
            max_open: usable,
            concurrency,
            asker,
            harvest: self,
        };
        run.remember(remembered);
        run.queue(queues);
        run.go().await
    }
}

struct Run<D: Desk> {
    harvest: Harvest<D>,
    asker: Arc<Asker>,
    hosts: Hosts,
    rules: HashMap<String, Rules>,
    tasks: JoinSet<Report>,
    concurrency: usize,
    max_open: usize,
    began: Instant,
    began_at: Timestamp,
}

impl<D: Desk> Run<D> {
    fn queue(&mut self, queues: Vec<Queue>) {
        let mut random = fastrand::Rng::with_seed(self.harvest.settings.seed);
        // Whoever is asked nothing must not change the order of the others.
        let (mut queues, silent): (Vec<Queue>, Vec<Queue>) =
            queues.into_iter().partition(|queue| !queue.tickets.is_empty());
        random.shuffle(&mut queues);
        for Queue { host, mut tickets, rested, not_for } in queues.into_iter().chain(silent) {
            random.shuffle(&mut tickets);
            let id = self.hosts.id(&host);
            let host = self.hosts.get(id);
            host.tickets = tickets;
            // The last request may have been another run's; its host waits for us all the same.
            host.last = rested.and_then(|rested| self.began.checked_sub(rested));
            host.not_before = not_for.map(|wait| self.began + wait);
            if not_for.is_some_and(|wait| wait > self.harvest.settings.max_retry_after) {
                host.given_up = Some("it asked for patience in an earlier run");
            }
            self.wake(id);
        }
    }

    fn remember(&mut self, remembered: Vec<RulesFound>) {
        for found in remembered {
            self.learn(&found);
        }
    }

    fn learn(&mut self, found: &RulesFound) {
        let rules = self.rules.entry(found.origin.clone()).or_default();
        match found.kind {
            RulesKind::Robots => {
                let robots = RobotsRules::from(found);
                let wanted = robots.crawl_delay().unwrap_or_default().min(self.harvest.settings.max_crawl_delay);
                rules.robots = Known::Yes(Arc::new(robots));
                if let Some(name) = Url::parse(&found.origin).ok().as_ref().and_then(Url::host_str) {
                    let id = self.hosts.id(name);
                    self.hosts.get(id).insist_on(wanted);
                }
            }
            RulesKind::Tdmrep => {
                let body = found.body.as_deref().filter(|_| matches!(found.status, Ok(200..300)));
                rules.tdm = Known::Yes(Arc::new(body.map(crate::rights::TdmRules::parse).unwrap_or_default()));
            }
        }
    }

    async fn go(mut self) -> Result<Outcome, Error> {
        let mut stop = self.harvest.stop.clone();
        let mut stopped = false;
        loop {
            while self.tasks.len() < self.concurrency {
                match self.hosts.pop_due(Instant::now()) {
                    Some(id) => self.serve(id).await?,
                    None => break,
                }
            }
            self.harvest.gauge.under_way.store(self.tasks.len() as u64, Relaxed);
            let due = self.hosts.next_due().filter(|_| self.tasks.len() < self.concurrency);
            if self.tasks.is_empty() && due.is_none() {
                break;
            }
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {
                    stopped = true;
                    break;
                }
                Some(report) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    // A task that was aborted or panicked has no report; its entry stays as it was.
                    if let Ok(report) = report && !self.settle(report) {
                        stopped = true;
                        break;
                    }
                }
                () = sleep_until(due.unwrap_or(self.began)), if due.is_some() => {}
            }
        }
        self.tasks.abort_all();
        Ok(self.outcome(stopped))
    }

    /// Lets a host have its turn: starts its next request, or finds that there is none to start.
    async fn serve(&mut self, id: HostId) -> Result<(), Error> {
        while let Some(trip) = self.next_trip(id).await? {
            let Purpose::Errand(ticket) = trip.purpose else {
                self.start(id, trip, Licence::default());
                return Ok(());
            };
            match self.may(&trip) {
                May::Go(licence) => self.start(id, trip, licence),
                May::Ask(kind) => self.ask_rules(id, trip, kind),
                May::Wait => self.park(id, trip),
                May::Not(failure) => {
                    self.hand_over(ticket, trip.url.into(), trip.redirects, failure).await;
                    continue;
                }
            }
            return Ok(());
        }
        Ok(())
    }

    /// Whether a trip may be made, as far as its origin's rules are known.
    fn may(&mut self, trip: &Trip) -> May {
        let rules = self.rules.entry(origin(&trip.url)).or_default();
        let mut licence = Licence::default();
        if self.harvest.settings.obey_robots {
            let robots = match &rules.robots {
                Known::Yes(robots) => robots,
                Known::Asking => return May::Wait,
                Known::Unknown => {
                    rules.robots = Known::Asking;
                    return May::Ask(RulesKind::Robots);
                }
            };
            if let Verdict::Unreachable(status, detail) = &robots.verdict {
                return May::Not((status.clone(), detail.clone()));
            }
            if !robots.allows(&trip.url[url::Position::BeforePath..url::Position::AfterQuery]) {
                return May::Not((Status::failed("robots"), "robots.txt forbids it".to_owned()));
            }
            licence.robots = robots.evidence.clone();
            licence.robots_age = Some(age(robots.fetched));
        }
        if self.harvest.kind == Kind::Page {
            match &rules.tdm {
                Known::Yes(tdm) => licence.tdm = tdm.of(trip.url.path()),
                Known::Asking => return May::Wait,
                Known::Unknown => {
                    rules.tdm = Known::Asking;
                    return May::Ask(RulesKind::Tdmrep);
                }
            }
        }
        May::Go(licence)
    }

    /// The next thing to do at a host; errands whose address is no address are delivered as such.
    async fn next_trip(&mut self, id: HostId) -> Result<Option<Trip>, Error> {
        loop {
            let host = self.hosts.get(id);
            if host.given_up.is_some() {
                return Ok(None);
            }
            if let Some(trip) = host.urgent.pop_front() {
                return Ok(Some(trip));
            }
            let Some(ticket) = host.tickets.pop() else { return Ok(None) };
            let Errand { url, headers } = self.harvest.desk.errand(ticket).map_err(Error::Desk)?;
            match Url::parse(&url) {
                Ok(url) if url.has_host() && matches!(url.scheme(), "http" | "https") => {
                    let purpose = Purpose::Errand(ticket);
                    return Ok(Some(Trip { purpose, url, headers, redirects: Vec::new(), unheard: false }));
                }
                _ => {
                    let failure = (Status::failed("bad-url"), "not a web address".to_owned());
                    self.hand_over(ticket, url, Vec::new(), failure).await;
                }
            }
        }
    }

    /// Hands over a failure that needed no request.
    async fn hand_over(&mut self, ticket: u32, url: String, redirects: Vec<Redirect>, failure: (Status, String)) {
        let delivery = Delivery {
            ticket,
            url,
            redirects,
            at: Timestamp::now(),
            result: Err(failure),
            robots: None,
            tdm: (None, None),
        };
        self.harvest.gauge.delivered.fetch_add(1, Relaxed);
        // If nobody listens any more, the next task to end will find out too.
        let _ = self.harvest.deliveries.send(delivery).await;
    }

    /// Puts a trip back and waits until its origin's rules are known.
    fn park(&mut self, id: HostId, trip: Trip) {
        let host = self.hosts.get(id);
        let rules_first = host.urgent.iter().position(|trip| matches!(trip.purpose, Purpose::Rules { .. }));
        host.urgent.push_front(trip);
        match rules_first {
            // Another host waits for an answer that only this one can give.
            Some(at) => {
                let rules = host.urgent.remove(at + 1).expect("found above");
                self.start(id, rules, Licence::default());
            }
            None => host.parked = true,
        }
    }

    /// Asks for the rules of a trip's origin before the trip itself.
    fn ask_rules(&mut self, id: HostId, trip: Trip, kind: RulesKind) {
        let url = trip.url.join(kind.path()).expect("a fixed path on a web address");
        let purpose = Purpose::Rules { kind, origin: origin(&trip.url), waiting: id };
        self.hosts.get(id).urgent.push_front(trip);
        let trip = Trip { purpose, url, headers: Vec::new(), redirects: Vec::new(), unheard: false };
        self.start(id, trip, Licence::default());
    }

    /// Sends a trip on its way.
    fn start(&mut self, id: HostId, trip: Trip, licence: Licence) {
        while self.tasks.len() + self.hosts.idle_connections() >= self.max_open && self.hosts.close_oldest_idle() {}
        let lent = self.hosts.take_connection(id);
        let host = self.hosts.get(id);
        host.busy = true;
        host.parked = false;
        let task = Task {
            asker: self.asker.clone(),
            deliveries: self.harvest.deliveries.clone(),
            kind: self.harvest.kind,
            max_redirects: self.harvest.settings.max_redirects,
            max_body_bytes: self.harvest.settings.max_body_bytes,
            host: id,
            licence,
        };
        self.tasks.spawn(task.go(trip, lent));
    }

    /// Draws the conclusions from a request that is over; false if nobody wants more.
    fn settle(&mut self, report: Report) -> bool {
        let Report { host: id, ended, connection, next, .. } = report;
        let settings = &self.harvest.settings;
        let max_retry_after = settings.max_retry_after;
        let delay = settings.delay;
        let host = self.hosts.get(id);
        host.busy = false;

        if let Next::Again(trip) = next {
            // Nothing was sent. Make room and come back soon, with less at once.
            host.urgent.push_front(trip);
            self.hosts.close_oldest_idle();
            self.max_open = self.max_open.saturating_sub(1).max(self.tasks.len()).max(1);
            self.concurrency = self.concurrency.min(self.max_open);
            self.hosts.enqueue(id, ended + Duration::from_millis(50));
            return true;
        }

        host.requests += 1;
        host.last = Some(ended);
        let mut pause = host.pause(delay);
        if report.status.is_ok() && !host.answered {
            host.answered = true;
            self.harvest.gauge.answering_hosts.fetch_add(1, Relaxed);
        }
        match &report.status {
            Ok(429 | 503) => {
                host.slowed += 1;
                pause = (pause * 2u32.pow(host.slowed.min(4).into())).min(settings.max_crawl_delay.max(delay));
                if let Some(asked) = report.retry_after {
                    pause = pause.max(asked);
                    host.not_before = Some(ended + asked);
                    let until = self.began_at + (ended + asked - self.began);
                    let _ = self.harvest.events.send(Event::Patience { host: host.name.to_string(), until });
                }
                if pause > max_retry_after || host.slowed >= MAX_SLOWED {
                    host.given_up = Some("it asks for patience");
                }
            }
            Ok(403) => {
                host.slowed += 1;
                if host.slowed >= MAX_SLOWED {
                    host.given_up = Some("it refuses us");
                }
            }
            Ok(_) => {
                (host.strikes, host.slowed) = (0, 0);
            }
            Err(_) if matches!(next, Next::Unheard(_)) => {}
            Err(status) if status.is_network_trouble() => {
                host.strikes += 1;
                if host.strikes >= MAX_STRIKES && !matches!(next, Next::Rules(..)) {
                    host.given_up = Some("it cannot be reached or does not answer");
                }
            }
            Err(_) => {}
        }
        let asked = Asked {
            sent: report.sent - self.began,
            ended: ended - self.began,
            host: host.name.to_string(),
            kind: report.kind,
            url: report.url,
            status: match &report.status {
                Ok(code) => code.to_string(),
                Err(status) => status.to_string(),
            },
            delay: pause,
            conditional: report.conditional,
            reused: report.reused,
            robots_age: report.robots_age,
            bytes: report.bytes,
        };
        let _ = self.harvest.events.send(Event::Asked(asked));
        self.harvest.gauge.asked.fetch_add(1, Relaxed);
        self.harvest.gauge.bytes.fetch_add(report.bytes, Relaxed);

        let again = ended + pause;
        let mut wanted = true;
        match next {
            Next::Delivered => {
                self.harvest.gauge.delivered.fetch_add(1, Relaxed);
            }
            Next::Elsewhere(trip) => {
                let name = trip.url.host_str().unwrap_or_default();
                let target = self.hosts.id(name);
                self.hosts.get(target).urgent.push_back(trip);
                self.wake(target);
            }
            Next::Rules(found, waiting) => {
                self.learn(&found);
                let _ = self.harvest.events.send(Event::Rules(found));
                self.hosts.get(waiting).parked = false;
                if waiting != id {
                    self.wake(waiting);
                }
            }
            Next::Unheard(trip) => host.urgent.push_front(trip),
            Next::Unwanted => wanted = false,
            Next::Again(_) => unreachable!("handled above"),
        }
        let host = self.hosts.get(id);
        if let Some(connection) = connection
            && host.has_work()
        {
            self.hosts.keep(id, connection);
        }
        self.hosts.enqueue(id, again);
        wanted
    }

    /// Lets a host that may have been without work stand in line again, at the end of its pause.
    fn wake(&mut self, id: HostId) {
        let delay = self.harvest.settings.delay;
        let host = self.hosts.get(id);
        let pause = host.pause(delay);
        let before = self.harvest.everybody_rested.and_then(|rested| self.began.checked_sub(rested));
        let rested = host.last.or(before).map_or(self.began, |last| last + pause);
        let at = rested.max(host.not_before.unwrap_or(self.began));
        self.hosts.enqueue(id, at);
    }

    fn outcome(&self, stopped: bool) -> Outcome {
        let mut outcome = Outcome { stopped, ..Outcome::default() };
        let wall = |at: Instant| self.began_at + at.saturating_duration_since(self.began);
        for host in self.hosts.iter() {
            if let Some(reason) = host.given_up.filter(|_| !host.tickets.is_empty() || !host.urgent.is_empty()) {
                outcome.given_up.push((host.name.to_string(), reason));
            }
            if let Some(last) = host.last.filter(|_| host.requests > 0) {
                outcome.hosts.push(HostNote {
                    host: host.name.to_string(),
                    last_request: wall(last),
                    not_before: host.not_before.map(wall),
                    answered: host.answered,
                    requests: host.requests,
                });
            }
        }
        outcome
    }
}

/// Everything a request's task needs.
struct Task {
    asker: Arc<Asker>,
    deliveries: mpsc::Sender<Delivery>,
    kind: Kind,
    max_redirects: usize,
    max_body_bytes: usize,
    host: HostId,
    licence: Licence,
}

impl Task {
    async fn go(self, trip: Trip, lent: Option<Connection>) -> Report {
        let rules = matches!(trip.purpose, Purpose::Rules { .. });
        let ask = Ask {
            url: trip.url.clone(),
            accept: if rules { "text/plain,application/json,*/*;q=0.5" } else { self.kind.accept() },
            headers: trip.headers.clone(),
            text_only: !rules && self.kind == Kind::Page,
            max_body_bytes: if rules { robots::MAX_BYTES * 4 } else { self.max_body_bytes },
            // RFC 9309: what stands behind the first half megabyte need not be read.
            beginning_will_do: rules,
        };
        let sent = Instant::now();
        let Exchanged { result, connection, reused, bytes } = self.asker.ask(&ask, lent).await;
        let ended = Instant::now();
        let mut report = Report {
            host: self.host,
            sent,
            ended,
            connection,
            reused,
            bytes,
            kind: match &trip.purpose {
                Purpose::Errand(_) => self.kind.word(),
                Purpose::Rules { kind, .. } => kind.word(),
            },
            url: trip.url.to_string(),
            conditional: trip
                .headers
                .iter()
                .any(|(name, _)| *name == header::IF_NONE_MATCH || *name == header::IF_MODIFIED_SINCE),
            robots_age: self.licence.robots_age,
            status: Ok(0),
            retry_after: None,
            next: Next::Delivered,
        };
        let result = match result {
            Err(NoAnswer::OutOfSockets) => {
                report.next = Next::Again(trip);
                return report;
            }
            Err(NoAnswer::Unheard(status, _)) if !trip.unheard => {
                report.status = Err(status);
                report.next = Next::Unheard(Trip { unheard: true, ..trip });
                return report;
            }
            Err(NoAnswer::Failed(status, detail) | NoAnswer::Unheard(status, detail)) => {
                report.status = Err(status.clone());
                Err((status, detail))
            }
            Ok(answer) => {
                report.status = Ok(answer.status.as_u16());
                report.retry_after = retry_after(&answer);
                Ok(answer)
            }
        };
        report.next = self.next(trip, result).await;
        report
    }

    async fn next(self, mut trip: Trip, result: Result<Answer, (Status, String)>) -> Next {
        let result = match result {
            Ok(answer) => match self.redirected(&trip, &answer) {
                Ok(None) => Ok(answer),
                Ok(Some(url)) => {
                    trip.redirects.push(Redirect { status: answer.status.as_u16(), to: url.to_string() });
                    trip.url = url;
                    return Next::Elsewhere(trip);
                }
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        match trip.purpose {
            Purpose::Rules { kind, origin, waiting } => {
                // Only the redirect led to a private place; the host itself is where it should be.
                let result = result.map_err(|(status, detail)| match trip.redirects.is_empty() {
                    true => (status, detail),
                    false if status == Status::failed("private") => (Status::failed("robots-unreachable"), detail),
                    false => (status, detail),
                });
                Next::Rules(read_rules(kind, origin, result), waiting)
            }
            Purpose::Errand(ticket) => {
                let delivery = Delivery {
                    ticket,
                    url: trip.url.into(),
                    redirects: trip.redirects,
                    at: Timestamp::now(),
                    result,
                    robots: self.licence.robots,
                    tdm: self.licence.tdm,
                };
                // The place among the requests under way is kept until the body was taken, so
                // that bodies cannot pile up in memory.
                match self.deliveries.send(delivery).await {
                    Ok(()) => Next::Delivered,
                    Err(_) => Next::Unwanted,
                }
            }
        }
    }

    /// Where an answer sends us, if it does and we may go there.
    fn redirected(&self, trip: &Trip, answer: &Answer) -> Result<Option<Url>, (Status, String)> {
        if !matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let Some(location) = answer.headers.get(header::LOCATION) else { return Ok(None) };
        let location = String::from_utf8_lossy(location.as_bytes());
        let failure = |name: &str| (Status::failed(name), format!("redirect to {}", location.trim()));
        let mut url = trip.url.join(location.trim()).map_err(|_| failure("bad-url"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(failure("scheme"));
        }
        url.set_fragment(None);
        if trip.redirects.len() >= self.max_redirects {
            return Err(failure("redirects"));
        }
        // To itself means the server wants a cookie; it would go on for ever.
        if url == trip.url || trip.redirects.iter().any(|earlier| earlier.to == url.as_str()) {
            return Err(failure("redirects"));
        }
        Ok(Some(url))
    }
}

fn read_rules(kind: RulesKind, origin: String, result: Result<Answer, (Status, String)>) -> RulesFound {
    let fetched = Timestamp::now();
    let mut found = RulesFound { origin, kind, fetched, status: Ok(0), body: None, digest: String::new() };
    match result {
        Err(failure) => found.status = Err(failure),
        Ok(answer) => {
            found.status = Ok(answer.status.as_u16());
            if answer.status.is_success() {
                let encoding = text_of(&answer, header::CONTENT_ENCODING);
                let ceiling = Ceiling { max_bytes: robots::MAX_BYTES * 4, max_ratio: 100 };
                match Decoder::new(ceiling).decode(&encoding, &answer.body) {
                    Ok(mut body) => {
                        body.truncate(robots::MAX_BYTES);
                        found.digest = format!("{:032x}", xxh3_128(&body));
                        found.body = Some(body);
                    }
                    Err(status) => found.status = Err((status, "its encoding is damaged".to_owned())),
                }
            }
        }
    }
    found
}

fn text_of(answer: &Answer, name: HeaderName) -> String {
    let values: Vec<String> = answer
        .headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    values.join(",")
}

/// How long a server wants to be left alone: seconds, or a date.
fn retry_after(answer: &Answer) -> Option<Duration> {
    /// Nobody is left alone for longer by a header.
    const MOST: Duration = Duration::from_secs(24 * 3600);
    let text = answer.headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(&text.replace(" GMT", " +0000")).ok()?.timestamp();
            Duration::try_from(date.duration_since(Timestamp::now())).ok()?
        }
    };
    Some(wait.min(MOST))
}

fn age(fetched: Timestamp) -> Duration {
    Duration::try_from(Timestamp::now().duration_since(fetched)).unwrap_or_default()
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
