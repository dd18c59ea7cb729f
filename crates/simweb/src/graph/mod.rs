//! A web of linked sites with known truth, for crawls.
//!
//! A [`Graph`] has sites of the classes that a crawl meets: text-rich, mixed, poor, parked, foreign, mirrors, link
//! farms, machine-made text, dead. Each has sections with their own path patterns, sizes, yields and branching; a quarter
//! of the good ones has a trap. Yields and sizes follow Table 1 of Suchomel and Pomikálek, "Efficient Web Crawling for
//! Large Text Corpora" (2012).
//!
//! Nothing is stored but the sites: [`Graph::fetch`] writes a page from its URL, and [`Truth`] tells its class, language,
//! tokens, near-duplicates and trap. [`GraphServer`] serves the same pages on loopback addresses.
//!
//! ```
//! use tidings_simweb::graph::{Graph, GraphSpec, Truth};
//!
//! let graph = Graph::new(GraphSpec { seed: 7, sites: 60, ..GraphSpec::default() });
//! let seeds = graph.seeds("de", 5);
//! let page = graph.fetch(&seeds[0]);
//! assert_eq!(page.status, 200);
//! assert!(page.text().contains("<a href="));
//!
//! let truth = Truth::new(&graph);
//! let score = truth.score(seeds.iter().map(String::as_str), "de");
//! assert_eq!((score.requests, score.trap_requests), (5, 0));
//! ```

mod content;
mod html;
mod journal;
mod links;
mod locate;
mod random;
mod score;
mod section;
mod serve;
mod site;
mod sitemap;
mod spec;
mod text;
mod trap;
mod truth;

use std::collections::HashMap;
use std::net::Ipv4Addr;

use links::LinkTargets;
use locate::{Address, HostRole, Target};
use trap::TrapTarget;

pub use journal::{GraphPoliteness, GraphRequest};
pub use score::{Score, Scorer};
pub use section::{PathPattern, Section};
pub use serve::GraphServer;
pub use site::{Canonical, Failure, FeedLink, MirrorOf, Site, SitemapKind};
pub use spec::{GraphSpec, Quality, SiteClass};
pub use trap::TrapKind;
pub use truth::{Expected, Truth, UrlTruth};

/// A web of linked sites.
#[derive(Debug)]
pub struct Graph {
    spec: GraphSpec,
    sites: Vec<Site>,
    by_domain: HashMap<String, u32>,
    targets: LinkTargets,
    farms: Vec<u32>,
    /// The port of URLs, with its colon.
    port: String,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status; 0 if there is no connection.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body, without content coding.
    pub body: Vec<u8>,
    /// Bytes of the head and the body.
    pub wire_bytes: u64,
    /// The IP address; none if the name does not resolve.
    pub ip: Option<Ipv4Addr>,
}

impl Response {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

/// What a URL leads to.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    /// The name does not resolve.
    NoAddress,
    /// The connection is refused.
    Refused,
    /// An error.
    Status(u16),
    /// The other host of the site.
    Moved(String),
    /// A page of a link farm.
    Farm,
    /// A part of the site.
    Target(Target),
    /// A URL of a trap.
    Trap(TrapTarget),
}

impl Graph {
    /// Creates the graph of a description.
    pub fn new(spec: GraphSpec) -> Self {
        let sites = site::create(&spec);
        let by_domain = sites.iter().map(|site| (site.domain.clone(), site.number)).collect();
        let targets = LinkTargets::new(&sites);
        let farms = sites.iter().filter(|site| site.class == SiteClass::LinkFarm).map(|site| site.number).collect();
        let port = spec.port.map(|port| format!(":{port}")).unwrap_or_default();
        Graph { spec, sites, by_domain, targets, farms, port }
    }

    /// The description.
    pub fn spec(&self) -> &GraphSpec {
        &self.spec
    }

    /// All sites.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The URL of a path on the canonical host of a site.
    pub fn url(&self, site: &Site, path: &str) -> String {
        format!("http://{}{}{path}", site.host, self.port)
    }

    /// The URL of a page of a section.
    pub fn page_url(&self, site: &Site, section: usize, number: u32) -> String {
        self.url(site, &site.sections[section].page_path(section, number, self.spec.now))
    }

    /// The front pages of sites with text in a language: half of them rich, as far as there are enough.
    pub fn seeds(&self, language: &str, count: usize) -> Vec<String> {
        let good = |quality| {
            self.sites.iter().filter(move |site| {
                site.language == language
                    && site.quality == quality
                    && matches!(site.class, SiteClass::Rich | SiteClass::Mixed | SiteClass::Foreign)
            })
        };
        let rich: Vec<&Site> = good(Quality::Rich).collect();
        let mixed: Vec<&Site> = good(Quality::Mixed).collect();
        let first = rich.len().min(count.saturating_sub(mixed.len().min(count / 2)));
        rich.iter().take(first).chain(mixed.iter().take(count - first)).map(|site| self.url(site, "/")).collect()
    }

    /// The address of a host name, as a name server gives it.
    pub fn resolve(&self, host: &str) -> Option<Ipv4Addr> {
        let site = self.site_of(&Address { host, target: "/" })?;
        (HostRole::of(site, host) != HostRole::Unknown).then_some(site.ip)
    }

    /// Answers a request.
    pub fn fetch(&self, url: &str) -> Response {
        let Some(address) = Address::parse(url) else {
            return response(0, Vec::new(), Vec::new(), None);
        };
        let Some(site) = self.site_of(&address) else {
            return response(0, Vec::new(), Vec::new(), None);
        };
        content::answer(self, site, &address, &self.place(site, &address))
    }

    fn site(&self, number: u32) -> &Site {
        &self.sites[number as usize]
    }

    fn site_of(&self, address: &Address<'_>) -> Option<&Site> {
        self.by_domain.get(address.domain()).map(|number| self.site(*number))
    }

    /// Finds what a URL of a site leads to.
    fn place(&self, site: &Site, address: &Address<'_>) -> Place {
        let role = HostRole::of(site, address.host);
        let closed = match site.failure {
            _ if role == HostRole::Unknown => Some(Place::NoAddress),
            Some(Failure::Refused) => Some(Place::Refused),
            Some(Failure::Unavailable) => Some(Place::Status(503)),
            Some(Failure::Forbidden) => Some(Place::Status(403)),
            _ => None,
        };
        if let Some(place) = closed {
            return place;
        }
        if role == HostRole::Redirecting {
            return Place::Moved(self.url(site, address.target));
        }
        if address.target == "/robots.txt" {
            return Place::Target(Target::Robots);
        }
        if site.class == SiteClass::LinkFarm {
            return if address.target == "/" { Place::Farm } else { Place::Status(404) };
        }
        if let Some(trap) = trap::locate(site, address, &self.port) {
            return Place::Trap(trap);
        }
        match Target::find(site, address.target) {
            Some(target) if role == HostRole::Canonical => Place::Target(target),
            _ => Place::Status(404),
        }
    }
}

fn response(status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8>, ip: Option<Ipv4Addr>) -> Response {
    /// Bytes of a status line and the headers that every server sends.
    const HEAD_BYTES: u64 = 180;
    let wire_bytes = if status == 0 { 0 } else { HEAD_BYTES + body.len() as u64 };
    Response { status, headers, body, wire_bytes, ip }
}

#[cfg(test)]
mod tests;
