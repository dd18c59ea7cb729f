//! Every number that the harvest obeys, with its default and its reason.

use std::path::PathBuf;
use std::time::Duration;

use crate::decode::Ceiling;
use crate::guard::Guard;

/// How to ask.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How we name ourselves, with a contact.
    pub user_agent: String,
    /// Hosts that are asked at the same time.
    pub concurrency: usize,
    /// The pause between an answer and the next request to its host.
    pub delay: Duration,
    /// No host makes us wait longer than this by Crawl-delay.
    pub max_crawl_delay: Duration,
    /// No host makes a run wait longer than this by Retry-After: it is left for a later run.
    pub max_retry_after: Duration,
    /// Time for name, connection and handshakes.
    pub connect_timeout: Duration,
    /// Time until the head of the answer is there.
    pub head_timeout: Duration,
    /// Time for all of a request.
    pub total_timeout: Duration,
    /// A body must bring this many bytes in each stretch of [`Settings::speed_window`].
    pub min_bytes_per_window: u64,
    /// The stretch over which speed is measured.
    pub speed_window: Duration,
    /// No head of an answer is larger.
    pub max_header_bytes: usize,
    /// No body is larger, as sent or unpacked.
    pub max_body_bytes: usize,
    /// No body grows by a larger factor when unpacked.
    pub max_ratio: usize,
    /// Redirects that are followed for one request.
    pub max_redirects: usize,
    /// Memory for bodies that are on their way.
    pub body_memory_bytes: usize,
    /// How long a robots.txt is good for.
    pub rules_max_age: Duration,
    /// Whether robots.txt governs these requests.
    pub obey_robots: bool,
    /// Which addresses may be asked.
    pub guard: Guard,
    /// A file of certificate authorities to trust besides the built-in ones.
    pub extra_roots: Option<PathBuf>,
    /// Where the order of hosts and pages comes from.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            user_agent: String::new(),
            concurrency: 500,
            delay: Duration::from_secs(5),
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
            rules_max_age: Duration::from_secs(24 * 3600),
            obey_robots: true,
            guard: Guard::default(),
            extra_roots: None,
            seed: 0,
        }
    }
}

impl Settings {
    /// The ceilings for unpacking bodies.
    pub fn ceiling(&self) -> Ceiling {
        Ceiling { max_bytes: self.max_body_bytes, max_ratio: self.max_ratio }
    }
}
