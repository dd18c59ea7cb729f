//! The ways in which a site shows its old articles: sitemaps of every quality, pages of months, lists with pages.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::markup::{escaped, iso_date};
use crate::profile::PathStyle;
use crate::rng::Rng;
use crate::server::coding;
use crate::server::reply::Reply;
use crate::world::{Extent, World, day_of};

/// Articles on one page of a list.
pub const PER_PAGE: usize = 25;
/// Articles of the last so many seconds are in a news sitemap.
const NEWS_SECONDS: i64 = 2 * 86_400;

/// The way in which a site shows its old articles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistoryAccess {
    /// One sitemap with all articles.
    Complete,
    /// A sitemap index with a sitemap for each month.
    Monthly,
    /// The same with gzip files.
    Packed,
    /// A sitemap with all articles and broken XML: bare ampersands, missing end tags, a wrong namespace.
    Broken,
    /// A sitemap that dates all articles now.
    LyingDates,
    /// A sitemap with seven of ten articles, and no other way.
    Partial,
    /// A news sitemap of the last two days, and a front page with further pages.
    NewsOnly,
    /// Pages of months, and no sitemap.
    DatedPaths,
    /// A front page with further pages, and no sitemap.
    Pagination,
}

impl HistoryAccess {
    /// All ways, in the order of the definition.
    pub const ALL: [HistoryAccess; 9] = [
        HistoryAccess::Complete,
        HistoryAccess::Monthly,
        HistoryAccess::Packed,
        HistoryAccess::Broken,
        HistoryAccess::LyingDates,
        HistoryAccess::Partial,
        HistoryAccess::NewsOnly,
        HistoryAccess::DatedPaths,
        HistoryAccess::Pagination,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            HistoryAccess::Complete => "complete",
            HistoryAccess::Monthly => "monthly",
            HistoryAccess::Packed => "packed",
            HistoryAccess::Broken => "broken",
            HistoryAccess::LyingDates => "lying-dates",
            HistoryAccess::Partial => "partial",
            HistoryAccess::NewsOnly => "news-only",
            HistoryAccess::DatedPaths => "dated-paths",
            HistoryAccess::Pagination => "pagination",
        }
    }

    /// Whether a sitemap lists all articles.
    pub fn has_complete_sitemap(self) -> bool {
        use HistoryAccess::{Broken, Complete, LyingDates, Monthly, Packed};
        matches!(self, Complete | Monthly | Packed | Broken | LyingDates)
    }

    /// The sitemap that robots.txt names.
    pub fn sitemap(self) -> Option<&'static str> {
        use HistoryAccess::{Broken, Complete, DatedPaths, LyingDates, Monthly, NewsOnly, Packed, Pagination, Partial};
        match self {
            Complete | Broken | LyingDates | Partial => Some("/sitemap.xml"),
            Monthly | Packed => Some("/sitemap_index.xml"),
            NewsOnly => Some("/news-sitemap.xml"),
            DatedPaths | Pagination => None,
        }
    }

    /// Whether a path is a list of this site, and not an article.
    pub fn is_list(self, target: &str) -> bool {
        self == HistoryAccess::DatedPaths && month_at(target).is_some() || page_at(target).is_some_and(|page| page > 1)
    }
}

/// The month of `/2026/03/` and its page.
fn month_at(target: &str) -> Option<(Date, usize)> {
    let (path, _) = target.split_once('?').unwrap_or((target, ""));
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let [year, month] = segments.as_slice() else { return None };
    let date = Date::new(year.parse().ok().filter(|_| year.len() == 4)?, month.parse().ok()?, 1).ok()?;
    Some((date, number_of_page(target)))
}

/// The page of the front page's list.
fn page_at(target: &str) -> Option<usize> {
    (target.split('?').next() == Some("/")).then(|| number_of_page(target))
}

fn number_of_page(target: &str) -> usize {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    query.split('&').find_map(|pair| pair.strip_prefix("page=")?.parse().ok()).unwrap_or(1)
}

