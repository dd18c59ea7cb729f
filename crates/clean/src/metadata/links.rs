//! URLs and simple fields: canonical URL, alternates, lead image, language, description.

use std::collections::BTreeMap;

use html5ever::local_name;
use serde_json::Value;
use url::Url;

use super::Page;
use super::text::tidy;

/// Longer URLs are data.
const MAX_BYTES: usize = 2_000;
/// Maximum number of translations.
const MAX_ALTERNATES: usize = 300;

/// An absolute web URL.
fn resolve(base: Option<&Url>, address: &str) -> Option<String> {
    let address = address.trim();
    if address.is_empty() || address.len() > MAX_BYTES {
        return None;
    }
    let absolute = match base {
        Some(base) => base.join(address).ok()?,
        None => Url::parse(address).ok()?,
    };
    matches!(absolute.scheme(), "http" | "https").then(|| absolute.into())
}

fn has_rel(rel: &str, wanted: &str) -> bool {
    rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted))
}

/// The canonical URL.
pub fn canonical(page: &Page<'_>) -> String {
    let linked = page
        .declared
        .links
        .iter()
        .filter(|link| has_rel(link.rel, "canonical") && page.tree.is(link.node, &local_name!("link")));
    linked
        .map(|link| link.href)
        .chain(page.declared.meta("og:url"))
        .find_map(|address| resolve(page.url, address))
        .unwrap_or_default()
}

/// Translations of the page, by language.
pub fn alternates(page: &Page<'_>) -> BTreeMap<String, String> {
    let mut alternates = BTreeMap::new();
    for link in page
        .declared
        .links
        .iter()
        .filter(|link| has_rel(link.rel, "alternate") && page.tree.is(link.node, &local_name!("link")))
    {
        let language = page.tree.attr(link.node, &local_name!("hreflang")).map(str::trim).unwrap_or_default();
        // `x-default` is not a language.
        if let (Some(language), Some(address)) = (tag(language), resolve(page.url, link.href)) {
            alternates.entry(language).or_insert(address);
        }
        if alternates.len() >= MAX_ALTERNATES {
            break;
        }
    }
    alternates
}

/// The lead image.
pub fn image(page: &Page<'_>) -> String {
    let metas = [
        "og:image:secure_url",
        "og:image",
        "og:image:url",
        "twitter:image",
        "twitter:image:src",
        "parsely-image-url",
        "thumbnail",
        "image",
    ];
    let declared = metas.into_iter().flat_map(|name| page.declared.meta(name).take(2));
    let described = page.article.and_then(|article| article.get("image")).and_then(first_address);
    let linked = page.declared.links.iter().filter(|link| has_rel(link.rel, "image_src")).map(|link| link.href);
    declared.chain(described).chain(linked).find_map(|address| resolve(page.url, address)).unwrap_or_default()
}

/// The first URL in an `image` of JSON-LD: a string, an object, or a list of them.
fn first_address(value: &Value) -> Option<&str> {
    let value = value.get(0).unwrap_or(value);
    value.as_str().or_else(|| value.get("url").or_else(|| value.get("contentUrl"))?.as_str())
}

/// The declared language.
pub fn language(page: &Page<'_>) -> String {
    let described = page.article.and_then(|article| article.get("inLanguage"));
    let described =
        described.and_then(|language| language.as_str().or_else(|| language.get("alternateName")?.as_str()));
    let metas = ["content-language", "og:locale", "dc.language", "dcterms.language", "language", "inlanguage"];
    let metas = metas.into_iter().flat_map(|name| page.declared.meta(name).take(1));
    page.declared.language.into_iter().chain(described).chain(metas).find_map(tag).unwrap_or_default()
}

/// A language tag in canonical case: `de-AT`, not `DE_at`.
pub(crate) fn tag(written: &str) -> Option<String> {
    let written = written.split([',', ';', ' ']).find(|part| !part.is_empty())?;
    if written.len() > 20 {
        return None;
    }
    let mut parts = written.split(['-', '_']);
    let language = parts
        .next()
        .filter(|part| (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    let mut tag = language.to_ascii_lowercase();
    for part in
        parts.filter(|part| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    {
        tag.push('-');
        match part.len() {
            2 => tag.push_str(&part.to_ascii_uppercase()),
            4 => {
                tag.push_str(&part[..1].to_ascii_uppercase());
                tag.push_str(&part[1..].to_ascii_lowercase());
            }
            _ => tag.push_str(&part.to_ascii_lowercase()),
        }
    }
    Some(tag)
}

/// The description for search engines and link previews.
pub fn description(page: &Page<'_>) -> String {
    let metas = [
        "description",
        "og:description",
        "twitter:description",
        "dc.description",
        "dcterms.description",
        "dcterms.abstract",
        "sailthru.description",
    ];
    let declared = metas.into_iter().flat_map(|name| page.declared.meta(name).take(2));
    let described = page.article.and_then(|article| article.get("description")?.as_str());
    declared.chain(described).map(tidy).find(|text| !text.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata;
    use tidings_model::PageMetadata;

    fn about(html: &str) -> PageMetadata {
        let tree = crate::tree::parse(html);
        let url = Url::parse("https://www.gazette.example/a/b").unwrap();
        metadata::read(&tree, &crate::declared_metadata::DeclaredMetadata::read(&tree), Some(&url))
    }

    #[test]
    fn urls_are_made_absolute_and_must_be_http() {
        let about = about(
            "<link rel=canonical href='../c'><meta property=og:image content='javascript:x'><meta name=twitter:image content='/p.jpg'>",
        );
        assert_eq!(about.canonical, "https://www.gazette.example/c");
        assert_eq!(about.image, "https://www.gazette.example/p.jpg");
    }

    #[test]
    fn alternates_are_kept_by_language() {
        let about = about(
            "<link rel=alternate hreflang=x-default href=/><link rel=alternate hreflang=de_at href=/de><link rel=alternate hreflang=fr href=/fr>",
        );
        assert_eq!(about.alternates.keys().collect::<Vec<_>>(), ["de-AT", "fr"]);
    }

    #[test]
    fn language_tags_are_canonical_wherever_declared() {
        assert_eq!(about("<html lang=DE-de>").language, "de-DE");
        assert_eq!(about("<meta property=og:locale content=en_GB>").language, "en-GB");
        assert_eq!(tag("zh-hant-tw").unwrap(), "zh-Hant-TW");
        assert_eq!(tag("ä"), None);
    }
}
