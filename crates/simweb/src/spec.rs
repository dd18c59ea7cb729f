//! What kind of web one wishes for.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use crate::fault::Ailment;
use crate::hiding::Hiding;

/// Where the text comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Sentences put together by our own generators, with planted trends.
    #[default]
    Generated,
    /// Real articles from a `.jsonl.zst` file: `site`, `path`, `lang`, `date`, `title`, `html`.
    Archive(PathBuf),
}

/// The description from which a whole web follows: the same description gives the same bytes.
///
/// ```
/// use tidings_simweb::{Fault, Spec};
/// let spec = Spec { sites: 10, ..Spec::default() }.with_fault(Fault::Hang, 2);
/// assert_eq!(spec.faults.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Spec {
    /// The name of this web among all webs.
    pub seed: u64,
    /// How many sites there are.
    pub sites: usize,
    /// How many of the latest articles a feed lists.
    pub items_per_feed: usize,
    /// Whether [`SimWeb::feeds`](crate::SimWeb::feeds) names both the RSS and the Atom feed of each site.
    pub twins: bool,
    /// Language codes that sites are given in turn; empty means all that there are.
    pub languages: Vec<String>,
    /// Where the text comes from.
    pub source: Source,
    /// The publishing clock at the start.
    pub start: Timestamp,
    /// How long planted words take to run their course; one that rises is half way after half of it.
    pub story: Duration,
    /// How fast the publishing clock runs by itself; 0 leaves it to [`SimWeb::advance`](crate::SimWeb::advance).
    pub clock_speed: f64,
    /// How often a site publishes, on average; sites differ by a factor of up to two either way.
    pub publish_every: Duration,
    /// How many articles each site has published before the start; at least what its feed lists.
    pub history: usize,
    /// How many articles in a hundred come from an agency: what one site prints, others of its language print too.
    pub agency_percent: u64,
    /// The ailments of the last sites, one each, in this order.
    pub faults: Vec<Ailment>,
    /// How sites hide their feeds, in turn; none means that every page declares them, and that the
    /// sites set no traps for those who look for feeds.
    pub hiding: Vec<Hiding>,
    /// How long every answer is held back.
    pub latency: Duration,
    /// Benchmark mode: pages of about this many bytes of HTML out of a pool made beforehand, so that
    /// serving costs nearly nothing. Such pages do not hold the text that `articles` reports.
    pub page_bytes: Option<usize>,
    /// How many different pages the pool of the benchmark mode holds.
    pub page_pool: usize,
    /// The port for all sites; 0 lets the system choose.
    pub port: u16,
    /// Whether the first 64 sites speak TLS on a second port, with HTTP/2 where the client offers it.
    /// Their addresses are then `https` ones, and faults of the protocol do not show there; the plain
    /// port goes on as ever.
    pub tls: bool,
    /// Threads that serve.
    pub threads: usize,
    /// Connections held at once; more are closed at once.
    pub max_connections: usize,
    /// How long an idle connection is kept.
    pub idle_timeout: Duration,
    /// Requests remembered one by one; of later ones only the counts of [`Politeness`](crate::Politeness) remain.
    pub log_limit: usize,
    /// What `Retry-After` says, in whole seconds, with [`Fault::TooMany`](crate::Fault::TooMany) and [`Fault::Unavailable`](crate::Fault::Unavailable).
    pub retry_after: Duration,
    /// What `Crawl-delay` says, in whole seconds, with [`Fault::RobotsDelay`](crate::Fault::RobotsDelay).
    pub crawl_delay: Duration,
    /// The pause between two bytes of [`Fault::Drip`](crate::Fault::Drip).
    pub drip_every: Duration,
    /// The size of a [`Fault::GzipBomb`](crate::Fault::GzipBomb) when it has gone off.
    pub bomb_bytes: u64,
    /// How fast an [`Fault::Endless`](crate::Fault::Endless) body or a [`Fault::Video`](crate::Fault::Video) flows.
    pub endless_bytes_per_second: u64,
    /// How long an idle connection lives with [`Fault::IdleClose`](crate::Fault::IdleClose).
    pub idle_close_after: Duration,
}

impl Default for Spec {
    fn default() -> Self {
        Spec {
            seed: 1,
            sites: 20,
            items_per_feed: 20,
            twins: false,
            languages: Vec::new(),
            source: Source::Generated,
            // 2026-03-01T12:00:00Z, a day without anything special.
            start: Timestamp::constant(1_772_366_400, 0),
            story: Duration::from_secs(14 * 86_400),
            clock_speed: 0.0,
            publish_every: Duration::from_secs(3600),
            history: 0,
            agency_percent: 0,
            faults: Vec::new(),
            hiding: Vec::new(),
            latency: Duration::ZERO,
            page_bytes: None,
            page_pool: 2048,
            port: 0,
            tls: false,
            threads: 2,
            max_connections: 20_000,
            idle_timeout: Duration::from_secs(90),
            log_limit: 1_000_000,
            retry_after: Duration::from_secs(10),
            crawl_delay: Duration::from_secs(10),
            drip_every: Duration::from_secs(1),
            bomb_bytes: 1 << 30,
            endless_bytes_per_second: 1_000_000,
            idle_close_after: Duration::from_millis(200),
        }
    }
}

impl Spec {
    /// Gives the fault to `count` of the sites, counted from the end of those still healthy.
    ///
    /// A bare [`Fault`](crate::Fault) shows where it usually does; [`Fault::on`](crate::Fault::on) chooses another part of the site.
    pub fn with_fault(mut self, ailment: impl Into<Ailment>, count: usize) -> Self {
        self.faults.extend(std::iter::repeat_n(ailment.into(), count));
        self
    }

    /// Gives the ailments of [`Ailment::mix`], in turn, to this share of all sites.
    pub fn with_faults_percent(mut self, percent: usize) -> Self {
        let mix: Vec<Ailment> = Ailment::mix().collect();
        let count = self.sites * percent.min(100) / 100;
        self.faults.extend(mix.iter().cycle().take(count));
        self
    }
}
