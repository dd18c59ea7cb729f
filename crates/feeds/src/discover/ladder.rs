//! From an address to the feeds of its site, one rung at a time.
//!
//! The ladder holds an agenda of questions, each on a rung. [`Ladder::next`] gives the questions of
//! the lowest rung, [`Ladder::learn`] takes in what was answered, which may put further questions on
//! the agenda, on lower rungs too: the front page of a site may declare what an article did not. The
//! climb ends with the first rung that found a feed, with the limit of requests, or with nothing
//! left to ask.
//!
//! Common paths have six guesses that are often right and a dozen that rarely are. What lies
//! between them (the front page before the first, the page above and the site map before the rest)
//! is there because one request for it finds more than one more guess.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use tidings_model::{Fingerprint, address};
use url::Url;

use super::finding::{FeedFound, Finding, PageFound};
use super::places::{self, Cms};
use super::rank::Evidence;
use super::site::{registrable, site};
use crate::links::address as looks;

/// Guesses that are right often enough to come before the site map.
const FREQUENT: usize = 6;
/// Site maps that are read for one site.
const MAX_MAPS: usize = 3;
/// Links of one page that are put on the agenda.
const MAX_LINKS: usize = 12;

/// How far to climb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Requests for one start address, at most.
    pub max_requests: u32,
    /// Feeds of one site, at most.
    pub max_feeds: usize,
    /// The rule of the FeedFetcher paper alone: declared links, `/rss`, `/rss.xml`, `/feed`.
    pub paper_rule: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_requests: 12, max_feeds: 5, paper_rule: false }
    }
}

/// How good the reason for a question is; lower rungs are asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// The site is known to make feeds by rule.
    Rule,
    /// The address that was given.
    Start,
    /// A page declares a feed.
    Declared,
    /// A page links to what looks like a feed.
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
pub struct Question {
    /// The address.
    pub url: String,
    /// Why.
    pub evidence: Evidence,
    /// Where it was found.
    pub found_on: String,
    /// The rung it is on.
    pub rung: Rung,
    /// Equal for the RSS and the Atom form of the same feed: one of them is enough.
    twin: String,
    /// How many links lie between it and the pages that the ladder itself chose.
    depth: u8,
}

/// A feed that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its address.
    pub url: String,
    /// What led there.
    pub evidence: Evidence,
    /// The page it was found on, or the address that the climb began with.
    pub found_on: String,
    /// What it is.
    pub feed: FeedFound,
}

/// The search for the feeds of one address.
#[derive(Debug)]
pub struct Ladder {
    start: Url,
    options: Options,
    agenda: BTreeMap<(Rung, u32), Question>,
    /// Everything that was ever put on the agenda, and where it stood there last.
    known: HashMap<String, (Rung, u32)>,
    numbered: u32,
    requests: u32,
    found: Vec<Found>,
    /// Why the site could not be searched.
    unreachable: Option<String>,
    maps: usize,
    guesses: u32,
    language: String,
}