/// The reply to a request for a sitemap or a list; `None` if the site has nothing of the kind at this path.
pub fn reply(world: &World, site: usize, access: HistoryAccess, target: &str) -> Option<Reply> {
    let path = target.split('?').next().unwrap_or(target);
    match (access, path) {
        (HistoryAccess::Monthly | HistoryAccess::Packed, "/sitemap_index.xml") => Some(xml(index(world, site, access))),
        (HistoryAccess::Monthly | HistoryAccess::Packed, _) if path.starts_with("/maps/") => {
            month_map(world, site, access, path)
        }
        (HistoryAccess::NewsOnly, "/news-sitemap.xml") => Some(xml(news(world, site))),
        (_, "/sitemap.xml" | "/sitemap_index.xml" | "/news-sitemap.xml") if access.sitemap() != Some(path) => {
            Some(Reply::short(404))
        }
        (_, "/sitemap.xml") => Some(xml(whole(world, site, access))),
        (HistoryAccess::DatedPaths, _) if month_at(target).is_some() => month_page(world, site, target),
        (HistoryAccess::DatedPaths, "/") => Some(dated_front(world, site)),
        (HistoryAccess::NewsOnly | HistoryAccess::Pagination, "/") => Some(front(world, site, page_at(target)?)),
        _ => None,
    }
}

fn xml(text: String) -> Reply {
    Reply::new(200, "Content-Type: application/xml; charset=utf-8\r\n".to_owned(), text)
}

fn newest(world: &World, site: usize) -> impl Iterator<Item = u64> {
    (0..world.published(site)).rev()
}

fn entry(world: &World, site: usize, number: u64) -> String {
    let article = world.article(site, number, Extent::Head);
    let date = iso_date(article.date, world.profile(site).east);
    format!("<url><loc>{}</loc><lastmod>{date}</lastmod></url>\n", escaped(&article.url))
}

fn urlset(entries: impl Iterator<Item = String>) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    entries.for_each(|entry| out.push_str(&entry));
    out.push_str("</urlset>\n");
    out
}

fn whole(world: &World, site: usize, access: HistoryAccess) -> String {
    let now = iso_date(world.clock.now(), false);
    let url = |number: u64| world.article(site, number, Extent::Head).url;
    match access {
        HistoryAccess::Broken => {
            let mut out = String::from("\u{feff}\n<?xml version=\"1.0\"?><urlset xmlns=\"http://wrong.example/\">\n");
            for number in newest(world, site) {
                // Every third entry is not closed, and no ampersand is escaped.
                let end = if number % 3 == 0 { "" } else { "</url>" };
                let address = url(number);
                let mark = if address.contains('?') { '&' } else { '?' };
                out.push_str(&format!("<url><loc>{address}{mark}utm_source=map&utm_medium=x</loc>{end}\n"));
            }
            out
        }
        HistoryAccess::LyingDates => urlset(
            newest(world, site)
                .map(|number| format!("<url><loc>{}</loc><lastmod>{now}</lastmod></url>\n", escaped(&url(number)))),
        ),
        HistoryAccess::Partial => {
            let is_listed = |number: &u64| Rng::named(&[world.spec.seed, 0x5A3E, site as u64, *number]).chance(70);
            urlset(newest(world, site).filter(is_listed).map(|number| entry(world, site, number)))
        }
        _ => urlset(newest(world, site).map(|number| entry(world, site, number))),
    }
}

/// The numbers of the articles of each month.
fn months(world: &World, site: usize) -> BTreeMap<Date, Vec<u64>> {
    let mut months: BTreeMap<Date, Vec<u64>> = BTreeMap::new();
    for number in newest(world, site) {
        months.entry(day_of(world.date(site, number)).first_of_month()).or_default().push(number);
    }
    months
}

