//! Probe sequences: from a URL to the feeds of its site, tier by tier.
//!
//! A sequence holds a priority queue of requests. [`ProbeSequence::next`] returns the requests of the best tier, and
//! [`ProbeSequence::record`] takes their results, which may add further requests, also on better tiers: the front
//! page of a
//! site may declare what an article did not. The sequence ends at the first tier that found a feed, at the request
//! limit, or
//! when the queue is empty.
//!
//! Six of the common paths are often right and a dozen rarely. The front page comes before the former, the section and
//! the sitemap before the latter, because each of these requests finds more feeds than another guess.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use tidings_model::{Fingerprint, address};
use url::Url;

use super::evidence::Evidence;
use super::known_paths::{self, Cms};
use super::probe_result::{FeedSummary, PageSummary, ProbeResult};
use super::site::{registrable, site};
use crate::links::address as address_rules;

/// The number of common paths that are tried before the sitemap.
const FREQUENT_PATHS: usize = 6;
/// The maximum number of sitemaps read per site.
const MAX_MAPS: usize = 3;
/// The number of articles from which on a page can stand for the feed of a site without one.
const MIN_ARTICLES: u32 = 3;
/// The maximum number of links enqueued per page.
const MAX_LINKS: usize = 12;

/// Limits of a probe sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeOptions {
    /// The maximum number of requests per start URL.
    pub max_requests: u32,
    /// The maximum number of feeds per site.
    pub max_feeds: usize,
    /// Only the rule of the FeedFetcher paper: declared links, `/rss`, `/rss.xml`, `/feed`.
    pub paper_rule: bool,
}

impl Default for ProbeOptions {
    fn default() -> ProbeOptions {
        ProbeOptions { max_requests: 12, max_feeds: 5, paper_rule: false }
    }
}

/// The priority of a request by its evidence; lower tiers come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProbeTier {
    /// The feed URL follows from the rules of a known platform.
    Rule,
    /// The URL that was given.
    Start,
    /// A page declares a feed.
    Declared,
    /// A page links to a URL that looks like a feed.
    Linked,
    /// The usual path of the site's CMS.
    Program,
    /// The front page.
    Front,
    /// A path where many sites have their feed.
    Common,
    /// The section above the page, or the domain above the site.
    Above,
    /// A sitemap.
    Sitemap,
    /// A path where few sites have their feed.
    Rare,
}

/// A probe request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeRequest {
    /// The URL.
    pub url: String,
    /// The evidence for it.
    pub evidence: Evidence,
    /// The page it was found on.
    pub found_on: String,
    /// Its tier.
    pub tier: ProbeTier,
    /// Equal for the RSS and Atom variants of a feed, of which one is enough.
    variant: String,
    /// The number of links between it and the pages chosen by the sequence.
    depth: u8,
}

/// A feed that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundFeed {
    /// The URL.
    pub url: String,
    /// The evidence for it.
    pub evidence: Evidence,
    /// The page it was found on, or the start URL.
    pub found_on: String,
    /// The contents of the feed.
    pub feed: FeedSummary,
}

/// The search for the feeds of one URL.
#[derive(Debug)]
pub struct ProbeSequence {
    start: Url,
    options: ProbeOptions,
    queue: BTreeMap<(ProbeTier, u32), ProbeRequest>,
    /// Every URL ever enqueued, with its last key in the queue.
    known: HashMap<String, (ProbeTier, u32)>,
    numbered: u32,
    requests: u32,
    found: Vec<FoundFeed>,
    /// The reason why the site could not be searched.
    unreachable: Option<String>,
    maps: usize,
    guesses: u32,
    language: String,
    /// The page that lists most articles, with their number.
    article_list: Option<(String, u32)>,
}

