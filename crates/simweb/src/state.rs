//! What can change about a site while the web runs: its ailments and its robots.txt.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::fault::{Ailment, Fault, Part};
use crate::robots::Rules;

/// The changeable side of one site.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    pub ailments: Vec<Ailment>,
    /// A robots.txt that replaces the one the site would have.
    pub robots: Option<Arc<str>>,
    /// The rules that follow, if there are any worth checking.
    rules: Option<Arc<Rules>>,
}

impl Condition {
    /// Nothing is wrong, nothing is odd, nothing is forbidden.
    pub fn is_plain(&self) -> bool {
        self.ailments.is_empty() && self.robots.is_none()
    }

    /// Whether the site has this fault on any part.
    pub fn has(&self, fault: Fault) -> bool {
        self.ailments.iter().any(|ailment| ailment.fault == fault)
    }

    /// The faults that show on a part.
    pub fn faults_on(&self, part: Part) -> impl Iterator<Item = Fault> {
        self.ailments
            .iter()
            .filter(move |ailment| ailment.part == part || ailment.part == Part::Everything)
            .map(|ailment| ailment.fault)
    }

    /// The text of robots.txt.
    pub fn robots_text(&self, sitemap: &str, crawl_delay: Duration) -> String {
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
        text.push_str(&format!("\nSitemap: {sitemap}\n"));
        text
    }

    /// Whether a robot may ask for the path.
    pub fn allows(&self, path: &str) -> bool {
        self.rules.as_ref().is_none_or(|rules| rules.allow(path))
    }

    /// The wait that the site asks for.
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
    /// Sites get the ailments from the end: the last ailment goes to the last site.
    pub fn new(sites: usize, ailments: &[Ailment], crawl_delay: Duration) -> Self {
        let conditions = Conditions { sites: (0..sites).map(|_| RwLock::default()).collect(), crawl_delay };
        let first = sites.saturating_sub(ailments.len());
        for (site, ailment) in (first..sites).zip(ailments) {
            conditions.change(site, |condition| condition.ailments = vec![*ailment]);
        }
        conditions
    }

    /// Looks at the condition of a site.
    pub fn with<T>(&self, site: usize, look: impl FnOnce(&Condition) -> T) -> T {
        look(&self.sites[site].read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the condition of a site.
    pub fn change(&self, site: usize, change: impl FnOnce(&mut Condition)) {
        let mut condition = self.sites[site].write().unwrap_or_else(PoisonError::into_inner);
        change(&mut condition);
        // An unreadable robots.txt forbids nothing that could be held against anybody.
        let text = condition.robots_text("", self.crawl_delay);
        condition.rules = (!condition.is_plain()).then(|| Arc::new(Rules::read(&text)));
    }
}
