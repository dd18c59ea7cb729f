//! Sitemaps that a crawl meets: robots.txt names them, or pages link to them.
//!
//! A sitemap is asked for like a page of its site. Its URLs wait in their sections with their dates; of an index the
//! newest maps are asked for. Sitemaps are read only within the size of a page, so that one answer does not fill the
//! memory; news sitemaps become candidates for polling.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tidings_crawl::queue::WaitingUrl;
use tidings_crawl::{Link, shape};
use tidings_feeds::sitemap::{self, Scope, Sitemap};
use tidings_model::{LinkRegion, address};
use url::Url;

use super::engine::Engine;
use super::finds::FoundSource;
use super::follow::days_since_1970;
use super::processor::PageReport;

/// Maps of an index that are asked for.
const MAX_MAPS: usize = 20;
/// URLs of a map that are taken.
const MAX_ENTRIES: usize = 20_000;
/// Bytes of a map that count as its cost: it stands for many pages.
pub(super) const MAX_COST_BYTES: u64 = 100_000;
/// Hosts whose robots.txt was searched for sitemaps, at most.
const MAX_HOSTS: usize = 1_000_000;
/// News sitemaps that are remembered for candidates.
const MAX_NEWS: usize = 10_000;

/// The content of a sitemap or an index.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ReadMap {
    /// Pages with their days since 1970.
    pub(super) entries: Vec<(String, Option<i32>)>,
    /// Further maps, the newest first.
    pub(super) maps: Vec<String>,
    /// Whether it is a news sitemap.
    pub(super) is_news: bool,
    /// The date of its newest entry.
    latest: Option<Timestamp>,
}

/// Whether a response may be a sitemap, by its URL and content type.
pub(super) fn may_be_map(url: &str, content_type: Option<&str>) -> bool {
    let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
    let path = Url::parse(url).map(|url| url.path().to_ascii_lowercase()).unwrap_or_default();
    let is_named = [".xml", ".xml.gz", ".txt.gz"].iter().any(|ending| path.ends_with(ending))
        || path.contains("sitemap") && path.ends_with(".txt");
    !content_type.contains("html") && (is_named || content_type.contains("/xml") || content_type.contains("gzip"))
}

/// Reads a sitemap; `None` if it is something else, or empty.
pub(super) fn read(body: &[u8], content_type: Option<&str>, url: &str) -> Option<ReadMap> {
    let Sitemap { entries, mut maps, is_news, .. } =
        sitemap::read(body, content_type, url, Scope::NamedBy(url)).ok()?;
    maps.sort_by_key(|map| std::cmp::Reverse(map.modified));
    let day = |time: Timestamp| days_since_1970(time.to_zoned(TimeZone::UTC).date());
    let read = ReadMap {
        latest: entries.iter().filter_map(|entry| entry.date()).max(),
        entries: entries
            .into_iter()
            .take(MAX_ENTRIES)
            .filter_map(|entry| Some((address::normalise(&entry.url, None)?, entry.date().and_then(day))))
            .collect(),
        maps: maps.into_iter().take(MAX_MAPS).map(|map| map.url).collect(),
        is_news,
    };
    (!read.entries.is_empty() || !read.maps.is_empty()).then_some(read)
}

impl Engine {
    /// Offers the sitemaps that the robots.txt of a host names, once.
    pub(super) fn follow_robots(&mut self, asked: &WaitingUrl, report: &PageReport) {
        let Ok(url) = Url::parse(&report.final_url) else { return };
        if report.sitemaps.is_empty() || !self.bounds.holds(&url) {
            return;
        }
        let key = xxhash_rust::xxh3::xxh3_64(url.host_str().unwrap_or_default().as_bytes());
        if self.mapped.len() >= MAX_HOSTS {
            self.mapped.clear();
        }
        if self.mapped.insert(key) {
            self.offer_maps(&url, &report.sitemaps, asked.depth.saturating_add(1));
        }
    }

    /// Offers the URLs of a sitemap.
    pub(super) fn follow_map(&mut self, asked: &WaitingUrl, report: &PageReport, map: &ReadMap) {
        let Ok(url) = Url::parse(&report.final_url) else { return };
        let (domain, depth) = (shape::domain(&url), asked.depth.saturating_add(1));
        if map.is_news && self.crawled.news.len() < MAX_NEWS {
            let entries = map.entries.len() as u32;
            let url = report.final_url.clone();
            self.crawled.news.push(FoundSource { url, label: "kind=sitemap", entries, latest: map.latest });
        }
        self.offer_maps(&url, &map.maps, depth);
        let filter = self.filter();
        let found = map.entries.iter().filter_map(|(url, day)| {
            let found = filter.waiting(url, LinkRegion::List, depth, 0.0).filter(|found| found.domain == domain)?;
            Some(Link::new(WaitingUrl { day: found.day.or(*day), ..found }, domain))
        });
        let found: Vec<Link> = found.collect();
        found.into_iter().for_each(|link| self.offer(link));
    }

    fn offer_maps(&mut self, base: &Url, maps: &[String], depth: u16) {
        let filter = self.filter();
        let found: Vec<WaitingUrl> = maps.iter().filter_map(|map| filter.sitemap(base, map, depth)).collect();
        for url in found {
            let domain = url.domain.clone();
            self.offer(Link::new(url, &domain));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLSET: &str = "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
        <url><loc>http://a.example/x</loc><lastmod>2026-02-01</lastmod></url>\
        <url><loc>http://b.example/y</loc></url></urlset>";

    #[test]
    fn a_sitemap_gives_the_pages_of_its_site_with_their_days() {
        let url = "http://a.example/map.xml";
        assert!(may_be_map(url, Some("application/xml")) && !may_be_map(url, Some("text/html")));
        let map = read(URLSET.as_bytes(), None, url).unwrap();
        assert_eq!(map.entries, [("http://a.example/x".to_owned(), Some(20_485))]);
        assert_eq!(read(b"<html><p>x</p></html>", None, url), None);
    }

    #[test]
    fn the_newest_maps_of_an_index_come_first_and_their_number_is_bounded() {
        let maps: String = (1..=28)
            .map(|day| {
                format!(
                    "<sitemap><loc>http://a.example/{day}.xml.gz</loc><lastmod>2026-02-{day:02}</lastmod></sitemap>"
                )
            })
            .collect();
        let index = format!("<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{maps}</sitemapindex>");
        let read = read(index.as_bytes(), None, "http://a.example/index.xml").unwrap();
        assert_eq!((read.maps.len(), read.maps[0].as_str()), (MAX_MAPS, "http://a.example/28.xml.gz"));
    }

    #[test]
    fn robots_txt_of_a_host_gives_its_sitemaps() {
        assert!(may_be_map("http://a.example/sitemap.txt", Some("text/plain")));
        assert!(!may_be_map("http://a.example/readme.txt", Some("text/plain")));
        assert!(may_be_map("http://a.example/map", Some("application/x-gzip")));
    }
}
