//! Which links of a page are followed.

use jiff::civil::Date;
use tidings_crawl::link_language::LinkEvidence;
use tidings_crawl::queue::WaitingUrl;
use tidings_crawl::trap::{date_in_path, hard_trap};
use tidings_crawl::{Link, shape};
use tidings_model::{LinkRegion, PageLinks, address};
use tidings_store::removed::Removed;
use url::Url;

use super::order::{Bounds, Order};
use super::topic::Topic;

/// Endings of paths that are not pages.
const NOT_PAGES: [&str; 46] = [
    "7z", "apk", "avi", "bmp", "bz2", "css", "csv", "deb", "dmg", "doc", "docx", "eot", "epub", "exe", "flv", "gif",
    "gz", "ico", "ics", "iso", "jpeg", "jpg", "js", "json", "m4a", "m4v", "mov", "mp3", "mp4", "mpg", "ogg", "pdf",
    "png", "ppt", "pptx", "rar", "svg", "swf", "tar", "webm", "webp", "wmv", "woff", "xls", "xlsx", "zip",
];

/// The longest URL of a sitemap.
const MAX_SITEMAP_URL: usize = 512;

/// A page whose links are followed.
pub(super) struct Source<'a> {
    /// The URL after redirects.
    pub(super) url: &'a Url,
    /// Links from the nearest seed.
    pub(super) depth: u16,
    /// The share of clean text.
    pub(super) clean_share: f32,
    /// Whether links to other registered domains are followed.
    pub(super) follows_out: bool,
    /// The language of the page, as far as it is known.
    pub(super) language: Option<&'a str>,
}

/// The rules of a crawl for links.
pub(super) struct LinkFilter<'a> {
    pub(super) bounds: &'a Bounds,
    pub(super) removed: &'a Removed,
    pub(super) topic: &'a Topic,
    pub(super) order: &'a Order,
    pub(super) today: Date,
}

impl LinkFilter<'_> {
    /// A URL that may be asked for, as a waiting one.
    pub(super) fn waiting(&self, url: &str, region: LinkRegion, depth: u16, source_yield: f32) -> Option<WaitingUrl> {
        let parsed = Url::parse(url).ok()?;
        let is_page = path_ending(&parsed).is_none_or(|ending| NOT_PAGES.binary_search(&ending.as_str()).is_err());
        let may_ask = is_page && self.bounds.holds(&parsed) && hard_trap(&parsed, self.today).is_none();
        if !may_ask || self.removed.covers(url).is_some() {
            return None;
        }
        Some(WaitingUrl {
            domain: shape::domain(&parsed).to_owned(),
            section: shape::section(&parsed),
            url: url.to_owned(),
            region,
            source_yield,
            day: date_in_path(&parsed).and_then(days_since_1970),
            depth,
        })
    }

    /// A sitemap that robots.txt or an index of a site names, if it is of the same site, as a waiting URL.
    pub(super) fn sitemap(&self, base: &Url, named: &str, depth: u16) -> Option<WaitingUrl> {
        let url = address::normalise(base.join(named).ok()?.as_str(), None)?;
        let parsed = Url::parse(&url).ok()?;
        let is_own = shape::domain(&parsed) == shape::domain(base) && self.bounds.holds(&parsed);
        if !is_own || url.len() > MAX_SITEMAP_URL || self.removed.covers(&url).is_some() {
            return None;
        }
        Some(WaitingUrl {
            domain: shape::domain(&parsed).to_owned(),
            section: shape::section(&parsed),
            url,
            region: LinkRegion::Navigation,
            source_yield: 0.0,
            day: None,
            depth,
        })
    }

    /// The links of a page that are followed.
    pub(super) fn links(&self, source: &Source<'_>, links: &PageLinks) -> Vec<Link> {
        let own = shape::domain(source.url);
        let declared = links.links.iter().filter(|link| !link.nofollow);
        let declared = declared.map(|link| (link.url.as_str(), link.region, link.anchor.as_str()));
        let next = links.next.iter().map(|url| (url.as_str(), LinkRegion::Navigation, ""));
        let alternates = links.alternates.iter().map(|(_, url)| (url.as_str(), LinkRegion::Navigation, ""));
        let mut followed = Vec::new();
        for (url, region, anchor) in declared.chain(next).chain(alternates) {
            let Some(mut url) = self.waiting(url, region, source.depth.saturating_add(1), source.clean_share) else {
                continue;
            };
            let is_own = url.domain == own;
            if !is_own && !source.follows_out {
                continue;
            }
            let Ok(parsed) = Url::parse(&url.url) else { continue };
            if !self.topic.is_empty() && self.topic.is_in_link(anchor, &parsed) {
                // It comes before the other links of its section, and its site before other new sites.
                (url.region, url.source_yield) = (LinkRegion::Text, 1.0);
            }
            let wanted_language = !is_own && self.promises_language(&parsed, anchor, source, links);
            followed.push(Link { url, source: own.into(), wanted_language });
        }
        followed
    }

    /// Whether a link to another site promises a wanted language; false if all languages are wanted.
    fn promises_language(&self, url: &Url, anchor: &str, source: &Source<'_>, links: &PageLinks) -> bool {
        let is_target = |alternate: &&(String, String)| alternate.1 == url.as_str();
        let hreflang = links.alternates.iter().find(is_target).map(|(language, _)| language.as_str());
        let evidence = LinkEvidence { url, hreflang, anchor, page: source.language };
        !self.order.languages.is_empty() && evidence.promises(|code| self.order.wants(code))
    }
}

