//! What a request is about: a site, a kind of document, an article.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::Shared;
use super::head::Head;
use crate::fault::Part;
use crate::log::{Arrival, Host, Kind, Ticket};
use crate::profile::FeedFormat;

/// A request that has been understood.
pub struct Asked<'a> {
    pub host: Host,
    pub head: &'a Head<'a>,
    /// The path without the detours of redirects.
    pub path: &'a str,
    pub kind: Kind,
    pub detour: Detour,
    /// The number of the article asked for, if it is one.
    pub number: Option<u64>,
    /// The format of the feed asked for, if it is one.
    pub format: Option<FeedFormat>,
    /// On the shared host: the site whose article is asked for.
    pub origin: Option<usize>,
}

/// Where and when a request arrived.
pub struct Visit {
    pub host: Host,
    pub address: Ipv4Addr,
    pub start_us: u64,
    pub connection: u64,
}

impl Visit {
    /// Reads a request, logs its arrival and waits as long as the web is slow to answer.
    pub async fn begin<'s, 'a>(self, shared: &'s Shared, head: &'a Head<'a>) -> (Asked<'a>, Ticket<'s>) {
        let Visit { host, address, start_us, connection } = self;
        let asked = Asked::new(shared, host, head);
        let (disallowed, crawl_delay) = asked.rules(shared);
        let ticket = shared.log.begin(&Arrival {
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
        (asked, ticket)
    }
}

/// How often a redirect has already been followed, as its path tells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detour {
    /// Not at all.
    None,
    /// To the new address of something that moved.
    Moved,
    /// This many times.
    Hop(u32),
}

impl<'a> Asked<'a> {
    /// Finds out what a request is about.
    pub fn new(shared: &Shared, host: Host, head: &'a Head<'a>) -> Self {
        let (path, detour) = strip_detour(head.target);
        let mut asked = Asked { host, head, path, kind: Kind::Other, detour, number: None, format: None, origin: None };
        let bare = path.split('?').next().unwrap_or(path);
        asked.format = match host {
            Host::Site(site) if !shared.world.spec.hiding.is_empty() => {
                shared.world.hidden(site).filter(|hidden| hidden.is_at(path)).map(|hidden| hidden.format)
            }
            _ => FeedFormat::ALL.into_iter().find(|format| format.path() == bare),
        };
        asked.kind = match bare {
            "/robots.txt" => Kind::Robots,
            "/.well-known/tdmrep.json" => Kind::Tdmrep,
            "/sitemap.xml" => Kind::Sitemap,
            _ if asked.format.is_some() => Kind::Feed,
            _ => {
                asked.find_article(shared);
                if asked.number.is_some() || bare.starts_with("/bulk/") { Kind::Page } else { Kind::Other }
            }
        };
        asked
    }

    fn find_article(&mut self, shared: &Shared) {
        match self.host {
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

    /// Whether robots.txt forbids this, and the wait that it asks for.
    pub fn rules(&self, shared: &Shared) -> (bool, Option<Duration>) {
        let Host::Site(site) = self.host else {
            return (false, None);
        };
        shared.conditions.with(site, |condition| (!condition.allows(self.head.target), condition.crawl_delay()))
    }

    /// The part of the site that is asked, as far as faults tell parts apart.
    pub fn part(&self) -> Option<Part> {
        match self.kind {
            Kind::Robots => Some(Part::Robots),
            Kind::Feed => Some(Part::Feed),
            Kind::Page => Some(Part::Pages),
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
