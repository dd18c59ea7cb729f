//! The profile of each site: language, character set, link style, dates, publishing interval.
//!
//! A profile takes only a few bytes and follows from the seed.

use std::net::Ipv4Addr;

use encoding_rs::Encoding;

use crate::rng::Rng;
use crate::spec::Spec;
use crate::text::CODES;

/// The formats in which every site offers its feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeedFormat {
    /// RSS 2.0 at `/rss.xml`.
    Rss2,
    /// RSS 1.0 (RDF) at `/index.rdf`.
    Rss1,
    /// Atom 1.0 at `/atom.xml`.
    Atom,
    /// JSON Feed 1.1 at `/feed.json`.
    Json,
}

impl FeedFormat {
    /// All formats.
    pub const ALL: [FeedFormat; 4] = [FeedFormat::Rss2, FeedFormat::Atom, FeedFormat::Json, FeedFormat::Rss1];

    /// The path of this format.
    pub fn path(self) -> &'static str {
        match self {
            FeedFormat::Rss2 => "/rss.xml",
            FeedFormat::Rss1 => "/index.rdf",
            FeedFormat::Atom => "/atom.xml",
            FeedFormat::Json => "/feed.json",
        }
    }

    /// Its media type.
    pub fn media_type(self) -> &'static str {
        match self {
            FeedFormat::Rss2 => "application/rss+xml",
            FeedFormat::Rss1 => "application/rdf+xml",
            FeedFormat::Atom => "application/atom+xml",
            FeedFormat::Json => "application/feed+json",
        }
    }
}

/// The style of article paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStyle {
    /// `/2026/03/01/words-of-the-title-12.html`
    Dated,
    /// `/article/12`
    Number,
    /// `/news/words-of-the-title-12/`
    Slug,
    /// `/?p=12`
    Query,
}

/// Additions of the feed to the canonical URLs of articles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStyle {
    /// None.
    Plain,
    /// Tracking parameters.
    Tracking,
    /// A fragment.
    Fragment,
    /// Relative links with `xml:base`, in the formats that support it.
    Relative,
}

/// The validators for conditional requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validators {
    /// `ETag` and `Last-Modified`.
    Both,
    /// `ETag` alone.
    Etag,
    /// `Last-Modified` alone.
    LastModified,
}

/// The template of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// HTML5 with semantic elements.
    Semantic,
    /// Nested tables and anonymous divisions.
    Portal,
    /// The markup of a widespread blogging system.
    Press,
    /// Hardly any markup at all.
    Plain,
}

/// The constant properties of a site.
#[derive(Clone, Debug)]
pub struct Profile {
    pub language: &'static str,
    pub format: FeedFormat,
    pub paths: PathStyle,
    pub links: LinkStyle,
    pub validators: Validators,
    pub template: Template,
    pub charset: &'static Encoding,
    /// Whether the Content-Type header contains the character set; the document always does.
    pub charset_in_header: bool,
    /// Whether the feed contains full articles.
    pub full_content: bool,
    /// Whether feeds and pages show times in UTC+1.
    pub east: bool,
    /// Seconds between two articles.
    pub interval: u32,
}

impl Profile {
    /// The traits of the site of this number.
    pub fn of(spec: &Spec, site: usize, language: &'static str) -> Self {
        let mut rng = Rng::named(&[spec.seed, 0x517E, site as u64]);
        let usual = [LinkStyle::Plain, LinkStyle::Plain, LinkStyle::Plain];
        let odd = [LinkStyle::Tracking, LinkStyle::Fragment, LinkStyle::Relative];
        let links = if rng.chance(50) { rng.pick(&usual) } else { rng.pick(&odd) };
        let legacy = if rng.chance(25) { legacy_charset(language, false) } else { None };
        let mean = spec.publish_every.as_secs().max(2);
        Profile {
            language,
            format: FeedFormat::ALL[site % 4],
            paths: rng.pick(&[PathStyle::Dated, PathStyle::Number, PathStyle::Slug, PathStyle::Query]),
            links,
            validators: rng.pick(&[Validators::Both, Validators::Both, Validators::Etag, Validators::LastModified]),
            template: rng.pick(&[Template::Semantic, Template::Portal, Template::Press, Template::Plain]),
            charset: legacy.unwrap_or(encoding_rs::UTF_8),
            charset_in_header: rng.chance(70),
            full_content: rng.chance(spec.full_text_percent),
            east: rng.chance(30),
            interval: u32::try_from(mean / 2 + rng.below(mean * 3 / 2)).unwrap_or(u32::MAX).max(2),
        }
    }

    /// The language of a generated site.
    pub fn language_of(spec: &Spec, site: usize) -> &'static str {
        let known = |wish: &String| CODES.iter().copied().find(|code| code == wish);
        let wished: Vec<&'static str> = spec.languages.iter().filter_map(known).collect();
        if wished.is_empty() { CODES[site % CODES.len()] } else { wished[site % wished.len()] }
    }
}

/// The legacy character set of a language.
///
/// Healthy sites use only those that are still common; the others are for wrong declarations.
pub fn legacy_charset(language: &str, any: bool) -> Option<&'static Encoding> {
    match language {
        "de" | "fr" | "es" => Some(encoding_rs::WINDOWS_1252),
        "cs" | "pl" => Some(encoding_rs::WINDOWS_1250),
        "ru" => Some(encoding_rs::WINDOWS_1251),
        "el" if any => Some(encoding_rs::WINDOWS_1253),
        "ar" if any => Some(encoding_rs::WINDOWS_1256),
        "zh" if any => Some(encoding_rs::GB18030),
        "ja" if any => Some(encoding_rs::SHIFT_JIS),
        _ => None,
    }
}

/// The address of a site: 250 per network, starting at 127.1.0.1.
pub fn address(site: usize) -> Ipv4Addr {
    let (second, third, fourth) = (1 + site / 62_500, site / 250 % 250, 1 + site % 250);
    Ipv4Addr::new(127, second as u8, third as u8, fourth as u8)
}

/// The site at an address, if there is one.
pub fn site_at(address: Ipv4Addr, sites: usize) -> Option<usize> {
    let [_, second, third, fourth] = address.octets().map(usize::from);
    if second == 0 || third >= 250 || fourth == 0 || fourth > 250 {
        return None;
    }
    let site = (second - 1) * 62_500 + third * 250 + fourth - 1;
    (site < sites).then_some(site)
}

/// The most sites that have an address.
pub const MAX_SITES: usize = 250 * 62_500;

/// The target host of all sites with a shared redirect.
pub const SHARED_HOST: Ipv4Addr = Ipv4Addr::new(127, 254, 254, 1);

/// A host in a private network, which must not be contacted.
pub const INTERNAL_HOST: Ipv4Addr = Ipv4Addr::new(127, 255, 255, 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_sites_correspond() {
        for site in [0, 1, 249, 250, 62_499, 62_500, 100_000] {
            assert_eq!(site_at(address(site), 200_000), Some(site));
            assert_eq!(site_at(address(site), site), None);
        }
        assert_eq!(site_at(SHARED_HOST, MAX_SITES), None);
        assert_eq!(site_at(INTERNAL_HOST, MAX_SITES), None);
        assert_eq!(site_at(Ipv4Addr::LOCALHOST, MAX_SITES), None);
    }
}
