//! Finds feed links in web pages.
//!
//! Some pages declare their feed in a `<link>`; many only have a button. Two in five links that look like feeds
//! are comment feeds of one article, and others are APIs. A crawler that follows those polls a million useless
//! feeds, so exclusion matters as much as recall.
//!
//! Anchors with `rel="nofollow"` are not links to follow, nor are those of pages whose `<meta name="robots">` or
//! `X-Robots-Tag` says so. A `<link>` that declares a feed is not an anchor and stays.

pub(crate) mod address;

use std::collections::HashMap;

use tidings_model::{AGENT, RobotsDirectives, is_nofollow};
use url::Url;

use crate::charset;
use crate::entity::{self, Declared};
use crate::html;
use crate::markup::{Attributes, Token, Tokens};
use crate::repairs::Repairs;

/// The maximum number of feed links per page.
const MAX_LINKS: usize = 500;
/// Longer URLs are ignored; a long base would be copied for every link.
const MAX_ADDRESS_BYTES: usize = 4096;
/// The maximum length of link text that is examined.
const MAX_TEXT_BYTES: usize = 200;

/// A link that seems to lead to a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedLink {
    /// The absolute URL.
    pub url: String,
    /// The title given by the page.
    pub title: Option<String>,
    /// The declared media type, in lower case.
    pub media_type: Option<String>,
    /// The evidence that it is a feed.
    pub evidence: Evidence,
}

/// The evidence that a link is a feed, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Declared with the media type of a feed.
    Declared,
    /// Declared, and the URL looks like a feed.
    DeclaredLoosely,
    /// An anchor whose URL looks like a feed.
    Address,
    /// An anchor whose text names a feed.
    Text,
}

/// Finds the feed links of a page, ordered by evidence, then by position.
///
/// Comment feeds, oEmbed and APIs are excluded.
///
/// ```
/// let page = br#"<link rel="alternate" type="application/rss+xml" href="/feed/" title="News">
///     <link rel="alternate" type="application/rss+xml" href="/comments/feed/">"#;
/// let found = tidings_feeds::links::find(page, "https://gazette.example/");
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].url, "https://gazette.example/feed/");
/// ```
pub fn find(page: &[u8], base_url: &str) -> Vec<FeedLink> {
    find_with(page, base_url, RobotsDirectives::default())
}

/// As [`find`], for a page that came with directives in its `X-Robots-Tag`.
pub fn find_with(page: &[u8], base_url: &str, header: RobotsDirectives) -> Vec<FeedLink> {
    let decoded = charset::decode(page, None, &mut Repairs::default());
    let mut finder = Finder { robots: header, ..Finder::new(base_url) };
    finder.walk(&decoded.text);
    finder.finish()
}

struct Finder {
    page: Option<Url>,
    base: Option<Url>,
    /// Directives of the page and of its header.
    robots: RobotsDirectives,
    found: Vec<FeedLink>,
    /// Whether all that leads to the link at the same index are anchors.
    only_anchors: Vec<bool>,
    /// The index in `found` of each URL.
    known: HashMap<String, usize>,
}

/// An open anchor.
struct Anchor<'a> {
    attributes: &'a str,
    /// Its visible text.
    text: String,
    /// Its classes and ids.
    hints: String,
}

impl Finder {
    fn new(base_url: &str) -> Self {
        let page = Url::parse(base_url).ok();
        Finder {
            base: page.clone(),
            page,
            robots: RobotsDirectives::default(),
            found: Vec::new(),
            only_anchors: Vec::new(),
            known: HashMap::new(),
        }
    }

