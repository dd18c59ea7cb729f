//! Types of the input and output of a crawl.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use jiff::Timestamp;
use tidings_model::{RobotsEvidence, Status};

use crate::client::HttpResponse;
use crate::policy::PolicyResponse;

/// The purpose of the requests of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrawlKind {
    /// Article pages.
    Page,
    /// Feeds.
    Feed,
    /// URLs that may be feeds, pages or neither.
    Probe,
}

impl CrawlKind {
    /// Name in the request log.
    pub(crate) fn word(self) -> &'static str {
        match self {
            CrawlKind::Page => "page",
            CrawlKind::Feed => "feed",
            CrawlKind::Probe => "probe",
        }
    }

    /// Value of the `Accept` header.
    pub(crate) fn accept(self) -> &'static str {
        match self {
            CrawlKind::Page => "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
            CrawlKind::Feed => {
                "application/rss+xml,application/atom+xml,application/feed+json,application/rdf+xml;q=0.9,\
                 application/xml;q=0.8,text/xml;q=0.8,*/*;q=0.1"
            }
            CrawlKind::Probe => {
                "application/rss+xml,application/atom+xml,application/feed+json,text/html,application/xml;q=0.9,*/*;q=0.5"
            }
        }
    }
}

/// Number of a job, assigned by the caller.
pub type JobId = u32;

/// One URL to fetch.
#[derive(Debug, Clone)]
pub struct FetchJob {
    /// The URL.
    pub url: String,
    /// Additional request headers, such as validators.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// Storage of jobs: the queues hold ids only, and a job is loaded when its host's turn comes.
pub trait JobSource: Send {
    /// Loads a job.
    fn job(&mut self, id: JobId) -> Result<FetchJob, Box<dyn std::error::Error + Send + Sync>>;
}

/// Jobs and history of one host. A queue without jobs has the history only, for redirects that lead there.
#[derive(Debug, Clone, Default)]
pub struct HostQueue {
    /// Host name, without port.
    pub host: String,
    /// Its jobs, in no order: the seed decides.
    pub jobs: Vec<JobId>,
    /// Jobs that follow when all others were sent, in this order.
    pub later: Vec<JobId>,
    /// Time since the end of its last response, if that is recent.
    pub idle_for: Option<Duration>,
    /// Time for which it must not be contacted (an earlier `Retry-After`, or the backoff after failures).
    pub blocked_for: Option<Duration>,
}

/// A redirect that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// HTTP status.
    pub status: u16,
    /// Target URL.
    pub to: String,
}

/// Result of a job.
pub struct FetchResult {
    /// The job.
    pub job: JobId,
    /// URL of the last request.
    pub url: String,
    /// Redirects that led to it.
    pub redirects: Vec<Redirect>,
    /// Time of the decision.
    pub at: Timestamp,
    /// The response with any status, or a failure with its details.
    pub result: Result<HttpResponse, (Status, String)>,
    /// False if no request was sent: the policy of the host forbids it or could not be read, or the host refused the
    /// pages before (status 403).
    pub requested: bool,
    /// The robots.txt that allowed the request.
    pub robots: Option<RobotsEvidence>,
    /// Reservation and policy by tdmrep.json.
    pub tdm: (Option<String>, Option<String>),
    /// The sitemaps that the robots.txt names, as written.
    pub sitemaps: Arc<[String]>,
}

/// A request that was sent, or an attempt at one, for the log.
#[derive(Debug, Clone)]
pub struct RequestRecord {
    /// Start of the request, since the crawl began.
    pub sent: Duration,
    /// End of the response or of the attempt.
    pub ended: Duration,
    /// Host name.
    pub host: String,
    /// `page`, `feed`, `probe`, `robots` or `tdmrep`.
    pub kind: &'static str,
    /// The URL.
    pub url: String,
    /// HTTP status or name of the failure.
    pub status: String,
    /// Pause before the next request to the host.
    pub delay: Duration,
    /// True if validators were sent.
    pub conditional: bool,
    /// True if an open connection was used again.
    pub reused: bool,
    /// Age of the robots.txt that allowed it.
    pub robots_age: Option<Duration>,
    /// Bytes of body on the wire.
    pub bytes: u64,
    /// Address to which it was sent; `None` if it never left: no such name, no connection.
    pub peer: Option<IpAddr>,
    /// Pause before the next request to that address; `None` if there is no limit for it.
    pub address_delay: Option<Duration>,
}

/// An observation that the caller should persist.
pub enum CrawlEvent {
    /// A request was sent.
    Request(RequestRecord),
    /// An origin answered about its policy.
    Policy(PolicyResponse),
    /// A host sent `Retry-After`.
    RetryAfter {
        /// Host name.
        host: String,
        /// Earliest time of the next request.
        until: Timestamp,
    },
    /// An open crawl has forgotten a host without work.
    Host(HostNote),
}

/// State of a host at the end of a crawl, for the next one.
#[derive(Debug, Clone)]
pub struct HostNote {
    /// Host name.
    pub host: String,
    /// End of its last response.
    pub last_request: Timestamp,
    /// Earliest time of the next request: end of the pause or of its `Retry-After`.
    pub not_before: Option<Timestamp>,
    /// True if it served a job: with any response except a request for patience (429, 503).
    pub served: bool,
    /// The failure because of which it served none: unreachable, robots.txt not readable, or overloaded.
    pub trouble: Option<String>,
    /// Requests sent to it.
    pub requests: u32,
}

/// Summary of a crawl.
#[derive(Debug, Default)]
pub struct CrawlOutcome {
    /// Hosts that were postponed with work left, with the reason.
    pub given_up: Vec<(String, &'static str)>,
    /// Hosts that were contacted.
    pub hosts: Vec<HostNote>,
    /// True if the crawl was stopped before all work was done.
    pub stopped: bool,
}

/// Live counters of a crawl.
#[derive(Debug, Default)]
pub struct CrawlStats {
    /// Requests in flight, including responses that wait for the consumer.
    pub in_flight: AtomicU64,
    /// Requests that ended with a response or a failure.
    pub requests: AtomicU64,
    /// Jobs whose results were delivered.
    pub delivered: AtomicU64,
    /// Bytes received.
    pub bytes: AtomicU64,
    /// Hosts that responded at least once: proof that the network is up.
    pub answering_hosts: AtomicU64,
}