impl ProbeSequence {
    /// Starts a sequence at a URL; `None` if it is not a web URL.
    pub fn new(start: &str, options: ProbeOptions) -> Option<ProbeSequence> {
        let start = Url::parse(&address::normalise(start, None)?).ok()?;
        let mut sequence = ProbeSequence {
            options,
            queue: BTreeMap::new(),
            known: HashMap::new(),
            numbered: 0,
            requests: 0,
            found: Vec::new(),
            unreachable: None,
            maps: 0,
            guesses: 0,
            language: String::new(),
            article_list: None,
            start: start.clone(),
        };
        sequence.enqueue(start.as_str(), Evidence::Given, ProbeTier::Start, "", 0);
        if options.paper_rule {
            for path in ["rss", "rss.xml", "feed"] {
                sequence.enqueue_at_root(path, Evidence::Path, ProbeTier::Common);
            }
            return Some(sequence);
        }
        if !address_rules::looks_like_feed(&start) {
            for url in known_paths::by_rule(&start) {
                sequence.enqueue(&url, Evidence::Rule, ProbeTier::Rule, start.as_str(), 0);
            }
        }
        sequence.enqueue_at_root("", Evidence::Page, ProbeTier::Front);
        let section = section(&start);
        for (at, path) in known_paths::common_paths().iter().enumerate() {
            let tier = if at < FREQUENT_PATHS { ProbeTier::Common } else { ProbeTier::Rare };
            sequence.enqueue_at_root(path, Evidence::Path, tier);
            if at < 1
                && let Some(section) = &section
            {
                sequence.enqueue_joined(section, path, Evidence::Path, tier);
            }
        }
        if let Some(section) = section {
            sequence.enqueue(section.as_str(), Evidence::Page, ProbeTier::Above, start.as_str(), 0);
        }
        if let Some(above) = domain_above(&start) {
            sequence.enqueue(&above, Evidence::Page, ProbeTier::Above, start.as_str(), 0);
        }
        Some(sequence)
    }

    /// A sequence of one request that checks whether a URL is a feed.
    pub fn confirm(feed: &str, evidence: Evidence, found_on: &str) -> Option<ProbeSequence> {
        let mut sequence = ProbeSequence::new(feed, ProbeOptions { max_requests: 1, ..ProbeOptions::default() })?;
        sequence.queue.clear();
        sequence.known.clear();
        let feed = sequence.start.to_string();
        sequence.enqueue(&feed, evidence, ProbeTier::Start, found_on, 0);
        Some(sequence)
    }

    /// The start URL.
    pub fn start(&self) -> &str {
        self.start.as_str()
    }

    /// The site being searched.
    pub fn site(&self) -> String {
        site(self.start.as_str()).unwrap_or_default()
    }

    /// The number of requests so far, without robots.txt.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// The feeds found so far.
    pub fn found(&self) -> &[FoundFeed] {
        &self.found
    }

    /// The reason why the site could not be searched, if any.
    pub fn unreachable(&self) -> Option<&str> {
        self.unreachable.as_deref()
    }

    /// The language of the pages read so far, if declared.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// The front, section or start page that lists most articles, with their number: what can be polled if the site has
    /// no feed.
    pub fn article_list(&self) -> Option<(&str, u32)> {
        self.article_list.as_ref().map(|(url, articles)| (url.as_str(), *articles))
    }

    /// Returns true if the sitemaps named by robots.txt are needed: only when nothing better is left.
    pub fn needs_sitemaps(&self) -> bool {
        let tier = self.queue.first_key_value().map(|(key, _)| key.0);
        self.maps == 0
            && self.found.is_empty()
            && tier.is_none_or(|tier| tier > ProbeTier::Above)
            && !self.options.paper_rule
    }

    /// Enqueues the sitemaps named by robots.txt, or the default one.
    pub fn add_sitemaps(&mut self, named: &[String]) {
        // Sitemaps with feeds or news in their name come first; there may be hundreds.
        let mut maps: Vec<&String> = named.iter().collect();
        maps.sort_by_key(|url| !["rss", "feed", "news"].iter().any(|word| url.contains(word)));
        self.maps = 1;
        if maps.is_empty() {
            self.enqueue_at_root("sitemap.xml", Evidence::Page, ProbeTier::Sitemap);
        }
        for url in maps.into_iter().take(MAX_MAPS) {
            let start = self.start.to_string();
            self.enqueue(url, Evidence::Page, ProbeTier::Sitemap, &start, 0);
        }
    }

    /// The next requests; empty when the sequence has ended.
    #[allow(clippy::should_implement_trait)] // Not an iterator: results are recorded between calls.
    pub fn next(&mut self) -> Vec<ProbeRequest> {
        let left = self.options.max_requests.saturating_sub(self.requests) as usize;
        let Some((&(tier, _), _)) = self.queue.first_key_value() else { return Vec::new() };
        // Pages often declare several feeds, and all are taken; one successful guess is enough.
        let enough =
            self.found.len() >= self.options.max_feeds || (!self.found.is_empty() && tier > ProbeTier::Declared);
        if enough || self.unreachable.is_some() || left == 0 {
            return Vec::new();
        }
        let most = match tier {
            ProbeTier::Declared => self.options.max_feeds - self.found.len(),
            ProbeTier::Linked | ProbeTier::Program => 2,
            // The first guess is right three times as often as all others together.
            ProbeTier::Common if self.guesses == 0 => 1,
            ProbeTier::Common | ProbeTier::Rare => 2,
            ProbeTier::Rule | ProbeTier::Start | ProbeTier::Front | ProbeTier::Above | ProbeTier::Sitemap => 1,
        };
        if matches!(tier, ProbeTier::Common | ProbeTier::Rare) {
            self.guesses += 1;
        }
        let mut variants = HashSet::new();
        let taken: Vec<(ProbeTier, u32)> = self
            .queue
            .iter()
            .take_while(|(key, _)| key.0 == tier)
            .filter(|(_, request)| variants.insert(request.variant.clone()))
            .map(|(key, _)| *key)
            .take(most.min(left))
            .collect();
        taken.iter().filter_map(|key| self.queue.remove(key)).collect()
    }