    fn walk(&mut self, text: &str) {
        let mut tokens = Tokens::of_page(text);
        let mut anchor: Option<Anchor<'_>> = None;
        let mut had_base = false;
        while let Some(token) = tokens.next("") {
            match token {
                Token::Start { name, attributes, empty } => {
                    if is(name, &["script", "style", "textarea"]) && !empty {
                        tokens.skip_to_end_of(name);
                    } else if is(name, &["base"]) && !had_base {
                        had_base = self.set_base(attributes);
                    } else if is(name, &["link"]) {
                        self.declared(attributes);
                    } else if is(name, &["meta"]) {
                        self.robots = self.robots.and(directives(attributes));
                    } else if is(name, &["a", "area"]) {
                        self.close(anchor.take());
                        anchor = Some(Anchor { attributes, text: String::new(), hints: String::new() });
                    } else if let (Some(anchor), true) = (&mut anchor, is(name, &["img", "svg", "i", "span", "use"])) {
                        // A button is an image with alternative text.
                        for name in ["alt", "title", "aria-label"] {
                            push_text(&mut anchor.text, Attributes::get(attributes, name).unwrap_or(""));
                        }
                        push_text(&mut anchor.hints, Attributes::get(attributes, "class").unwrap_or(""));
                    }
                }
                Token::End { name } if is(name, &["a"]) => self.close(anchor.take()),
                Token::Text(text) | Token::Cdata(text) => {
                    if let Some(anchor) = &mut anchor {
                        push_text(&mut anchor.text, text);
                    }
                }
                _ => {}
            }
        }
        self.close(anchor);
    }

    fn set_base(&mut self, attributes: &str) -> bool {
        let Some(href) = Attributes::get(attributes, "href") else {
            return false;
        };
        let base = self.resolve(&unescaped(href));
        self.base = base.or(self.base.take());
        true
    }

    /// Reads a `<link>` in the head of the page.
    fn declared(&mut self, attributes: &str) {
        let get = |name| Attributes::get(attributes, name).map(unescaped);
        let Some(href) = get("href") else { return };
        let rel = get("rel").unwrap_or_default().to_ascii_lowercase();
        let media_type = media_type(&get("type").unwrap_or_default());
        let title = get("title").map(|title| html::collapse(&title)).filter(|title| !title.is_empty());
        let rels: Vec<&str> = rel.split_ascii_whitespace().collect();
        // Other relations, `rev` and types that are none declare nothing.
        if !rels.iter().any(|rel| ["alternate", "feed"].contains(rel)) || media_type.contains(char::is_whitespace) {
            return;
        }
        let Some(url) = self.resolve(&href) else {
            return;
        };
        let evidence = match kind_of(&media_type) {
            MediaKind::Feed => Evidence::Declared,
            MediaKind::Never => return,
            MediaKind::Perhaps if address::looks_like_feed(&url) => Evidence::DeclaredLoosely,
            // Alternate XML is nearly always a feed; JSON rarely is.
            MediaKind::Perhaps if media_type.ends_with("/xml") && rels.contains(&"alternate") => {
                Evidence::DeclaredLoosely
            }
            MediaKind::Unknown
                // With a language it is a translation of the page.
                if get("hreflang").is_none() && address::looks_like_feed(&url) =>
            {
                Evidence::DeclaredLoosely
            }
            _ => return,
        };
        self.offer(url, title, media_type, evidence, false);
    }

    /// Reads a complete anchor.
    fn close(&mut self, anchor: Option<Anchor<'_>>) {
        let Some(anchor) = anchor else { return };
        let get = |name| Attributes::get(anchor.attributes, name).map(unescaped);
        let Some(href) = get("href") else { return };
        if get("rel").is_some_and(|rel| is_nofollow(&rel)) {
            return;
        }
        let media_type = media_type(&get("type").unwrap_or_default());
        let (text, mut hints) = (html::collapse(&unescaped(&anchor.text)), anchor.hints);
        for name in ["title", "aria-label", "class", "id"] {
            push_text(&mut hints, &get(name).unwrap_or_default());
        }
        // Feed reader services have the feed URL inside their own.
        let href = address::inside_a_reader(&href).unwrap_or(href);
        let Some(url) = self.resolve(&href) else {
            return;
        };
        let evidence = match kind_of(&media_type) {
            MediaKind::Feed => Evidence::Declared,
            MediaKind::Never => return,
            _ if address::looks_like_feed(&url) => Evidence::Address,
            _ if (calls_itself_feed(&text) || calls_itself_feed(&hints))
                && address::may_be_feed(&url, self.page.as_ref()) =>
            {
                Evidence::Text
            }
            _ => return,
        };
        let title = get("title").map(|title| html::collapse(&title)).filter(|title| !title.is_empty());
        self.offer(url, title.or(Some(text)).filter(|text| !text.is_empty()), media_type, evidence, true);
    }

