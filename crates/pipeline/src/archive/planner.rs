//! Decides which listings of a site are read, and when its sources are dry. No requests, no clock.
//!
//! Sources have an order: sitemaps, pages of months and days, further pages of the front page, section pages, tag
//! pages. The next one is opened when the one before is dry and the articles that feeds brought show that some of the
//! history is missing. Within a source the newest listing comes first.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::Date;
use tidings_model::Fingerprint;
use tidings_store::archive::{Backfill, Listing, ListingSource, ListingState};
use url::Url;

use super::article::{ArticleRule, LinkTarget, list_of, page_number, with_page_number};
use super::sequence::{earlier_lists, first_dated_lists};
use super::site::DateRange;

/// Paths at which sitemaps are guessed if robots.txt names none.
const GUESSES: [&str; 3] = ["/sitemap.xml", "/sitemap_index.xml", "/news-sitemap.xml"];
/// The most listings of a site.
const MAX_LISTINGS: usize = 20_000;
/// The most section pages and tag pages of a site.
const MAX_HUBS: usize = 50;
const MAX_TAGS: usize = 100;
/// Pages of a list in a row without new articles after which it is left.
const MAX_DRY_PAGES: u32 = 40;
/// The sample of known articles that is large enough to end a backfill, and the share of it that must be found.
const MIN_SAMPLE: usize = 20;
const COVERED: f64 = 0.98;
/// Requests for listings that need no articles to show for them, and articles for each further one.
const FREE_REQUESTS: u64 = 100;
const ARTICLES_PER_REQUEST: u64 = 5;

/// A group of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Sitemaps,
    Dated,
    Pages,
    Hubs,
    Tags,
}

impl Tier {
    const ALL: [Tier; 5] = [Tier::Sitemaps, Tier::Dated, Tier::Pages, Tier::Hubs, Tier::Tags];

    fn of(source: ListingSource) -> Tier {
        match source {
            ListingSource::Robots | ListingSource::Guess | ListingSource::Index | ListingSource::Front => {
                Tier::Sitemaps
            }
            ListingSource::Dated => Tier::Dated,
            ListingSource::Page => Tier::Pages,
            ListingSource::Hub => Tier::Hubs,
            ListingSource::Tag => Tier::Tags,
        }
    }
}

/// The content of a listing, reduced.
#[derive(Debug, Clone, Default)]
pub struct ListingContent {
    /// Articles within the range.
    pub articles: Vec<Fingerprint>,
    /// Whether the list is of another period than its address says: servers answer any address with the newest
    /// articles.
    pub is_other_period: bool,
    /// Further sitemaps with the times of their last change.
    pub maps: Vec<(String, Option<Timestamp>)>,
    /// Other links.
    pub links: Vec<(LinkTarget, String)>,
    /// The next page of the list, as declared.
    pub next: Option<String>,
    /// The address of the site after redirects, if this is its front page.
    pub origin: Option<String>,
}

/// The result of a request for a listing.
#[derive(Debug, Clone)]
pub enum ListingResult {
    /// It was read.
    Read(ListingContent),
    /// It cannot be read.
    Failed(String),
    /// It may be read later: the host is unreachable or busy.
    Postponed(String),
}

/// The backfill of one site.
pub struct Planner {
    /// Its state, as on disk.
    pub backfill: Backfill,
    rule: std::sync::Arc<ArticleRule>,
    range: DateRange,
    sample: Vec<Fingerprint>,
    by_url: HashMap<String, usize>,
    tier: Tier,
    asked: HashSet<usize>,
    today: Date,
}

impl Planner {
    /// Continues a backfill. `sample` are the articles that feeds brought.
    pub fn new(
        backfill: Backfill,
        rule: std::sync::Arc<ArticleRule>,
        range: DateRange,
        sample: Vec<Fingerprint>,
        today: Date,
    ) -> Planner {
        let by_url = backfill.listings.iter().enumerate().map(|(at, listing)| (listing.url.clone(), at)).collect();
        Planner { backfill, rule, range, sample, by_url, tier: Tier::Sitemaps, asked: HashSet::new(), today }
    }

    /// What counts as an article.
    pub fn rule(&self) -> &std::sync::Arc<ArticleRule> {
        &self.rule
    }

    /// The days of the backfill.
    pub fn range(&self) -> DateRange {
        self.range
    }

    /// Whether nothing is left to read.
    pub fn is_ended(&self) -> bool {
        !self.backfill.order.ended.is_empty()
    }