    /// Records the result of a request. For a permanently redirected feed the request should have the new URL.
    pub fn record(&mut self, request: &ProbeRequest, probe_result: &ProbeResult) {
        self.requests += 1;
        match probe_result {
            ProbeResult::Feed(feed) => self.add_feed(request, feed),
            ProbeResult::Page(page) => self.read_page(request, page),
            ProbeResult::Sitemap(map) => {
                for url in map.feeds.iter().take(MAX_LINKS) {
                    self.enqueue(url, Evidence::Sitemap, ProbeTier::Linked, &request.url, request.depth + 1);
                }
                let mut maps: Vec<&String> = map.maps.iter().collect();
                maps.sort_by_key(|url| !["rss", "feed", "news"].iter().any(|word| url.contains(word)));
                for url in maps {
                    if self.maps < MAX_MAPS {
                        self.maps += 1;
                        self.enqueue(url, Evidence::Page, ProbeTier::Sitemap, &request.url, 0);
                    }
                }
            }
            ProbeResult::Unreachable(why) => {
                // Do not send further requests to a host that does not respond.
                let host = Url::parse(&request.url).ok().and_then(|url| url.host_str().map(str::to_owned));
                if host.as_deref() == self.start.host_str() {
                    self.unreachable.get_or_insert_with(|| why.clone());
                }
            }
            ProbeResult::Unwanted(_) | ProbeResult::Nothing(_) => {}
        }
    }

    fn add_feed(&mut self, request: &ProbeRequest, feed: &FeedSummary) {
        let same = |content: Option<Fingerprint>| content.is_some() && content == feed.content;
        let known = self.found.iter().any(|found| found.url == request.url || same(found.feed.content));
        let unwanted = Url::parse(&request.url).is_ok_and(|url| address_rules::is_comments(&url));
        if !known && !unwanted {
            self.found.push(FoundFeed {
                url: request.url.clone(),
                evidence: request.evidence,
                found_on: request.found_on.clone(),
                feed: feed.clone(),
            });
        }
        self.queue.retain(|_, other| other.variant != request.variant);
        if request.tier == ProbeTier::Start {
            // The given URL is a feed itself: it is the one that was wanted.
            self.queue.clear();
        }
    }

    fn read_page(&mut self, request: &ProbeRequest, page: &PageSummary) {
        if self.language.is_empty() {
            self.language.clone_from(&page.language);
        }
        let is_list = matches!(request.tier, ProbeTier::Start | ProbeTier::Front | ProbeTier::Above);
        let most = self.article_list.as_ref().map_or(MIN_ARTICLES - 1, |list| list.1);
        if is_list && page.articles > most {
            self.article_list = Some((request.url.clone(), page.articles));
        }
        // A page about feeds may list them; pages two links away are off the site.
        if request.depth > 1 || (request.tier == ProbeTier::Start && self.options.max_requests == 1) {
            return;
        }
        for url in &page.by_rule {
            self.enqueue(url, Evidence::Rule, ProbeTier::Rule, &request.url, 0);
        }
        let host = |url: &str| site(url);
        let mut links: Vec<_> = page.links.iter().collect();
        // Feeds of the same site come before those it recommends.
        links.sort_by_key(|link| (link.evidence, host(&link.url) != host(&request.url)));
        for link in links.into_iter().take(MAX_LINKS) {
            let evidence = Evidence::of_link(link.evidence);
            let declared = matches!(evidence, Evidence::Declared | Evidence::Loose);
            if self.options.paper_rule && evidence != Evidence::Declared {
                continue;
            }
            // Blogs link to feeds of other sites, which are not wanted here.
            if !declared && !is_related(&link.url, &request.url) {
                continue;
            }
            let tier = if declared && request.depth == 0 { ProbeTier::Declared } else { ProbeTier::Linked };
            self.enqueue(&link.url, evidence, tier, &request.url, request.depth + 1);
        }
        if self.options.paper_rule || request.depth > 0 {
            return;
        }
        if let Some(cms) = page.cms.and_then(Cms::named) {
            let section = section(&self.start);
            for path in cms.paths {
                self.enqueue_at_root(path, Evidence::Program, ProbeTier::Program);
            }
            if let (Some(section), Some(path)) = (section, cms.paths.first()) {
                self.enqueue_joined(&section, path, Evidence::Program, ProbeTier::Program);
            }
        }
    }

