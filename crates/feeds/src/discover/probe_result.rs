//! What an answer is, reduced at once to the little that probe_result feeds needs.
//!
//! Answers are large and come by the thousand; what is learned from each fits on a line.

use jiff::Timestamp;
use tidings_model::{Feed, FeedFormat, Fingerprint};
use url::Url;

use super::known_paths::{self, Cms};
use super::sitemap::{self, SitemapSummary};
use crate::charset;
use crate::links::{self, FeedLink};
use crate::markup::{Attributes, Token, Tokens};
use crate::repairs::Repairs;
use crate::read::{NotAFeed, read};

/// How much text makes a page worth its request, in bytes of visible text.
const SUBSTANTIAL_BYTES: usize = 800;

/// How far into a page its head is looked for.
const HEAD_TOKENS: usize = 4000;

/// What an answer turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeResult {
    /// A feed of articles.
    Feed(FeedSummary),
    /// A web page.
    Page(PageSummary),
    /// A list of addresses for search engines.
    Sitemap(SitemapSummary),
    /// Something that is never taken: a feed of comments, an interface for programs.
    Unwanted(&'static str),
    /// Nothing of use, and what it was instead.
    Nothing(String),
    /// No answer to learn from: the host could not be reached or may not be asked.
    Unreachable(String),
}

/// A feed, as far as it must be judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeedSummary {
    /// Its title.
    pub title: String,
    /// How many entries it lists.
    pub entries: u32,
    /// The primary tag of its language, in lower case, or nothing.
    pub language: String,
    /// The latest date of its entries.
    pub latest: Option<Timestamp>,
    /// What its entries are, whatever the format: equal for RSS and Atom twins.
    pub content: Option<Fingerprint>,
}

/// A web page, as far as it leads on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageSummary {
    /// The links on it that seem to lead to feeds.
    pub links: Vec<FeedLink>,
    /// The program that made it.
    pub cms: Option<&'static str>,
    /// Feeds that follow from what the page says about itself.
    pub by_rule: Vec<String>,
    /// The primary tag of its language, in lower case, or nothing.
    pub language: String,
}

/// Reads an answer. `content_type` is its header, `url` where it came from in the end.
pub fn reduce(body: &[u8], content_type: Option<&str>, url: &str) -> ProbeResult {
    let says_html = content_type.is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
    match read(body, content_type, url) {
        Ok(feed) => from_feed(&feed, url),
        Err(NotAFeed::Sitemap) => ProbeResult::Sitemap(sitemap::read(body, url)),
        Err(NotAFeed::Html) => ProbeResult::Page(page(body, url)),
        Err(NotAFeed::OtherXml { .. } | NotAFeed::PlainText) if says_html => ProbeResult::Page(page(body, url)),
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
    // Any list in JSON reads as a feed of sorts; only a JSON Feed says that it is one.
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

/// `de` of `de-AT`.
fn primary(tag: &str) -> String {
    let tag = tag.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
    if (2..=3).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_lowercase()) { tag } else { String::new() }
}

fn page(body: &[u8], url: &str) -> PageSummary {
    let decoded = charset::decode(body, None, &mut Repairs::default());
    let html: &str = &decoded.text;
    let mut found = PageSummary { links: links::find(body, url), ..PageSummary::default() };
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

/// The address that a saved page gives as its own, if it gives one in full.
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

/// Whether a page holds text enough to be called good. A stand-in until pages are cleaned.
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
    fn a_feed_is_counted_and_its_twin_known() {
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
    fn comments_and_interfaces_are_never_feeds() {
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
    fn a_page_tells_its_program_and_language() {
        let html =
            br#"<html lang="fr-FR"><head><meta name="generator" content="SPIP 4.2"></head><body>x</body></html>"#;
        let ProbeResult::Page(page) = reduce(html, Some("text/html"), "https://g.example/") else { panic!("a page") };
        assert_eq!((page.cms, page.language.as_str()), (Some("spip"), "fr"));
    }

    #[test]
    fn a_saved_page_may_know_where_it_came_from() {
        let canonical = br#"<html><meta property="og:url" content="https://g.example/b"><link rel=canonical href="https://g.example/a#x">"#;
        assert_eq!(own_address(canonical).as_deref(), Some("https://g.example/a"));
        let shared = br#"<html><meta property="og:url" content="https://g.example/b">"#;
        assert_eq!(own_address(shared).as_deref(), Some("https://g.example/b"));
        assert_eq!(own_address(b"<html><link rel=canonical href=/a>"), None);
    }

    #[test]
    fn a_site_map_is_told_from_a_feed() {
        let map = b"<urlset><url><loc>https://g.example/rss/news.xml</loc></url></urlset>";
        assert!(matches!(reduce(map, None, "https://g.example/sitemap.xml"), ProbeResult::Sitemap(_)));
        let index = b"<sitemapindex><sitemap><loc>https://g.example/a.xml</loc></sitemap></sitemapindex>";
        assert!(matches!(reduce(index, None, "https://g.example/sitemap.xml"), ProbeResult::Sitemap(_)));
    }
}
