//! From an address to the feeds of its site, one tier at a time.
//!
//! The sequence holds an queue of requests, each on a tier. [`ProbeSequence::next`] gives the requests of
//! the lowest tier, [`ProbeSequence::learn`] takes in what was answered, which may put further requests on
//! the queue, on lower rungs too: the front page of a site may declare what an article did not. The
//! probe ends with the first tier that found a feed, with the limit of requests, or with nothing
//! left to ask.
//!
//! Common paths have six guesses that are often right and a dozen that rarely are. What lies
//! between them (the front page before the first, the page above and the site map before the rest)
//! is there because one request for it finds more than one more guess.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use tidings_model::{Fingerprint, address};
use url::Url;

use super::probe_result::{FeedSummary, ProbeResult, PageSummary};
use super::known_paths::{self, Cms};
use super::evidence::Evidence;
use super::site::{registrable, site};
use crate::links::address as address_rules;

/// Guesses that are right often enough to come before the site map.
const FREQUENT_PATHS: usize = 6;
/// Site maps that are read for one site.
const MAX_MAPS: usize = 3;
/// Links of one page that are put on the queue.
const MAX_LINKS: usize = 12;

/// How far to probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeOptions {
    /// Requests for one start address, at most.
    pub max_requests: u32,
    /// Feeds of one site, at most.
    pub max_feeds: usize,
    /// The rule of the FeedFetcher paper alone: declared links, `/rss`, `/rss.xml`, `/feed`.
    pub paper_rule: bool,
}

impl Default for ProbeOptions {
    fn default() -> ProbeOptions {
        ProbeOptions { max_requests: 12, max_feeds: 5, paper_rule: false }
    }
}

/// How good the reason for a request is; lower rungs are asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProbeTier {
    /// The site is known to make feeds by rule.
    Rule,
    /// The address that was given.
    Start,
    /// A page declares a feed.
    Declared,
    /// A page links to what address_rules like a feed.
    Linked,
    /// The program that made the site puts its feed there.
    Program,
    /// The front page.
    Front,
    /// A path where many sites have their feed.
    Common,
    /// The section above the page, or the domain above the site.
    Above,
    /// A site map.
    Sitemap,
    /// A path where few sites have their feed.
    Rare,
}

/// Something to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeRequest {
    /// The address.
    pub url: String,
    /// Why.
    pub evidence: Evidence,
    /// Where it was found.
    pub found_on: String,
    /// The tier it is on.
    pub tier: ProbeTier,
    /// Equal for the RSS and the Atom form of the same feed: one of them is enough.
    variant: String,
    /// How many links lie between it and the pages that the sequence itself chose.
    depth: u8,
}

/// A feed that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundFeed {
    /// Its address.
    pub url: String,
    /// What led there.
    pub evidence: Evidence,
    /// The page it was found on, or the address that the probe began with.
    pub found_on: String,
    /// What it is.
    pub feed: FeedSummary,
}

/// The search for the feeds of one address.
#[derive(Debug)]
pub struct ProbeSequence {
    start: Url,
    options: ProbeOptions,
    queue: BTreeMap<(ProbeTier, u32), ProbeRequest>,
    /// Everything that was ever put on the queue, and where it stood there last.
    known: HashMap<String, (ProbeTier, u32)>,
    numbered: u32,
    requests: u32,
    found: Vec<FoundFeed>,
    /// Why the site could not be searched.
    unreachable: Option<String>,
    maps: usize,
    guesses: u32,
    language: String,
}

impl ProbeSequence {
    /// Stands the sequence up at an address; nothing if it is not a web address.
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

    /// A sequence of one tier: is this a feed?
    pub fn confirm(feed: &str, evidence: Evidence, found_on: &str) -> Option<ProbeSequence> {
        let mut sequence = ProbeSequence::new(feed, ProbeOptions { max_requests: 1, ..ProbeOptions::default() })?;
        sequence.queue.clear();
        sequence.known.clear();
        let feed = sequence.start.to_string();
        sequence.enqueue(&feed, evidence, ProbeTier::Start, found_on, 0);
        Some(sequence)
    }

    /// The address that the probe began with.
    pub fn start(&self) -> &str {
        self.start.as_str()
    }

    /// The site that is searched.
    pub fn site(&self) -> String {
        site(self.start.as_str()).unwrap_or_default()
    }

