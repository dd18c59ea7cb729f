//! Names of the site.

use url::Url;

use super::text::{fold, tidy};
use super::{Page, strings};
use crate::declared_metadata::types;

/// The names of a site.
#[derive(Debug, Default)]
pub struct Site {
    /// The display name.
    pub name: String,
    /// All names, [folded](fold), including the labels of the host, for comparison.
    pub known: Vec<String>,
}

/// `<meta>` elements with the site name, best first.
const METAS: &[&str] = &[
    "og:site_name",
    "application-name",
    "dc.publisher",
    "dcterms.publisher",
    "publisher",
    "apple-mobile-web-app-title",
    "al:android:app_name",
];

impl Site {
    /// Returns whether a text is a name of the site.
    pub fn is(&self, text: &str) -> bool {
        let text = fold(text);
        !text.is_empty() && self.known.contains(&text)
    }

    /// Returns whether a text resembles a name of the site: one contains most of the other.
    pub fn resembles(&self, text: &str) -> bool {
        let text = fold(text);
        self.known.iter().any(|name| {
            let (short, long) =
                if name.len() < text.len() { (name.as_str(), text.as_str()) } else { (text.as_str(), name.as_str()) };
            short.len() >= 4 && short.len() * 2 > long.len() && long.contains(short)
        })
    }
}

/// Collects the names and picks the display name.
pub fn read(page: &Page<'_>) -> Site {
    let mut site = Site::default();
    let mut add = |name: String| {
        if name.is_empty() || name.chars().count() > 80 || name.contains("://") {
            return;
        }
        let folded = fold(&name);
        if !folded.is_empty() && !site.known.contains(&folded) {
            site.known.push(folded);
        }
        if site.name.is_empty() {
            site.name = name;
        }
    };
    page.declared.meta("og:site_name").for_each(|name| add(tidy(name)));
    for object in page.declared.objects.iter().take(40) {
        if types(object).any(|kind| kind == "WebSite") {
            object.get("name").into_iter().flat_map(|name| strings(name, "@value")).for_each(|name| add(tidy(name)));
        }
    }
    if let Some(publisher) = page.article.and_then(|article| article.get("publisher")) {
        strings(publisher, "name").into_iter().for_each(|name| add(tidy(name)));
    }
    for meta in METAS {
        page.declared.meta(meta).take(3).for_each(|name| add(tidy(name)));
    }
    for object in page.declared.objects.iter().take(40) {
        if types(object).any(|kind| kind.ends_with("Organization")) {
            object.get("name").into_iter().flat_map(|name| strings(name, "@value")).for_each(|name| add(tidy(name)));
        }
    }
    if let Some(handle) = page.declared.meta("twitter:site").next().and_then(|handle| handle.trim().strip_prefix('@')) {
        add(handle.to_owned());
    }
    if let Some(host) = page.url.and_then(original_host) {
        let host = host.strip_prefix("www.").unwrap_or(host);
        add(host.to_owned());
        // The label above the public suffix is the best-known name.
        if let Some(domain) = tidings_model::registered_domain(host) {
            add(domain.to_owned());
            add(domain.split('.').next().unwrap_or_default().to_owned());
        }
    }
    site
}

/// The host that published the page. Web archives embed the original URL in their own.
fn original_host(url: &Url) -> Option<&str> {
    if let Some(at) = url.path().find("/http")
        && let Some((_, rest)) = url.path()[at..].split_once(':')
    {
        let host = rest.trim_start_matches('/').split(['/', ':']).next().unwrap_or_default();
        if host.contains('.') {
            return Some(host);
        }
    }
    url.host_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata;

    fn about(html: &str) -> String {
        let tree = crate::tree::parse(html);
        let url = url::Url::parse("https://www.gazette.example/a").unwrap();
        metadata::read(&tree, &crate::declared_metadata::DeclaredMetadata::read(&tree), Some(&url)).site_name
    }

    #[test]
    fn the_name_is_declared_or_else_the_host() {
        assert_eq!(about("<meta property=og:site_name content='The Gazette'>"), "The Gazette");
        assert_eq!(about("<p>hello"), "gazette.example");
    }

    #[test]
    fn names_match_without_punctuation() {
        let site = Site { name: String::new(), known: vec!["gazette".into()] };
        assert!(site.is("G-A-Zette!"));
        assert!(site.resembles("The Gazette"));
        assert!(!site.resembles("a long line that names the gazette once"));
    }
}
