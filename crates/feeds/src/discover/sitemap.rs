//! Site maps: made for search engines, and now and then they list the feed.

use url::Url;

use crate::charset;
use crate::entity::{self, Declared};
use crate::links::address;
use crate::markup::{Token, Tokens};
use crate::repairs::Repairs;

/// Addresses of a site map that are looked at; the protocol allows 50,000.
const MAX_ADDRESSES: usize = 50_000;
/// Feeds and further maps that are taken from one.
const MAX_TAKEN: usize = 20;

/// What a site map leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SitemapSummary {
    /// Addresses in it that look like feeds.
    pub feeds: Vec<String>,
    /// Further site maps.
    pub maps: Vec<String>,
}

/// Reads a site map, or an index of site maps.
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

/// The site maps that a robots.txt names.
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
    fn feeds_are_picked_out_of_a_map() {
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
    fn an_index_leads_to_further_maps() {
        let index = b"<sitemapindex><sitemap><loc>/maps/1.xml</loc><lastmod>2026</lastmod></sitemap></sitemapindex>";
        assert_eq!(read(index, "https://g.example/sitemap.xml").maps, ["https://g.example/maps/1.xml"]);
    }

    #[test]
    fn robots_txt_names_maps_anywhere() {
        let text = "User-agent: *\nDisallow: /x\nSITEMAP: https://g.example/a.xml # news\n\nSitemap:/b.xml\n";
        assert_eq!(in_robots(text, "https://g.example"), ["https://g.example/a.xml", "https://g.example/b.xml"]);
    }
}
