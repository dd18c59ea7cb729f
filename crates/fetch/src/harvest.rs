//! The harvest: whose turn is it, may we, what did they say, and when may we come again.
//!
//! One loop decides everything and never waits for a server. Each request runs as a task of its
//! own, and there are never more tasks than requests under way. All requests to a host pass
//! through its place in [`Hosts`], redirects and robots.txt included, so that a thousand sites
//! which point at one host still ask it one thing at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use jiff::Timestamp;
use tidings_model::{Status, clock};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::Error;
use crate::exchange::Asker;
use crate::hosts::{HostId, Hosts};
use crate::rules::{Known, RobotsRules, Rules, RulesFound, RulesKind, Verdict};
use crate::settings::Settings;
use crate::terms::{Asked, Delivery, Desk, Errand, Event, Gauge, HostNote, Kind, Outcome, Queue, Redirect};
use crate::trip::{Licence, Next, Purpose, Report, Task, Trip};

/// Files that the rest of the program needs open.
const RESERVED_FILES: u64 = 64;

/// Network troubles in a row after which a host is left for a later run.
const MAX_STRIKES: u8 = 2;

/// Times in a row that a host may refuse us or ask for patience before it is left alone.
const MAX_SLOWED: u8 = 3;

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
            began_at: clock::now(),
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

/// Whether a trip may be made.
enum May {
    Go(Licence),
    /// These rules have to be known first.
    Ask(RulesKind),
    /// They are being asked for.
    Wait,
    Not((Status, String)),
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
            at: clock::now(),
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
    fn settle(&mut self, mut report: Report) -> bool {
        let id = report.host;
        let connection = report.connection.take();
        self.hosts.get(id).busy = false;
        if matches!(report.next, Next::Again(_)) {
            return self.make_room(report);
        }
        let pause = self.judge(&report);
        self.write_down(&report, pause);
        let mut wanted = true;
        match report.next {
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
                self.wake(waiting);
            }
            Next::Unheard(trip) => self.hosts.get(id).urgent.push_front(trip),
            Next::Unwanted => wanted = false,
            Next::Again(_) => unreachable!("handled above"),
        }
        if let Some(connection) = connection
            && self.hosts.get(id).has_work()
        {
            self.hosts.keep(id, connection);
        }
        self.wake(id);
        wanted
    }

    /// A request could not be sent for want of a socket: comes back soon, with less at once.
    fn make_room(&mut self, report: Report) -> bool {
        if let Next::Again(trip) = report.next {
            self.hosts.get(report.host).urgent.push_front(trip);
        }
        self.hosts.close_oldest_idle();
        self.max_open = self.max_open.saturating_sub(1).max(self.tasks.len()).max(1);
        self.concurrency = self.concurrency.min(self.max_open);
        self.hosts.enqueue(report.host, report.ended + Duration::from_millis(50));
        true
    }

    /// What an answer, or none, means for its host: how long it is left alone now, and whether it
    /// is left for a later run. Gives the pause.
    fn judge(&mut self, report: &Report) -> Duration {
        let settings = &self.harvest.settings;
        let host = self.hosts.get(report.host);
        let mut pause = host.pause(settings.delay);
        host.requests += 1;
        host.last = Some(report.ended);
        if report.status.is_ok() && !host.answered {
            host.answered = true;
            self.harvest.gauge.answering_hosts.fetch_add(1, Relaxed);
        }
        match &report.status {
            Ok(429 | 503) => {
                host.slowed += 1;
                let longer = pause * 2u32.pow(host.slowed.min(4).into());
                pause = longer.min(settings.max_crawl_delay.max(pause));
                if let Some(asked) = report.retry_after {
                    pause = pause.max(asked);
                    host.not_before = Some(report.ended + asked);
                    let until = self.began_at + (report.ended + asked - self.began);
                    let _ = self.harvest.events.send(Event::Patience { host: host.name.to_string(), until });
                }
                if pause > settings.max_retry_after || host.slowed >= MAX_SLOWED {
                    host.given_up = Some("it asks for patience");
                }
            }
            Ok(403) => {
                host.slowed += 1;
                if host.slowed >= MAX_SLOWED {
                    host.given_up = Some("it refuses us");
                }
            }
            Ok(_) => (host.strikes, host.slowed) = (0, 0),
            Err(_) if matches!(report.next, Next::Unheard(_)) => {}
            Err(status) if status.is_network_trouble() => {
                host.strikes += 1;
                if host.strikes >= MAX_STRIKES && !matches!(report.next, Next::Rules(..)) {
                    host.given_up = Some("it cannot be reached or does not answer");
                }
            }
            Err(_) => {}
        }
        host.rests_until = Some(report.ended + pause);
        pause
    }

    fn write_down(&mut self, report: &Report, pause: Duration) {
        let gauge = &self.harvest.gauge;
        gauge.asked.fetch_add(1, Relaxed);
        gauge.bytes.fetch_add(report.bytes, Relaxed);
        let asked = Asked {
            sent: report.sent - self.began,
            ended: report.ended - self.began,
            host: self.hosts.get(report.host).name.to_string(),
            kind: report.kind,
            url: report.url.clone(),
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
    }

    /// Lets a host stand in line again, if it has work, for when its pause is over.
    fn wake(&mut self, id: HostId) {
        let delay = self.harvest.settings.delay;
        let host = self.hosts.get(id);
        let at = match host.rests_until {
            Some(until) => until,
            // Not asked in this run: an earlier one may have, or a crash hides who was.
            None => {
                let before = self.harvest.everybody_rested.and_then(|rested| self.began.checked_sub(rested));
                host.last.or(before).map_or(self.began, |last| last + host.pause(delay))
            }
        };
        let at = at.max(host.not_before.unwrap_or(self.began));
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
                    // The pause that was due is due to whoever comes next, with whatever delay of its own.
                    not_before: host.not_before.max(host.rests_until).map(wall),
                    answered: host.answered,
                    requests: host.requests,
                });
            }
        }
        outcome
    }
}

fn age(fetched: Timestamp) -> Duration {
    Duration::try_from(clock::now().duration_since(fetched)).unwrap_or_default()
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
