//! Sitemaps, which sometimes list the feed.

use url::Url;

use crate::format::sitemap::{self, Scope};
use crate::links::address;

/// The maximum number of feeds and further sitemaps taken from one.
const MAX_TAKEN: usize = 20;

/// The useful contents of a sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SitemapSummary {
    /// URLs that look like feeds.
    pub feeds: Vec<String>,
    /// Further sitemaps.
    pub maps: Vec<String>,
}

/// The feeds and further sitemaps that a sitemap or a sitemap index lists.
pub(crate) fn read(body: &[u8], url: &str) -> SitemapSummary {
    let Ok(map) = sitemap::read(body, None, url, Scope::Any) else { return SitemapSummary::default() };
    let is_feed = |url: &Url| address::looks_like_feed(url) && !address::is_comments(url);
    let feeds = map.entries.into_iter().map(|entry| entry.url);
    let feeds = feeds.filter(|link| Url::parse(link).is_ok_and(|url| is_feed(&url)));
    SitemapSummary {
        feeds: feeds.take(MAX_TAKEN).collect(),
        maps: map.maps.into_iter().map(|map| map.url).take(MAX_TAKEN).collect(),
    }
}

/// The sitemaps named in a robots.txt.
pub fn in_robots(text: &str, origin: &str) -> Vec<String> {
    let base = Url::parse(origin).ok();
    let maps = text.lines().filter_map(|line| {
        let (name, value) = line.split('#').next().unwrap_or(line).split_once(':')?;
        let url = base.as_ref()?.join(value.trim()).ok()?;
        (name.trim().eq_ignore_ascii_case("sitemap") && matches!(url.scheme(), "http" | "https")).then(|| url.into())
    });
    maps.take(MAX_TAKEN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feeds_in_a_sitemap_are_found() {
        let map = b"<?xml version='1.0'?><urlset xmlns='x'>
            <url><loc>https://g.example/2026/a.html</loc></url>
            <url><loc><![CDATA[https://g.example/rss/news.xml]]></loc></url>
            <url><loc>https://g.example/a?x=1&amp;feed=rss2</loc></url>
            <url><loc>https://g.example/comments/feed/</loc></url></urlset>";
        let found = read(map, "https://g.example/sitemap.xml");
        assert_eq!(found.feeds, ["https://g.example/rss/news.xml", "https://g.example/a?x=1&feed=rss2"]);
        assert!(found.maps.is_empty());
    }

    #[test]
    fn a_sitemap_index_leads_to_further_sitemaps() {
        let index = b"<sitemapindex><sitemap><loc>/maps/1.xml</loc><lastmod>2026</lastmod></sitemap></sitemapindex>";
        assert_eq!(read(index, "https://g.example/sitemap.xml").maps, ["https://g.example/maps/1.xml"]);
    }

    #[test]
    fn sitemaps_in_robots_txt_are_found_in_any_position() {
        let text = "User-agent: *\nDisallow: /x\nSITEMAP: https://g.example/a.xml # news\n\nSitemap:/b.xml\n";
        assert_eq!(in_robots(text, "https://g.example"), ["https://g.example/a.xml", "https://g.example/b.xml"]);
    }
}
