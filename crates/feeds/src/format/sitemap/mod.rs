//! Sitemaps: lists of the pages of a site, with dates (the sitemaps.org protocol and its news extension).
//!
//! Sitemaps are broken as often as feeds are, so they are read as leniently: bare ampersands, missing end tags, wrong
//! namespaces, cut-off files. One walker reads `urlset` and `sitemapindex`; text files with a URL in each line and
//! feeds that serve as sitemaps are accepted too, and gzip files are unpacked up to the limit of the protocol. Entries
//! become [`FeedEntry`] values, so that a sitemap is polled like a feed.
//!
//! ```
//! use tidings_feeds::sitemap::{self, Scope};
//! let map = b"<urlset><url><loc>https://gazette.example/a?x=1&y=2</loc><lastmod>2026-03-01</lastmod></url></urlset>";
//! let map = sitemap::read(map, None, "https://gazette.example/sitemap.xml", Scope::OwnHost).unwrap();
//! assert_eq!(map.entries[0].url, "https://gazette.example/a?x=1&y=2");
//! assert!(map.entries[0].modified.is_some());
//! ```

mod plain;
mod unpack;
mod xml;

use jiff::Timestamp;
use tidings_model::{Feed, FeedEntry, Repair};
use url::Url;

use crate::charset;
use crate::discover::registrable;
use crate::read::{NotAFeed, read_with};
use crate::repairs::Repairs;

/// The largest sitemap by the protocol, uncompressed, in bytes.
pub const MAX_BYTES: usize = 50 << 20;
/// The most URLs in a sitemap by the protocol.
pub const MAX_URLS: usize = 50_000;
/// From as many entries on, a `lastmod` that all of them share is the time of generation and no date.
const MIN_UNIFORM: usize = 10;

/// The hosts whose URLs a sitemap may list. A sitemap speaks for its own host; robots.txt of a site may name a sitemap
/// elsewhere (cross-submission), which then speaks for the registered domain of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// The host of the sitemap, with or without `www.`.
    OwnHost,
    /// The registered domain of this URL, whose robots.txt named the sitemap.
    NamedBy(&'a str),
    /// Any host, for the search for feeds.
    Any,
}

/// A sitemap or a sitemap index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sitemap {
    /// Pages, in document order, each URL once for each occurrence.
    pub entries: Vec<SitemapEntry>,
    /// Further sitemaps, if this is an index.
    pub maps: Vec<SitemapRef>,
    /// Whether entries have publication dates of the news extension.
    pub is_news: bool,
    /// Whether all entries had the same `lastmod`, which was then removed.
    pub uniform_dates: bool,
    /// The number of URLs of other hosts, which were refused.
    pub foreign: u32,
    /// Repairs that were needed to read it.
    pub repairs: Vec<Repair>,
}

/// A page that a sitemap lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SitemapEntry {
    /// Its absolute URL.
    pub url: String,
    /// The time of the last change (`lastmod`).
    pub modified: Option<Timestamp>,
    /// The publication time (`news:publication_date`).
    pub published: Option<Timestamp>,
    /// The title (`news:title`) with white space collapsed, or empty.
    pub title: String,
    /// The language tag (`news:language`), verbatim.
    pub language: Option<String>,
    /// Keywords (`news:keywords`).
    pub keywords: Vec<String>,
    /// Versions in other languages: language tag and URL (`xhtml:link` with `hreflang`).
    pub alternates: Vec<(String, String)>,
    /// A date that could not be parsed, verbatim.
    pub unread_date: Option<String>,
}

/// A sitemap that an index lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SitemapRef {
    /// Its absolute URL.
    pub url: String,
    /// The time of its last change.
    pub modified: Option<Timestamp>,
}

/// The reason why a document is not a sitemap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotASitemap {
    /// Empty, or white space only.
    #[error("the document is empty")]
    Empty,
    /// A web page, such as an error page or a sitemap for readers.
    #[error("this is a web page, not a sitemap")]
    Html,
    /// XML of another type.
    #[error("this is XML, but its root element <{root}> is not that of a sitemap")]
    OtherXml {
        /// The name of the root element.
        root: String,
    },
    /// Text that is not a list of URLs.
    #[error("this is plain text, but not a list of URLs")]
    PlainText,
    /// Compressed data that cannot be unpacked.
    #[error("this is a damaged gzip file")]
    Damaged,
}

impl SitemapEntry {
    /// The best available date: published, else changed.
    pub fn date(&self) -> Option<Timestamp> {
        self.published.or(self.modified)
    }
}

impl From<SitemapEntry> for FeedEntry {
    fn from(entry: SitemapEntry) -> FeedEntry {
        FeedEntry {
            link: Some(entry.url),
            title: entry.title,
            published: entry.published,
            updated: entry.modified,
            language: entry.language,
            categories: entry.keywords,
            unread_dates: entry.unread_date.into_iter().collect(),
            ..FeedEntry::default()
        }
    }
}

