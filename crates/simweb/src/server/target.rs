//! The target of a request: a site, a kind of resource, an article.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::Shared;
use super::head::Head;
use crate::fault::SitePart;
use crate::log::{Arrival, Host, OpenRequest, RequestKind};
use crate::profile::FeedFormat;

/// A request that has been understood.
pub struct RequestTarget<'a> {
    pub host: Host,
    pub head: &'a Head<'a>,
    /// The path without the detours of redirects.
    pub path: &'a str,
    pub kind: RequestKind,
    pub detour: Detour,
    /// The number of the article, if it is one.
    pub number: Option<u64>,
    /// The format of the feed, if it is one.
    pub format: Option<FeedFormat>,
    /// On the shared host: the site of the article.
    pub origin: Option<usize>,
}

/// The place and time of arrival of a request.
pub struct Visit {
    pub host: Host,
    pub address: Ipv4Addr,
    pub start_us: u64,
    pub connection: u64,
}

impl Visit {
    /// Parses a request, logs its arrival and waits for the configured latency.
    pub async fn begin<'s, 'a>(self, shared: &'s Shared, head: &'a Head<'a>) -> (RequestTarget<'a>, OpenRequest<'s>) {
        let Visit { host, address, start_us, connection } = self;
        let asked = RequestTarget::new(shared, host, head);
        let (disallowed, crawl_delay) = asked.rules(shared);
        let open_request = shared.log.begin(&Arrival {
            host,
            address,
            start_us,
            method: head.method,
            path: head.target,
            kind: asked.kind,
            conditional: head.conditional(),
            user_agent: head.user_agent,
            accept_encoding: head.accept_encoding,
            connection,
            disallowed,
            crawl_delay,
        });
        if !shared.world.spec.latency.is_zero() {
            tokio::time::sleep(shared.world.spec.latency).await;
        }
        (asked, open_request)
    }
}

/// The progress of a redirect chain, encoded in the path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detour {
    /// Not at all.
    None,
    /// To the new address of something that moved.
    Moved,
    /// This many times.
    Hop(u32),
}

impl<'a> RequestTarget<'a> {
    /// Determines the target of a request.
    pub fn new(shared: &Shared, host: Host, head: &'a Head<'a>) -> Self {
        let (path, detour) = strip_detour(head.target);
        let mut asked = RequestTarget {
            host,
            head,
            path,
            kind: RequestKind::Other,
            detour,
            number: None,
            format: None,
            origin: None,
        };
        let bare = path.split('?').next().unwrap_or(path);
        asked.format = match host {
            Host::Site(site) if !shared.world.spec.hiding.is_empty() => {
                shared.world.hidden(site).filter(|hidden| hidden.is_at(path)).map(|hidden| hidden.format)
            }
            _ => FeedFormat::ALL.into_iter().find(|format| format.path() == bare),
        };
        asked.kind = match bare {
            "/robots.txt" => RequestKind::Robots,
            "/.well-known/tdmrep.json" => RequestKind::Tdmrep,
            "/sitemap.xml" => RequestKind::Sitemap,
            _ if asked.format.is_some() => RequestKind::Feed,
            _ => {
                asked.find_article(shared);
                if asked.number.is_some() || bare.starts_with("/bulk/") {
                    RequestKind::Page
                } else {
                    RequestKind::Other
                }
            }
        };
        asked
    }

    fn find_article(&mut self, shared: &Shared) {
        match self.host {
            Host::Site(site) if shared.world.history(site).is_some_and(|access| access.is_list(self.path)) => {}
            Host::Site(site) => self.number = shared.world.number_at(site, self.path),
            Host::Shared => {
                // The shared host serves `/from/SITE/PATH`.
                let rest = self.path.strip_prefix("/from/").unwrap_or_default();
                let Some((site, _)) = rest.split_once('/') else {
                    return;
                };
                let Some(origin) = site.parse().ok().filter(|site| *site < shared.world.spec.sites) else {
                    return;
                };
                self.path = &rest[site.len()..];
                self.number = shared.world.number_at(origin, self.path);
                self.origin = Some(origin);
            }
            Host::Internal => {}
        }
    }

    /// Whether robots.txt disallows the request, and the crawl delay.
    pub fn rules(&self, shared: &Shared) -> (bool, Option<Duration>) {
        let Host::Site(site) = self.host else {
            return (false, None);
        };
        shared.conditions.with(site, |condition| (!condition.allows(self.head.target), condition.crawl_delay()))
    }

    /// The part of the site, as far as faults distinguish parts.
    pub fn part(&self) -> Option<SitePart> {
        match self.kind {
            RequestKind::Robots => Some(SitePart::Robots),
            RequestKind::Feed => Some(SitePart::Feed),
            RequestKind::Page => Some(SitePart::Pages),
            _ => None,
        }
    }
}

fn strip_detour(target: &str) -> (&str, Detour) {
    if let Some(rest) = target.strip_prefix("/moved")
        && rest.starts_with('/')
    {
        return (rest, Detour::Moved);
    }
    if let Some(rest) = target.strip_prefix("/hop/")
        && let Some((hop, _)) = rest.split_once('/')
        && let Ok(number) = hop.parse()
    {
        return (&rest[hop.len()..], Detour::Hop(number));
    }
    (target, Detour::None)
}
