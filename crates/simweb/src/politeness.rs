//! Politeness statistics of the requests.

use serde::Serialize;

use crate::log::Host;

/// The politeness statistics of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostPoliteness {
    /// Requests of every kind.
    pub requests: u64,
    /// Requests for robots.txt.
    pub robots: u64,
    /// Requests for feeds.
    pub feeds: u64,
    /// Requests for articles.
    pub pages: u64,
    /// Connections opened.
    pub connections: u64,
    /// The maximum number of concurrent requests.
    pub max_in_flight: u32,
    /// The shortest time from the end of a response to the next request of any kind.
    pub smallest_gap_us: Option<u64>,
    /// The same without robots.txt and tdmrep.json, which many clients request right before the rest.
    pub smallest_content_gap_us: Option<u64>,
    /// The shortest time from the start of a request to the start of the next.
    pub smallest_start_gap_us: Option<u64>,
    /// Requests that carried a validator.
    pub conditional: u64,
    /// Answers 304.
    pub not_modified: u64,
    /// Requests that robots.txt forbids.
    pub disallowed: u64,
    /// Requests that violate the `Crawl-delay`.
    pub early_for_crawl_delay: u64,
    /// Requests before the moment that `Retry-After` named.
    pub early_for_retry_after: u64,
    /// Bytes sent, as planned at the start of each answer.
    pub bytes: u64,
}

/// The politeness statistics of the whole web: sums and extremes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Politeness {
    /// Hosts with at least one request.
    pub hosts_asked: u64,
    /// Requests of every kind.
    pub requests: u64,
    /// Requests for robots.txt.
    pub robots: u64,
    /// Requests for feeds.
    pub feeds: u64,
    /// Requests for articles.
    pub pages: u64,
    /// Connections opened.
    pub connections: u64,
    /// The maximum number of connections opened to one host in total.
    pub max_connections_per_host: u64,
    /// The maximum number of concurrent requests at one host.
    pub max_in_flight: u32,
    /// The same at the host that many sites redirect to.
    pub shared_max_in_flight: u32,
    /// The shortest time at any host from the end of a response to the next request.
    pub smallest_gap_us: Option<u64>,
    /// The same without robots.txt and tdmrep.json.
    pub smallest_content_gap_us: Option<u64>,
    /// The shortest time at any host from the start of a request to the start of the next.
    pub smallest_start_gap_us: Option<u64>,
    /// Requests that carried a validator.
    pub conditional: u64,
    /// Answers 304.
    pub not_modified: u64,
    /// Requests that robots.txt forbids.
    pub disallowed: u64,
    /// Requests too soon for `Crawl-delay`.
    pub early_for_crawl_delay: u64,
    /// Requests too soon for `Retry-After`.
    pub early_for_retry_after: u64,
    /// Requests to private addresses.
    pub internal: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Requests that are counted but missing from the full list.
    pub not_listed: u64,
    /// The same, host by host.
    #[serde(skip)]
    pub hosts: Vec<(Host, HostPoliteness)>,
}

impl Politeness {
    /// The statistics of one host, if it had any request.
    pub fn host(&self, host: Host) -> Option<&HostPoliteness> {
        self.hosts.iter().find(|(asked, _)| *asked == host).map(|(_, manners)| manners)
    }

    /// The totals as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers serialise")
    }

    pub(crate) fn add(&mut self, host: Host, manners: HostPoliteness) {
        let smaller = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        self.hosts_asked += 1;
        self.requests += manners.requests;
        self.robots += manners.robots;
        self.feeds += manners.feeds;
        self.pages += manners.pages;
        self.connections += manners.connections;
        self.max_connections_per_host = self.max_connections_per_host.max(manners.connections);
        self.max_in_flight = self.max_in_flight.max(manners.max_in_flight);
        self.smallest_gap_us = smaller(self.smallest_gap_us, manners.smallest_gap_us);
        self.smallest_content_gap_us = smaller(self.smallest_content_gap_us, manners.smallest_content_gap_us);
        self.smallest_start_gap_us = smaller(self.smallest_start_gap_us, manners.smallest_start_gap_us);
        self.conditional += manners.conditional;
        self.not_modified += manners.not_modified;
        self.disallowed += manners.disallowed;
        self.early_for_crawl_delay += manners.early_for_crawl_delay;
        self.early_for_retry_after += manners.early_for_retry_after;
        self.bytes += manners.bytes;
        match host {
            Host::Shared => self.shared_max_in_flight = manners.max_in_flight,
            Host::Internal => self.internal += manners.requests,
            Host::Site(_) => {}
        }
        self.hosts.push((host, manners));
    }
}