impl From<FeedEntry> for SitemapEntry {
    fn from(entry: FeedEntry) -> SitemapEntry {
        SitemapEntry {
            url: entry.link.unwrap_or_default(),
            modified: entry.updated,
            published: entry.published,
            title: entry.title,
            language: entry.language,
            keywords: entry.categories,
            ..SitemapEntry::default()
        }
    }
}

impl Sitemap {
    /// The entries as a feed.
    pub fn into_feed(self) -> Feed {
        let entries = self.entries.into_iter().map(FeedEntry::from).collect();
        Feed { entries, repairs: self.repairs, ..Feed::default() }
    }
}

/// Reads a sitemap, a sitemap index, a text file of URLs or a feed, as a gzip file or not.
///
/// `content_type` is the HTTP header, if known; `url` is the address of the document. Never panics; time is linear in
/// the input, and memory is bounded by [`MAX_BYTES`] and [`MAX_URLS`].
pub fn read(body: &[u8], content_type: Option<&str>, url: &str, scope: Scope<'_>) -> Result<Sitemap, NotASitemap> {
    let mut repairs = Repairs::default();
    let unpacked = unpack::unpack(body, &mut repairs).ok_or(NotASitemap::Damaged)?;
    let decoded = charset::decode(&unpacked, content_type, &mut repairs);
    let text = decoded.text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if text.is_empty() {
        return Err(NotASitemap::Empty);
    }
    let filter = HostFilter::new(url, scope);
    let mut map = if text.starts_with('<') || plain::first_url(text).is_none() {
        match xml::read(text, url, &mut repairs) {
            Ok(map) => map,
            Err(reason) => from_feed(&unpacked, content_type, url, &mut repairs).ok_or(reason)?,
        }
    } else {
        plain::read(text, &mut repairs).ok_or(NotASitemap::PlainText)?
    };
    let listed = map.entries.len() + map.maps.len();
    map.entries.retain(|entry| filter.admits(&entry.url));
    map.maps.retain(|map| filter.admits(&map.url));
    map.foreign = (listed - map.entries.len() - map.maps.len()) as u32;
    remove_uniform_dates(&mut map);
    map.is_news = map.entries.iter().any(|entry| entry.published.is_some());
    map.repairs = repairs.list();
    Ok(map)
}

/// A feed that serves as a sitemap.
fn from_feed(body: &[u8], content_type: Option<&str>, url: &str, repairs: &mut Repairs) -> Option<Sitemap> {
    let limits = crate::Limits { max_bytes: MAX_BYTES, max_entries: MAX_URLS, ..crate::Limits::default() };
    let feed: Result<Feed, NotAFeed> = read_with(body, content_type, url, &limits);
    let feed = feed.ok()?;
    feed.repairs.iter().for_each(|repair| repairs.add(*repair));
    let entries = feed.entries.into_iter().map(SitemapEntry::from).filter(|entry| !entry.url.is_empty());
    Some(Sitemap { entries: entries.collect(), ..Sitemap::default() })
}

/// A program that stamps all entries with the time of generation says nothing about any of them.
fn remove_uniform_dates(map: &mut Sitemap) {
    let mut dates = map.entries.iter().map(|entry| entry.modified);
    let first = dates.next().flatten();
    map.uniform_dates = first.is_some() && map.entries.len() >= MIN_UNIFORM && dates.all(|date| date == first);
    if map.uniform_dates {
        map.entries.iter_mut().for_each(|entry| entry.modified = None);
    }
}

/// Decides which URLs a sitemap may list.
struct HostFilter {
    hosts: Option<Vec<String>>,
    domain: Option<String>,
}

impl HostFilter {
    fn new(url: &str, scope: Scope<'_>) -> HostFilter {
        let host_of = |url: &str| Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let own = host_of(url).map(|host| bare(&host).to_owned());
        match scope {
            Scope::Any => HostFilter { hosts: None, domain: None },
            Scope::OwnHost => HostFilter { hosts: Some(own.into_iter().collect()), domain: None },
            Scope::NamedBy(site) => {
                let site = host_of(site).unwrap_or_default();
                let domain = registrable(&site).map(str::to_owned);
                HostFilter { hosts: Some(vec![bare(&site).to_owned()]), domain }
            }
        }
    }

    fn admits(&self, url: &str) -> bool {
        let Some(hosts) = &self.hosts else { return true };
        let Some(host) = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)) else { return false };
        hosts.iter().any(|known| known == bare(&host))
            || self.domain.is_some() && registrable(&host) == self.domain.as_deref()
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests;
