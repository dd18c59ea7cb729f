//! Settings of a crawl with their defaults.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::decode::Ceiling;
use crate::guard::{Guard, Network};
use crate::partition::Partition;

/// Limits and politeness of a crawl.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Value of the `User-Agent` header, with a contact.
    pub user_agent: String,
    /// Concurrent requests, each to another host and another IP address.
    pub concurrency: usize,
    /// Pause between a response and the next request to its host.
    pub delay: Duration,
    /// Pause between a response and the next request to its IP address, under whatever name; at most [`Settings::delay`].
    pub ip_delay: Duration,
    /// Networks in which an IP address serves many sites (content delivery networks): no limit per address there.
    pub shared_networks: Vec<Network>,
    /// Longest Crawl-delay that is honoured.
    pub max_crawl_delay: Duration,
    /// Longest `Retry-After` that a crawl waits for; hosts with a longer one are postponed to a later crawl.
    pub max_retry_after: Duration,
    /// Timeout of name resolution, connection and handshakes.
    pub connect_timeout: Duration,
    /// Timeout until the response headers are complete.
    pub head_timeout: Duration,
    /// Timeout of a whole request.
    pub total_timeout: Duration,
    /// Minimum number of body bytes in each [`Settings::speed_window`].
    pub min_bytes_per_window: u64,
    /// Interval over which speed is measured.
    pub speed_window: Duration,
    /// Largest response head.
    pub max_header_bytes: usize,
    /// Largest body, as sent and as decoded.
    pub max_body_bytes: usize,
    /// Largest factor by which decoding may enlarge a body.
    pub max_ratio: usize,
    /// Redirects followed per job.
    pub max_redirects: usize,
    /// Memory for bodies in flight.
    pub body_memory_bytes: usize,
    /// Age up to which a stored policy file is valid.
    pub policy_max_age: Duration,
    /// True if robots.txt applies to these requests.
    pub obey_robots: bool,
    /// Addresses of names, as in `/etc/hosts` but with ports: connections to such a name go there.
    pub hosts: BTreeMap<String, SocketAddr>,
    /// IP addresses that may be contacted.
    pub guard: Guard,
    /// The hosts that belong to this crawl; all without a partition.
    pub partition: Option<Arc<dyn Partition>>,
    /// A file of certificate authorities to trust besides the built-in ones.
    pub extra_roots: Option<PathBuf>,
    /// Seed of the order of hosts and jobs.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            user_agent: String::new(),
            concurrency: 500,
            delay: Duration::from_secs(5),
            ip_delay: Duration::from_millis(500),
            shared_networks: Vec::new(),
            max_crawl_delay: Duration::from_secs(60),
            max_retry_after: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(15),
            head_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(120),
            min_bytes_per_window: 20 << 10,
            speed_window: Duration::from_secs(20),
            max_header_bytes: 64 << 10,
            max_body_bytes: 10 << 20,
            max_ratio: 200,
            max_redirects: 5,
            body_memory_bytes: 256 << 20,
            policy_max_age: Duration::from_secs(24 * 3600),
            obey_robots: true,
            hosts: BTreeMap::new(),
            guard: Guard::default(),
            partition: None,
            extra_roots: None,
            seed: 0,
        }
    }
}

impl Settings {
    /// Ceilings for decoding bodies.
    pub fn ceiling(&self) -> Ceiling {
        Ceiling { max_bytes: self.max_body_bytes, max_ratio: self.max_ratio }
    }
}
