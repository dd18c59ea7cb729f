//! From a URL to what the graph has there.

use super::section::named_page;
use super::site::{Failure, Site, SitemapKind};
use super::spec::SiteClass;
use super::trap::TrapKind;

/// The parts of a URL that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// The host in lower case, without port.
    pub host: &'a str,
    /// The path with its query, never empty.
    pub target: &'a str,
}

impl<'a> Address<'a> {
    /// Splits a URL; none if it is not one of the web.
    pub fn parse(url: &'a str) -> Option<Self> {
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
        let rest = rest.split('#').next()?;
        let (authority, target) = match rest.find(['/', '?']) {
            Some(at) => (&rest[..at], &rest[at..]),
            None => (rest, "/"),
        };
        let host = authority.split(':').next()?;
        (!host.is_empty()).then_some(Address { host, target })
    }

    /// The registered domain.
    pub fn domain(&self) -> &'a str {
        let mut dots = self.host.rmatch_indices('.').map(|(at, _)| at);
        dots.nth(1).map_or(self.host, |at| &self.host[at + 1..])
    }

    /// The labels before the registered domain of the site.
    pub fn label(&self, site: &Site) -> Option<&'a str> {
        self.host.strip_suffix(site.domain.as_str())?.strip_suffix('.')
    }
}

/// A host of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRole {
    /// The canonical host.
    Canonical,
    /// With or without `www`: redirects to the canonical one.
    Redirecting,
    /// A host of a trap or of a link farm.
    Further,
    /// There is no such host.
    Unknown,
}

impl HostRole {
    /// The role of a host name.
    pub fn of(site: &Site, host: &str) -> HostRole {
        if site.failure == Some(Failure::NoAddress) {
            return HostRole::Unknown;
        }
        if host == site.host {
            return HostRole::Canonical;
        }
        let label = host.strip_suffix(site.domain.as_str()).map(|before| before.trim_end_matches('.'));
        let further = match label {
            Some("" | "www") => return HostRole::Redirecting,
            Some(label) => match (site.class, site.trap) {
                (SiteClass::LinkFarm, _) => true,
                (_, Some(TrapKind::WildcardHosts)) => label.starts_with('u'),
                (_, Some(TrapKind::Twins)) => label == "m",
                (_, Some(TrapKind::RedirectLoop)) => label == "go",
                _ => false,
            },
            None => false,
        };
        if further { HostRole::Further } else { HostRole::Unknown }
    }
}

/// What is at a path of a site, outside traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The front page.
    Front,
    /// A page of the list of a section.
    List { section: usize, page: u32 },
    /// A page of a section.
    Page { section: usize, number: u32 },
    /// A page such as the imprint.
    Service(&'static str),
    /// A page that only links with `nofollow` lead to.
    User(u64),
    /// A page of results on a parked domain.
    Results,
    /// robots.txt.
    Robots,
    /// A sitemap: the whole, or a month of an index.
    Sitemap(Option<(i16, i8)>),
    /// The feed.
    Feed,
    /// Nothing.
    Missing,
}

/// Paths that every site with content has.
const SERVICE: [&str; 6] = ["/about", "/contact", "/news-letter", "/ad", "/category", "/topic"];

impl Target {
    /// Finds what is at a path of the canonical host.
    pub fn find(site: &Site, target: &str) -> Option<Target> {
        match target {
            "/" => return Some(Target::Front),
            "/robots.txt" => return Some(Target::Robots),
            "/feed.xml" => return (site.feed != super::site::FeedLink::Absent).then_some(Target::Feed),
            _ => {}
        }
        if let Some(found) = sitemap(site, target) {
            return Some(found);
        }
        if site.class == SiteClass::Parked {
            return target.starts_with("/search?q=").then_some(Target::Results);
        }
        if site.sections.is_empty() {
            return None;
        }
        if let Some(name) = SERVICE.iter().find(|name| **name == target) {
            return Some(Target::Service(name));
        }
        if let Some(user) = target.strip_prefix("/user/").and_then(|rest| rest.strip_suffix('/')) {
            return user.parse().ok().map(Target::User);
        }
        list(site, target).or_else(|| page(site, target))
    }
}

fn sitemap(site: &Site, target: &str) -> Option<Target> {
    if site.sitemap == SitemapKind::Absent || site.sections.is_empty() {
        return None;
    }
    if target == super::sitemap::path(site.sitemap) {
        return Some(Target::Sitemap(None));
    }
    let month = target.strip_prefix("/sitemap-")?.strip_suffix(".xml")?;
    let (year, month) = month.split_once('-')?;
    (site.sitemap == SitemapKind::IndexByMonth)
        .then(|| Some(Target::Sitemap(Some((year.parse().ok()?, month.parse().ok()?)))))
        .flatten()
}

fn list(site: &Site, target: &str) -> Option<Target> {
    let mut parts = target.strip_prefix('/')?.strip_suffix('/')?.split('/');
    let name = parts.next()?;
    let section = site.sections.iter().position(|section| section.name == name)?;
    let page = match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => 0,
        (Some("page"), Some(number), None) => number.parse::<u32>().ok().filter(|number| *number >= 2)? - 1,
        _ => return None,
    };
    (page < site.sections[section].list_pages()).then_some(Target::List { section, page })
}

fn page(site: &Site, target: &str) -> Option<Target> {
    let (index, number) = named_page(target)?;
    let section = site.sections.get(index).filter(|section| number < section.pages)?;
    (section.page_path(index, number, site.now) == target).then_some(Target::Page { section: index, number })
}
