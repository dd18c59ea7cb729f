//! Pages by the kind of source that they came from.

use std::collections::{BTreeMap, HashMap};

use tidings_model::{is_archive, is_crawl};

use crate::archive;
use crate::error::Result;
use crate::feeds::{self, SourceKind};
use crate::home::Home;
use crate::yields::{self, Yield};

/// A kind of source of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageSource {
    /// Feeds.
    Feed,
    /// Sitemaps that are polled.
    Sitemap,
    /// Front pages and section pages that are polled.
    Page,
    /// Backfills of sites.
    Archive,
    /// Crawls that follow links.
    Crawl,
}

impl PageSource {
    /// All kinds.
    pub const ALL: [PageSource; 5] =
        [PageSource::Feed, PageSource::Sitemap, PageSource::Page, PageSource::Archive, PageSource::Crawl];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            PageSource::Feed => "feed",
            PageSource::Sitemap => "sitemap",
            PageSource::Page => "page",
            PageSource::Archive => "archive",
            PageSource::Crawl => "crawl",
        }
    }
}

impl From<SourceKind> for PageSource {
    fn from(kind: SourceKind) -> PageSource {
        match kind {
            SourceKind::Feed => PageSource::Feed,
            SourceKind::Sitemap => PageSource::Sitemap,
            SourceKind::Page => PageSource::Page,
        }
    }
}

/// The sources of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourceSum {
    /// Their number.
    pub sources: u64,
    /// The yield of their pages in the last days.
    pub sum: Yield,
}

/// The kinds of sources that a home has. Pages without a source (imported ones) are left out.
pub fn sums(home: &Home) -> Result<BTreeMap<PageSource, SourceSum>> {
    let mut kinds: HashMap<String, PageSource> = HashMap::new();
    kinds.extend(feeds::list(home)?.feeds.into_iter().map(|feed| (feed.url, feed.kind.into())));
    let sites = archive::orders(home)?.into_iter().map(|order| format!("{}{}", tidings_model::ARCHIVE, order.site));
    kinds.extend(sites.map(|site| (site, PageSource::Archive)));
    let crawls = home.crawls()?.into_iter().map(|name| format!("{}{name}", tidings_model::CRAWL));
    kinds.extend(crawls.map(|name| (name, PageSource::Crawl)));
    let mut sums: BTreeMap<PageSource, SourceSum> = BTreeMap::new();
    yields::read(home, |row| {
        if row.kind == "feed" && !row.name.is_empty() {
            let kind = *kinds.entry(row.name).or_insert_with_key(|name| match name {
                name if is_archive(name) => PageSource::Archive,
                name if is_crawl(name) => PageSource::Crawl,
                _ => PageSource::Feed,
            });
            sums.entry(kind).or_default().sum += row.sum;
        }
    })?;
    kinds.into_values().for_each(|kind| sums.entry(kind).or_default().sources += 1);
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_counted_by_kind() {
        let folder = tempfile::tempdir().unwrap();
        let lines = "https://a.example/feed\nhttps://b.example/\tkind=page\nhttps://c.example/rss\n";
        Home::create(folder.path(), "", lines).unwrap();
        let home = Home::at(folder.path()).unwrap();
        std::fs::create_dir_all(home.crawl("web")).unwrap();
        let sums = sums(&home).unwrap();
        let numbers: Vec<(&str, u64)> = sums.iter().map(|(kind, sum)| (kind.name(), sum.sources)).collect();
        assert_eq!(numbers, [("feed", 2), ("page", 1), ("crawl", 1)]);
    }
}
