//! The specification of a web.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use crate::fault::SiteFault;
use crate::hiding::Hiding;
use crate::history::HistoryAccess;

/// The source of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TextSource {
    /// Generated sentences with planted trends.
    #[default]
    Generated,
    /// The country of the demo: [`OUTLETS`](crate::OUTLETS) and ten years of their news. Sites have names instead of
    /// addresses in their URLs; clients must connect to [`Site::address`](crate::Site::address).
    Country,
    /// Real articles from a `.jsonl.zst` file: `site`, `path`, `lang`, `date`, `title`, `html`.
    Archive(PathBuf),
}

/// The specification of a web: the same specification gives the same bytes.
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
    /// Number of sites.
    pub sites: usize,
    /// Number of latest articles in a feed.
    pub items_per_feed: usize,
    /// Whether [`SimWeb::feeds`](crate::SimWeb::feeds) returns both the RSS and the Atom feed of each site.
    pub twins: bool,
    /// Language codes that sites get in turn; empty: all.
    pub languages: Vec<String>,
    /// The source of the text.
    pub source: TextSource,
    /// The publishing clock at the start.
    pub start: Timestamp,
    /// The duration of the curves of planted words.
    pub story: Duration,
    /// The speed of the publishing clock; 0: only [`SimWeb::advance`](crate::SimWeb::advance) moves it.
    pub clock_speed: f64,
    /// The average publishing interval; sites differ by a factor of up to two either way.
    pub publish_every: Duration,
    /// Number of articles of each site before the start; at least the length of its feed.
    pub history: usize,
    /// Percentage of articles from an agency, which other sites of the same language print too.
    pub agency_percent: u64,
    /// Percentage of sites whose feeds have full articles.
    pub full_text_percent: u64,
    /// The faults of the last sites, one each, in this order.
    pub faults: Vec<SiteFault>,
    /// The ways in which sites hide their feeds, in turn; empty: every page declares them, and there are no decoys.
    pub hiding: Vec<Hiding>,
    /// The ways in which sites show their old articles, in turn; empty: a sitemap of the newest 1,000.
    pub histories: Vec<HistoryAccess>,
    /// Whether each feed also lists articles of other sites: the newest and an old one of the next site, and the oldest
    /// of the one after it, at an address of the listing site that redirects there.
    pub cross_links: bool,
    /// The delay of every response.
    pub latency: Duration,
    /// Benchmark mode: pages of about this many bytes of HTML from a prepared pool, so that serving costs nearly
    /// nothing. Such pages do not contain the text of `articles`.
    pub page_bytes: Option<usize>,
    /// Number of different pages in the pool of the benchmark mode.
    pub page_pool: usize,
    /// The port for all sites; 0 lets the system choose.
    pub port: u16,
    /// Whether the first 64 sites use TLS on a second port, with HTTP/2 if the client offers it. Their URLs are then
    /// `https`, and protocol faults have no effect there; the plain port stays available.
    pub tls: bool,
    /// Threads that serve.
    pub threads: usize,
    /// Maximum number of connections; more are closed at once.
    pub max_connections: usize,
    /// Timeout of idle connections.
    pub idle_timeout: Duration,
    /// Maximum number of logged requests; later ones are only counted in [`Politeness`](crate::Politeness).
    pub log_limit: usize,
    /// `Retry-After` in whole seconds, with [`Fault::TooMany`](crate::Fault::TooMany) and
    /// [`Fault::Unavailable`](crate::Fault::Unavailable).
    pub retry_after: Duration,
    /// `Crawl-delay` in whole seconds, with [`Fault::RobotsDelay`](crate::Fault::RobotsDelay).
    pub crawl_delay: Duration,
    /// The pause between two bytes of [`Fault::Drip`](crate::Fault::Drip).
    pub drip_every: Duration,
    /// The expanded size of a [`Fault::GzipBomb`](crate::Fault::GzipBomb).
    pub bomb_bytes: u64,
    /// The transfer rate of an [`Fault::Endless`](crate::Fault::Endless) body or a
    /// [`Fault::Video`](crate::Fault::Video).
    pub endless_bytes_per_second: u64,
    /// The idle timeout of connections with [`Fault::IdleClose`](crate::Fault::IdleClose).
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
            source: TextSource::Generated,
            // 2026-03-01T12:00:00Z, a day without anything special.
            start: Timestamp::constant(1_772_366_400, 0),
            story: Duration::from_secs(14 * 86_400),
            clock_speed: 0.0,
            publish_every: Duration::from_secs(3600),
            history: 0,
            agency_percent: 0,
            full_text_percent: 25,
            faults: Vec::new(),
            hiding: Vec::new(),
            histories: Vec::new(),
            cross_links: false,
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
    /// Adds the fault to `count` sites, from the end of those without one.
    ///
    /// A bare [`Fault`](crate::Fault) affects its default part; [`Fault::on`](crate::Fault::on) chooses another part of
    /// the site.
    pub fn with_fault(mut self, fault: impl Into<SiteFault>, count: usize) -> Self {
        self.faults.extend(std::iter::repeat_n(fault.into(), count));
        self
    }

    /// Distributes the faults of [`SiteFault::mix`], in turn, over this share of all sites.
    pub fn with_faults_percent(mut self, percent: usize) -> Self {
        let mix: Vec<SiteFault> = SiteFault::mix().collect();
        let count = self.sites * percent.min(100) / 100;
        self.faults.extend(mix.iter().cycle().take(count));
        self
    }
}
