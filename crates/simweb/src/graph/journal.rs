//! The requests that a server of a graph saw, as the witness of politeness.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::Ipv4Addr;

use serde::Serialize;

use super::truth::Truth;

/// A request as the server saw it. Times are microseconds since its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphRequest {
    /// The URL.
    pub url: String,
    /// The host, without port.
    pub host: String,
    /// The address at which the request arrived.
    pub ip: Ipv4Addr,
    /// The time of arrival.
    pub start_us: u64,
    /// The time just before the last bytes of the response; none before.
    pub end_us: Option<u64>,
    /// The status; 0 if the connection was closed instead.
    pub status: u16,
    /// Bytes of the response.
    pub bytes: u64,
    /// The name that the client gave.
    pub user_agent: String,
}

impl GraphRequest {
    /// Whether it is for robots.txt or tdmrep.json, which clients ask for before everything else.
    pub fn is_policy(&self) -> bool {
        self.url.ends_with("/robots.txt") || self.url.ends_with("/.well-known/tdmrep.json")
    }
}

/// Politeness as the server saw it. A gap is the time from the end of a response to the next request, 0 if they overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GraphPoliteness {
    /// Requests of every kind.
    pub requests: u64,
    /// Bytes of all responses.
    pub bytes: u64,
    /// The smallest gap at a host, without robots.txt and tdmrep.json.
    pub smallest_host_gap_us: Option<u64>,
    /// The smallest gap at an address, without the same.
    pub smallest_ip_gap_us: Option<u64>,
    /// The most concurrent requests at a host.
    pub max_in_flight_host: u32,
    /// The most concurrent requests at an address.
    pub max_in_flight_ip: u32,
    /// Requests that robots.txt disallows.
    pub disallowed: u64,
    /// Requests for URLs that only links with `nofollow` lead to.
    pub nofollow_only: u64,
    /// Requests into traps.
    pub traps: u64,
    /// URLs that were requested more than once.
    pub repeated: u64,
}

impl GraphPoliteness {
    /// Judges requests by the truth.
    pub(super) fn of(requests: &[GraphRequest], truth: Truth<'_>) -> Self {
        let (host_gap, max_in_flight_host) = gaps(requests, |request| request.host.clone());
        let (ip_gap, max_in_flight_ip) = gaps(requests, |request| request.ip);
        let mut politeness = GraphPoliteness {
            smallest_host_gap_us: host_gap,
            smallest_ip_gap_us: ip_gap,
            max_in_flight_host,
            max_in_flight_ip,
            ..GraphPoliteness::default()
        };
        let mut urls: HashMap<&str, u64> = HashMap::new();
        for request in requests {
            politeness.requests += 1;
            politeness.bytes += request.bytes;
            let count = urls.entry(&request.url).or_default();
            *count += 1;
            politeness.repeated += u64::from(*count == 2);
            if let Some(about) = truth.of(&request.url) {
                politeness.disallowed += u64::from(about.disallowed);
                politeness.nofollow_only += u64::from(about.nofollow_only);
                politeness.traps += u64::from(about.trap.is_some());
            }
        }
        politeness
    }
}

/// The smallest gap between requests for content with the same key, and the most concurrent requests with it.
fn gaps<K: Hash + Eq>(requests: &[GraphRequest], key: impl Fn(&GraphRequest) -> K) -> (Option<u64>, u32) {
    let mut by_key: HashMap<K, Vec<&GraphRequest>> = HashMap::new();
    for request in requests {
        by_key.entry(key(request)).or_default().push(request);
    }
    let (mut smallest, mut most) = (None, 0);
    for mut group in by_key.into_values() {
        group.sort_by_key(|request| request.start_us);
        for (at, request) in group.iter().enumerate() {
            let open = group[..at].iter().filter(|earlier| earlier.end_us.is_none_or(|end| end > request.start_us));
            most = most.max(1 + open.count() as u32);
        }
        let mut last_end: Option<u64> = None;
        for request in group.iter().filter(|request| !request.is_policy()) {
            if let Some(end) = last_end {
                let gap = request.start_us.saturating_sub(end);
                smallest = Some(smallest.map_or(gap, |known: u64| known.min(gap)));
            }
            last_end = last_end.max(Some(request.end_us.unwrap_or(request.start_us)));
        }
    }
    (smallest, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(host: &str, last: u8, start_us: u64, end_us: u64) -> GraphRequest {
        GraphRequest {
            url: format!("http://{host}/{start_us}"),
            host: host.to_owned(),
            ip: Ipv4Addr::new(127, 0, 0, last),
            start_us,
            end_us: Some(end_us),
            status: 200,
            bytes: 10,
            user_agent: String::new(),
        }
    }

    #[test]
    fn gaps_are_by_host_and_by_address() {
        let requests = [
            request("a.test", 1, 0, 10),
            request("b.test", 1, 15, 20),
            request("a.test", 1, 110, 120),
            request("c.test", 2, 5, 9),
        ];
        assert_eq!(gaps(&requests, |request| request.host.clone()), (Some(100), 1));
        assert_eq!(gaps(&requests, |request| request.ip), (Some(5), 1));
    }

    #[test]
    fn overlapping_requests_have_no_gap() {
        let requests = [request("a.test", 1, 0, 10), request("a.test", 1, 5, 20)];
        assert_eq!(gaps(&requests, |request| request.ip), (Some(0), 2));
    }
}
