//! The content of a URL: which text a page has, and the response.

use super::html::{self, View};
use super::locate::{Address, Target};
use super::random::{key, text_key};
use super::site::Site;
use super::spec::SiteClass;
use super::text::{self, Text, TextId};
use super::trap::TrapTarget;
use super::{Graph, Place, Response, response, sitemap};
use crate::rng::Rng;

/// The text of a page.
pub enum PageText {
    /// None.
    Absent,
    /// Written by a person.
    Human(TextId),
    /// Made by a machine, with the key of the page.
    Machine(u64),
}

impl PageText {
    /// The text of a page of a section.
    pub fn of(graph: &Graph, site: &Site, index: usize, number: u32) -> PageText {
        let section = &site.sections[index];
        let page_key = section.page_key(number);
        if !section.has_text(number) {
            return PageText::Absent;
        }
        if site.class == SiteClass::Machine {
            return PageText::Machine(page_key);
        }
        let seed = graph.spec.seed;
        let original = graph.site(site.content_site());
        let mut rng = Rng::named(&[page_key, 0xD0B]);
        let drawn = rng.unit();
        let cluster = if drawn < original.duplicates / 2.0 {
            // The same text on several pages of the site.
            let pool = (f64::from(section.pages) * section.text_share * 0.1).ceil().max(1.0);
            key(&[seed, 0x0B9, u64::from(original.number), rng.below(pool as u64)])
        } else if drawn < original.duplicates {
            // The text of an agency, which several sites print.
            let pool = 4 * graph.sites.len() as u64;
            text::agency_cluster(seed, section.language, (rng.unit().powi(2) * pool as f64) as u64)
        } else {
            return PageText::Human(TextId { language: section.language, cluster: page_key, addition: None });
        };
        let addition = rng.chance(50).then_some(page_key);
        PageText::Human(TextId { language: section.language, cluster, addition })
    }

    fn compose(&self, site: &Site, index: usize) -> Option<Text> {
        match self {
            PageText::Absent => None,
            PageText::Human(id) => Some(text::compose(*id)),
            PageText::Machine(page_key) => {
                let language = site.sections[index].language;
                Some(text::compose_machine(language, u64::from(site.number), *page_key, site.spun))
            }
        }
    }
}

/// The canonical path of a part of a site.
pub fn path_of(graph: &Graph, site: &Site, target: &Target) -> String {
    match target {
        Target::List { section, page } => site.sections[*section].list_path(*page),
        Target::Page { section, number } => site.sections[*section].page_path(*section, *number, graph.spec.now),
        Target::Service(name) => (*name).to_owned(),
        Target::User(number) => format!("/user/{number}/"),
        _ => "/".to_owned(),
    }
}

/// The response to a request for a place.
pub fn answer(graph: &Graph, site: &Site, address: &Address<'_>, place: &Place) -> Response {
    let ip = Some(site.ip);
    let view = |path: String, session: Option<u64>| View {
        graph,
        site,
        key: key(&[graph.spec.seed, text_key(address.host), text_key(&path)]),
        path,
        session,
    };
    let html = |html: String| {
        let kind = vec![("Content-Type", "text/html; charset=utf-8".to_owned())];
        response(200, kind, html.into_bytes(), ip)
    };
    match place {
        Place::NoAddress => response(0, Vec::new(), Vec::new(), None),
        Place::Refused => response(0, Vec::new(), Vec::new(), ip),
        Place::Status(status) => response(*status, Vec::new(), Vec::new(), ip),
        Place::Moved(url) => response(301, vec![("Location", url.clone())], Vec::new(), ip),
        Place::Farm => html(html::write_farm(&view("/".to_owned(), None))),
        Place::Trap(TrapTarget::Redirect(url)) => response(302, vec![("Location", url.clone())], Vec::new(), ip),
        Place::Trap(TrapTarget::List(links)) => {
            html(html::write_trap_list(&view(address.target.to_owned(), None), links))
        }
        Place::Trap(TrapTarget::NotFound(links)) => {
            html(html::write_not_found(&view(address.target.to_owned(), None), links))
        }
        Place::Trap(TrapTarget::Copy(inner)) => part(&view(path_of(graph, site, inner), None), inner),
        Place::Trap(TrapTarget::Session(session, inner)) => {
            part(&view(path_of(graph, site, inner), Some(*session)), inner)
        }
        Place::Target(target) => part(&view(path_of(graph, site, target), None), target),
    }
}

/// The response for a part of a site.
fn part(view: &View<'_>, target: &Target) -> Response {
    let (graph, site) = (view.graph, view.site);
    let ip = Some(site.ip);
    let typed = |kind: &str, body: Vec<u8>| response(200, vec![("Content-Type", kind.to_owned())], body, ip);
    let html = match target {
        Target::Robots => return typed("text/plain", sitemap::robots(graph, site).into_bytes()),
        Target::Sitemap(month) => {
            let zipped = site.sitemap == super::SitemapKind::Gzip;
            let kind = if zipped { "application/gzip" } else { "application/xml" };
            return typed(kind, sitemap::sitemap(graph, site, *month));
        }
        Target::Feed => return typed("application/rss+xml", sitemap::feed(graph, site).into_bytes()),
        Target::Missing => return response(404, Vec::new(), Vec::new(), ip),
        Target::Front if site.class == SiteClass::Parked => html::write_parked(view),
        Target::Results => html::write_parked(view),
        Target::Front => html::write_front(view),
        Target::List { section, page } => html::write_list(view, *section, *page),
        Target::Service(name) => html::write_service(view, name),
        Target::User(number) => html::write_user(view, *number),
        Target::Page { section, number } => {
            match PageText::of(graph, site, *section, *number).compose(site, *section) {
                Some(text) => html::write_text(view, *section, *number, &text),
                None => html::write_poor(view, *section, *number),
            }
        }
    };
    typed("text/html; charset=utf-8", html.into_bytes())
}
