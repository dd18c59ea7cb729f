//! The mutable state of sites: faults and robots.txt.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::fault::{Fault, SiteFault, SitePart};
use crate::robots::Rules;

/// The mutable state of one site.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    pub faults: Vec<SiteFault>,
    /// A robots.txt that replaces the default one.
    pub robots: Option<Arc<str>>,
    /// The parsed rules, if there are any.
    rules: Option<Arc<Rules>>,
}

impl Condition {
    /// Whether there are no faults and no rules.
    pub fn is_plain(&self) -> bool {
        self.faults.is_empty() && self.robots.is_none()
    }

    /// Whether the site has this fault on any part.
    pub fn has(&self, fault: Fault) -> bool {
        self.faults.iter().any(|site_fault| site_fault.fault == fault)
    }

    /// The faults that show on a part.
    pub fn faults_on(&self, part: SitePart) -> impl Iterator<Item = Fault> {
        self.faults
            .iter()
            .filter(move |fault| fault.part == part || fault.part == SitePart::Everything)
            .map(|fault| fault.fault)
    }

    /// The text of robots.txt.
    pub fn robots_text(&self, sitemap: Option<&str>, crawl_delay: Duration) -> String {
        if let Some(text) = &self.robots {
            return text.to_string();
        }
        let mut text = String::from("# Be welcome.\nUser-agent: *\nDisallow: /admin/\n");
        if self.has(Fault::RobotsDisallow) {
            text = String::from("User-agent: *\nDisallow: /\n");
        }
        if self.has(Fault::RobotsPath) {
            text.push_str("Disallow: /members/\n");
        }
        if self.has(Fault::RobotsDelay) {
            text.push_str(&format!("Crawl-delay: {}\n", crawl_delay.as_secs()));
        }
        if let Some(sitemap) = sitemap {
            text.push_str(&format!("\nSitemap: {sitemap}\n"));
        }
        text
    }

    /// Whether a robot may request the path.
    pub fn allows(&self, path: &str) -> bool {
        self.rules.as_ref().is_none_or(|rules| rules.allow(path))
    }

    /// The crawl delay of the site.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.rules.as_ref().and_then(|rules| rules.delay)
    }
}

/// The conditions of all sites.
#[derive(Debug)]
pub struct Conditions {
    sites: Vec<RwLock<Condition>>,
    crawl_delay: Duration,
}

impl Conditions {
    /// Distributes the faults from the end: the last fault goes to the last site.
    pub fn new(sites: usize, faults: &[SiteFault], crawl_delay: Duration) -> Self {
        let conditions = Conditions { sites: (0..sites).map(|_| RwLock::default()).collect(), crawl_delay };
        let first = sites.saturating_sub(faults.len());
        for (site, fault) in (first..sites).zip(faults) {
            conditions.change(site, |condition| condition.faults = vec![*fault]);
        }
        conditions
    }

    /// Calls `look` with the state of a site.
    pub fn with<T>(&self, site: usize, look: impl FnOnce(&Condition) -> T) -> T {
        look(&self.sites[site].read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the condition of a site.
    pub fn change(&self, site: usize, change: impl FnOnce(&mut Condition)) {
        let mut condition = self.sites[site].write().unwrap_or_else(PoisonError::into_inner);
        change(&mut condition);
        // An unreadable robots.txt disallows nothing.
        let text = condition.robots_text(None, self.crawl_delay);
        condition.rules = (!condition.is_plain()).then(|| Arc::new(Rules::read(&text)));
    }
}
