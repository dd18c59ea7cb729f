//! What a crawl finds for polling: feeds of pages that are not stored, pages that list articles, news sitemaps.

use std::collections::HashMap;

use jiff::Timestamp;
use tidings_crawl::hub::{self, KnownArticles};
use tidings_feeds::discover::{FeedSightings, site};
use tidings_model::{Page, PageLinks, RobotsDirectives};
use url::Url;

use super::engine::today;

/// The most feeds that are noted in a run.
const MAX_FEEDS: usize = 200_000;
/// The most sites whose list of articles is noted in a run.
const MAX_HUBS: usize = 50_000;
/// Articles that a page must link to.
const MIN_ARTICLES: usize = 8;

/// A page or a sitemap that can be polled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundSource {
    /// Its URL.
    pub(crate) url: String,
    /// Its label in feeds.txt.
    pub(crate) label: &'static str,
    /// The number of articles that it lists.
    pub(crate) entries: u32,
    /// The date of its newest entry.
    pub(crate) latest: Option<Timestamp>,
}

/// Finds of a run.
#[derive(Debug)]
pub(crate) struct Finds {
    /// Feeds of pages that are not stored; the others are searched later.
    pub(crate) feeds: FeedSightings,
    /// Pages that list articles, by site.
    hubs: HashMap<String, FoundSource>,
}

impl Default for Finds {
    fn default() -> Finds {
        Finds { feeds: FeedSightings::new(MAX_FEEDS), hubs: HashMap::new() }
    }
}

impl Finds {
    /// Notes the feeds of a page that is not stored, and whether it lists articles. Only front pages and section pages are
    /// searched.
    pub(super) fn note(&mut self, page: &Page, links: &PageLinks, directives: RobotsDirectives) {
        let Ok(url) = Url::parse(&page.final_url) else { return };
        let depth = url.path().split('/').filter(|segment| !segment.is_empty()).count();
        if depth > 1 || url.query().is_some() {
            return;
        }
        self.feeds.page(&page.body, &page.final_url, directives, false);
        let Some(site) = site(&page.final_url).filter(|_| !links.nofollow && !directives.nofollow) else { return };
        let is_better = self.hubs.get(&site).is_none_or(|known| page.final_url.len() < known.url.len());
        if !is_better || self.hubs.len() >= MAX_HUBS {
            return;
        }
        let articles = hub::articles(links, &url, &KnownArticles::default(), today()).len();
        if articles >= MIN_ARTICLES {
            let source =
                FoundSource { url: page.final_url.clone(), label: "kind=page", entries: articles as u32, latest: None };
            self.hubs.insert(site, source);
        }
    }

    /// The pages that list articles, with their sites.
    pub(crate) fn hubs(&self) -> impl Iterator<Item = (&str, &FoundSource)> {
        self.hubs.iter().map(|(site, source)| (site.as_str(), source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(finds: &mut Finds, url: &str, body: &str) {
        let page = Page { final_url: url.to_owned(), body: body.as_bytes().to_vec(), ..Page::default() };
        let links = tidings_clean::links::of_bytes(body.as_bytes(), Some("text/html"), url);
        finds.note(&page, &links, RobotsDirectives::default());
    }

    fn list(count: u32) -> String {
        let link = |n| format!("<p><a href='/2026/02/{n:02}/a-long-title-{n}'>The headline of the article {n}</a></p>");
        (1..=count).map(link).collect()
    }

    #[test]
    fn the_shortest_page_of_a_site_that_lists_articles_is_found() {
        let mut finds = Finds::default();
        note(&mut finds, "http://a.example/news", &list(9));
        note(&mut finds, "http://a.example/", &list(12));
        note(&mut finds, "http://b.example/", &list(2));
        note(&mut finds, "http://c.example/deep/page", &list(9));
        let hubs: Vec<_> = finds.hubs().map(|(site, hub)| (site, hub.url.as_str(), hub.entries)).collect();
        assert_eq!(hubs, [("a.example", "http://a.example/", 12)]);
    }

    #[test]
    fn feeds_of_front_pages_are_found() {
        let mut finds = Finds::default();
        let body = "<head><link rel=alternate type='application/rss+xml' href='/feed.xml'></head><p>x</p>";
        note(&mut finds, "http://a.example/", body);
        let (feeds, _) = finds.feeds.finish();
        assert_eq!(feeds.iter().map(|feed| feed.feed.as_str()).collect::<Vec<_>>(), ["http://a.example/feed.xml"]);
    }
}