    /// The number of listings that wait.
    pub fn waiting(&self) -> u64 {
        let waiting = self.backfill.listings.iter().filter(|listing| listing.state == ListingState::Waiting);
        if self.is_ended() { 0 } else { waiting.count() as u64 }
    }

    /// The number of waiting listings whose host did not answer.
    pub fn postponed(&self) -> u64 {
        let is_postponed = |listing: &&Listing| listing.state == ListingState::Waiting && !listing.error.is_empty();
        self.backfill.listings.iter().filter(is_postponed).count() as u64
    }

    /// The share of known articles that was found; `None` without a sample.
    fn share(&self) -> Option<f64> {
        let found = self.sample.iter().filter(|article| self.backfill.found.contains(**article)).count();
        (!self.sample.is_empty()).then(|| found as f64 / self.sample.len() as f64)
    }

    /// The next listings to read, at most `limit`. `robots` are the sitemaps that robots.txt names, if it is known.
    pub fn next(&mut self, robots: Option<&[String]>, limit: usize) -> Vec<usize> {
        self.open_sitemaps(robots);
        while !self.is_ended() {
            let tier = self.tier;
            let waits = |listing: &Listing| listing.state == ListingState::Waiting && Tier::of(listing.source) <= tier;
            let waiting: Vec<usize> =
                (0..self.backfill.listings.len()).filter(|at| waits(&self.backfill.listings[*at])).collect();
            if !waiting.is_empty() {
                if self.is_over_budget() {
                    self.end(format!(
                        "more than one listing for {ARTICLES_PER_REQUEST} articles; the rest is not worth it"
                    ));
                    break;
                }
                return self.choose(waiting, limit);
            }
            self.open_next();
        }
        Vec::new()
    }

    /// Of the waiting listings those that were not asked for in this run, the newest of the first source first.
    fn choose(&mut self, waiting: Vec<usize>, limit: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = waiting.into_iter().filter(|at| !self.asked.contains(at)).collect();
        chosen.sort_by_key(|at| {
            let listing = &self.backfill.listings[*at];
            (Tier::of(listing.source), std::cmp::Reverse(listing.rank), listing.page, *at)
        });
        let first = chosen.first().map(|at| Tier::of(self.backfill.listings[*at].source));
        chosen.retain(|at| Some(Tier::of(self.backfill.listings[*at].source)) == first);
        chosen.truncate(limit);
        self.asked.extend(chosen.iter().copied());
        chosen
    }

    fn is_over_budget(&self) -> bool {
        let allowed = FREE_REQUESTS + self.backfill.found.len() as u64 / ARTICLES_PER_REQUEST;
        self.backfill.order.requests >= allowed
    }

    fn open_sitemaps(&mut self, robots: Option<&[String]>) {
        let origin = self.backfill.order.origin.clone();
        let has = |source| self.backfill.listings.iter().any(|listing| listing.source == source);
        let (has_named, has_guess) = (has(ListingSource::Robots), has(ListingSource::Guess));
        match robots {
            // Any request makes the crawler read robots.txt, and the front page is needed for its links anyway.
            None => _ = self.add(&format!("{origin}/"), ListingSource::Front, 0, 1),
            Some(maps) if !maps.is_empty() => {
                for map in maps.iter().filter(|_| !has_named) {
                    self.add(map, ListingSource::Robots, 0, 1);
                }
            }
            Some(_) if !has_guess && !has_named => {
                GUESSES.iter().for_each(|path| _ = self.add(&format!("{origin}{path}"), ListingSource::Guess, 0, 1));
            }
            Some(_) => {}
        }
    }

    /// Opens the next source, or ends the backfill.
    fn open_next(&mut self) {
        let listings = &self.backfill.listings;
        let gave = |listing: &Listing| listing.source.is_sitemap() && listing.found > 0;
        if self.tier == Tier::Sitemaps
            && !listings.iter().any(gave)
            && !listings.iter().any(|listing| listing.source == ListingSource::Guess)
        {
            // The sitemaps of robots.txt gave nothing.
            let origin = self.backfill.order.origin.clone();
            GUESSES.iter().for_each(|path| _ = self.add(&format!("{origin}{path}"), ListingSource::Guess, 0, 1));
            return;
        }
        if let Some(share) = self.share().filter(|share| self.sample.len() >= MIN_SAMPLE && *share >= COVERED) {
            let known = self.sample.len();
            self.end(format!("the sources read so far have {:.0} % of {known} articles of the feed", share * 100.0));
            return;
        }
        let next = Tier::ALL.into_iter().find(|tier| *tier > self.tier);
        let Some(next) = next else {
            self.end("all sources are dry".to_owned());
            return;
        };
        self.tier = next;
        let origin = self.backfill.order.origin.clone();
        match next {
            Tier::Dated => {
                if !self.backfill.listings.iter().any(|listing| listing.source == ListingSource::Dated) {
                    let newest = self.range.until.into_iter().chain(self.rule.newest()).min();
                    let lists = newest.and_then(|newest| Some(first_dated_lists(self.rule.dated_prefix()?, newest)));
                    for (path, date, dry) in lists.into_iter().flatten() {
                        self.add_dated(&format!("{origin}{path}"), date, dry);
                    }
                }
            }
            Tier::Pages => _ = self.add(&format!("{origin}/"), ListingSource::Front, 0, 1),
            Tier::Sitemaps | Tier::Hubs | Tier::Tags => {}
        }
    }

