//! The diary: every request with its times, and a running account of manners for each host.
//!
//! Two records are kept. The list of requests is for looking at single cases and stops growing at a
//! limit; the meters are of fixed size and never stop, so that a benchmark of millions of requests
//! can still prove that it was polite.
//!
//! A request is written down when it arrives and completed just *before* the last bytes of its
//! answer are handed over. If it were completed after them, a quick client on another connection
//! could ask again before this thread got to its diary, and be blamed for two requests at once.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::politeness::{HostManners, Politeness};

/// Who was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// A site, by its number.
    Site(usize),
    /// The host to which sites with a shared redirect send everybody.
    Shared,
    /// An address that no link names and only a redirect betrays: the inside of a network.
    Internal,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// robots.txt.
    Robots,
    /// The declaration of text and data mining rights.
    Tdmrep,
    /// A feed.
    Feed,
    /// An article.
    Page,
    /// A site map.
    Sitemap,
    /// Anything else.
    Other,
}

/// One request, as the server saw it. Times are microseconds since the web started.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who was asked.
    pub host: Host,
    /// The address that was asked.
    pub address: Ipv4Addr,
    /// When the request began to arrive.
    pub start_us: u64,
    /// When the last bytes of the answer were handed over; none while the answer is under way.
    pub end_us: Option<u64>,
    /// The method.
    pub method: Arc<str>,
    /// The path with its query.
    pub path: Box<str>,
    /// What was asked for.
    pub kind: Kind,
    /// The status answered; 0 while there is none, or when the connection was cut instead.
    pub status: u16,
    /// Whether the request carried `If-None-Match` or `If-Modified-Since`.
    pub conditional: bool,
    /// The name the client gave.
    pub user_agent: Arc<str>,
    /// The codings the client accepts.
    pub accept_encoding: Arc<str>,
    /// Bytes of the answer, with its head.
    pub bytes: u64,
    /// The connection, numbered from 1 in the order of acceptance.
    pub connection: u64,
    /// Requests under way at this host when this one arrived, with this one.
    pub in_flight: u32,
    /// Whether robots.txt forbids it.
    pub disallowed: bool,
}

impl Request {
    /// The number of the site that was asked, if it was one.
    pub fn site(&self) -> Option<usize> {
        match self.host {
            Host::Site(site) => Some(site),
            Host::Shared | Host::Internal => None,
        }
    }
}

/// What the server knows of a request when it arrives.
pub struct Arrival<'a> {
    pub host: Host,
    pub address: Ipv4Addr,
    pub start_us: u64,
    pub method: &'a str,
    pub path: &'a str,
    pub kind: Kind,
    pub conditional: bool,
    pub user_agent: &'a str,
    pub accept_encoding: &'a str,
    pub connection: u64,
    pub disallowed: bool,
    pub crawl_delay: Option<Duration>,
}

/// The claim to complete a request in the diary. Dropped, it says that no answer was finished.
pub struct Ticket<'a> {
    log: &'a Log,
    meter: usize,
    content: bool,
    /// Where the request stands in the list, if the list was not full.
    place: Option<(u64, usize)>,
    done: bool,
}

#[derive(Debug, Default)]
struct Meter {
    manners: HostManners,
    in_flight: u32,
    last_start: Option<u64>,
    last_end: Option<u64>,
    last_content_start: Option<u64>,
    last_content_end: Option<u64>,
    /// Nothing should be asked before this moment.
    retry_at: u64,
}

#[derive(Debug, Default)]
struct List {
    /// Counts how often the list was cleared, so that old tickets do not write into new lists.
    generation: u64,
    requests: Vec<Request>,
    /// The few names of clients and methods, shared by all requests that carry them.
    names: Vec<Arc<str>>,
    left_out: u64,
}

/// The diary of a web.
#[derive(Debug)]
pub struct Log {
    began: Instant,
    limit: usize,
    list: Mutex<List>,
    meters: Vec<Mutex<Meter>>,
    connections: AtomicU64,
}

/// Crawl delays are kept by clocks that tick differently; a few milliseconds are no impoliteness.
const TOLERANCE_US: u64 = 5_000;