impl Ladder {
    /// Stands the ladder up at an address; nothing if it is not a web address.
    pub fn new(start: &str, options: Options) -> Option<Ladder> {
        let start = Url::parse(&address::normalise(start, None)?).ok()?;
        let mut ladder = Ladder {
            options,
            agenda: BTreeMap::new(),
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
        ladder.offer(start.as_str(), Evidence::Given, Rung::Start, "", 0);
        if options.paper_rule {
            for path in ["rss", "rss.xml", "feed"] {
                ladder.offer_at_root(path, Evidence::Path, Rung::Common);
            }
            return Some(ladder);
        }
        if !looks::looks_like_feed(&start) {
            for url in places::by_rule(&start) {
                ladder.offer(&url, Evidence::Rule, Rung::Rule, start.as_str(), 0);
            }
        }
        ladder.offer_at_root("", Evidence::Page, Rung::Front);
        let section = section(&start);
        for (at, path) in places::common_paths().iter().enumerate() {
            let rung = if at < FREQUENT { Rung::Common } else { Rung::Rare };
            ladder.offer_at_root(path, Evidence::Path, rung);
            if at < 1
                && let Some(section) = &section
            {
                ladder.offer_joined(section, path, Evidence::Path, rung);
            }
        }
        if let Some(section) = section {
            ladder.offer(section.as_str(), Evidence::Page, Rung::Above, start.as_str(), 0);
        }
        if let Some(above) = domain_above(&start) {
            ladder.offer(&above, Evidence::Page, Rung::Above, start.as_str(), 0);
        }
        Some(ladder)
    }

    /// A ladder of one rung: is this a feed?
    pub fn confirm(feed: &str, evidence: Evidence, found_on: &str) -> Option<Ladder> {
        let mut ladder = Ladder::new(feed, Options { max_requests: 1, ..Options::default() })?;
        ladder.agenda.clear();
        ladder.known.clear();
        let feed = ladder.start.to_string();
        ladder.offer(&feed, evidence, Rung::Start, found_on, 0);
        Some(ladder)
    }

    /// The address that the climb began with.
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
    pub fn found(&self) -> &[Found] {
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

    /// Whether the climb needs to know the site maps that robots.txt names: they are worth it only
    /// when nothing better is left.
    pub fn wants_sitemaps(&self) -> bool {
        let rung = self.agenda.first_key_value().map(|(key, _)| key.0);
        self.maps == 0
            && self.found.is_empty()
            && rung.is_none_or(|rung| rung > Rung::Above)
            && !self.options.paper_rule
    }

    /// Puts the site maps that robots.txt names on the agenda, or the usual one.
    pub fn learn_sitemaps(&mut self, named: &[String]) {
        // Maps that speak of feeds or news come first; there may be hundreds.
        let mut maps: Vec<&String> = named.iter().collect();
        maps.sort_by_key(|url| !["rss", "feed", "news"].iter().any(|word| url.contains(word)));
        self.maps = 1;
        if maps.is_empty() {
            self.offer_at_root("sitemap.xml", Evidence::Page, Rung::Sitemap);
        }
        for url in maps.into_iter().take(MAX_MAPS) {
            let start = self.start.to_string();
            self.offer(url, Evidence::Page, Rung::Sitemap, &start, 0);
        }
    }

    /// What to ask next; nothing when the climb has ended.
    #[allow(clippy::should_implement_trait)] // The answers come in between: this is no iterator.
    pub fn next(&mut self) -> Vec<Question> {
        let left = self.options.max_requests.saturating_sub(self.requests) as usize;
        let Some((&(rung, _), _)) = self.agenda.first_key_value() else { return Vec::new() };
        // Pages often declare several feeds, and all are wanted; a second guess is not.
        let enough = self.found.len() >= self.options.max_feeds || (!self.found.is_empty() && rung > Rung::Declared);
        if enough || self.unreachable.is_some() || left == 0 {
            return Vec::new();
        }
        let most = match rung {
            Rung::Declared => self.options.max_feeds - self.found.len(),
            Rung::Linked | Rung::Program => 2,
            // The first guess is right three times as often as all others together.
            Rung::Common if self.guesses == 0 => 1,
            Rung::Common | Rung::Rare => 2,
            Rung::Rule | Rung::Start | Rung::Front | Rung::Above | Rung::Sitemap => 1,
        };
        if matches!(rung, Rung::Common | Rung::Rare) {
            self.guesses += 1;
        }
        let mut twins = HashSet::new();
        let taken: Vec<(Rung, u32)> = self
            .agenda
            .iter()
            .take_while(|(key, _)| key.0 == rung)
            .filter(|(_, question)| twins.insert(question.twin.clone()))
            .map(|(key, _)| *key)
            .take(most.min(left))
            .collect();
        taken.iter().filter_map(|key| self.agenda.remove(key)).collect()
    }

    /// Takes in the answer to a question. For a feed that has moved for good, the question's address
    /// should be the new one.
    pub fn learn(&mut self, question: &Question, finding: &Finding) {
        self.requests += 1;
        match finding {
            Finding::Feed(feed) => self.take(question, feed),
            Finding::Page(page) => self.read(question, page),
            Finding::Sitemap(map) => {
                for url in map.feeds.iter().take(MAX_LINKS) {
                    self.offer(url, Evidence::Sitemap, Rung::Linked, &question.url, question.depth + 1);
                }
                let mut maps: Vec<&String> = map.maps.iter().collect();
                maps.sort_by_key(|url| !["rss", "feed", "news"].iter().any(|word| url.contains(word)));
                for url in maps {
                    if self.maps < MAX_MAPS {
                        self.maps += 1;
                        self.offer(url, Evidence::Page, Rung::Sitemap, &question.url, 0);
                    }
                }
            }
            Finding::Unreachable(why) => {
                // A host that does not answer is not asked fifteen times more.
                let host = Url::parse(&question.url).ok().and_then(|url| url.host_str().map(str::to_owned));
                if host.as_deref() == self.start.host_str() {
                    self.unreachable.get_or_insert_with(|| why.clone());
                }
            }
            Finding::Unwanted(_) | Finding::Nothing(_) => {}
        }
    }

    fn take(&mut self, question: &Question, feed: &FeedFound) {
        let same = |content: Option<Fingerprint>| content.is_some() && content == feed.content;
        let known = self.found.iter().any(|found| found.url == question.url || same(found.feed.content));
        let unwanted = Url::parse(&question.url).is_ok_and(|url| looks::is_comments(&url));
        if !known && !unwanted {
            self.found.push(Found {
                url: question.url.clone(),
                evidence: question.evidence,
                found_on: question.found_on.clone(),
                feed: feed.clone(),
            });
        }
        self.agenda.retain(|_, other| other.twin != question.twin);
        if question.rung == Rung::Start {
            // The address itself was a feed: whoever gave it wanted this one.
            self.agenda.clear();
        }
    }

    fn read(&mut self, question: &Question, page: &PageFound) {
        if self.language.is_empty() {
            self.language.clone_from(&page.language);
        }
        // A page about feeds may list them; a page that such a page links to is somewhere else.
        if question.depth > 1 || (question.rung == Rung::Start && self.options.max_requests == 1) {
            return;
        }
        for url in &page.by_rule {
            self.offer(url, Evidence::Rule, Rung::Rule, &question.url, 0);
        }
        let host = |url: &str| site(url);
        let mut links: Vec<_> = page.links.iter().collect();
        // The feeds of the site itself come before those it recommends.
        links.sort_by_key(|link| (link.evidence, host(&link.url) != host(&question.url)));
        for link in links.into_iter().take(MAX_LINKS) {
            let evidence = Evidence::of_link(link.evidence);
            let declared = matches!(evidence, Evidence::Declared | Evidence::Loose);
            if self.options.paper_rule && evidence != Evidence::Declared {
                continue;
            }
            // Blogs recommend the feeds of others; those are not what is looked for here.
            if !declared && !is_kin(&link.url, &question.url) {
                continue;
            }
            let rung = if declared && question.depth == 0 { Rung::Declared } else { Rung::Linked };
            self.offer(&link.url, evidence, rung, &question.url, question.depth + 1);
        }
        if self.options.paper_rule || question.depth > 0 {
            return;
        }
        if let Some(cms) = page.cms.and_then(Cms::named) {
            let section = section(&self.start);
            for path in cms.paths {
                self.offer_at_root(path, Evidence::Program, Rung::Program);
            }
            if let (Some(section), Some(path)) = (section, cms.paths.first()) {
                self.offer_joined(&section, path, Evidence::Program, Rung::Program);
            }
        }
    }

    fn offer_at_root(&mut self, path: &str, evidence: Evidence, rung: Rung) {
        if let Ok(root) = self.start.join("/") {
            self.offer_joined(&root, path, evidence, rung);
        }
    }

    fn offer_joined(&mut self, base: &Url, path: &str, evidence: Evidence, rung: Rung) {
        let Ok(url) = base.join(path) else { return };
        let start = self.start.to_string();
        self.offer(url.as_str(), evidence, rung, &start, 0);
    }

    fn offer(&mut self, address: &str, evidence: Evidence, rung: Rung, found_on: &str, depth: u8) {
        // Tracking parameters may matter to a feed; the fragment never does.
        let Some(mut url) = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https")) else {
            return;
        };
        url.set_fragment(None);
        let unwanted = looks::is_comments(&url) || looks::is_interface(&url, evidence == Evidence::Declared);
        if unwanted && !matches!(rung, Rung::Start | Rung::Sitemap) || url.host_str().is_none_or(str::is_empty) {
            return;
        }
        self.numbered += 1;
        let place = (rung, self.numbered);
        match self.known.entry(without_slash(&url)) {
            Entry::Vacant(vacant) => {
                vacant.insert(place);
            }
            // What was only a guess may turn out to be declared; what was asked is not asked again.
            Entry::Occupied(mut known) if known.get().0 > rung && self.agenda.remove(known.get()).is_some() => {
                known.insert(place);
            }
            Entry::Occupied(_) => return,
        }
        let from_page = matches!(rung, Rung::Declared | Rung::Linked);
        let twin = if from_page { twin(&url) } else { url.to_string() };
        let question = Question { url: url.into(), evidence, found_on: found_on.to_owned(), rung, twin, depth };
        self.agenda.insert(place, question);
    }
}

/// `/feed` and `/feed/` are one document nearly everywhere.
fn without_slash(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// Whether a feed may belong to the site of a page: same domain, or a host that serves feeds for
/// others.
fn is_kin(feed: &str, page: &str) -> bool {
    let (Ok(feed), Ok(page)) = (Url::parse(feed), Url::parse(page)) else { return false };
    let (feed, page) = (feed.host_str().unwrap_or_default(), page.host_str().unwrap_or_default());
    let domain = |host| registrable(host).unwrap_or(host);
    let serves_feeds = ["feeds.", "feed.", "rss.", "rssfeeds.", "feeds2."].iter().any(|start| feed.starts_with(start))
        || ["feedburner", "feedblitz", "feedpress", "feedsportal"].iter().any(|name| feed.contains(name));
    domain(feed) == domain(page) || serves_feeds
}

/// What is left of a feed's address when everything is gone that only names the format.
fn twin(url: &Url) -> String {
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

    /// A site of a few documents, climbed to the end.
    fn climb(start: &str, options: Options, site: &[(&str, &str)]) -> (Ladder, Vec<String>) {
        let mut ladder = Ladder::new(start, options).unwrap();
        let mut asked = Vec::new();
        loop {
            if ladder.wants_sitemaps() {
                ladder.learn_sitemaps(&[]);
            }
            let questions = ladder.next();
            if questions.is_empty() {
                return (ladder, asked);
            }
            for question in questions {
                asked.push(question.url.clone());
                let body = site.iter().find(|row| row.0 == question.url).map(|row| row.1);
                let finding = match body {
                    Some(body) => reduce(body.as_bytes(), None, &question.url),
                    None => Finding::Nothing("404".into()),
                };
                ladder.learn(&question, &finding);
            }
        }
    }

    fn feed(link: &str) -> String {
        format!("<rss><channel><title>News</title><item><link>{link}</link></item></channel></rss>")
    }

    fn urls(ladder: &Ladder) -> Vec<&str> {
        ladder.found().iter().map(|found| found.url.as_str()).collect()
    }

    #[test]
    fn an_address_that_is_a_feed_costs_one_request() {
        let rss = feed("https://g.example/1");
        let (ladder, asked) = climb("https://g.example/x", Options::default(), &[("https://g.example/x", &rss)]);
        assert_eq!((urls(&ladder), asked.len()), (vec!["https://g.example/x"], 1));
        assert_eq!(ladder.found()[0].evidence, Evidence::Given);
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
        let (ladder, asked) = climb("https://g.example/a-b-c-d.html", Options::default(), &site);
        assert_eq!(urls(&ladder), ["https://g.example/feed/", "https://g.example/politics/feed/"]);
        assert_eq!(asked.len(), 3, "{asked:?}");
        assert_eq!(ladder.found()[0].found_on, "https://g.example/a-b-c-d.html");
    }

    #[test]
    fn the_twin_is_asked_when_the_first_form_is_broken() {
        let page = r#"<html><link rel="alternate" type="application/rss+xml" href="/feed/">
            <link rel="alternate" type="application/atom+xml" href="/feed/atom/"></html>"#;
        let atom = feed("https://g.example/1");
        let site = [("https://g.example/", page), ("https://g.example/feed/atom/", &atom)];
        let (ladder, _) = climb("https://g.example/", Options::default(), &site);
        assert_eq!(urls(&ladder), ["https://g.example/feed/atom/"]);
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
        let (ladder, _) = climb("https://g.example/", Options::default(), &site);
        assert_eq!(urls(&ladder), ["https://g.example/service/rss/politics.xml"]);
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
        let (ladder, asked) = climb("https://g.example/", Options::default(), &site);
        assert_eq!((urls(&ladder), asked.len()), (vec!["https://feeds.feedburner.com/gazette"], 2));
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
        let (ladder, asked) = climb("https://g.example/a", Options::default(), &site);
        assert_eq!((urls(&ladder), asked.len()), (vec!["https://g.example/data/stories"], 3));
    }

    #[test]
    fn a_program_is_asked_where_it_puts_its_feed() {
        let page = r#"<html><head><meta name="generator" content="SPIP 4"></head></html>"#;
        let rss = feed("https://g.example/1");
        let site = [("https://g.example/a", page), ("https://g.example/spip.php?page=backend", &rss)];
        let (ladder, asked) = climb("https://g.example/a", Options::default(), &site);
        assert_eq!((urls(&ladder), asked.len()), (vec!["https://g.example/spip.php?page=backend"], 2));
        assert_eq!(ladder.found()[0].evidence, Evidence::Program);
    }

    #[test]
    fn common_paths_are_tried_in_the_order_of_their_frequency() {
        let (_, asked) = climb("https://g.example/", Options::default(), &[("https://g.example/", "<html>x</html>")]);
        assert_eq!(asked[1..4], ["https://g.example/feed", "https://g.example/rss", "https://g.example/rss.xml"]);
        assert_eq!(asked.len(), 12, "{asked:?}");
        assert!(asked.contains(&"https://g.example/sitemap.xml".to_owned()));
    }

    #[test]
    fn a_feed_in_the_site_map_is_found() {
        let map = "<urlset><url><loc>https://g.example/syndication/rss-7.xml</loc></url></urlset>";
        let rss = feed("https://g.example/1");
        let site = [("https://g.example/sitemap.xml", map), ("https://g.example/syndication/rss-7.xml", rss.as_str())];
        let (ladder, _) = climb("https://g.example/", Options::default(), &site);
        assert_eq!(ladder.found()[0].evidence, Evidence::Sitemap);
    }

    #[test]
    fn the_domain_above_is_asked_but_never_the_registry() {
        let front = r#"<html><link rel="alternate" type="application/rss+xml" href="/f"></html>"#;
        let rss = feed("https://g.example.co.uk/1");
        let site = [("https://example.co.uk/", front), ("https://example.co.uk/f", rss.as_str())];
        let (ladder, _) = climb("https://blog.example.co.uk/", Options::default(), &site);
        assert_eq!(urls(&ladder), ["https://example.co.uk/f"]);
        let (_, asked) = climb("https://www.example.co.uk/", Options::default(), &[]);
        assert!(asked.iter().all(|url| url.starts_with("https://www.example.co.uk/")), "{asked:?}");
    }

    #[test]
    fn a_host_that_does_not_answer_is_asked_once() {
        let mut ladder = Ladder::new("https://g.example/", Options::default()).unwrap();
        let first = ladder.next();
        ladder.learn(&first[0], &Finding::Unreachable("timeout".into()));
        assert!(ladder.next().is_empty());
        assert_eq!(ladder.unreachable(), Some("timeout"));
    }

    #[test]
    fn the_rule_of_the_paper_looks_at_one_page_and_three_paths() {
        let page = r#"<html><body><a href="/a.rss">RSS</a></body></html>"#;
        let paper = Options { paper_rule: true, ..Options::default() };
        let (_, asked) = climb("https://g.example/a", paper, &[("https://g.example/a", page)]);
        assert_eq!(asked[1..], ["https://g.example/rss", "https://g.example/rss.xml", "https://g.example/feed"]);
    }

    #[test]
    fn confirming_asks_for_the_address_alone() {
        let mut ladder = Ladder::confirm("https://g.example/feed/", Evidence::Declared, "https://g.example/").unwrap();
        let questions = ladder.next();
        assert_eq!(questions.len(), 1);
        let page = r#"<html><link rel="alternate" type="application/rss+xml" href="/f"></html>"#;
        ladder.learn(&questions[0], &reduce(page.as_bytes(), None, "https://g.example/feed/"));
        assert!(ladder.next().is_empty());
    }
}