    /// Requests made so far, robots.txt not counted.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// The feeds found so far.
    pub fn found(&self) -> &[FoundFeed] {
        &self.found
    }

    /// Why the site could not be searched, if it could not.
    pub fn unreachable(&self) -> Option<&str> {
        self.unreachable.as_deref()
    }

    /// The language of the pages that were read, if they named one.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Whether the probe needs to know the site maps that robots.txt names: they are worth it only
    /// when nothing better is left.
    pub fn needs_sitemaps(&self) -> bool {
        let tier = self.queue.first_key_value().map(|(key, _)| key.0);
        self.maps == 0
            && self.found.is_empty()
            && tier.is_none_or(|tier| tier > ProbeTier::Above)
            && !self.options.paper_rule
    }

    /// Puts the site maps that robots.txt names on the queue, or the usual one.
    pub fn add_sitemaps(&mut self, named: &[String]) {
        // Maps that speak of feeds or news come first; there may be hundreds.
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

    /// What to ask next; nothing when the probe has ended.
    #[allow(clippy::should_implement_trait)] // The answers come in between: this is no iterator.
    pub fn next(&mut self) -> Vec<ProbeRequest> {
        let left = self.options.max_requests.saturating_sub(self.requests) as usize;
        let Some((&(tier, _), _)) = self.queue.first_key_value() else { return Vec::new() };
        // Pages often declare several feeds, and all are wanted; a second guess is not.
        let enough = self.found.len() >= self.options.max_feeds || (!self.found.is_empty() && tier > ProbeTier::Declared);
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

    /// Takes in the answer to a request. For a feed that has moved for good, the request's address
    /// should be the new one.
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
                // A host that does not answer is not asked fifteen times more.
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
            // The address itself was a feed: whoever gave it wanted this one.
            self.queue.clear();
        }
    }