/// Other URLs of a page: its canonical URL on the same host, other renderings. A canonical URL that is the front page is
/// a mistake of the site.
pub(super) fn aliases<'a>(url: &Url, links: &'a PageLinks) -> Vec<&'a str> {
    let is_own = |other: &&str| {
        Url::parse(other).is_ok_and(|other| other.host_str() == url.host_str() && other.path() != "/" && other != *url)
    };
    let canonical = links.canonical.iter().map(String::as_str);
    canonical.chain(links.twins.iter().map(String::as_str)).filter(is_own).collect()
}

fn path_ending(url: &Url) -> Option<String> {
    let name = url.path().rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase())
}

pub(super) fn days_since_1970(date: Date) -> Option<i32> {
    date.since(Date::constant(1970, 1, 1)).ok().map(|span| span.get_days())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawl::order::{Order, Scope};
    use tidings_model::PageLink;

    fn followed(scope: Scope, follows_out: bool, urls: &[&str]) -> Vec<String> {
        let order = Order { scope, seeds: ["http://a.example/".to_owned()].into(), ..Order::default() };
        let (bounds, removed) = (order.bounds(), Removed::default());
        let (topic, today) = (Topic::of(&["ferry".to_owned()]), Date::constant(2026, 3, 1));
        let filter = LinkFilter { bounds: &bounds, removed: &removed, topic: &topic, order: &order, today };
        let link = |url: &&str| PageLink {
            url: (*url).to_owned(),
            region: LinkRegion::List,
            anchor: String::new(),
            nofollow: url.contains("nofollow"),
        };
        let links = PageLinks { links: urls.iter().map(link).collect(), ..PageLinks::default() };
        let url = Url::parse("http://a.example/").unwrap();
        let source = Source { url: &url, depth: 2, clean_share: 0.5, follows_out, language: None };
        let found = filter.links(&source, &links);
        assert!(found.iter().all(|link| link.url.depth == 3 && &*link.source == "a.example"));
        let is_preferred = |link: &Link| (link.url.region, link.url.source_yield) == (LinkRegion::Text, 1.0);
        assert!(found.iter().all(|link| is_preferred(link) == link.url.url.contains("ferry")));
        found.into_iter().map(|link| link.url.url).collect()
    }

    #[test]
    fn endings_are_sorted_for_the_search() {
        assert!(NOT_PAGES.is_sorted());
    }

    #[test]
    fn files_traps_and_nofollow_links_are_not_followed() {
        let urls = [
            "http://a.example/x",
            "http://a.example/x.pdf",
            "http://a.example/nofollow",
            "http://a.example/calendar/2031/05/",
        ];
        assert_eq!(followed(Scope::Web, true, &urls), ["http://a.example/x"]);
    }

    #[test]
    fn links_with_words_of_the_topic_are_preferred() {
        let urls = ["http://a.example/the-ferry-returns", "http://a.example/other"];
        assert_eq!(followed(Scope::Web, true, &urls), urls);
    }

    #[test]
    fn other_domains_are_entered_if_scope_and_page_allow_it() {
        let urls = ["http://www.a.example/y", "http://b.example/z"];
        assert_eq!(followed(Scope::Web, true, &urls).len(), 2);
        assert_eq!(followed(Scope::Web, false, &urls), urls[..1]);
        assert_eq!(followed(Scope::Site, true, &urls), urls[..1]);
        assert!(followed(Scope::Host, true, &urls).is_empty());
    }

    #[test]
    fn links_to_other_sites_promise_a_language_by_hreflang_url_anchor_or_page() {
        let order = Order { languages: vec!["cs".to_owned()], ..Order::default() };
        let (bounds, removed) = (order.bounds(), Removed::default());
        let (topic, today) = (Topic::of(&[]), Date::constant(2026, 3, 1));
        let promised = |order: &Order, language: Option<&str>| {
            let filter = LinkFilter { bounds: &bounds, removed: &removed, topic: &topic, order, today };
            let link = |(url, anchor): (&str, &str)| PageLink {
                url: url.to_owned(),
                region: LinkRegion::Text,
                anchor: anchor.to_owned(),
                nofollow: false,
            };
            let links = [
                ("http://a.example/cs/own", ""),
                ("http://plain.example/", ""),
                ("http://path.example/cs/x", ""),
                ("http://anchor.example/", "Vláda schválila nový rozpočet na příští rok, opozice jej kritizuje"),
                ("http://german.example/", "Deutsch"),
            ];
            let links = PageLinks {
                links: links.map(link).into(),
                alternates: vec![
                    ("de".to_owned(), "http://german.example/".to_owned()),
                    ("cs".to_owned(), "http://czech.example/".to_owned()),
                ],
                ..PageLinks::default()
            };
            let url = Url::parse("http://a.example/").unwrap();
            let source = Source { url: &url, depth: 0, clean_share: 0.5, follows_out: true, language };
            let found = filter.links(&source, &links).into_iter().filter(|link| link.wanted_language);
            found.map(|link| link.url.domain).collect::<Vec<_>>()
        };
        assert_eq!(promised(&order, Some("cs")), ["plain.example", "path.example", "anchor.example", "czech.example"]);
        assert_eq!(promised(&order, Some("de")), ["path.example", "anchor.example", "czech.example"]);
        assert!(promised(&Order::default(), Some("cs")).is_empty());
    }

    #[test]
    fn aliases_are_on_the_same_host_and_not_the_front_page() {
        let url = Url::parse("http://a.example/x?s=1").unwrap();
        let of = |canonical: &str| {
            let links = PageLinks { canonical: Some(canonical.to_owned()), ..PageLinks::default() };
            aliases(&url, &links).len()
        };
        assert_eq!(
            (of("http://a.example/x"), of("http://a.example/"), of("http://b.example/x"), of(url.as_str())),
            (1, 0, 0, 0)
        );
    }

    #[test]
    fn sitemaps_of_the_same_site_are_asked_for_whatever_their_ending() {
        let order = Order { seeds: ["http://a.example/".to_owned()].into(), ..Order::default() };
        let (bounds, removed) = (order.bounds(), Removed::default());
        let (topic, today) = (Topic::of(&[]), Date::constant(2026, 3, 1));
        let filter = LinkFilter { bounds: &bounds, removed: &removed, topic: &topic, order: &order, today };
        let base = Url::parse("http://www.a.example/x").unwrap();
        let of = |named: &str| filter.sitemap(&base, named, 1).map(|url| url.url);
        assert_eq!(of("/map.xml.gz").as_deref(), Some("http://www.a.example/map.xml.gz"));
        assert_eq!(of("http://a.example/map.xml").as_deref(), Some("http://a.example/map.xml"));
        assert_eq!(of("http://b.example/map.xml"), None);
    }

    #[test]
    fn dates_of_paths_are_days() {
        assert_eq!(days_since_1970(Date::constant(2019, 3, 4)), Some(17_959));
    }
}
