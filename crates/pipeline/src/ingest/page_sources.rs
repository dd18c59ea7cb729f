//! Front and section pages that are polled like feeds, for sites without one: their entries are the links that lead to
//! articles.
//!
//! Everything else on such a page may change with every request (advertising, weather, what others read), so a page
//! counts as changed only if the set of its articles has changed.

use std::collections::{HashMap, HashSet};
use std::fmt;

use anyhow::Result;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tidings_clean::decode::decode;
use tidings_clean::{links, tree};
use tidings_crawl::hub::{self, KnownArticles};
use tidings_crawl::shape;
use tidings_model::{Feed, FeedEntry, Page, RobotsDirectives, TitleSource, address};
use tidings_store::feeds::{self, SourceKind};
use tidings_store::{Home, plan};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// How pages are read: with the known articles of their sites.
#[derive(Debug, Clone, Default)]
pub struct PageRules {
    /// The known articles by registered domain.
    articles: HashMap<String, KnownArticles>,
}

/// A page as a feed.
#[derive(Debug)]
pub struct PolledPage {
    /// The articles that it links to.
    pub feed: Feed,
    /// The fingerprint of the set of articles.
    pub fingerprint: String,
}

/// The reason why a page gives no entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEntries {
    /// `<meta name="robots">` forbids following its links.
    Meta,
    /// `X-Robots-Tag` does.
    Header,
    /// No link looks like an article.
    NoArticles,
}

impl fmt::Display for NoEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoEntries::Meta => "nofollow: the <meta name=\"robots\"> of the page forbids following its links",
            NoEntries::Header => "nofollow: the X-Robots-Tag of the page forbids following its links",
            NoEntries::NoArticles => {
                "no-articles: no link of the page looks like an article; it may need scripts, or be the wrong page"
            }
        })
    }
}

impl PageRules {
    /// The rules for these pages: articles of their sites that the plan has from feeds and sitemaps show what the URLs of
    /// articles look like. Entries of pages do not count, or an error would confirm itself.
    pub fn load<'a>(home: &Home, pages: impl Iterator<Item = &'a str>) -> Result<PageRules> {
        let domain_of = |url: &str| Url::parse(url).ok().map(|url| shape::domain(&url).to_owned());
        let mut articles: HashMap<String, KnownArticles> =
            pages.filter_map(domain_of).map(|domain| (domain, KnownArticles::default())).collect();
        if articles.is_empty() {
            return Ok(PageRules::default());
        }
        let sources = page_sources(home)?;
        // Millions of rows are of few hosts: the domain of each is looked up once.
        let mut hosts: HashMap<String, Option<String>> = HashMap::new();
        plan::read(home, |row| {
            let host = address::host(row.url).unwrap_or_default();
            if !hosts.contains_key(host) {
                let domain = domain_of(row.url).filter(|domain| articles.contains_key(domain));
                hosts.insert(host.to_owned(), domain);
            }
            let known = hosts.get(host).and_then(Option::as_ref).and_then(|domain| articles.get_mut(domain));
            if let (Some(known), false) = (known, sources.contains(row.feed))
                && let Ok(url) = Url::parse(row.url)
            {
                known.add(&url);
            }
        })?;
        Ok(PageRules { articles })
    }

    /// Reads a page that was received at `now`. `url` is its URL after redirects, `header` its `X-Robots-Tag`.
    pub fn read(
        &self,
        body: &[u8],
        content_type: Option<&str>,
        url: &str,
        header: RobotsDirectives,
        now: Timestamp,
    ) -> Result<PolledPage, NoEntries> {
        let page = Url::parse(url).map_err(|_| NoEntries::NoArticles)?;
        let (html, _) = decode(body, content_type, page.host_str());
        let tree = tree::parse(&html);
        let found = links::of_tree(&tree, url);
        if header.nofollow {
            return Err(NoEntries::Header);
        }
        if found.nofollow {
            return Err(NoEntries::Meta);
        }
        let unknown = KnownArticles::default();
        let known = self.articles.get(shape::domain(&page)).unwrap_or(&unknown);
        let articles = hub::articles(&found, &page, known, now.to_zoned(TimeZone::UTC).date());
        if articles.is_empty() {
            return Err(NoEntries::NoArticles);
        }
        let mut urls: Vec<&str> = articles.iter().map(|article| article.url.as_str()).collect();
        urls.sort_unstable();
        let fingerprint = format!("{:016x}", xxh3_64(urls.join("\n").as_bytes()));
        let entries = articles.into_iter().map(|article| FeedEntry {
            published: article.day.and_then(|day| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())),
            link: Some(article.url),
            title: article.title,
            ..FeedEntry::default()
        });
        let feed = Feed { title: links::title(&tree), entries: entries.collect(), ..Feed::default() };
        Ok(PolledPage { feed, fingerprint })
    }
}