impl Log {
    pub fn new(sites: usize, limit: usize) -> Self {
        Log {
            began: Instant::now(),
            limit,
            list: Mutex::default(),
            meters: (0..sites + 2).map(|_| Mutex::default()).collect(),
            connections: AtomicU64::new(0),
        }
    }

    /// Microseconds since the web started.
    pub fn now_us(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }

    fn index(&self, host: Host) -> usize {
        match host {
            Host::Site(site) => site,
            Host::Shared => self.meters.len() - 2,
            Host::Internal => self.meters.len() - 1,
        }
    }

    fn host(&self, index: usize) -> Host {
        match self.meters.len() - index {
            1 => Host::Internal,
            2 => Host::Shared,
            _ => Host::Site(index),
        }
    }

    /// Notes an accepted connection and gives it a number.
    pub fn connected(&self, host: Host) -> u64 {
        lock(&self.meters[self.index(host)]).manners.connections += 1;
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Notes that a request has arrived.
    pub fn begin(&self, arrival: &Arrival<'_>) -> Ticket<'_> {
        let meter_index = self.index(arrival.host);
        let content = !matches!(arrival.kind, Kind::Robots | Kind::Tdmrep);
        let in_flight = lock(&self.meters[meter_index]).arrive(arrival, content);
        let mut list = lock(&self.list);
        let place = if list.requests.len() < self.limit {
            let request = Request {
                host: arrival.host,
                address: arrival.address,
                start_us: arrival.start_us,
                end_us: None,
                method: list.shared(arrival.method),
                path: arrival.path.into(),
                kind: arrival.kind,
                status: 0,
                conditional: arrival.conditional,
                user_agent: list.shared(arrival.user_agent),
                accept_encoding: list.shared(arrival.accept_encoding),
                bytes: 0,
                connection: arrival.connection,
                in_flight,
                disallowed: arrival.disallowed,
            };
            list.requests.push(request);
            Some((list.generation, list.requests.len() - 1))
        } else {
            list.left_out += 1;
            None
        };
        Ticket { log: self, meter: meter_index, content, place, done: false }
    }

    pub fn requests(&self) -> Vec<Request> {
        lock(&self.list).requests.clone()
    }

    /// Forgets everything but what is still under way.
    pub fn clear(&self) {
        let mut list = lock(&self.list);
        list.generation += 1;
        list.requests = Vec::new();
        list.left_out = 0;
        for meter in &self.meters {
            let mut meter = lock(meter);
            *meter = Meter { in_flight: meter.in_flight, retry_at: meter.retry_at, ..Meter::default() };
        }
    }

    pub fn politeness(&self) -> Politeness {
        let mut all = Politeness::default();
        for (index, meter) in self.meters.iter().enumerate() {
            let meter = lock(meter);
            if meter.manners.requests > 0 || meter.manners.connections > 0 {
                all.add(self.host(index), meter.manners.clone());
            }
        }
        all.not_listed = lock(&self.list).left_out;
        all
    }
}

impl Ticket<'_> {
    /// Notes how the request was answered. Only the first call counts.
    pub fn end(&mut self, status: u16, bytes: u64, retry_after: Option<Duration>) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        let now = self.log.now_us();
        lock(&self.log.meters[self.meter]).leave(now, status, bytes, retry_after, self.content);
        if let Some((generation, index)) = self.place {
            let mut list = lock(&self.log.list);
            if list.generation == generation {
                let request = &mut list.requests[index];
                (request.end_us, request.status, request.bytes) = (Some(now), status, bytes);
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.end(0, 0, None);
    }
}

impl Meter {
    /// Notes an arrival and gives the number of requests now under way.
    fn arrive(&mut self, arrival: &Arrival<'_>, content: bool) -> u32 {
        let start = arrival.start_us;
        let manners = &mut self.manners;
        let since = |moment: Option<u64>| moment.map(|moment| start.saturating_sub(moment));
        let overlapping = self.in_flight > 0;
        let gap = if overlapping { Some(0) } else { since(self.last_end) };
        manners.smallest_gap_us = smaller(manners.smallest_gap_us, gap);
        manners.smallest_start_gap_us = smaller(manners.smallest_start_gap_us, since(self.last_start));
        if content {
            let gap = if overlapping { Some(0) } else { since(self.last_content_end) };
            manners.smallest_content_gap_us = smaller(manners.smallest_content_gap_us, gap);
            let pause = since(self.last_content_start);
            if let (Some(delay), Some(pause)) = (arrival.crawl_delay, pause)
                && pause + TOLERANCE_US < delay.as_micros() as u64
            {
                manners.early_for_crawl_delay += 1;
            }
            self.last_content_start = Some(start);
        }
        self.last_start = Some(start);
        manners.early_for_retry_after += u64::from(start + TOLERANCE_US < self.retry_at);
        manners.requests += 1;
        manners.conditional += u64::from(arrival.conditional);
        manners.disallowed += u64::from(arrival.disallowed);
        match arrival.kind {
            Kind::Robots => manners.robots += 1,
            Kind::Feed => manners.feeds += 1,
            Kind::Page => manners.pages += 1,
            _ => {}
        }
        self.in_flight += 1;
        manners.max_in_flight = manners.max_in_flight.max(self.in_flight);
        self.in_flight
    }

    fn leave(&mut self, now: u64, status: u16, bytes: u64, retry_after: Option<Duration>, content: bool) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.last_end = Some(now);
        if content {
            self.last_content_end = Some(now);
        }
        if let Some(wait) = retry_after {
            self.retry_at = now + wait.as_micros() as u64;
        }
        self.manners.not_modified += u64::from(status == 304);
        self.manners.bytes += bytes;
    }
}

impl List {
    /// The shared copy of a name. Clients have few; one that invents many gets unshared ones.
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.iter().find(|known| ***known == *name) {
            return known.clone();
        }
        let new: Arc<str> = name.into();
        if self.names.len() < 32 {
            self.names.push(new.clone());
        }
        new
    }
}

