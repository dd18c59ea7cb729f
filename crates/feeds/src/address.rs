//! Resolution of links in feeds.
//!
//! Most links are absolute already and are returned unchanged, because parsing fifty thousand URLs would cost as
//! much as parsing the feed.

use std::borrow::Cow;
use std::rc::Rc;

use url::Url;

/// Longer base URLs are ignored as malicious.
const MAX_BASE_BYTES: usize = 4096;

/// The base URL of relative links.
#[derive(Debug, Clone)]
pub(crate) struct Base(Option<Rc<Url>>);

impl Base {
    /// The base of a document fetched from `url`.
    pub(crate) fn new(url: &str) -> Self {
        Base(Url::parse(url).ok().map(Rc::new))
    }

    /// Applies a nested `xml:base`.
    pub(crate) fn join(&self, relative: &str) -> Self {
        let relative = relative.trim();
        if relative.is_empty() || relative.len() > MAX_BASE_BYTES {
            return self.clone();
        }
        let joined = match &self.0 {
            Some(base) => base.join(relative).ok(),
            None => Url::parse(relative).ok(),
        };
        match joined {
            Some(url) if url.as_str().len() <= MAX_BASE_BYTES => Base(Some(Rc::new(url))),
            _ => self.clone(),
        }
    }

    /// Resolves a link, or returns it unchanged if it cannot be resolved.
    pub(crate) fn resolve(&self, address: &str) -> Option<String> {
        let address = address.trim();
        if address.is_empty() {
            return None;
        }
        // Line breaks inside a link come from wrapped templates; browsers drop them too. An ampersand that is still
        // escaped was escaped twice.
        let mut address = Cow::Borrowed(address);
        if address.contains(['\n', '\r', '\t']) {
            address = Cow::Owned(address.replace(['\n', '\r', '\t'], ""));
        }
        if address.contains("&amp;") {
            address = Cow::Owned(address.replace("&amp;", "&"));
        }
        if has_scheme(&address) {
            return Some(address.into_owned());
        }
        match &self.0 {
            Some(base) => Some(base.join(&address).map_or_else(|_| address.into_owned(), String::from)),
            None => Some(address.into_owned()),
        }
    }
}

/// Returns true if a URL has its own scheme and host and needs no base.
fn has_scheme(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once(':') else {
        return false;
    };
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    // `http:page` is a relative reference.
    named && (rest.starts_with("//") || !scheme.to_ascii_lowercase().starts_with("http"))
}

/// Returns true for http and https URLs.
pub(crate) fn is_web(address: &str) -> bool {
    let bytes = address.as_bytes();
    let starts =
        |scheme: &str| bytes.len() > scheme.len() && bytes[..scheme.len()].eq_ignore_ascii_case(scheme.as_bytes());
    starts("http://") || starts("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_base_is_resolved_against_the_outer_one() {
        let base = Base::new("https://a.example/x/feed").join("y/").join("z/");
        assert_eq!(base.resolve("1.html").as_deref(), Some("https://a.example/x/y/z/1.html"));
    }

    #[test]
    fn absolute_urls_are_unchanged() {
        let base = Base::new("https://a.example/");
        assert_eq!(base.resolve(" https://B.example/ä b ").as_deref(), Some("https://B.example/ä b"));
        assert_eq!(base.resolve("//c.example/1").as_deref(), Some("https://c.example/1"));
        assert_eq!(base.resolve("urn:x:1").as_deref(), Some("urn:x:1"));
        assert_eq!(base.resolve("  "), None);
    }

    #[test]
    fn without_a_base_a_relative_link_is_unchanged() {
        assert_eq!(Base::new("").resolve("/1").as_deref(), Some("/1"));
    }

    #[test]
    fn long_chains_of_bases_stop_growing() {
        let mut base = Base::new("https://a.example/");
        for _ in 0..10_000 {
            base = base.join("abcdefgh/");
        }
        assert!(base.resolve("x").unwrap().len() < 5000);
    }
}
