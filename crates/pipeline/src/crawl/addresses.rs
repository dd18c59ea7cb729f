//! IP addresses of hosts as far as responses showed them, so that the scheduler does not choose hosts of an address that
//! is busy: they would only wait in line for it.
//!
//! The pauses themselves are kept by the crawler, which also knows addresses of hosts that never responded.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use tidings_crawl::steward::Gate;
use tidings_fetch::guard::Network;
use xxhash_rust::xxh3::xxh3_64;

/// Hosts whose addresses are remembered.
const MAX_HOSTS: usize = 200_000;
/// Milliseconds after which a host of a busy address is considered again.
const BUSY_MS: u64 = 1000;

/// Addresses and their pauses.
pub(super) struct Addresses {
    pause_ms: u64,
    /// Networks without a limit per address.
    shared: Vec<Network>,
    of_host: HashMap<String, IpAddr>,
    /// Requests in flight, and the end of the pause.
    used: HashMap<IpAddr, (u32, u64)>,
}

impl Addresses {
    pub(super) fn new(pause: Duration, shared: Vec<Network>) -> Addresses {
        Addresses { pause_ms: pause.as_millis() as u64, shared, of_host: HashMap::new(), used: HashMap::new() }
    }

    /// Whether a host may be chosen at a time. The port is ignored.
    pub(super) fn gate(&self, host: &str, now: u64) -> Gate {
        let Some(ip) = self.of_host.get(without_port(host)) else { return Gate::Open };
        let until = match self.used.get(ip) {
            Some((in_flight, _)) if *in_flight > 0 => now + BUSY_MS,
            Some((_, free_at)) if *free_at > now => *free_at,
            _ => return Gate::Open,
        };
        Gate::Group { group: group(ip), until }
    }

    /// A request to a host is sent.
    pub(super) fn sent(&mut self, host: &str) {
        if let Some(ip) = self.of_host.get(host) {
            self.used.entry(*ip).or_default().0 += 1;
        }
    }

    /// The request to a host ended at a time, with a response from an address or without. Returns the group of the
    /// address and when it may be asked again, if nothing else is in flight there.
    pub(super) fn ended(&mut self, host: &str, ip: Option<IpAddr>, now: u64) -> Option<(u64, u64)> {
        let mut free = None;
        if let Some(known) = self.of_host.get(host)
            && let Some((in_flight, free_at)) = self.used.get_mut(known)
        {
            *in_flight = in_flight.saturating_sub(1);
            *free_at = now + self.pause_ms;
            free = (*in_flight == 0).then(|| (group(known), *free_at));
        }
        self.note(host, ip);
        free
    }

    /// Remembers the address of a host, unless it is one that many sites share by design.
    fn note(&mut self, host: &str, ip: Option<IpAddr>) {
        let Some(ip) = ip.filter(|ip| !self.shared.iter().any(|network| network.contains(ip.to_canonical()))) else {
            return;
        };
        if self.of_host.len() >= MAX_HOSTS {
            self.of_host.clear();
            self.used.clear();
        }
        self.of_host.insert(host.to_owned(), ip);
    }
}

/// The group of the hosts at an address.
fn group(ip: &IpAddr) -> u64 {
    xxh3_64(ip.to_string().as_bytes())
}

/// A host of a section without its port; an IPv6 address keeps its brackets.
fn without_port(host: &str) -> &str {
    match host.rfind(']') {
        Some(end) => &host[..=end],
        None => host.split(':').next().unwrap_or(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_a_busy_address_wait_together() {
        let ip: IpAddr = "192.0.2.1".parse().unwrap();
        let mut addresses = Addresses::new(Duration::from_millis(500), Vec::new());
        assert_eq!(addresses.gate("a.example", 0), Gate::Open);
        for host in ["a.example", "b.example"] {
            assert_eq!(addresses.ended(host, Some(ip), 0), None, "a first address is not waited for");
        }
        addresses.sent("a.example");
        let Gate::Group { group, until: 1010 } = addresses.gate("b.example:8080", 10) else { panic!("busy") };
        assert_eq!(addresses.ended("a.example", Some(ip), 100), Some((group, 600)));
        assert_eq!(addresses.gate("b.example", 200), Gate::Group { group, until: 600 });
        assert_eq!(addresses.gate("b.example", 600), Gate::Open);
        assert_eq!(addresses.gate("c.example", 200), Gate::Open);
    }

    #[test]
    fn addresses_of_shared_networks_have_no_limit() {
        let mut addresses = Addresses::new(Duration::from_secs(1), vec!["192.0.2.0/24".parse().unwrap()]);
        addresses.ended("a.example", Some("192.0.2.1".parse().unwrap()), 0);
        addresses.sent("a.example");
        assert_eq!(addresses.gate("a.example", 10), Gate::Open);
    }

    #[test]
    fn ports_are_cut_off() {
        assert_eq!(without_port("a.example:80"), "a.example");
        assert_eq!(without_port("[::1]:80"), "[::1]");
        assert_eq!(without_port("[::1]"), "[::1]");
    }
}