    fn enqueue_at_root(&mut self, path: &str, evidence: Evidence, tier: ProbeTier) {
        if let Ok(root) = self.start.join("/") {
            self.enqueue_joined(&root, path, evidence, tier);
        }
    }

    fn enqueue_joined(&mut self, base: &Url, path: &str, evidence: Evidence, tier: ProbeTier) {
        let Ok(url) = base.join(path) else { return };
        let start = self.start.to_string();
        self.enqueue(url.as_str(), evidence, tier, &start, 0);
    }

    fn enqueue(&mut self, address: &str, evidence: Evidence, tier: ProbeTier, found_on: &str, depth: u8) {
        // Tracking parameters may matter to a feed; the fragment never does.
        let Some(mut url) = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https")) else {
            return;
        };
        url.set_fragment(None);
        let unwanted =
            address_rules::is_comments(&url) || address_rules::is_interface(&url, evidence == Evidence::Declared);
        if unwanted && !matches!(tier, ProbeTier::Start | ProbeTier::Sitemap)
            || url.host_str().is_none_or(str::is_empty)
        {
            return;
        }
        self.numbered += 1;
        let place = (tier, self.numbered);
        match self.known.entry(without_slash(&url)) {
            Entry::Vacant(vacant) => {
                vacant.insert(place);
            }
            // A guessed URL may turn out to be declared; a requested URL is not requested again.
            Entry::Occupied(mut known) if known.get().0 > tier && self.queue.remove(known.get()).is_some() => {
                known.insert(place);
            }
            Entry::Occupied(_) => return,
        }
        let from_page = matches!(tier, ProbeTier::Declared | ProbeTier::Linked);
        let variant = if from_page { variant(&url) } else { url.to_string() };
        let request = ProbeRequest { url: url.into(), evidence, found_on: found_on.to_owned(), tier, variant, depth };
        self.queue.insert(place, request);
    }
}

/// `/feed` and `/feed/` are the same document nearly everywhere.
fn without_slash(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// Returns true if a feed may belong to the site of a page: same domain, or a host that serves feeds of others.
fn is_related(feed: &str, page: &str) -> bool {
    let (Ok(feed), Ok(page)) = (Url::parse(feed), Url::parse(page)) else { return false };
    let (feed, page) = (feed.host_str().unwrap_or_default(), page.host_str().unwrap_or_default());
    let domain = |host| registrable(host).unwrap_or(host);
    let serves_feeds = ["feeds.", "feed.", "rss.", "rssfeeds.", "feeds2."].iter().any(|start| feed.starts_with(start))
        || ["feedburner", "feedblitz", "feedpress", "feedsportal"].iter().any(|name| feed.contains(name));
    domain(feed) == domain(page) || serves_feeds
}

/// The URL of a feed without the parts that name its format.
fn variant(url: &Url) -> String {
    const FORMATS: &[&str] = &["rss", "rss2", "rss1", "atom", "rdf", "feed", "feeds", "json", "xml", "index", "rss20"];
    let is_format = |word: &str| FORMATS.contains(&word.to_ascii_lowercase().as_str());
    let steps: Vec<&str> = url.path().split(['/', '.']).filter(|step| !step.is_empty() && !is_format(step)).collect();
    let pairs: Vec<String> =
        url.query_pairs().filter(|pair| !is_format(&pair.1)).map(|pair| format!("{}={}", pair.0, pair.1)).collect();
    format!("{}/{}?{}", site(url.as_str()).unwrap_or_default(), steps.join("/"), pairs.join("&"))
}

/// The section of a URL: `/blog/` of `/blog/2026/salt.html`. Dates and numbers are not sections.
fn section(url: &Url) -> Option<Url> {
    let mut segments = url.path_segments()?.filter(|segment| !segment.is_empty());
    let first = segments.next()?;
    let deeper = segments.next().is_some();
    let is_name = first.bytes().any(|b| b.is_ascii_alphabetic()) && !first.contains('.');
    (deeper && is_name).then(|| url.join(&format!("/{first}/")).ok()).flatten()
}

/// The front page of the parent domain: `example.org` of `blog.example.org`, up to the registrable domain.
fn domain_above(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let domain = registrable(host)?;
    let bare = host.strip_prefix("www.").unwrap_or(host);
    let above = bare.split_once('.')?.1;
    (bare != domain && above.len() >= domain.len()).then(|| format!("{}://{above}/", url.scheme()))
}

#[cfg(test)]
mod tests;
