//! An oracle of the graph: greedy by the true means of sections, with the same pauses and the same discovery.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, VecDeque};

use tidings_crawl::policy::{BYTES_PER_TOKEN, REQUEST_BYTES};
use tidings_simweb::graph::Expected;

use super::pages::{UrlId, UrlRow};

/// The value of a hub beside that of the pages that it leads to.
const HUB_FACTOR: f64 = 0.5;

/// A rate that can be a key.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rate(f64);

impl Eq for Rate {}

impl PartialOrd for Rate {
    fn partial_cmp(&self, other: &Rate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rate {
    fn cmp(&self, other: &Rate) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[derive(Debug, Default)]
struct DomainQueue {
    waiting: BTreeMap<Rate, VecDeque<UrlId>>,
    ready_at: u64,
}

/// Greedy by the true means of sections.
#[derive(Debug, Default)]
pub struct GraphOracle {
    domains: Vec<DomainQueue>,
    names: HashMap<Box<str>, usize>,
}

fn rate(expected: &Expected) -> f64 {
    let rate = expected.tokens * BYTES_PER_TOKEN / (expected.bytes + REQUEST_BYTES);
    if expected.is_hub { HUB_FACTOR * rate } else { rate }
}

impl GraphOracle {
    /// A URL that was not known before. URLs without text are not kept.
    pub fn discovered(&mut self, id: UrlId, row: &UrlRow) {
        let Some(rate) = row.expected.as_ref().map(rate).filter(|rate| *rate > 0.0) else { return };
        let next = self.domains.len();
        let domain = *self.names.entry(row.domain.clone()).or_insert(next);
        if domain == next {
            self.domains.push(DomainQueue::default());
        }
        self.domains[domain].waiting.entry(Rate(rate)).or_default().push_back(id);
    }

    /// The best URL of all domains that may be asked now.
    pub fn next(&mut self, now: u64, mut free: impl FnMut(UrlId) -> bool) -> Option<UrlId> {
        let mut best: Option<(Rate, usize)> = None;
        for (at, domain) in self.domains.iter().enumerate().filter(|(_, domain)| domain.ready_at <= now) {
            if let Some((rate, urls)) = domain.waiting.last_key_value()
                && best.is_none_or(|(known, _)| *rate > known)
                && urls.front().is_some_and(|url| free(*url))
            {
                best = Some((*rate, at));
            }
        }
        let (rate, at) = best?;
        let waiting = &mut self.domains[at].waiting;
        let urls = waiting.get_mut(&rate)?;
        let url = urls.pop_front();
        if urls.is_empty() {
            waiting.remove(&rate);
        }
        url
    }

    /// Whether nothing waits.
    pub fn is_dry(&self) -> bool {
        self.domains.iter().all(|domain| domain.waiting.is_empty())
    }

    /// A request is done; the domain rests.
    pub fn done(&mut self, row: &UrlRow, ready_at: u64) {
        if let Some(at) = self.names.get(&row.domain) {
            self.domains[*at].ready_at = ready_at;
        }
    }
}