    fn end(&mut self, reason: String) {
        self.backfill.order.ended = reason;
    }

    /// Adds a listing unless it is known.
    fn add(&mut self, url: &str, source: ListingSource, rank: u64, page: u32) -> Option<usize> {
        if self.by_url.contains_key(url) || self.backfill.listings.len() >= MAX_LISTINGS {
            return None;
        }
        let at = self.backfill.listings.len();
        self.by_url.insert(url.to_owned(), at);
        self.backfill.listings.push(Listing { url: url.to_owned(), source, rank, page, ..Listing::default() });
        Some(at)
    }

    fn add_dated(&mut self, url: &str, date: Date, dry: u32) {
        if self.range.since.is_some_and(|since| date < since.first_of_month()) || date > self.today {
            return;
        }
        if let Some(at) = self.add(url, ListingSource::Dated, rank_of(date), 1) {
            self.backfill.listings[at].dry = dry;
        }
    }

    /// Records the result of a request at `now`.
    pub fn record(&mut self, at: usize, result: ListingResult, now: &str) {
        let listing = &mut self.backfill.listings[at];
        now.clone_into(&mut listing.checked);
        match result {
            ListingResult::Postponed(reason) => listing.error = reason,
            ListingResult::Failed(reason) => {
                (listing.state, listing.error) = (ListingState::Failed, reason);
                listing.dry += 1;
                self.end_list(at);
                self.go_back_in_time(at);
            }
            ListingResult::Read(content) => self.read(at, content),
        }
    }

    fn read(&mut self, at: usize, content: ListingContent) {
        let mut articles = content.articles;
        articles.sort_unstable();
        articles.dedup();
        let digest = digest_of(&articles);
        let new = articles.iter().filter(|article| self.backfill.found.insert(**article)).count() as u32;
        let listing = &mut self.backfill.listings[at];
        (listing.state, listing.error) = (ListingState::Read, String::new());
        (listing.found, listing.new) = (articles.len() as u32, new);
        let repeats = listing.digest == digest;
        listing.dry = match listing.source {
            ListingSource::Dated if listing.found > 0 && !repeats && !content.is_other_period => 0,
            ListingSource::Dated => listing.dry + 1,
            _ if new > 0 => 0,
            _ => listing.dry + 1,
        };
        listing.digest = digest;
        let (is_sitemap, source, dry) = (listing.source.is_sitemap(), listing.source, listing.dry);
        let is_over = articles.is_empty() || repeats || content.is_other_period || dry >= MAX_DRY_PAGES;
        if let Some(origin) = content.origin {
            self.backfill.order.origin = origin;
        }
        for (url, modified) in content.maps {
            let day = modified.map(|time| time.to_zoned(jiff::tz::TimeZone::UTC).date());
            if day.is_none_or(|day| self.range.since.is_none_or(|since| day >= since)) {
                let rank = modified.map_or(0, |time| time.as_second().max(0) as u64);
                self.add(&url, ListingSource::Index, rank.max(date_in_name(&url)), 1);
            }
        }
        if is_sitemap {
            return;
        }
        self.add_links(source, &content.links);
        if is_over {
            self.end_list(at);
        } else {
            self.add_pages(at, &content.links, content.next.as_deref());
        }
        self.go_back_in_time(at);
    }

    fn add_links(&mut self, source: ListingSource, links: &[(LinkTarget, String)]) {
        let is_shallow = matches!(source, ListingSource::Front | ListingSource::Hub);
        let count = |source| self.backfill.listings.iter().filter(|listing| listing.source == source).count();
        let (mut hubs, mut tags) = (count(ListingSource::Hub), count(ListingSource::Tag));
        for (target, url) in links {
            match target {
                LinkTarget::Dated(date) => self.add_dated(url, *date, 0),
                LinkTarget::Hub if is_shallow && hubs < MAX_HUBS => {
                    hubs += usize::from(self.add(url, ListingSource::Hub, 0, 1).is_some());
                }
                LinkTarget::Tag if is_shallow && tags < MAX_TAGS => {
                    tags += usize::from(self.add(url, ListingSource::Tag, 0, 1).is_some());
                }
                _ => {}
            }
        }
    }

