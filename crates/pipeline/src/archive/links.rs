//! The links of a listing page.

use tidings_model::{LinkRegion, PageLink, PageLinks};
use url::Url;

/// The links of a page. A page that forbids following its links has none.
pub(super) fn page_links(body: &[u8], url: &str) -> PageLinks {
    let html = String::from_utf8_lossy(body);
    let Ok(base) = Url::parse(url) else { return PageLinks::default() };
    let mut found = PageLinks::default();
    let mut rest: &str = &html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap_or(rest.len());
        let tag = &rest[..end];
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        match name.as_str() {
            "a" | "link" => add(&mut found, tag, &name, &base),
            "meta" if attribute(tag, "name").is_some_and(|name| name.eq_ignore_ascii_case("robots")) => {
                let content = attribute(tag, "content").unwrap_or_default().to_ascii_lowercase();
                found.nofollow |= content.contains("nofollow") || content.contains("none");
            }
            _ => {}
        }
    }
    if found.nofollow {
        (found.links, found.next) = (Vec::new(), None);
    }
    found
}

fn add(found: &mut PageLinks, tag: &str, name: &str, base: &Url) {
    let rel = attribute(tag, "rel").unwrap_or_default().to_ascii_lowercase();
    let Some(url) = attribute(tag, "href").and_then(|href| base.join(&href.replace("&amp;", "&")).ok()) else { return };
    let Some(url) = tidings_model::address::normalise(url.as_str(), None) else { return };
    let says = |word: &str| rel.split_whitespace().any(|part| part == word);
    let nofollow = says("nofollow") || says("ugc") || says("sponsored");
    if says("next") && !nofollow {
        found.next.get_or_insert(url.clone());
    }
    if name == "a" && !nofollow {
        found.links.push(PageLink { url, region: LinkRegion::List, anchor: String::new(), nofollow });
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find(name).map(|at| at + from) {
        from = at + name.len();
        let before = lower[..at].chars().next_back();
        let rest = tag[from..].trim_start();
        if !before.is_some_and(char::is_whitespace) || !rest.starts_with('=') {
            continue;
        }
        let rest = rest[1..].trim_start();
        return Some(match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => rest[1..].split(quote).next().unwrap_or_default().to_owned(),
            _ => rest.split_whitespace().next().unwrap_or_default().to_owned(),
        });
    }
    None
}
