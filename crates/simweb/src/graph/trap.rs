//! Traps: parts of a site with ever more URLs and no new text.

use serde::Serialize;

use super::locate::{Address, Target};
use super::random::{key, text_key};
use super::site::Site;
use crate::rng::Rng;

/// The kind of a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrapKind {
    /// A calendar with a page for each month and day, before and after all others.
    Calendar,
    /// Session identifiers in the path: every link of a page has a new one.
    Session,
    /// Filters in any subset and order.
    Facets,
    /// A relative link that makes the path longer.
    RelativePath,
    /// Lists by any order, direction and page.
    SortOrders,
    /// Versions of every page for printers, AMP and telephones. Not endless, but four URLs of each page.
    Twins,
    /// Pages that do not exist are answered with 200 and links to further ones.
    Soft404,
    /// Redirects between two hosts.
    RedirectLoop,
    /// A list whose last page links to a next one.
    Pagination,
    /// Every name below the domain is a host.
    WildcardHosts,
}

impl TrapKind {
    /// All kinds.
    pub const ALL: [TrapKind; 10] = [
        TrapKind::Calendar,
        TrapKind::Session,
        TrapKind::Facets,
        TrapKind::RelativePath,
        TrapKind::SortOrders,
        TrapKind::Twins,
        TrapKind::Soft404,
        TrapKind::RedirectLoop,
        TrapKind::Pagination,
        TrapKind::WildcardHosts,
    ];

    /// The link by which pages of the site lead into the trap. `page` distinguishes pages.
    pub(super) fn entry(self, site: &Site, port: &str, page: u64) -> Option<String> {
        Some(match self {
            TrapKind::Calendar => "/calendar/2026/03/".to_owned(),
            TrapKind::Session => session_path(page, "/"),
            TrapKind::Facets => "/filter?color=1".to_owned(),
            TrapKind::RelativePath => "/info/more/".to_owned(),
            TrapKind::SortOrders => "/all?sort=name&dir=asc&page=1".to_owned(),
            TrapKind::Soft404 => format!("/old-{:08x}.html", page as u32),
            TrapKind::RedirectLoop => format!("/go/{}", page % 1000),
            TrapKind::Pagination => "/older/page/2/".to_owned(),
            TrapKind::WildcardHosts => format!("http://u{:x}.{}{port}/", page % 100_000, site.domain),
            // The versions of a page are linked from that page.
            TrapKind::Twins => return None,
        })
    }
}

/// A URL inside a trap.
#[derive(Clone, Debug, PartialEq)]
pub enum TrapTarget {
    /// A page without text that links to further ones.
    List(Vec<String>),
    /// Another URL of a page of the site.
    Copy(Box<Target>),
    /// A page of a session.
    Session(u64, Box<Target>),
    /// A page that says in the text that it does not exist.
    NotFound(Vec<String>),
    /// A redirect.
    Redirect(String),
}

/// The trap URL at an address of the site, if it is one.
pub fn locate(site: &Site, address: &Address<'_>, port: &str) -> Option<TrapTarget> {
    let target = address.target;
    match site.trap? {
        TrapKind::Calendar => calendar(target.strip_prefix("/calendar/")?),
        TrapKind::Session => {
            let (id, _) = target.strip_prefix("/sid-")?.split_once('/')?;
            let rest = &target["/sid-".len() + id.len()..];
            (id.len() == 16).then_some(())?;
            let inner = Target::find(site, rest).unwrap_or(Target::Missing);
            Some(TrapTarget::Session(text_key(target), Box::new(inner)))
        }
        TrapKind::Facets => facets(target.strip_prefix("/filter?")?),
        TrapKind::RelativePath => {
            let rest = target.strip_prefix("/info/more/")?;
            rest.split_inclusive('/')
                .all(|part| part == "info/" || part == "more/")
                .then(|| TrapTarget::List(vec!["info/more/".to_owned(), "more/".to_owned(), "info/".to_owned()]))
        }
        TrapKind::SortOrders => sort_orders(target.strip_prefix("/all?")?),
        TrapKind::Twins => {
            let rest = target.strip_prefix("/print").filter(|rest| rest.starts_with('/'));
            let rest = rest.or_else(|| target.strip_suffix("?amp=1").or_else(|| target.strip_suffix("&amp=1")));
            let rest = rest.or_else(|| address.label(site).filter(|label| *label == "m").map(|_| target))?;
            Target::find(site, rest).map(|inner| TrapTarget::Copy(Box::new(inner)))
        }
        TrapKind::Soft404 => {
            if Target::find(site, target).is_some() || target.ends_with(".txt") || target.ends_with(".json") {
                return None;
            }
            let mut rng = Rng::named(&[text_key(target)]);
            Some(TrapTarget::NotFound((0..4).map(|_| format!("old-{:08x}.html", rng.bits() as u32)).collect()))
        }
        TrapKind::RedirectLoop => {
            let count: u64 = target.strip_prefix("/go/")?.parse().ok()?;
            let other = match address.label(site) {
                Some("go") => site.host.clone(),
                _ => format!("go.{}", site.domain),
            };
            Some(TrapTarget::Redirect(format!("http://{other}{port}/go/{}", count + 1)))
        }
        TrapKind::Pagination => {
            let page: u64 = target.strip_prefix("/older/page/")?.strip_suffix('/')?.parse().ok()?;
            Some(TrapTarget::List([1, 2, 10].map(|step| format!("/older/page/{}/", page + step)).to_vec()))
        }
        TrapKind::WildcardHosts => {
            let label = address.label(site).filter(|label| label.starts_with('u'))?;
            let mut rng = Rng::named(&[text_key(label)]);
            let links = (0..5).map(|_| format!("http://u{:x}.{}{port}/", rng.below(1 << 40), site.domain)).collect();
            (target == "/").then_some(TrapTarget::List(links))
        }
    }
}

