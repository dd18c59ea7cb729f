//! Sitemaps, which sometimes list the feed.

use url::Url;

use crate::charset;
use crate::entity::{self, Declared};
use crate::links::address;
use crate::markup::{Token, Tokens};
use crate::repairs::Repairs;

/// The maximum number of URLs read of a sitemap, the limit of the protocol.
const MAX_ADDRESSES: usize = 50_000;
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

/// Reads a sitemap or a sitemap index.
pub(crate) fn read(body: &[u8], url: &str) -> SitemapSummary {
    let decoded = charset::decode(body, None, &mut Repairs::default());
    let mut found = SitemapSummary::default();
    let base = Url::parse(url).ok();
    let mut tokens = Tokens::new(&decoded.text);
    let (mut in_index, mut in_loc, mut seen) = (false, false, 0);
    while let Some(token) = tokens.next("") {
        match token {
            Token::Start { name, .. } => {
                let name = name.rsplit(':').next().unwrap_or(name);
                in_index |= name.eq_ignore_ascii_case("sitemap");
                in_loc = name.eq_ignore_ascii_case("loc");
            }
            Token::End { .. } => in_loc = false,
            Token::Text(text) | Token::Cdata(text) if in_loc => {
                seen += 1;
                if seen > MAX_ADDRESSES {
                    break;
                }
                let text = entity::unescape(text.trim(), &Declared::default(), &mut Repairs::default());
                let Some(url) = base.as_ref().map_or_else(|| Url::parse(&text).ok(), |base| base.join(&text).ok())
                else {
                    continue;
                };
                let list = if in_index { &mut found.maps } else { &mut found.feeds };
                let wanted = in_index || address::looks_like_feed(&url) && !address::is_comments(&url);
                if wanted && list.len() < MAX_TAKEN && matches!(url.scheme(), "http" | "https") {
                    list.push(url.into());
                }
            }
            _ => {}
        }
    }
    found
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
