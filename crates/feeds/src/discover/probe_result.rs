//! Probe results: responses reduced to what feed discovery needs.
//!
//! Responses are large and numerous, so each is reduced at once to a short summary.

use jiff::Timestamp;
use tidings_model::{Feed, FeedFormat, Fingerprint, RobotsDirectives};
use url::Url;

use super::known_paths::{self, Cms};
use super::sitemap::{self, SitemapSummary};
use crate::charset;
use crate::links::{self, FeedLink};
use crate::markup::{Attributes, Token, Tokens};
use crate::read::{NotAFeed, read};
use crate::repairs::Repairs;

/// The minimum visible text of a substantial page, in bytes.
const SUBSTANTIAL_BYTES: usize = 800;

/// The maximum number of tokens read in search of the page's head.
const HEAD_TOKENS: usize = 4000;

/// The result of a probe.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeResult {
    /// A feed of articles.
    Feed(FeedSummary),
    /// A web page.
    Page(PageSummary),
    /// A sitemap.
    Sitemap(SitemapSummary),
    /// Never used: a feed of comments or an API.
    Unwanted(&'static str),
    /// Not usable, with the reason.
    Nothing(String),
    /// No response: the host is unreachable or blocks crawlers.
    Unreachable(String),
}

/// A summary of a feed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeedSummary {
    /// Its title.
    pub title: String,
    /// The number of entries.
    pub entries: u32,
    /// The primary language subtag in lower case, or empty.
    pub language: String,
    /// The latest date of its entries.
    pub latest: Option<Timestamp>,
    /// A fingerprint of the entry links, equal for the RSS and Atom variants of a feed.
    pub content: Option<Fingerprint>,
}

/// A summary of a web page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageSummary {
    /// Links that seem to lead to feeds.
    pub links: Vec<FeedLink>,
    /// The CMS of the site.
    pub cms: Option<&'static str>,
    /// Feed URLs that follow from platform rules.
    pub by_rule: Vec<String>,
    /// The number of its links that lead to articles, if the caller has counted them.
    pub articles: u32,
    /// The primary language subtag in lower case, or empty.
    pub language: String,
}

/// Classifies and summarises a response. `content_type` is its header, `url` its URL after redirects.
pub fn reduce(body: &[u8], content_type: Option<&str>, url: &str) -> ProbeResult {
    reduce_with(body, content_type, url, RobotsDirectives::default())
}

/// As [`reduce`], for a response with directives in its `X-Robots-Tag`.
pub fn reduce_with(body: &[u8], content_type: Option<&str>, url: &str, header: RobotsDirectives) -> ProbeResult {
    let says_html = content_type.is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
    match read(body, content_type, url) {
        Ok(feed) => from_feed(&feed, url),
        Err(NotAFeed::Sitemap) => ProbeResult::Sitemap(sitemap::read(body, url)),
        Err(NotAFeed::Html) => ProbeResult::Page(page(body, url, header)),
        Err(NotAFeed::OtherXml { .. } | NotAFeed::PlainText) if says_html => ProbeResult::Page(page(body, url, header)),
        Err(NotAFeed::OtherXml { root }) if root.eq_ignore_ascii_case("sitemapindex") => {
            ProbeResult::Sitemap(sitemap::read(body, url))
        }
        Err(reason) => ProbeResult::Nothing(reason.to_string()),
    }
}

fn from_feed(feed: &Feed, url: &str) -> ProbeResult {
    let parsed = Url::parse(url).ok();
    let leads_to = |judge: &dyn Fn(&Url) -> bool| parsed.as_ref().is_some_and(judge);
    if leads_to(&links::address::is_comments) || title_says_comments(&feed.title) {
        return ProbeResult::Unwanted("comments");
    }
    if leads_to(&|url| links::address::is_interface(url, false)) {
        return ProbeResult::Unwanted("interface");
    }
    // Any JSON list parses as a feed; only JSON Feed declares a version.
    let is_json_feed = feed.version.as_deref().is_some_and(|version| version.contains("jsonfeed") || version.len() < 8);
    if feed.format == FeedFormat::Json && !is_json_feed {
        return ProbeResult::Unwanted("interface");
    }
    let links: Vec<&str> = feed.entries.iter().filter_map(|entry| entry.link.as_deref()).collect();
    let plain: Vec<String> = links.iter().filter_map(|link| tidings_model::address::normalise(link, None)).collect();
    ProbeResult::Feed(FeedSummary {
        title: feed.title.chars().take(200).collect(),
        entries: feed.entries.len() as u32,
        language: primary(feed.language.as_deref().unwrap_or_default()),
        latest: feed.entries.iter().filter_map(|entry| entry.published.or(entry.updated)).max(),
        content: (!plain.is_empty()).then(|| Fingerprint::of(&plain.join("\n"))),
    })
}

fn title_says_comments(title: &str) -> bool {
    let lower = title.trim().to_lowercase();
    let starts =
        ["comments on", "comments for", "kommentare zu", "kommentare für", "commentaires sur", "comentarios en"];
    starts.iter().any(|start| lower.starts_with(start)) || links::address::title_of_comments(title)
}

/// The primary subtag: `de` of `de-AT`.
fn primary(tag: &str) -> String {
    let tag = tag.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
    if (2..=3).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_lowercase()) { tag } else { String::new() }
}

