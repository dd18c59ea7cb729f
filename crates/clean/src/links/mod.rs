//! Links of a page, from the tree that extraction parses anyway.
//!
//! A crawl needs to know where a link stands (running text, a list of teasers, navigation), its anchor, whether it may be
//! followed, and what the page says about its own address: canonical URL, next page, translations, other renderings.
//! What readers are not shown is left out: `hidden` elements, closed dialogs and the contents of `<template>`; they are
//! traps for crawlers as often as menus. The contents of `<noscript>` are read, because scripts are not run.

mod collect;
mod region;

use html5ever::local_name;
use tidings_model::{AGENT, PageLinks, RobotsDirectives, address};
use url::Url;

use crate::decode::decode;
use crate::metadata::language_tag;
use crate::tree::{self, NodeId, Tree};

/// The most links of a page that are kept; a page with more is a link farm or a sitemap.
pub const MAX_LINKS: usize = 5_000;
/// The most bytes of URLs and anchors that are kept of a page.
pub const MAX_BYTES: usize = 1 << 20;
/// The most characters of an anchor that are kept.
pub const MAX_ANCHOR_CHARS: usize = 200;
/// The most translations and other renderings of a page that are kept.
const MAX_DECLARED: usize = 300;

/// The links of a page given as bytes. `content_type` is its header, `url` its URL after redirects.
pub fn of_bytes(body: &[u8], content_type: Option<&str>, url: &str) -> PageLinks {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let (html, _) = decode(body, content_type, host.as_deref());
    of_html(&html, url)
}

/// The links of a page given as text.
pub fn of_html(html: &str, url: &str) -> PageLinks {
    of_tree(&tree::parse(html), url)
}

/// The links of a parsed page.
pub fn of_tree(tree: &Tree, url: &str) -> PageLinks {
    let Ok(page) = Url::parse(url) else { return PageLinks::default() };
    let base = base(tree, &page);
    let mut found = declared(tree, &base);
    let collected = collect::collect(tree, &base, address::normalise(url, None).as_deref().unwrap_or(url));
    found.truncated = collected.truncated || tree.capped;
    found.next = found.next.or(collected.next);
    found.links = collected.links;
    found
}

/// The `<title>` of a parsed page.
pub fn title(tree: &Tree) -> String {
    tree.find(&local_name!("title")).map(|id| tree.text(id)).unwrap_or_default()
}

/// The URL that relative links start from: that of the first `<base href>`, else of the page.
fn base(tree: &Tree, page: &Url) -> Url {
    let element = local_name!("base");
    let href = tree.elements(&element).find_map(|id| tree.attr(id, &local_name!("href")));
    let declared = href.and_then(|href| page.join(href.trim()).ok());
    declared.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| page.clone())
}

/// The statements of a page in `<link>` and `<meta>`.
fn declared(tree: &Tree, base: &Url) -> PageLinks {
    let mut found = PageLinks::default();
    let mut canonicals: Vec<String> = Vec::new();
    let mut robots = RobotsDirectives::default();
    for id in tree.descendants(tree.root()) {
        if tree.is(id, &local_name!("html")) {
            let declared = tree.attr(id, &local_name!("lang")).and_then(|tag| language_tag(tag.trim()));
            found.language = found.language.or(declared);
        } else if tree.is(id, &local_name!("link")) {
            declared_link(tree, id, base, &mut found, &mut canonicals);
        } else if tree.is(id, &local_name!("meta")) {
            robots = robots.and(directives(tree, id));
        }
    }
    (found.nofollow, found.noindex) = (robots.nofollow, robots.noindex);
    // Several canonical URLs contradict each other, and none of them is believed.
    found.canonical = canonicals.pop().filter(|_| canonicals.is_empty());
    found
}

fn declared_link(tree: &Tree, id: NodeId, base: &Url, found: &mut PageLinks, canonicals: &mut Vec<String>) {
    let get = |name| tree.attr(id, &name).unwrap_or_default();
    let rel = get(local_name!("rel"));
    let has = |word: &str| rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case(word));
    let Some(url) = address::resolve(get(local_name!("href")), base) else { return };
    // A `<link rel=canonical>` in the body is text of users or third parties.
    let in_head = || tree.ancestors(id).any(|above| tree.is(above, &local_name!("head")));
    if has("canonical") && in_head() {
        if !canonicals.contains(&url) {
            canonicals.push(url);
        }
    } else if has("next") {
        found.next.get_or_insert(url);
    } else if has("amphtml") || has("alternate") && is_other_rendering(get(local_name!("media"))) {
        if found.twins.len() < MAX_DECLARED && !found.twins.contains(&url) {
            found.twins.push(url);
        }
    } else if has("alternate")
        && found.alternates.len() < MAX_DECLARED
        && let Some(language) = language_tag(get(local_name!("hreflang")).trim())
    {
        found.alternates.push((language, url));
    }
}

/// Returns true if the `media` of an alternate names a rendering for paper or small screens.
fn is_other_rendering(media: &str) -> bool {
    let media = media.to_ascii_lowercase();
    ["print", "handheld", "max-width", "max-device-width"].iter().any(|word| media.contains(word))
}

/// The directives of `<meta name="robots">`, or of one with the name of our agent.
fn directives(tree: &Tree, id: NodeId) -> RobotsDirectives {
    let name = tree.attr(id, &local_name!("name")).unwrap_or_default().trim();
    if !["robots", AGENT].iter().any(|known| name.eq_ignore_ascii_case(known)) {
        return RobotsDirectives::default();
    }
    RobotsDirectives::of_meta(tree.attr(id, &local_name!("content")).unwrap_or_default())
}

#[cfg(test)]
mod tests;
