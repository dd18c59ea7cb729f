//! Settings of the HTTP client and the crawler.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use tidings_fetch::Settings;
use tidings_fetch::guard::{Guard, Network};
use tidings_model::RetryPolicy;

use super::{seconds, within};

/// The `[fetch]` table; `settings.toml` documents each key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // The template documents each key to users.
pub struct FetchConfig {
    pub contact: String,
    pub user_agent: String,
    pub concurrency: usize,
    pub delay_s: f64,
    pub feed_delay_s: f64,
    pub ip_delay_s: f64,
    pub shared_networks: Vec<String>,
    pub max_crawl_delay_s: f64,
    pub max_retry_after_s: f64,
    pub retry_days: f64,
    pub retries: u32,
    pub revisions: u32,
    pub archive_pages: usize,
    pub time_limit_min: f64,
    pub connect_timeout_s: f64,
    pub answer_timeout_s: f64,
    pub total_timeout_s: f64,
    pub min_speed_bytes_s: u64,
    pub max_header_kib: usize,
    pub max_page_mib: usize,
    pub max_feed_mib: usize,
    pub max_unpack_ratio: usize,
    pub max_redirects: usize,
    pub memory_mib: usize,
    pub robots_max_age_h: f64,
    pub robots_for_feeds: bool,
    pub allow_private: Vec<String>,
    /// Addresses of names that only programs set: the demo gives its simulated sites names.
    #[serde(skip)]
    pub hosts: BTreeMap<String, SocketAddr>,
    pub extra_roots: String,
    pub warc: bool,
}

impl Default for FetchConfig {
    fn default() -> FetchConfig {
        FetchConfig {
            contact: String::new(),
            user_agent: String::new(),
            concurrency: 500,
            delay_s: 5.0,
            feed_delay_s: 3.0,
            ip_delay_s: 0.5,
            shared_networks: Vec::new(),
            max_crawl_delay_s: 60.0,
            max_retry_after_s: 120.0,
            retry_days: 3.0,
            retries: 3,
            revisions: 5,
            archive_pages: 200,
            time_limit_min: 55.0,
            connect_timeout_s: 15.0,
            answer_timeout_s: 30.0,
            total_timeout_s: 120.0,
            min_speed_bytes_s: 1024,
            max_header_kib: 64,
            max_page_mib: 10,
            max_feed_mib: 32,
            max_unpack_ratio: 200,
            max_redirects: 5,
            memory_mib: 128,
            robots_max_age_h: 24.0,
            robots_for_feeds: true,
            allow_private: Vec::new(),
            hosts: BTreeMap::new(),
            extra_roots: String::new(),
            warc: false,
        }
    }
}

impl FetchConfig {
    /// The time limit of a crawl; `None` if there is no limit.
    pub fn time_limit(&self) -> Option<Duration> {
        (self.time_limit_min > 0.0).then(|| Duration::from_secs_f64(self.time_limit_min * 60.0))
    }

    /// The rule by which pages are retried and given up.
    pub fn retry_policy(&self) -> RetryPolicy {
        let give_up_after =
            SignedDuration::try_from_secs_f64(self.retry_days * 86_400.0).unwrap_or(SignedDuration::MAX);
        RetryPolicy { give_up_after, min_attempts: self.retries }
    }

    pub(super) fn check(&self) -> Result<()> {
        let durations = [
            ("delay_s", self.delay_s),
            ("feed_delay_s", self.feed_delay_s),
            ("ip_delay_s", self.ip_delay_s),
            ("max_crawl_delay_s", self.max_crawl_delay_s),
            ("max_retry_after_s", self.max_retry_after_s),
            ("time_limit_min", self.time_limit_min),
            ("connect_timeout_s", self.connect_timeout_s),
            ("answer_timeout_s", self.answer_timeout_s),
            ("total_timeout_s", self.total_timeout_s),
            ("robots_max_age_h", self.robots_max_age_h),
        ];
        within("fetch.", durations.map(|(key, value)| (key, value, 0.0..=1e7)))?;
        within("fetch.", [("retry_days", self.retry_days, 0.0..=3650.0)])?;
        within("fetch.", [("revisions", self.revisions, 0..=100)])?;
        within(
            "fetch.",
            [
                ("archive_pages", self.archive_pages, 0..=10_000_000),
                ("concurrency", self.concurrency, 1..=100_000),
                ("max_header_kib", self.max_header_kib, 8..=4096),
                ("max_page_mib", self.max_page_mib, 1..=128),
                ("max_feed_mib", self.max_feed_mib, 1..=128),
                ("max_unpack_ratio", self.max_unpack_ratio, 2..=100_000),
                ("max_redirects", self.max_redirects, 0..=20),
                ("memory_mib", self.memory_mib, 16..=1_000_000),
            ],
        )?;
        if self.robots_max_age_h > 24.0 {
            bail!("fetch.robots_max_age_h = {} is too long; RFC 9309 allows 24 hours at most", self.robots_max_age_h);
        }
        networks("shared_networks", &self.shared_networks)?;
        networks("allow_private", &self.allow_private).map(drop)
    }