fn page(body: &[u8], url: &str, header: RobotsDirectives) -> PageSummary {
    let decoded = charset::decode(body, None, &mut Repairs::default());
    let html: &str = &decoded.text;
    let mut found = PageSummary { links: links::find_with(body, url, header), ..PageSummary::default() };
    let mut generator = None;
    let mut tokens = Tokens::of_page(html);
    for _ in 0..HEAD_TOKENS {
        match tokens.next("") {
            Some(Token::Start { name, attributes, empty }) => match name.to_ascii_lowercase().as_str() {
                "html" if found.language.is_empty() => {
                    found.language = primary(Attributes::get(attributes, "lang").unwrap_or_default());
                }
                "meta" => {
                    let name = Attributes::get(attributes, "name").unwrap_or_default();
                    if name.eq_ignore_ascii_case("generator") && generator.is_none() {
                        generator = Attributes::get(attributes, "content");
                    }
                }
                "script" | "style" if !empty => tokens.skip_to_end_of(name),
                "body" => break,
                _ => {}
            },
            Some(_) => {}
            None => break,
        }
    }
    found.cms = Cms::recognise(generator, html).map(|cms| cms.name);
    if super::site::site(url).is_some_and(|site| site.ends_with("youtube.com")) {
        found.by_rule.extend(known_paths::channel_in(html));
    }
    found
}

/// The canonical URL in a saved page, if it is absolute.
pub fn own_address(page: &[u8]) -> Option<String> {
    let decoded = charset::decode(page, None, &mut Repairs::default());
    let mut tokens = Tokens::of_page(&decoded.text);
    let mut second_best = None;
    for _ in 0..HEAD_TOKENS {
        let Some(token) = tokens.next("") else { break };
        let Token::Start { name, attributes, empty } = token else { continue };
        let get = |name| Attributes::get(attributes, name).unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "link" if get("rel").eq_ignore_ascii_case("canonical") => {
                if let Some(url) = tidings_model::address::normalise(get("href"), None) {
                    return Some(url);
                }
            }
            "meta" if get("property") == "og:url" => {
                second_best = tidings_model::address::normalise(get("content"), None);
            }
            "script" | "style" if !empty => tokens.skip_to_end_of(name),
            "body" => break,
            _ => {}
        }
    }
    second_best
}

/// Returns true if a page has enough visible text. An approximation until pages are cleaned.
pub fn is_substantial(page: &[u8]) -> bool {
    if page.len() < SUBSTANTIAL_BYTES {
        return false;
    }
    let decoded = charset::decode(page, None, &mut Repairs::default());
    crate::html::to_text(&decoded.text).len() >= SUBSTANTIAL_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rss_and_atom_variants_have_the_same_content_fingerprint() {
        let rss = br#"<rss version="2.0"><channel><title>G</title><language>de-AT</language>
            <item><link>https://g.example/a</link><pubDate>Sun, 01 Mar 2026 12:00:00 GMT</pubDate></item></channel></rss>"#;
        let atom = br#"<feed xmlns="http://www.w3.org/2005/Atom"><title>G</title>
            <entry><link href="https://g.example/a?utm_source=atom"/></entry></feed>"#;
        let ProbeResult::Feed(rss) = reduce(rss, None, "https://g.example/feed") else { panic!("a feed") };
        let ProbeResult::Feed(atom) = reduce(atom, None, "https://g.example/atom") else { panic!("a feed") };
        assert_eq!((rss.entries, rss.language.as_str()), (1, "de"));
        assert_eq!(rss.latest.unwrap().to_string(), "2026-03-01T12:00:00Z");
        assert_eq!(rss.content, atom.content);
    }

    #[test]
    fn comment_feeds_and_apis_are_rejected() {
        let comments = b"<rss><channel><title>Comments on: Salt</title><item><link>https://g.example/a</link></item></channel></rss>";
        assert_eq!(reduce(comments, None, "https://g.example/salt/feed"), ProbeResult::Unwanted("comments"));
        let feed = b"<rss><channel><title>Salt</title><item><link>https://g.example/a</link></item></channel></rss>";
        assert_eq!(reduce(feed, None, "https://g.example/comments/feed/"), ProbeResult::Unwanted("comments"));
        let api = br#"{"items": [{"url": "https://g.example/a", "title": "x"}]}"#;
        assert!(!matches!(reduce(api, None, "https://g.example/data.json"), ProbeResult::Feed(_)));
        let posts = br#"[{"id": 1, "link": "https://g.example/a", "title": {"rendered": "x"}}]"#;
        assert!(!matches!(reduce(posts, None, "https://g.example/wp-json/wp/v2/posts"), ProbeResult::Feed(_)));
    }

    #[test]
    fn the_cms_and_language_of_a_page_are_read() {
        let html =
            br#"<html lang="fr-FR"><head><meta name="generator" content="SPIP 4.2"></head><body>x</body></html>"#;
        let ProbeResult::Page(page) = reduce(html, Some("text/html"), "https://g.example/") else { panic!("a page") };
        assert_eq!((page.cms, page.language.as_str()), (Some("spip"), "fr"));
    }

    #[test]
    fn the_canonical_url_of_a_saved_page_is_found() {
        let canonical = br#"<html><meta property="og:url" content="https://g.example/b"><link rel=canonical href="https://g.example/a#x">"#;
        assert_eq!(own_address(canonical).as_deref(), Some("https://g.example/a"));
        let shared = br#"<html><meta property="og:url" content="https://g.example/b">"#;
        assert_eq!(own_address(shared).as_deref(), Some("https://g.example/b"));
        assert_eq!(own_address(b"<html><link rel=canonical href=/a>"), None);
    }

    #[test]
    fn a_sitemap_is_distinguished_from_a_feed() {
        let map = b"<urlset><url><loc>https://g.example/rss/news.xml</loc></url></urlset>";
        assert!(matches!(reduce(map, None, "https://g.example/sitemap.xml"), ProbeResult::Sitemap(_)));
        let index = b"<sitemapindex><sitemap><loc>https://g.example/a.xml</loc></sitemap></sitemapindex>";
        assert!(matches!(reduce(index, None, "https://g.example/sitemap.xml"), ProbeResult::Sitemap(_)));
    }
}