/// The lines of `feeds.txt` that are pages.
pub fn page_sources(home: &Home) -> Result<HashSet<String>> {
    let is_page = |feed: &feeds::ListedFeed| feed.kind == SourceKind::Page;
    Ok(feeds::list(home)?.feeds.into_iter().filter(is_page).map(|feed| feed.url).collect())
}

/// Marks the title of a page as an anchor if its entry comes from a page.
pub fn mark_anchor(page: &mut Page, sources: &HashSet<String>) {
    if sources.contains(&page.feed) {
        page.title_source = TitleSource::Anchor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FEED, apply, home_with_feeds};
    use tidings_store::feeds::{FeedState, Polled};
    use tidings_store::journal::{JournalBatch, Record};

    const URL: &str = "https://gazette.example/news/";

    fn front(titles: &[&str], rest: &str) -> String {
        let path = |title: &str| title.to_lowercase().replace(' ', "-");
        let items: String = titles
            .iter()
            .map(|title| format!("<li><a href=\"/2026/03/01/{}\">{title}</a></li>", path(title)))
            .collect();
        format!("<html><head><title>The Gazette</title></head><body><ul>{items}</ul>{rest}</body></html>")
    }

    fn read(rules: &PageRules, html: &str) -> Result<PolledPage, NoEntries> {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        rules.read(html.as_bytes(), Some("text/html"), URL, RobotsDirectives::default(), now)
    }

    const TITLES: [&str; 3] = ["Council postpones the vote", "Ferry returns in spring", "Rain floods two roads"];

    #[test]
    fn the_entries_of_a_page_are_its_articles_with_titles_and_days() {
        let page = read(&PageRules::default(), &front(&TITLES, "")).unwrap();
        assert_eq!(page.feed.title, "The Gazette");
        let titles: Vec<&str> = page.feed.entries.iter().map(|entry| entry.title.as_str()).collect();
        assert_eq!(titles, TITLES);
        assert_eq!(page.feed.entries[0].published, Some("2026-03-01T00:00:00Z".parse().unwrap()));
    }

    #[test]
    fn only_another_set_of_articles_is_a_change() {
        let fingerprint = |html: &str| read(&PageRules::default(), html).unwrap().fingerprint;
        let before = fingerprint(&front(&TITLES, "<p>17 degrees, wind from the west</p>"));
        let mut turned = TITLES;
        turned.rotate_left(1);
        assert_eq!(
            before,
            fingerprint(&front(&turned, "<aside><a href=/a/most-read-of-the-day>Most read of the day</a></aside>"))
        );
        assert_ne!(before, fingerprint(&front(&[TITLES.as_slice(), &["The bells ring again"]].concat(), "")));
    }

    #[test]
    fn a_page_that_forbids_it_is_not_followed() {
        let html = front(&TITLES, "<meta name=robots content=nofollow>");
        assert_eq!(read(&PageRules::default(), &html).unwrap_err(), NoEntries::Meta);
        let header = RobotsDirectives { nofollow: true, noindex: false };
        let html = front(&TITLES, "");
        let read = PageRules::default().read(html.as_bytes(), None, URL, header, Timestamp::UNIX_EPOCH);
        assert_eq!(read.unwrap_err(), NoEntries::Header);
    }

    #[test]
    fn a_page_without_articles_says_so() {
        let html =
            "<nav><a href=/a/long-title-of-a-story>The long title of a story</a></nav><p>Please enable scripts.</p>";
        assert_eq!(read(&PageRules::default(), html).unwrap_err(), NoEntries::NoArticles);
    }

    #[test]
    fn articles_in_the_plan_show_the_shape_of_urls_and_entries_of_pages_do_not() {
        let (_folder, pipeline) = home_with_feeds(&format!("{FEED}\n{URL}\tkind=page\n"));
        let mut batch = JournalBatch::default();
        for feed in [FEED, URL] {
            let state = FeedState { feed: feed.to_owned(), polled: Polled::Listed, ..FeedState::default() };
            batch.push(&Record::Poll(Box::new(state)));
        }
        for number in 0..20 {
            let feed = if number < 12 { FEED } else { URL };
            batch.push(&Record::Listed {
                feed: feed.into(),
                seen: "2026-03-01T00:00:00.000Z".into(),
                published: "".into(),
                url: format!("https://gazette.example/story/{}", 7000 + number).into(),
                title: "".into(),
                updated: "".into(),
                text: None,
            });
        }
        apply(pipeline.home(), "20260301T120000000Z-update", batch);
        let rules = PageRules::load(pipeline.home(), [URL].into_iter()).unwrap();
        assert!(rules.articles["gazette.example"].is_enough());
        let html = front(&TITLES, "<ul><li><a href=/story/8000>Budget</a></li></ul>");
        let page = read(&rules, &html).unwrap();
        assert_eq!(page.feed.entries.len(), 1, "{:?}", page.feed.entries);
        let none = PageRules::load(pipeline.home(), std::iter::empty()).unwrap();
        assert!(none.articles.is_empty());
    }
}
