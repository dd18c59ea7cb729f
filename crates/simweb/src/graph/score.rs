//! The score of a crawl.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::random::text_key;
use super::spec::SiteClass;
use super::truth::{Truth, UrlTruth};

/// Pages of a rich site after which it counts as met.
const PAGES_TO_MEET: u64 = 10;

/// The score of a set of fetched URLs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Distinct URLs.
    pub requests: u64,
    /// Tokens of the language, each cluster of near-duplicates once.
    pub tokens: u64,
    /// Clusters with text of the language.
    pub clusters: u64,
    /// Rich sites of the language of which at least ten pages were fetched.
    pub rich_sites_met: u64,
    /// Rich sites of the language.
    pub rich_sites: u64,
    /// URLs inside traps.
    pub trap_requests: u64,
    /// URLs that robots.txt disallows.
    pub disallowed: u64,
    /// URLs that only links with `nofollow` lead to.
    pub nofollow_only: u64,
    /// URLs by the class of their site.
    pub by_class: BTreeMap<SiteClass, u64>,
    /// The effective number of sites: the exponential of the entropy of their shares of the tokens.
    pub effective_sites: f64,
    /// The largest share of a site in the tokens.
    pub largest_share: f64,
}

impl Score {
    /// The share of rich sites that were met.
    pub fn rich_recall(&self) -> f64 {
        self.rich_sites_met as f64 / self.rich_sites.max(1) as f64
    }

    /// The share of requests into traps.
    pub fn trap_share(&self) -> f64 {
        self.trap_requests as f64 / self.requests.max(1) as f64
    }
}

/// Scores URLs one by one, so that a crawl can be scored while it runs.
#[derive(Debug)]
pub struct Scorer<'g> {
    truth: Truth<'g>,
    language: &'static str,
    seen: HashSet<u64>,
    /// The tokens of a cluster, and the site that gave it first.
    clusters: HashMap<u64, (u64, u32)>,
    pages_by_site: HashMap<u32, u64>,
    counts: Score,
}

impl<'g> Scorer<'g> {
    /// A scorer for a crawl of a language.
    pub fn new(truth: Truth<'g>, language: &'static str) -> Self {
        let rich_sites = truth.graph().sites().iter().filter(|site| truth.is_rich(site, language)).count() as u64;
        Scorer {
            truth,
            language,
            seen: HashSet::new(),
            clusters: HashMap::new(),
            pages_by_site: HashMap::new(),
            counts: Score { rich_sites, ..Score::default() },
        }
    }

    /// Adds a fetched URL. A URL counts once.
    pub fn add(&mut self, url: &str) {
        let truth = self.truth.of(url);
        self.add_known(url, truth.as_ref());
    }

    /// The tokens so far.
    pub fn tokens(&self) -> u64 {
        self.counts.tokens
    }

    /// Adds a fetched URL whose truth is known already.
    pub fn add_known(&mut self, url: &str, truth: Option<&UrlTruth>) {
        if !self.seen.insert(text_key(url)) {
            return;
        }
        self.counts.requests += 1;
        let Some(truth) = truth else { return };
        *self.counts.by_class.entry(truth.class).or_default() += 1;
        self.counts.disallowed += u64::from(truth.disallowed);
        self.counts.nofollow_only += u64::from(truth.nofollow_only);
        match truth.trap {
            Some(_) => self.counts.trap_requests += 1,
            None => *self.pages_by_site.entry(truth.site).or_default() += u64::from(truth.section.is_some()),
        }
        if let Some(cluster) = truth.cluster.filter(|_| truth.language == self.language) {
            let known = self.clusters.entry(cluster).or_insert((0, truth.site));
            self.counts.tokens += truth.tokens.saturating_sub(known.0);
            known.0 = known.0.max(truth.tokens);
        }
    }

    /// The score so far.
    pub fn score(&self) -> Score {
        let mut by_site: HashMap<u32, u64> = HashMap::new();
        for (tokens, site) in self.clusters.values() {
            *by_site.entry(*site).or_default() += tokens;
        }
        let tokens = self.counts.tokens;
        let shares = || by_site.values().map(|part| *part as f64 / tokens.max(1) as f64).filter(|share| *share > 0.0);
        let mut sorted: Vec<f64> = shares().collect();
        // A fixed order of the sum keeps the last digit the same.
        sorted.sort_by(f64::total_cmp);
        let entropy: f64 = sorted.iter().map(|share| -share * share.ln()).sum();
        let graph = self.truth.graph();
        let is_met = |(site, pages): (&u32, &u64)| {
            *pages >= PAGES_TO_MEET && self.truth.is_rich(&graph.sites()[*site as usize], self.language)
        };
        Score {
            clusters: self.clusters.len() as u64,
            rich_sites_met: self.pages_by_site.iter().filter(|row| is_met(*row)).count() as u64,
            effective_sites: if sorted.is_empty() { 0.0 } else { entropy.exp() },
            largest_share: sorted.last().copied().unwrap_or_default(),
            ..self.counts.clone()
        }
    }
}