fn smaller(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// A diary that a panic interrupted is still a diary.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(start_us: u64, kind: Kind) -> Arrival<'static> {
        Arrival {
            host: Host::Site(0),
            address: Ipv4Addr::new(127, 1, 0, 1),
            start_us,
            method: "GET",
            path: "/",
            kind,
            conditional: false,
            user_agent: "test",
            accept_encoding: "gzip",
            connection: 1,
            disallowed: false,
            crawl_delay: Some(Duration::from_millis(100)),
        }
    }

    #[test]
    fn two_requests_at_once_are_noticed() {
        let log = Log::new(1, 10);
        let mut first = log.begin(&arrival(log.now_us(), Kind::Feed));
        let mut second = log.begin(&arrival(log.now_us(), Kind::Page));
        first.end(200, 10, None);
        second.end(200, 10, None);
        let manners = log.politeness();
        assert_eq!(manners.max_in_flight, 2);
        assert_eq!(manners.smallest_gap_us, Some(0));
        assert_eq!(manners.early_for_crawl_delay, 1);
        assert_eq!(log.requests()[1].in_flight, 2);
    }

    #[test]
    fn a_full_list_still_counts() {
        let log = Log::new(1, 1);
        for _ in 0..3 {
            let mut ticket = log.begin(&arrival(log.now_us(), Kind::Page));
            ticket.end(200, 10, None);
        }
        assert_eq!(log.requests().len(), 1);
        assert_eq!((log.politeness().requests, log.politeness().not_listed), (3, 2));
    }

    #[test]
    fn a_request_before_retry_after_is_early() {
        let log = Log::new(1, 10);
        let mut ticket = log.begin(&arrival(log.now_us(), Kind::Page));
        ticket.end(429, 10, Some(Duration::from_secs(60)));
        let mut ticket = log.begin(&arrival(log.now_us(), Kind::Page));
        ticket.end(200, 10, None);
        assert_eq!(log.politeness().early_for_retry_after, 1);
    }

    #[test]
    fn an_old_ticket_does_not_write_into_a_cleared_diary() {
        let log = Log::new(1, 10);
        let mut old = log.begin(&arrival(0, Kind::Page));
        log.clear();
        old.end(200, 10, None);
        assert!(log.requests().is_empty());
    }
}