fn index(world: &World, site: usize, access: HistoryAccess) -> String {
    let mut out =
        String::from("<?xml version=\"1.0\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    let end = if access == HistoryAccess::Packed { ".gz" } else { "" };
    for (month, numbers) in months(world, site) {
        let name = format!("/maps/{:04}-{:02}.xml{end}", month.year(), month.month());
        let last = numbers.first().map_or(String::new(), |number| iso_date(world.date(site, *number), false));
        out.push_str(&format!("<sitemap><loc>{}</loc><lastmod>{last}</lastmod></sitemap>\n", world.url(site, &name)));
    }
    out.push_str("</sitemapindex>\n");
    out
}

fn month_map(world: &World, site: usize, access: HistoryAccess, path: &str) -> Option<Reply> {
    let month: Date = format!("{}-01", path.strip_prefix("/maps/")?.get(..7)?).parse().ok()?;
    let numbers = months(world, site).remove(&month)?;
    let text = urlset(numbers.into_iter().map(|number| entry(world, site, number)));
    Some(match access {
        HistoryAccess::Packed => {
            Reply::new(200, "Content-Type: application/gzip\r\n".to_owned(), coding::gzip(text.as_bytes(), 3))
        }
        _ => xml(text),
    })
}

fn news(world: &World, site: usize) -> String {
    let since = world.clock.now().as_second() - NEWS_SECONDS;
    let mut out = String::from(
        "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n",
    );
    for number in newest(world, site).take_while(|number| world.date(site, *number).as_second() >= since) {
        let article = world.article(site, number, Extent::Head);
        out.push_str(&format!(
            "<url><loc>{}</loc><news:news><news:publication><news:name>{}</news:name><news:language>{}</news:language>\
             </news:publication><news:publication_date>{}</news:publication_date><news:title>{}</news:title></news:news></url>\n",
            escaped(&article.url),
            escaped(&world.site_name(site)),
            article.language,
            iso_date(article.date, false),
            escaped(&article.title),
        ));
    }
    out.push_str("</urlset>\n");
    out
}

/// A page that lists articles, with a link to the next page.
fn list(world: &World, site: usize, numbers: &[u64], page: usize, path: &str, more: &str) -> Reply {
    let start = (page.max(1) - 1) * PER_PAGE;
    let shown: Vec<u64> = numbers.iter().copied().skip(start).take(PER_PAGE).collect();
    if shown.is_empty() && page > 1 {
        return Reply::short(404);
    }
    let mut out = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{0}</title></head>\n<body><h1>{0}</h1>\n",
        escaped(&world.site_name(site))
    );
    out.push_str("<nav><a href=\"/about\">About</a> <a href=\"https://elsewhere.example/\">Friends</a></nav>\n<ul>\n");
    for number in shown {
        let article = world.article(site, number, Extent::Head);
        out.push_str(&format!("<li><a href=\"{}\">{}</a></li>\n", escaped(&article.url), escaped(&article.title)));
    }
    out.push_str("</ul>\n");
    if numbers.len() > start + PER_PAGE {
        out.push_str(&format!("<p><a href=\"{path}?page={}\">older</a></p>\n", page + 1));
    }
    out.push_str(&format!("{more}</body></html>\n"));
    Reply::new(200, "Content-Type: text/html; charset=utf-8\r\n".to_owned(), out)
}

fn front(world: &World, site: usize, page: usize) -> Reply {
    let numbers: Vec<u64> = newest(world, site).collect();
    list(world, site, &numbers, page, "/", "")
}

/// The front page of a site with pages of months. It links to the newest month, unless the URLs of articles show how
/// these pages are called.
fn dated_front(world: &World, site: usize) -> Reply {
    let numbers: Vec<u64> = world.listed(site).collect();
    let newest = numbers.first().map(|number| day_of(world.date(site, *number)));
    let link = match newest.filter(|_| world.profile(site).paths != PathStyle::Dated) {
        Some(day) => format!("<p><a href=\"/{:04}/{:02}/\">archive</a></p>\n", day.year(), day.month()),
        None => String::new(),
    };
    list(world, site, &numbers[..numbers.len().min(PER_PAGE)], 1, "/", &link)
}

fn month_page(world: &World, site: usize, target: &str) -> Option<Reply> {
    let (month, page) = month_at(target)?;
    let numbers = months(world, site).remove(&month)?;
    let path = format!("/{:04}/{:02}/", month.year(), month.month());
    Some(list(world, site, &numbers, page, &path, ""))
}