    /// The crawler settings for pages.
    pub fn for_pages(&self, seed: u64) -> Result<Settings> {
        let mut settings = Settings {
            user_agent: self.name(),
            concurrency: self.concurrency,
            delay: seconds(self.delay_s),
            ip_delay: seconds(self.ip_delay_s),
            shared_networks: networks("shared_networks", &self.shared_networks)?,
            max_crawl_delay: seconds(self.max_crawl_delay_s),
            max_retry_after: seconds(self.max_retry_after_s),
            connect_timeout: seconds(self.connect_timeout_s),
            head_timeout: seconds(self.answer_timeout_s),
            total_timeout: seconds(self.total_timeout_s),
            max_header_bytes: self.max_header_kib << 10,
            max_body_bytes: self.max_page_mib << 20,
            max_ratio: self.max_unpack_ratio,
            max_redirects: self.max_redirects,
            body_memory_bytes: self.memory_mib << 20,
            policy_max_age: seconds(self.robots_max_age_h * 3600.0),
            hosts: self.hosts.clone(),
            guard: Guard { allowed: networks("allow_private", &self.allow_private)? },
            extra_roots: Some(PathBuf::from(&self.extra_roots)).filter(|path| !path.as_os_str().is_empty()),
            seed,
            ..Settings::default()
        };
        settings.min_bytes_per_window = self.min_speed_bytes_s * settings.speed_window.as_secs();
        Ok(settings)
    }

    /// The crawler settings for feeds.
    pub fn for_feeds(&self, seed: u64) -> Result<Settings> {
        Ok(Settings {
            delay: seconds(self.feed_delay_s),
            max_body_bytes: self.max_feed_mib << 20,
            obey_robots: self.robots_for_feeds,
            ..self.for_pages(seed)?
        })
    }

    /// The crawler settings for probing possible feeds: the longer delays of pages and feeds.
    pub fn for_probes(&self, seed: u64) -> Result<Settings> {
        Ok(Settings {
            delay: seconds(self.delay_s.max(self.feed_delay_s)),
            max_body_bytes: self.max_page_mib.min(self.max_feed_mib) << 20,
            ..self.for_pages(seed)?
        })
    }

    /// The user agent.
    pub fn name(&self) -> String {
        match (self.user_agent.is_empty(), self.contact.is_empty()) {
            (false, _) => self.user_agent.clone(),
            (true, false) => format!("Tidings/{} (+{})", env!("CARGO_PKG_VERSION"), self.contact),
            (true, true) => format!("Tidings/{}", env!("CARGO_PKG_VERSION")),
        }
    }
}

fn networks(key: &str, texts: &[String]) -> Result<Vec<Network>> {
    texts.iter().map(|text| text.parse().map_err(|fault: String| anyhow!("fetch.{key}: {fault}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_agent_contains_the_contact() {
        let named = |user_agent: &str, contact: &str| {
            FetchConfig { user_agent: user_agent.into(), contact: contact.into(), ..FetchConfig::default() }.name()
        };
        assert!(named("", "https://e.org/bot").ends_with(" (+https://e.org/bot)"));
        assert_eq!(named("Other/1", "https://e.org/bot"), "Other/1");
        assert!(!named("", "").contains('+'));
    }

    #[test]
    fn feeds_and_pages_have_separate_limits_and_probes_the_stricter_of_both() {
        let config =
            FetchConfig { delay_s: 2.0, feed_delay_s: 7.0, max_page_mib: 3, max_feed_mib: 5, ..FetchConfig::default() };
        let (pages, feeds, probes) =
            (config.for_pages(1).unwrap(), config.for_feeds(1).unwrap(), config.for_probes(1).unwrap());
        assert_eq!((pages.delay, pages.max_body_bytes), (seconds(2.0), 3 << 20));
        assert_eq!((feeds.delay, feeds.max_body_bytes), (seconds(7.0), 5 << 20));
        assert_eq!((probes.delay, probes.max_body_bytes), (seconds(7.0), 3 << 20));
        assert!(pages.obey_robots, "robots_for_feeds applies to feeds only");
    }

    #[test]
    fn the_pause_per_address_holds_for_pages_feeds_and_probes() {
        let shared_networks = vec!["104.16.0.0/13".to_owned()];
        let config = FetchConfig { ip_delay_s: 0.2, shared_networks, ..FetchConfig::default() };
        for settings in [config.for_pages(1), config.for_feeds(1), config.for_probes(1)] {
            let settings = settings.unwrap();
            assert_eq!((settings.ip_delay, settings.shared_networks.len()), (seconds(0.2), 1));
        }
        let wrong = FetchConfig { shared_networks: vec!["cdn".to_owned()], ..FetchConfig::default() };
        assert!(wrong.check().unwrap_err().to_string().starts_with("fetch.shared_networks: `cdn`"));
    }

    #[test]
    fn a_time_limit_of_zero_is_no_limit() {
        assert_eq!(FetchConfig { time_limit_min: 0.0, ..FetchConfig::default() }.time_limit(), None);
        let limited = FetchConfig { time_limit_min: 1.5, ..FetchConfig::default() };
        assert_eq!(limited.time_limit(), Some(Duration::from_secs(90)));
    }
}