/// A path in a session whose identifier follows from a key.
pub fn session_path(session: u64, path: &str) -> String {
    format!("/sid-{:016x}{path}", key(&[session, text_key(path)]))
}

fn calendar(rest: &str) -> Option<TrapTarget> {
    let mut parts = rest.strip_suffix('/')?.split('/').map(|part| part.parse::<u32>().ok());
    let (year, month) = (parts.next()??, parts.next()??);
    let day = parts.next();
    if !(1..=12).contains(&month) || !(1..=9999).contains(&year) || parts.next().is_some() || day == Some(None) {
        return None;
    }
    let (earlier, later) = match month {
        1 => ((year.max(2) - 1, 12), (year, 2)),
        12 => ((year, 11), (year + 1, 1)),
        _ => ((year, month - 1), (year, month + 1)),
    };
    let mut links: Vec<String> = [earlier, later, (year + 1, month)]
        .iter()
        .map(|(year, month)| format!("/calendar/{year}/{month:02}/"))
        .collect();
    links.extend((1..=28).step_by(6).map(|day| format!("/calendar/{year}/{month:02}/{day:02}/")));
    Some(TrapTarget::List(links))
}

fn facets(query: &str) -> Option<TrapTarget> {
    const KEYS: [&str; 8] = ["color", "size", "brand", "price", "stock", "rating", "shape", "page"];
    let pairs: Vec<(&str, u64)> = query
        .split('&')
        .map(|pair| pair.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?))))
        .collect::<Option<_>>()?;
    if pairs.iter().any(|(name, _)| !KEYS.contains(name)) {
        return None;
    }
    let links = KEYS.iter().map(|name| {
        let mut next = pairs.clone();
        match next.iter().position(|(known, _)| known == name) {
            // A filter that is chosen anew moves to the end.
            Some(at) => {
                let (name, value) = next.remove(at);
                next.push((name, value + 1));
            }
            None => next.push((name, 1)),
        }
        let pairs: Vec<String> = next.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("/filter?{}", pairs.join("&"))
    });
    Some(TrapTarget::List(links.collect()))
}

fn sort_orders(query: &str) -> Option<TrapTarget> {
    let mut parts = query.split('&');
    let mut value =
        |name: &str| parts.next().and_then(|part| part.strip_prefix(name)).and_then(|part| part.strip_prefix('='));
    let (sort, dir, page) = (value("sort")?, value("dir")?, value("page")?);
    let page: u64 = page.parse().ok()?;
    let other = if dir == "asc" { "desc" } else { "asc" };
    let mut links: Vec<String> = ["name", "price", "date", "rating"]
        .iter()
        .map(|order| format!("/all?sort={order}&dir={dir}&page={page}"))
        .collect();
    links.push(format!("/all?sort={sort}&dir={other}&page={page}"));
    links.push(format!("/all?sort={sort}&dir={dir}&page={}", page + 1));
    Some(TrapTarget::List(links))
}