    fn resolve(&self, href: &str) -> Option<Url> {
        let href = address::without_feed_scheme(href.trim());
        if href.is_empty() || href.starts_with('#') || href.len() > MAX_ADDRESS_BYTES {
            return None;
        }
        let mut url = match &self.base {
            Some(base) => base.join(&href).ok()?,
            None => Url::parse(&href).ok()?,
        };
        url.set_fragment(None);
        matches!(url.scheme(), "http" | "https").then_some(url)
    }

    fn offer(&mut self, url: Url, title: Option<String>, media_type: String, evidence: Evidence, is_anchor: bool) {
        let about_comments = title.as_deref().is_some_and(address::title_of_comments);
        if address::is_comments(&url) || address::is_interface(&url, evidence == Evidence::Declared) || about_comments {
            return;
        }
        let page_itself = self.page.as_ref().is_some_and(|page| address::same_document(page, &url));
        // Declarations are few and come first; anchors come by the thousand.
        if page_itself || self.found.len() >= MAX_LINKS {
            return;
        }
        let url = String::from(url);
        let media_type = Some(media_type).filter(|media_type| !media_type.is_empty());
        let link = FeedLink { url, title, media_type, evidence };
        match self.known.get(&link.url) {
            Some(at) => {
                self.only_anchors[*at] &= is_anchor;
                if link.evidence < self.found[*at].evidence {
                    self.found[*at] = link;
                }
            }
            None => {
                self.known.insert(link.url.clone(), self.found.len());
                self.found.push(link);
                self.only_anchors.push(is_anchor);
            }
        }
    }

    fn finish(mut self) -> Vec<FeedLink> {
        if self.robots.nofollow {
            let mut only_anchors = self.only_anchors.iter();
            self.found.retain(|_| only_anchors.next() == Some(&false));
        }
        if let Some(page) = &self.page {
            let declared: Vec<Url> = self.found.iter().filter_map(|link| Url::parse(&link.url).ok()).collect();
            let mut keep = declared.iter().map(|url| !address::is_feed_of_article(url, page, &declared));
            self.found.retain(|_| keep.next().unwrap_or(true));
        }
        self.found.sort_by_key(|link| link.evidence);
        self.found
    }
}

/// The directives of `<meta name="robots">`, or of one with the name of our agent.
fn directives(attributes: &str) -> RobotsDirectives {
    let name = Attributes::get(attributes, "name").unwrap_or_default().trim();
    match is(name, &["robots", AGENT]) {
        true => RobotsDirectives::of_meta(&unescaped(Attributes::get(attributes, "content").unwrap_or_default())),
        false => RobotsDirectives::default(),
    }
}

/// The class of a media type.
enum MediaKind {
    Feed,
    /// Generic XML or JSON.
    Perhaps,
    Never,
    Unknown,
}

fn kind_of(media_type: &str) -> MediaKind {
    let has = |part: &str| media_type.contains(part);
    if has("oembed")
        || has("opensearch")
        || has("rsd+xml")
        || has("wlwmanifest")
        || has("activity+json")
        || has("ld+json")
    {
        MediaKind::Never
    } else if has("rss") || has("atom") || has("rdf") || has("feed+json") {
        MediaKind::Feed
    } else if has("xml") && !has("html") || has("json") || media_type == "text/plain" {
        MediaKind::Perhaps
    } else if media_type.is_empty() {
        MediaKind::Unknown
    } else {
        MediaKind::Never
    }
}

/// The media type without parameters.
fn media_type(value: &str) -> String {
    value.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

fn unescaped(text: &str) -> String {
    entity::unescape(text, &Declared::default(), &mut Repairs::default()).into_owned()
}

fn push_text(out: &mut String, text: &str) {
    if out.len() < MAX_TEXT_BYTES && !text.trim().is_empty() {
        out.push(' ');
        out.extend(text.chars().take(MAX_TEXT_BYTES));
    }
}

fn is(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns true if a link text names a feed.
fn calls_itself_feed(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    // A sentence that mentions RSS is an article about it.
    words.len() <= 12
        && words.iter().any(|word| matches!(*word, "rss" | "rss2" | "rssfeed" | "rssfeeds" | "newsfeed" | "webfeed"))
        || lower.contains("atom feed")
        || lower.contains("rss-feed")
}

#[cfg(test)]
mod tests;