    /// Adds further pages of a list: up to the last one that it links to, or some more after pages that gave articles.
    fn add_pages(&mut self, at: usize, links: &[(LinkTarget, String)], next: Option<&str>) {
        let listing = self.backfill.listings[at].clone();
        let numbered = links.iter().filter_map(|(target, url)| match target {
            LinkTarget::Page(number) if *number > listing.page => Some((*number, url)),
            _ => None,
        });
        let declared = next.and_then(|url| Url::parse(url).ok());
        let pattern = numbered.clone().min().and_then(|(_, url)| Url::parse(url).ok());
        let pattern = pattern.or_else(|| declared.clone().filter(|url| page_number(url).is_some()));
        let Some(pattern) = pattern else {
            if let Some(url) = declared {
                self.add_page(&listing, url.as_str(), listing.page + 1);
            }
            return;
        };
        let shown = numbered.map(|(number, _)| number).max().unwrap_or(0);
        let last = shown.min(listing.page + 32).max(listing.page + (listing.page / 8 + 1).min(16));
        for number in listing.page + 1..=last {
            if let Some(url) = with_page_number(&pattern, number) {
                self.add_page(&listing, url.as_str(), number);
            }
        }
    }

    fn add_page(&mut self, before: &Listing, url: &str, number: u32) {
        let source = if before.source == ListingSource::Dated { ListingSource::Dated } else { ListingSource::Page };
        if let Some(at) = self.add(url, source, before.rank, number) {
            self.backfill.listings[at].dry = before.dry;
            self.backfill.listings[at].digest.clone_from(&before.digest);
        }
    }

    /// Drops further pages of a list that wait: it ends before them.
    fn end_list(&mut self, at: usize) {
        let ended = self.backfill.listings[at].clone();
        let Ok(list) = Url::parse(&ended.url).map(|url| list_of(&url)) else { return };
        for listing in &mut self.backfill.listings {
            let is_later = listing.state == ListingState::Waiting && listing.page > ended.page;
            if is_later && Url::parse(&listing.url).is_ok_and(|url| list_of(&url) == list) {
                (listing.state, listing.error) = (ListingState::Failed, "the list ends before it".to_owned());
            }
        }
    }

    /// Adds the months or days before a dated list.
    fn go_back_in_time(&mut self, at: usize) {
        let listing = self.backfill.listings[at].clone();
        if listing.source != ListingSource::Dated || listing.page > 1 {
            return;
        }
        let gave = |row: &&Listing| row.source == ListingSource::Dated && row.found > 0 && row.dry == 0;
        let confirmed = self.backfill.listings.iter().filter(gave).count();
        let Ok(url) = Url::parse(&listing.url) else { return };
        for (earlier, date) in earlier_lists(&url, listing.dry, confirmed) {
            let known = self.backfill.listings.len();
            self.add_dated(earlier.as_str(), date, listing.dry);
            if let Some(added) = self.backfill.listings.get_mut(known) {
                added.digest.clone_from(&listing.digest);
            }
        }
    }
}

fn rank_of(date: Date) -> u64 {
    date.to_zoned(jiff::tz::TimeZone::UTC).map_or(0, |time| time.timestamp().as_second().max(0) as u64)
}

/// The date in the name of a sitemap, `sitemap-2019-03.xml`, for its rank if the index gives none. Names order maps;
/// they never exclude one.
fn date_in_name(url: &str) -> u64 {
    let name = url.rsplit('/').next().unwrap_or_default();
    let numbers: Vec<&str> = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    let date = numbers.iter().enumerate().find_map(|(at, part)| {
        let (year, month) = match part.len() {
            4 => (*part, *numbers.get(at + 1)?),
            6 | 8 => (part.get(..4)?, part.get(4..6)?),
            _ => return None,
        };
        Date::new(year.parse().ok().filter(|year| (1990..=2100).contains(year))?, month.parse().ok()?, 1).ok()
    });
    date.map_or(0, rank_of)
}

fn digest_of(articles: &[Fingerprint]) -> String {
    let bytes: Vec<u8> = articles.iter().flat_map(|article| article.0.to_be_bytes()).collect();
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes))
}

#[cfg(test)]
mod tests;
