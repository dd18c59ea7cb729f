//! Turns what a feed writes as an address into one that can be fetched.
//!
//! Most addresses are absolute already and pass through untouched, because parsing fifty
//! thousand of them would cost as much as reading the feed.

use std::borrow::Cow;
use std::rc::Rc;

use url::Url;

/// Beyond this length a base address is an attack, not an address.
const MAX_BASE_BYTES: usize = 4096;

/// The address relative links are resolved against.
#[derive(Debug, Clone)]
pub(crate) struct Base(Option<Rc<Url>>);

impl Base {
    /// Starts from the address the document was fetched from.
    pub(crate) fn new(url: &str) -> Self {
        Base(Url::parse(url).ok().map(Rc::new))
    }

    /// Applies an `xml:base` found further inside.
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

    /// Makes an address absolute, or leaves it as it is where that is impossible.
    pub(crate) fn resolve(&self, address: &str) -> Option<String> {
        let address = address.trim();
        if address.is_empty() {
            return None;
        }
        // Line breaks inside an address come from wrapped templates; browsers drop them too. An
        // ampersand that is still escaped was escaped twice.
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

/// Whether an address names its own scheme and host and so needs no base.
fn has_scheme(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once(':') else {
        return false;
    };
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    // `http:page` is a relative address in disguise.
    named && (rest.starts_with("//") || !scheme.to_ascii_lowercase().starts_with("http"))
}

/// Whether an address can be asked for over the web.
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
    fn a_base_inside_a_base_counts_from_the_outer_one() {
        let base = Base::new("https://a.example/x/feed").join("y/").join("z/");
        assert_eq!(base.resolve("1.html").as_deref(), Some("https://a.example/x/y/z/1.html"));
    }

    #[test]
    fn absolute_addresses_pass_untouched() {
        let base = Base::new("https://a.example/");
        assert_eq!(base.resolve(" https://B.example/ä b ").as_deref(), Some("https://B.example/ä b"));
        assert_eq!(base.resolve("//c.example/1").as_deref(), Some("https://c.example/1"));
        assert_eq!(base.resolve("urn:x:1").as_deref(), Some("urn:x:1"));
        assert_eq!(base.resolve("  "), None);
    }

    #[test]
    fn without_a_base_a_relative_address_stays_as_it_is() {
        assert_eq!(Base::new("").resolve("/1").as_deref(), Some("/1"));
    }

    #[test]
    fn endless_chains_of_bases_stop_growing() {
        let mut base = Base::new("https://a.example/");
        for _ in 0..10_000 {
            base = base.join("abcdefgh/");
        }
        assert!(base.resolve("x").unwrap().len() < 5000);
    }
}
