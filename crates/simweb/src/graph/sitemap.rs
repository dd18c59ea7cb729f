//! robots.txt, sitemaps of every quality, and the feed of a site.

use std::fmt::Write;

use super::Graph;
use super::site::{Failure, Site, SitemapKind};
use super::text;
use crate::markup::{escaped, http_date};
use crate::server::coding::gzip;
use crate::world::day_of;

/// Pages of a news sitemap.
const NEWS_ENTRIES: u32 = 100;
/// Entries of a feed.
const FEED_ENTRIES: u32 = 20;
/// The most URLs of a sitemap, by its protocol.
const MAX_URLS: usize = 50_000;

/// The path of the sitemap of a kind.
pub fn path(kind: SitemapKind) -> &'static str {
    match kind {
        SitemapKind::Gzip => "/sitemap.xml.gz",
        SitemapKind::News => "/news-sitemap.xml",
        SitemapKind::IndexByMonth => "/sitemap_index.xml",
        _ => "/sitemap.xml",
    }
}

/// The robots.txt of a site.
pub fn robots(graph: &Graph, site: &Site) -> String {
    if site.failure == Some(Failure::RobotsClosed) {
        return "User-agent: *\nDisallow: /\n".to_owned();
    }
    let mut out = String::from("User-agent: *\nDisallow: /private/\n");
    if let Some(section) = site.closed_section {
        let _ = writeln!(out, "Disallow: /{}/", site.sections[section].name);
    }
    if site.sitemap_in_robots && site.sitemap != SitemapKind::Absent && !site.sections.is_empty() {
        let _ = write!(out, "\nSitemap: {}\n", graph.url(site, path(site.sitemap)));
    }
    out
}

/// A sitemap: the whole, or a month of an index.
pub fn sitemap(graph: &Graph, site: &Site, month: Option<(i16, i8)>) -> Vec<u8> {
    match (site.sitemap, month) {
        (SitemapKind::IndexByMonth, None) => index(graph, site).into_bytes(),
        (SitemapKind::Gzip, _) => gzip(urls(graph, site, None, u32::MAX).as_bytes(), 6),
        (SitemapKind::News, _) => urls(graph, site, None, NEWS_ENTRIES).into_bytes(),
        (SitemapKind::Broken, _) => {
            let mut whole = urls(graph, site, None, u32::MAX).into_bytes();
            whole.truncate(whole.len() * 3 / 5);
            whole
        }
        (_, month) => urls(graph, site, month, u32::MAX).into_bytes(),
    }
}

fn urls(graph: &Graph, site: &Site, month: Option<(i16, i8)>, newest: u32) -> String {
    let news = site.sitemap == SitemapKind::News;
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n",
    );
    let mut count = 0;
    for (index, section) in site.sections.iter().enumerate() {
        for number in 0..section.pages.min(newest) {
            let date = section.date(number, graph.spec.now);
            let day = day_of(date);
            if month.is_some_and(|month| month != (day.year(), day.month())) || count >= MAX_URLS {
                continue;
            }
            count += 1;
            let url = graph.url(site, &section.page_path(index, number, graph.spec.now));
            let _ = write!(out, "<url><loc>{}</loc>", escaped(&url));
            let shown = if site.sitemap == SitemapKind::LyingDates { graph.spec.now } else { date };
            let shown = shown.strftime("%Y-%m-%dT%H:%M:%SZ");
            if news {
                let title = escaped(&text::title(section.language, section.page_key(number)));
                let _ = write!(
                    out,
                    "<news:news><news:publication><news:name>{}</news:name><news:language>{}</news:language>\
                     </news:publication><news:publication_date>{shown}</news:publication_date>\
                     <news:title>{title}</news:title></news:news>",
                    site.domain, section.language
                );
            } else {
                let _ = write!(out, "<lastmod>{shown}</lastmod>");
            }
            out.push_str("</url>\n");
        }
    }
    out.push_str("</urlset>\n");
    out
}

/// The index: a map for each month in which the site has a page.
fn index(graph: &Graph, site: &Site) -> String {
    let mut months: Vec<(i16, i8)> = site
        .sections
        .iter()
        .flat_map(|section| (0..section.pages).map(|number| day_of(section.date(number, graph.spec.now))))
        .map(|day| (day.year(), day.month()))
        .collect();
    months.sort_unstable();
    months.dedup();
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for (year, month) in months.iter().rev() {
        let url = graph.url(site, &format!("/sitemap-{year:04}-{month:02}.xml"));
        let _ = writeln!(out, "<sitemap><loc>{url}</loc><lastmod>{year:04}-{month:02}-28</lastmod></sitemap>");
    }
    out.push_str("</sitemapindex>\n");
    out
}

/// The feed: the newest pages of the first section.
pub fn feed(graph: &Graph, site: &Site) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel><title>{}</title><link>{}</link>\n",
        site.domain,
        graph.url(site, "/")
    );
    if let Some(section) = site.sections.first() {
        for number in 0..section.pages.min(FEED_ENTRIES) {
            let url = escaped(&graph.url(site, &section.page_path(0, number, graph.spec.now)));
            let title = escaped(&text::title(section.language, section.page_key(number)));
            let date = http_date(section.date(number, graph.spec.now));
            let _ = writeln!(out, "<item><title>{title}</title><link>{url}</link><pubDate>{date}</pubDate></item>");
        }
    }
    out.push_str("</channel></rss>\n");
    out
}
