//! Crawls and harvests on several machines: which registered domains belong to this one.
//!
//! A domain belongs to the shard that its hash names ([`Division::owner`]). Sites that share an IP address must share its
//! pauses, so when the name of a host is resolved before the first request to its domain, the hash of the address decides
//! instead: the domain is handed over to the shard of the address, once, and links to it are forwarded. Addresses of
//! content delivery networks (`fetch.shared_networks`) have no pauses and decide nothing.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

use tidings_feeds::discover::registrable;
use tidings_fetch::Partition;
use tidings_fetch::guard::Network;

use crate::shard::Shard;

/// A division of the web among machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Division {
    /// Equal parts.
    Even {
        /// The part of this machine.
        shard: Shard,
    },
    /// Parts by a table.
    Table {
        /// This machine, counted from 1.
        machine: u32,
        /// The machine of each virtual shard.
        machines: Arc<[u32]>,
    },
}

impl Division {
    /// The machine, counted from 1, that asks the hosts of a registered domain, or at an IP address.
    pub(crate) fn owner(&self, name: &str) -> u32 {
        match self {
            Division::Even { shard } => Shard::owner(name, shard.count()).index(),
            Division::Table { machines, .. } => machines[Shard::virtual_shard(name)],
        }
    }

    /// This machine, counted from 1.
    pub(crate) fn this(&self) -> u32 {
        match self {
            Division::Even { shard } => shard.index(),
            Division::Table { machine, .. } => *machine,
        }
    }
}

/// The domains of a machine.
#[derive(Debug)]
pub(crate) struct ShardMap {
    division: Division,
    shared: Vec<Network>,
    domains: RwLock<Domains>,
}

#[derive(Debug, Default)]
struct Domains {
    /// Domains of this shard that another one has now.
    handed_over: HashMap<String, u32>,
    /// Domains that stay here: handed over by another shard, or asked before.
    settled: HashSet<String>,
}

impl ShardMap {
    pub(crate) fn new(division: Division, shared: Vec<Network>) -> ShardMap {
        ShardMap { division, shared, domains: RwLock::default() }
    }

    /// A domain of this shard belongs to another one.
    pub(crate) fn hand_over(&self, domain: &str, shard: u32) {
        self.write().handed_over.insert(domain.to_owned(), shard);
    }

    /// A domain stays here.
    pub(crate) fn settle(&self, domain: &str) {
        self.write().settled.insert(domain.to_owned());
    }

    /// The other shard to which a domain belongs; `None` if it belongs to this one.
    pub(crate) fn destination(&self, domain: &str) -> Option<u32> {
        let domains = self.domains.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(shard) = domains.handed_over.get(domain) {
            return Some(*shard);
        }
        let owner = self.division.owner(domain);
        (owner != self.division.this() && !domains.settled.contains(domain)).then_some(owner)
    }

    /// Whether a domain of this shard belongs to another one because of its address.
    pub(crate) fn is_handed_over(&self, domain: &str) -> bool {
        self.domains.read().unwrap_or_else(PoisonError::into_inner).handed_over.contains_key(domain)
    }

    /// Domains of this machine that another one has now.
    pub(crate) fn handed_over_domains(&self) -> Vec<(String, u32)> {
        let domains = self.domains.read().unwrap_or_else(PoisonError::into_inner);
        domains.handed_over.iter().map(|(domain, machine)| (domain.clone(), *machine)).collect()
    }

    /// Domains that stay here.
    pub(crate) fn settled_domains(&self) -> Vec<String> {
        self.domains.read().unwrap_or_else(PoisonError::into_inner).settled.iter().cloned().collect()
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Domains> {
        self.domains.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Partition for ShardMap {
    fn owns_host(&self, host: &str) -> bool {
        self.destination(registrable(host).unwrap_or(host)).is_none()
    }

    fn owns_address(&self, host: &str, ip: IpAddr) -> bool {
        let domain = registrable(host).unwrap_or(host);
        let ip = ip.to_canonical();
        let owner = self.division.owner(&ip.to_string());
        let is_shared = self.shared.iter().any(|network| network.contains(ip));
        let mut domains = self.write();
        if domains.settled.contains(domain) || owner == self.division.this() || is_shared {
            domains.settled.insert(domain.to_owned());
            return true;
        }
        domains.handed_over.insert(domain.to_owned(), owner);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(index: u32) -> ShardMap {
        let shard = Shard::new(index, 3).unwrap();
        ShardMap::new(Division::Even { shard }, vec!["192.0.2.0/24".parse().unwrap()])
    }

    /// An address that belongs to a shard.
    fn address(index: u32) -> IpAddr {
        let owner = |n: &u8| Shard::owner(&format!("198.51.100.{n}"), 3).index() == index;
        IpAddr::from([198, 51, 100, (0..=255).find(owner).unwrap()])
    }

    /// A domain that belongs to a shard by its name.
    fn domain(index: u32) -> String {
        (0..).map(|n| format!("site{n}.example")).find(|name| Shard::owner(name, 3).index() == index).unwrap()
    }

    #[test]
    fn a_domain_belongs_to_one_shard_with_all_its_hosts() {
        for name in (0..100).map(|n| format!("site{n}.co.uk")) {
            let owners: Vec<u32> = (1..=3).filter(|index| map(*index).owns_host(&format!("www.{name}"))).collect();
            assert_eq!(owners, [Shard::owner(&name, 3).index()]);
            assert!((1..=3).all(|index| map(index).destination(&name).is_none_or(|other| other == owners[0])));
        }
    }

    #[test]
    fn a_domain_is_handed_over_to_the_shard_of_its_address_before_its_first_request() {
        let (map, domain) = (map(1), domain(1));
        assert!(!map.owns_address(&format!("www.{domain}"), address(2)));
        assert_eq!(map.destination(&domain), Some(2));
        assert!(!map.owns_host(&domain));
    }

    #[test]
    fn a_domain_that_was_asked_or_handed_over_stays() {
        let (map, own, other) = (map(1), domain(1), domain(2));
        assert!(map.owns_address(&own, address(1)) && map.owns_address(&format!("blog.{own}"), address(2)));
        assert_eq!(map.destination(&other), Some(2));
        map.settle(&other);
        assert!(map.destination(&other).is_none() && map.owns_address(&other, address(3)));
    }

    #[test]
    fn shared_networks_decide_nothing() {
        let map = map(1);
        assert!((0..=255).all(|n| map.owns_address(&format!("{}{n}", domain(1)), IpAddr::from([192, 0, 2, n]))));
    }
}