    fn read_page(&mut self, request: &ProbeRequest, page: &PageSummary) {
        if self.language.is_empty() {
            self.language.clone_from(&page.language);
        }
        // A page about feeds may list them; a page that such a page links to is somewhere else.
        if request.depth > 1 || (request.tier == ProbeTier::Start && self.options.max_requests == 1) {
            return;
        }
        for url in &page.by_rule {
            self.enqueue(url, Evidence::Rule, ProbeTier::Rule, &request.url, 0);
        }
        let host = |url: &str| site(url);
        let mut links: Vec<_> = page.links.iter().collect();
        // The feeds of the site itself come before those it recommends.
        links.sort_by_key(|link| (link.evidence, host(&link.url) != host(&request.url)));
        for link in links.into_iter().take(MAX_LINKS) {
            let evidence = Evidence::of_link(link.evidence);
            let declared = matches!(evidence, Evidence::Declared | Evidence::Loose);
            if self.options.paper_rule && evidence != Evidence::Declared {
                continue;
            }
            // Blogs recommend the feeds of others; those are not what is looked for here.
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
        let unwanted = address_rules::is_comments(&url) || address_rules::is_interface(&url, evidence == Evidence::Declared);
        if unwanted && !matches!(tier, ProbeTier::Start | ProbeTier::Sitemap) || url.host_str().is_none_or(str::is_empty) {
            return;
        }
        self.numbered += 1;
        let place = (tier, self.numbered);
        match self.known.entry(without_slash(&url)) {
            Entry::Vacant(vacant) => {
                vacant.insert(place);
            }
            // What was only a guess may turn out to be declared; what was asked is not asked again.
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

/// `/feed` and `/feed/` are one document nearly everywhere.
fn without_slash(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// Whether a feed may belong to the site of a page: same domain, or a host that serves feeds for
/// others.
fn is_related(feed: &str, page: &str) -> bool {
    let (Ok(feed), Ok(page)) = (Url::parse(feed), Url::parse(page)) else { return false };
    let (feed, page) = (feed.host_str().unwrap_or_default(), page.host_str().unwrap_or_default());
    let domain = |host| registrable(host).unwrap_or(host);
    let serves_feeds = ["feeds.", "feed.", "rss.", "rssfeeds.", "feeds2."].iter().any(|start| feed.starts_with(start))
        || ["feedburner", "feedblitz", "feedpress", "feedsportal"].iter().any(|name| feed.contains(name));
    domain(feed) == domain(page) || serves_feeds
}

/// What is left of a feed's address when everything is gone that only names the format.
fn variant(url: &Url) -> String {
    const FORMATS: &[&str] = &["rss", "rss2", "rss1", "atom", "rdf", "feed", "feeds", "json", "xml", "index", "rss20"];
    let is_format = |word: &str| FORMATS.contains(&word.to_ascii_lowercase().as_str());
    let steps: Vec<&str> = url.path().split(['/', '.']).filter(|step| !step.is_empty() && !is_format(step)).collect();
    let pairs: Vec<String> =
        url.query_pairs().filter(|pair| !is_format(&pair.1)).map(|pair| format!("{}={}", pair.0, pair.1)).collect();
    format!("{}/{}?{}", site(url.as_str()).unwrap_or_default(), steps.join("/"), pairs.join("&"))
}

/// The section of a site that an address lies in: `/blog/` of `/blog/2026/salt.html`. Dates and
/// numbers are no sections.
fn section(url: &Url) -> Option<Url> {
    let mut segments = url.path_segments()?.filter(|segment| !segment.is_empty());
    let first = segments.next()?;
    let deeper = segments.next().is_some();
    let is_name = first.bytes().any(|b| b.is_ascii_alphabetic()) && !first.contains('.');
    (deeper && is_name).then(|| url.join(&format!("/{first}/")).ok()).flatten()
}

/// The front page one domain above: `example.org` of `blog.example.org`, never above what somebody
/// registered.
fn domain_above(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let domain = registrable(host)?;
    let bare = host.strip_prefix("www.").unwrap_or(host);
    let above = bare.split_once('.')?.1;
    (bare != domain && above.len() >= domain.len()).then(|| format!("{}://{above}/", url.scheme()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::reduce;
    use proptest::prelude::*;

    /// A site of a few documents, climbed to the end.
    fn probe(start: &str, options: ProbeOptions, site: &[(&str, &str)]) -> (ProbeSequence, Vec<String>) {
        let mut sequence = ProbeSequence::new(start, options).unwrap();
        let mut urls_requested = Vec::new();
        loop {
            if sequence.needs_sitemaps() {
                sequence.add_sitemaps(&[]);
            }
            let requests = sequence.next();
            if requests.is_empty() {
                return (sequence, urls_requested);
            }
            for request in requests {
                urls_requested.push(request.url.clone());
                let body = site.iter().find(|row| row.0 == request.url).map(|row| row.1);
                let probe_result = match body {
                    Some(body) => reduce(body.as_bytes(), None, &request.url),
                    None => ProbeResult::Nothing("404".into()),
                };
                sequence.record(&request, &probe_result);
            }
        }
    }

    fn feed(link: &str) -> String {
        format!("<rss><channel><title>News</title><item><link>{link}</link></item></channel></rss>")
    }

    fn urls(sequence: &ProbeSequence) -> Vec<&str> {
        sequence.found().iter().map(|found| found.url.as_str()).collect()
    }

    #[test]
    fn an_address_that_is_a_feed_costs_one_request() {
        let rss = feed("https://g.example/1");
        let (sequence, urls_requested) = probe("https://g.example/x", ProbeOptions::default(), &[("https://g.example/x", &rss)]);
        assert_eq!((urls(&sequence), urls_requested.len()), (vec!["https://g.example/x"], 1));
        assert_eq!(sequence.found()[0].evidence, Evidence::Given);
    }

    #[test]
    fn declared_feeds_are_found_and_twins_and_comments_left_alone() {
        let page = r#"<html><link rel="alternate" type="application/rss+xml" href="/feed/">
            <link rel="alternate" type="application/atom+xml" href="/feed/atom/">
            <link rel="alternate" type="application/rss+xml" href="/politics/feed/">
            <link rel="alternate" type="application/rss+xml" href="/comments/feed/">
            <link rel="alternate" type="application/json+oembed" href="/wp-json/oembed/1.0/embed?url=x">
            <link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/7"></html>"#;
        let (main, politics) = (feed("https://g.example/1"), feed("https://g.example/2"));
        let site = [
            ("https://g.example/a-b-c-d.html", page),
            ("https://g.example/feed/", &main),
            ("https://g.example/feed/atom/", &main),
            ("https://g.example/politics/feed/", &politics),
            ("https://g.example/comments/feed/", &main),
        ];
        let (sequence, urls_requested) = probe("https://g.example/a-b-c-d.html", ProbeOptions::default(), &site);
        assert_eq!(urls(&sequence), ["https://g.example/feed/", "https://g.example/politics/feed/"]);
        assert_eq!(urls_requested.len(), 3, "{urls_requested:?}");
        assert_eq!(sequence.found()[0].found_on, "https://g.example/a-b-c-d.html");
    }

    #[test]
    fn the_twin_is_asked_when_the_first_form_is_broken() {
        let page = r#"<html><link rel="alternate" type="application/rss+xml" href="/feed/">
            <link rel="alternate" type="application/atom+xml" href="/feed/atom/"></html>"#;
        let atom = feed("https://g.example/1");
        let site = [("https://g.example/", page), ("https://g.example/feed/atom/", &atom)];
        let (sequence, _) = probe("https://g.example/", ProbeOptions::default(), &site);
        assert_eq!(urls(&sequence), ["https://g.example/feed/atom/"]);
    }

    #[test]
    fn a_page_about_feeds_is_read_for_the_feeds_it_lists() {
        let page = r#"<html><body><a href="/service/rss/">RSS</a></body></html>"#;
        let hub = r#"<html><body><a href="/service/rss/politics.xml">Politics</a></body></html>"#;
        let rss = feed("https://g.example/1");
        let site = [
            ("https://g.example/", page),
            ("https://g.example/service/rss/", hub),
            ("https://g.example/service/rss/politics.xml", &rss),
        ];
        let (sequence, _) = probe("https://g.example/", ProbeOptions::default(), &site);
        assert_eq!(urls(&sequence), ["https://g.example/service/rss/politics.xml"]);
    }

    #[test]
    fn feeds_that_a_blog_recommends_are_not_its_own() {
        let page = r#"<html><body><a href="https://other.example/feed/">A friend</a>
            <a href="https://feeds.feedburner.com/gazette">RSS</a></body></html>"#;
        let rss = feed("https://g.example/1");
        let site = [
            ("https://g.example/", page),
            ("https://other.example/feed/", &rss),
            ("https://feeds.feedburner.com/gazette", &rss),
        ];
        let (sequence, urls_requested) = probe("https://g.example/", ProbeOptions::default(), &site);
        assert_eq!((urls(&sequence), urls_requested.len()), (vec!["https://feeds.feedburner.com/gazette"], 2));
    }

    #[test]
    fn the_front_page_may_declare_what_an_article_does_not() {
        let front = r#"<html><link rel="alternate" type="application/rss+xml" href="/data/stories"></html>"#;
        let rss = feed("https://g.example/1");
        let site = [
            ("https://g.example/a", "<html>x</html>"),
            ("https://g.example/", front),
            ("https://g.example/data/stories", &rss),
        ];
        let (sequence, urls_requested) = probe("https://g.example/a", ProbeOptions::default(), &site);
        assert_eq!((urls(&sequence), urls_requested.len()), (vec!["https://g.example/data/stories"], 3));
    }

    #[test]
    fn a_program_is_asked_where_it_puts_its_feed() {
        let page = r#"<html><head><meta name="generator" content="SPIP 4"></head></html>"#;
        let rss = feed("https://g.example/1");
        let site = [("https://g.example/a", page), ("https://g.example/spip.php?page=backend", &rss)];
        let (sequence, urls_requested) = probe("https://g.example/a", ProbeOptions::default(), &site);
        assert_eq!((urls(&sequence), urls_requested.len()), (vec!["https://g.example/spip.php?page=backend"], 2));
        assert_eq!(sequence.found()[0].evidence, Evidence::Program);
    }

    #[test]
    fn common_paths_are_tried_in_the_order_of_their_frequency() {
        let (_, urls_requested) = probe("https://g.example/", ProbeOptions::default(), &[("https://g.example/", "<html>x</html>")]);
        assert_eq!(urls_requested[1..4], ["https://g.example/feed", "https://g.example/rss", "https://g.example/rss.xml"]);
        assert_eq!(urls_requested.len(), 12, "{urls_requested:?}");
        assert!(urls_requested.contains(&"https://g.example/sitemap.xml".to_owned()));
    }

    #[test]
    fn a_feed_in_the_site_map_is_found() {
        let map = "<urlset><url><loc>https://g.example/syndication/rss-7.xml</loc></url></urlset>";
        let rss = feed("https://g.example/1");
        let site = [("https://g.example/sitemap.xml", map), ("https://g.example/syndication/rss-7.xml", rss.as_str())];
        let (sequence, _) = probe("https://g.example/", ProbeOptions::default(), &site);
        assert_eq!(sequence.found()[0].evidence, Evidence::Sitemap);
    }

    #[test]
    fn the_domain_above_is_asked_but_never_the_registry() {
        let front = r#"<html><link rel="alternate" type="application/rss+xml" href="/f"></html>"#;
        let rss = feed("https://g.example.co.uk/1");
        let site = [("https://example.co.uk/", front), ("https://example.co.uk/f", rss.as_str())];
        let (sequence, _) = probe("https://blog.example.co.uk/", ProbeOptions::default(), &site);
        assert_eq!(urls(&sequence), ["https://example.co.uk/f"]);
        let (_, urls_requested) = probe("https://www.example.co.uk/", ProbeOptions::default(), &[]);
        assert!(urls_requested.iter().all(|url| url.starts_with("https://www.example.co.uk/")), "{urls_requested:?}");
    }

    #[test]
    fn a_host_that_does_not_answer_is_asked_once() {
        let mut sequence = ProbeSequence::new("https://g.example/", ProbeOptions::default()).unwrap();
        let first = sequence.next();
        sequence.record(&first[0], &ProbeResult::Unreachable("timeout".into()));
        assert!(sequence.next().is_empty());
        assert_eq!(sequence.unreachable(), Some("timeout"));
    }

    #[test]
    fn the_rule_of_the_paper_looks_at_one_page_and_three_paths() {
        let page = r#"<html><body><a href="/a.rss">RSS</a></body></html>"#;
        let paper = ProbeOptions { paper_rule: true, ..ProbeOptions::default() };
        let (_, urls_requested) = probe("https://g.example/a", paper, &[("https://g.example/a", page)]);
        assert_eq!(urls_requested[1..], ["https://g.example/rss", "https://g.example/rss.xml", "https://g.example/feed"]);
    }

    proptest! {
        #[test]
        fn whatever_a_site_answers_the_climb_ends_within_its_limit(
            seed in proptest::collection::vec(0u8..8, 1..40),
            limit in 1u32..20,
        ) {
            let options = ProbeOptions { max_requests: limit, ..ProbeOptions::default() };
            let mut sequence = ProbeSequence::new("https://blog.g.example/section/a.html", options).unwrap();
            let mut urls_requested = HashSet::new();
            let mut at = 0;
            loop {
                if sequence.needs_sitemaps() {
                    sequence.add_sitemaps(&[]);
                }
                let requests = sequence.next();
                if requests.is_empty() {
                    break;
                }
                for request in requests {
                    prop_assert!(urls_requested.insert(request.url.clone()), "{} was urls_requested twice", request.url);
                    at += 1;
                    let page = format!(
                        "<html><meta name=generator content=SPIP><a href=/rss/{at}.xml>RSS</a>
                         <link rel=alternate type=application/rss+xml href=/f{at}></html>"
                    );
                    let map = format!("<sitemapindex><sitemap><loc>/m{at}.xml</loc></sitemap></sitemapindex>");
                    let body = match seed[at % seed.len()] {
                        0 => feed(&format!("https://g.example/{at}")),
                        1..4 => page,
                        4 => map,
                        _ => String::new(),
                    };
                    sequence.record(&request, &reduce(body.as_bytes(), None, &request.url));
                }
            }
            prop_assert!(sequence.requests() <= limit && urls_requested.len() as u32 == sequence.requests());
        }
    }

    #[test]
    fn confirming_asks_for_the_address_alone() {
        let mut sequence = ProbeSequence::confirm("https://g.example/feed/", Evidence::Declared, "https://g.example/").unwrap();
        let requests = sequence.next();
        assert_eq!(requests.len(), 1);
        let page = r#"<html><link rel="alternate" type="application/rss+xml" href="/f"></html>"#;
        sequence.record(&requests[0], &reduce(page.as_bytes(), None, "https://g.example/feed/"));
        assert!(sequence.next().is_empty());
    }
}
