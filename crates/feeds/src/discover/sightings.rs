//! Counts links to feeds in bounded memory.

use std::collections::HashMap;

use tidings_model::RobotsDirectives;

use super::evidence::Evidence;
use super::site::site;
use crate::links;

/// A feed that pages link to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedSighting {
    /// The feed URL.
    pub feed: String,
    /// The best evidence for it.
    pub evidence: Evidence,
    /// The number of pages that link to it.
    pub seen: u64,
    /// The first page that links to it.
    pub found_on: String,
    /// The title of that link.
    pub title: String,
}

/// Counts of feeds and sites seen in pages.
#[derive(Debug)]
pub struct FeedSightings {
    feeds: HashMap<String, FeedSighting>,
    /// Substantial pages by site.
    good_pages: HashMap<String, u64>,
    /// The number of pages read.
    pub pages: u64,
    /// The maximum number of feeds held; the rarest are dropped first.
    limit: usize,
    forgotten: u64,
}

impl FeedSightings {
    /// Creates counters for at most `limit` feeds.
    pub fn new(limit: usize) -> FeedSightings {
        FeedSightings { feeds: HashMap::new(), good_pages: HashMap::new(), pages: 0, limit: limit.max(1), forgotten: 0 }
    }

    /// Adds the links of a page. `header` has the directives of its `X-Robots-Tag`, if it is known.
    pub fn page(&mut self, body: &[u8], url: &str, header: RobotsDirectives, is_good: bool) {
        self.pages += 1;
        if is_good && let Some(site) = site(url) {
            *self.good_pages.entry(site).or_default() += 1;
        }
        for link in links::find_with(body, url, header) {
            self.see(link.url, Evidence::of_link(link.evidence), url, link.title.unwrap_or_default());
        }
    }

    /// Adds a page of which only the text is known.
    pub fn text(&mut self, url: &str, is_good: bool) {
        self.page(b"", url, RobotsDirectives::default(), is_good);
    }

    /// Adds one link.
    pub fn see(&mut self, feed: String, evidence: Evidence, found_on: &str, title: String) {
        match self.feeds.get_mut(&feed) {
            Some(known) => {
                known.seen += 1;
                known.evidence = known.evidence.min(evidence);
            }
            None => {
                let sighting =
                    FeedSighting { feed: feed.clone(), evidence, seen: 1, found_on: found_on.to_owned(), title };
                self.feeds.insert(feed, sighting);
                if self.feeds.len() > self.limit {
                    self.forget();
                }
            }
        }
    }

    /// Adds a link of unknown type: a feed if it looks like one, else a page of a site to start from.
    pub fn link(&mut self, address: &str, found_on: &str) {
        let Some(address) = tidings_model::address::normalise(address, None) else { return };
        let Ok(url) = url::Url::parse(&address) else { return };
        let unwanted = links::address::is_comments(&url) || links::address::is_interface(&url, false);
        if links::address::looks_like_feed(&url) && !unwanted {
            self.see(address, Evidence::Address, found_on, String::new());
            return;
        }
        // One page per site is enough to start from, so use the root.
        let host = url.host_str().unwrap_or_default();
        let start =
            if super::site::is_shared(host) { address } else { format!("{}/", url.origin().ascii_serialization()) };
        self.see(start, Evidence::Page, found_on, String::new());
    }

    /// Drops the rarer half of the feeds; ties are broken by URL.
    fn forget(&mut self) {
        let mut order: Vec<(u64, String)> = self.feeds.values().map(|feed| (feed.seen, feed.feed.clone())).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
        for (_, feed) in order.iter().take(order.len() - self.limit / 2) {
            self.feeds.remove(feed);
            self.forgotten += 1;
        }
    }

    /// The number of feeds dropped for lack of memory.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The feeds ordered by URL, and the number of good pages by site.
    pub fn finish(self) -> (Vec<FeedSighting>, HashMap<String, u64>) {
        let mut feeds: Vec<FeedSighting> = self.feeds.into_values().collect();
        feeds.sort_by(|a, b| a.feed.cmp(&b.feed));
        (feeds, self.good_pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &[u8] = br#"<link rel="alternate" type="application/rss+xml" href="/feed/" title="News">
        <link rel="alternate" type="application/rss+xml" href="/comments/feed/">
        <link rel="alternate" type="application/json+oembed" href="/wp-json/oembed/1.0/embed?url=x">
        <link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">"#;

    #[test]
    fn pages_are_counted_for_each_feed_and_site() {
        let mut sightings = FeedSightings::new(100);
        sightings.page(PAGE, "https://www.g.example/a", RobotsDirectives::default(), true);
        sightings.page(PAGE, "https://www.g.example/b", RobotsDirectives::default(), false);
        let (feeds, good) = sightings.finish();
        assert_eq!(feeds.len(), 1, "{feeds:?}");
        assert_eq!((feeds[0].feed.as_str(), feeds[0].seen), ("https://www.g.example/feed/", 2));
        assert_eq!((feeds[0].found_on.as_str(), feeds[0].title.as_str()), ("https://www.g.example/a", "News"));
        assert_eq!(good["g.example"], 1);
    }

    #[test]
    fn links_of_pages_with_nofollow_are_not_counted() {
        let anchor = b"<a href=/rss.xml>RSS</a>";
        for (nofollow, links) in [(true, 0), (false, 1)] {
            let mut sightings = FeedSightings::new(100);
            sightings.page(anchor, "https://g.example/a", RobotsDirectives { nofollow, noindex: false }, true);
            assert_eq!(sightings.finish().0.len(), links);
        }
    }

    #[test]
    fn the_rarest_feeds_are_dropped_first() {
        let mut sightings = FeedSightings::new(10);
        for _ in 0..3 {
            sightings.see("https://g.example/often".into(), Evidence::Declared, "x", String::new());
        }
        for number in 0..1000 {
            sightings.see(format!("https://g.example/{number}"), Evidence::Declared, "x", String::new());
        }
        assert!(sightings.forgotten() > 900);
        let (feeds, _) = sightings.finish();
        assert!(feeds.len() <= 10 && feeds.iter().any(|feed| feed.seen == 3));
    }

    #[test]
    fn a_stream_of_links_becomes_feeds_and_sites() {
        let mut sightings = FeedSightings::new(100);
        for link in ["https://g.example/2026/a.html?utm_source=x", "https://g.example/b", "https://g.example/rss.xml"] {
            sightings.link(link, "");
        }
        sightings.link("https://www.youtube.com/channel/UC1", "");
        sightings.link("mailto:a@b.c", "");
        let (feeds, _) = sightings.finish();
        let summary: Vec<_> = feeds.iter().map(|feed| (feed.feed.as_str(), feed.evidence, feed.seen)).collect();
        assert_eq!(
            summary,
            [
                ("https://g.example/", Evidence::Page, 2),
                ("https://g.example/rss.xml", Evidence::Address, 1),
                ("https://www.youtube.com/channel/UC1", Evidence::Page, 1),
            ]
        );
    }
}
