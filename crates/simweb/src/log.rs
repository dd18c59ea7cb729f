//! The request log: every request with its times, and politeness statistics per host.
//!
//! The list of requests is for single cases and stops growing at a limit; the statistics are of fixed size and never
//! stop, so that a benchmark of millions of requests can prove its politeness.
//!
//! A request is logged when it arrives and completed just *before* the last bytes of its response are sent. If it were
//! completed after them, a fast client on another connection could send its next request first, and would be counted as
//! sending concurrent requests.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::politeness::{HostPoliteness, Politeness};

/// The host of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// A site, by its number.
    Site(usize),
    /// The target host of sites with a shared redirect.
    Shared,
    /// A private address that only a redirect leads to.
    Internal,
}

/// The kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestKind {
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

/// A request as seen by the server. Times are microseconds since the start of the web.
#[derive(Clone, Debug)]
pub struct Request {
    /// The host.
    pub host: Host,
    /// The IP address.
    pub address: Ipv4Addr,
    /// The time of arrival.
    pub start_us: u64,
    /// The time at which the last bytes of the response were sent; `None` before.
    pub end_us: Option<u64>,
    /// The method.
    pub method: Arc<str>,
    /// The path with its query.
    pub path: Box<str>,
    /// The kind of resource.
    pub kind: RequestKind,
    /// The status of the response; 0 before, or if the connection was cut instead.
    pub status: u16,
    /// Whether the request had `If-None-Match` or `If-Modified-Since`.
    pub conditional: bool,
    /// The name the client gave.
    pub user_agent: Arc<str>,
    /// The codings the client accepts.
    pub accept_encoding: Arc<str>,
    /// Bytes of the answer, with its head.
    pub bytes: u64,
    /// The connection, numbered from 1 in the order of acceptance.
    pub connection: u64,
    /// The number of concurrent requests at this host on arrival, including this one.
    pub in_flight: u32,
    /// Whether robots.txt disallows it.
    pub disallowed: bool,
}

impl Request {
    /// The number of the site, if the host is one.
    pub fn site(&self) -> Option<usize> {
        match self.host {
            Host::Site(site) => Some(site),
            Host::Shared | Host::Internal => None,
        }
    }
}

/// The data of a request on arrival.
pub struct Arrival<'a> {
    pub host: Host,
    pub address: Ipv4Addr,
    pub start_us: u64,
    pub method: &'a str,
    pub path: &'a str,
    pub kind: RequestKind,
    pub conditional: bool,
    pub user_agent: &'a str,
    pub accept_encoding: &'a str,
    pub connection: u64,
    pub disallowed: bool,
    pub crawl_delay: Option<Duration>,
}

/// A handle to complete a request in the log. If it is dropped, the response counts as unfinished.
pub struct OpenRequest<'a> {
    log: &'a Log,
    meter: usize,
    content: bool,
    /// The position of the request in the list, if the list was not full.
    place: Option<(u64, usize)>,
    done: bool,
}

#[derive(Debug, Default)]
struct Meter {
    manners: HostPoliteness,
    in_flight: u32,
    last_start: Option<u64>,
    last_end: Option<u64>,
    last_content_start: Option<u64>,
    last_content_end: Option<u64>,
    /// No request should arrive before this time.
    retry_at: u64,
}

#[derive(Debug, Default)]
struct List {
    /// The number of times the list was cleared, so that old handles do not write into new lists.
    generation: u64,
    requests: Vec<Request>,
    /// User agents and methods, interned.
    names: Vec<Arc<str>>,
    left_out: u64,
}

/// The request log of a web.
#[derive(Debug)]
pub struct Log {
    began: Instant,
    limit: usize,
    list: Mutex<List>,
    meters: Vec<Mutex<Meter>>,
    connections: AtomicU64,
}

/// Tolerance for crawl delays: the clocks of client and server differ by a few milliseconds.
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

    /// Records an accepted connection and returns its number.
    pub fn connected(&self, host: Host) -> u64 {
        lock(&self.meters[self.index(host)]).manners.connections += 1;
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Notes that a request has arrived.
    pub fn begin(&self, arrival: &Arrival<'_>) -> OpenRequest<'_> {
        let meter_index = self.index(arrival.host);
        let content = !matches!(arrival.kind, RequestKind::Robots | RequestKind::Tdmrep);
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
        OpenRequest { log: self, meter: meter_index, content, place, done: false }
    }

    pub fn requests(&self) -> Vec<Request> {
        lock(&self.list).requests.clone()
    }

    /// Clears everything except unfinished requests.
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

impl OpenRequest<'_> {
    /// Records the response to the request. Only the first call has an effect.
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

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        self.end(0, 0, None);
    }
}

impl Meter {
    /// Records an arrival and returns the number of concurrent requests.
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
            RequestKind::Robots => manners.robots += 1,
            RequestKind::Feed => manners.feeds += 1,
            RequestKind::Page => manners.pages += 1,
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
    /// Interns a name; a client with very many names gets copies.
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

/// A poisoned lock is ignored: the log stays usable after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(start_us: u64, kind: RequestKind) -> Arrival<'static> {
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
    fn concurrent_requests_are_counted() {
        let log = Log::new(1, 10);
        let mut first = log.begin(&arrival(log.now_us(), RequestKind::Feed));
        let mut second = log.begin(&arrival(log.now_us(), RequestKind::Page));
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
            let mut open_request = log.begin(&arrival(log.now_us(), RequestKind::Page));
            open_request.end(200, 10, None);
        }
        assert_eq!(log.requests().len(), 1);
        assert_eq!((log.politeness().requests, log.politeness().not_listed), (3, 2));
    }

    #[test]
    fn a_request_before_retry_after_is_early() {
        let log = Log::new(1, 10);
        let mut open_request = log.begin(&arrival(log.now_us(), RequestKind::Page));
        open_request.end(429, 10, Some(Duration::from_secs(60)));
        let mut open_request = log.begin(&arrival(log.now_us(), RequestKind::Page));
        open_request.end(200, 10, None);
        assert_eq!(log.politeness().early_for_retry_after, 1);
    }

    #[test]
    fn an_old_handle_does_not_write_into_a_cleared_log() {
        let log = Log::new(1, 10);
        let mut old = log.begin(&arrival(0, RequestKind::Page));
        log.clear();
        old.end(200, 10, None);
        assert!(log.requests().is_empty());
    }
}
