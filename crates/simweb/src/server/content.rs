//! The content of a healthy site: robots.txt, feeds, pages, validators.

use encoding_rs::Encoding;

use super::Shared;
use super::head::Head;
use super::pool::Prepared;
use super::reply::Reply;
use super::target::RequestTarget;
use crate::fault::Fault;
use crate::hiding::{COMMENTS, Hiding, INTERFACE, OEMBED, OVERVIEW};
use crate::markup::{escaped, http_date, iso_date};
use crate::profile::{FeedFormat, Validators};
use crate::rng::mix;
use crate::state::Condition;
use crate::world::{Extent, World};

pub fn robots(text: String) -> Reply {
    Reply::new(200, "Content-Type: text/plain; charset=utf-8\r\n".to_string(), text)
}

pub fn tdmrep(condition: &Condition) -> Reply {
    if !condition.has(Fault::TdmReserved) {
        return Reply::short(404);
    }
    let body = "[{\"location\": \"/\", \"tdm-reservation\": 1}]\n";
    Reply::new(200, "Content-Type: application/json\r\n".to_string(), body)
}

pub fn sitemap(world: &World, site: usize) -> Reply {
    const MAX_ENTRIES: usize = 1000;
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for number in (0..world.published(site)).rev().take(MAX_ENTRIES) {
        let article = world.article(site, number, Extent::Head);
        let date = iso_date(article.date, world.profile(site).east);
        out.push_str(&format!("<url><loc>{}</loc><lastmod>{date}</lastmod></url>\n", escaped(&article.url)));
    }
    if let Some(hidden) = world.hidden(site)
        && hidden.way == Hiding::Sitemap
    {
        out.push_str(&format!("<url><loc>{}</loc></url>\n", escaped(&world.url(site, &hidden.target))));
    }
    out.push_str("</urlset>\n");
    Reply::new(200, "Content-Type: application/xml; charset=utf-8\r\n".to_string(), out)
}

/// The additional content of a site that hides its feed: the overview and the decoys.
pub fn trap(world: &World, site: usize, target: &str) -> Option<Reply> {
    if let Some(url) = world.elsewhere(target.split('?').next().unwrap_or(target)) {
        return Some(Reply::redirect(301, &url));
    }
    let hidden = world.hidden(site)?;
    let bare = target.split('?').next().unwrap_or(target);
    let reply = |kind: &str, body: String| Some(Reply::new(200, format!("Content-Type: {kind}\r\n"), body));
    let name = escaped(&world.site_name(site));
    let article = escaped(&world.article(site, 0, Extent::Head).url);
    if hidden.target.strip_suffix('/').is_some_and(|without| without == target && !without.is_empty()) {
        // Servers redirect to the URL with the final slash.
        return Some(Reply::redirect(301, &hidden.target));
    }
    match bare {
        OVERVIEW if hidden.way == Hiding::Overview => {
            let feed = world.url(site, &hidden.target);
            let body =
                format!("<!DOCTYPE html>\n<html><body><h1>RSS</h1><a href=\"{feed}\">{name}</a></body></html>\n");
            reply("text/html; charset=utf-8", body)
        }
        COMMENTS => reply(
            "application/rss+xml",
            format!(
                "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>Comments for {name}</title>\
                 <item><title>Re</title><link>{article}</link></item></channel></rss>\n"
            ),
        ),
        OEMBED => reply("application/json", format!("{{\"version\":\"1.0\",\"title\":\"{name}\",\"html\":\"\"}}\n")),
        INTERFACE => reply(
            "application/json",
            format!("[{{\"id\":1,\"link\":\"{article}\",\"title\":{{\"rendered\":\"x\"}}}}]\n"),
        ),
        _ => None,
    }
}

pub fn feed(
    shared: &Shared,
    head: &Head<'_>,
    site: usize,
    format: FeedFormat,
    charset: Option<&'static Encoding>,
) -> Reply {
    let world = &shared.world;
    let published = world.published(site);
    let newest = published.checked_sub(1).map_or(world.spec.start, |number| world.date(site, number));
    let restless = world.revisions.is_restless(site).then(|| world.clock.now());
    let newest = restless.or(world.revisions.updated(site, None)).map_or(newest, |updated| updated.max(newest));
    let changes = world.revisions.changes(site, None) ^ restless.map_or(0, |now| now.as_millisecond() as u64);
    let tag = mix(world.spec.seed ^ mix(site as u64) ^ mix(published << 8 | format as u64) ^ mixed(changes));
    let validators = validators(world, site, tag, newest);
    if fresh(head, &validators) {
        return Reply::new(304, validators.lines(), "");
    }
    let feed = crate::feed::write(world, site, format);
    let mut reply = if format == FeedFormat::Json {
        Reply::new(200, format!("Content-Type: {}\r\n", format.media_type()), feed)
    } else {
        text(shared, site, format.media_type(), &feed, charset)
    };
    reply.headers.push_str(&validators.lines());
    reply
}

pub fn page(
    shared: &Shared,
    asked: &RequestTarget<'_>,
    site: usize,
    number: u64,
    charset: Option<&'static Encoding>,
) -> Reply {
    let world = &shared.world;
    let changes = world.revisions.changes(site, Some(number));
    let tag = mix(world.spec.seed ^ mix(site as u64) ^ mix(number) ^ 0x9A6E ^ mixed(changes));
    let updated = world.revisions.updated(site, Some(number)).unwrap_or_else(|| world.date(site, number));
    let validators = validators(world, site, tag, updated);
    if fresh(asked.head, &validators) {
        return Reply::new(304, validators.lines(), "");
    }
    if let Some(pool) = &shared.pool {
        return pooled(pool.page(site, number), asked.head);
    }
    let html = crate::page::write(world, &world.article(site, number, Extent::Whole));
    let mut reply = text(shared, site, "text/html", &html, charset);
    reply.headers.push_str(&validators.lines());
    reply
}

/// The part of a tag that changes make; 0 without any.
fn mixed(changes: u64) -> u64 {
    if changes == 0 { 0 } else { mix(changes) }
}

/// A prepared page on the slow path, for sites with faults and unusual clients.
fn pooled(page: &Prepared, head: &Head<'_>) -> Reply {
    // The page may have been written for another site, so only its own head has its character set.
    let prepared = String::from_utf8_lossy(&page.head);
    let content_type = prepared.lines().find(|line| line.starts_with("Content-Type"));
    let mut headers = format!("{}\r\n", content_type.expect("a prepared head names its type"));
    if head.accepts("gzip") {
        headers.push_str("Content-Encoding: gzip\r\n");
        return Reply::new(200, headers, page.body.clone());
    }
    let mut html = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&page.body[..]);
    std::io::Read::read_to_end(&mut decoder, &mut html).expect("the pool holds what we compressed");
    Reply::new(200, headers, html)
}

/// A text in the character set of its site, or in a wrong one.
pub fn text(
    shared: &Shared,
    site: usize,
    media_type: &str,
    text: &str,
    unannounced: Option<&'static Encoding>,
) -> Reply {
    let profile = shared.world.profile(site);
    let body = unannounced.unwrap_or(profile.charset).encode(text).0.into_owned();
    let header = if unannounced.is_some() {
        format!("Content-Type: {media_type}; charset=utf-8\r\n")
    } else if profile.charset_in_header {
        format!("Content-Type: {media_type}; charset={}\r\n", profile.charset.name().to_lowercase())
    } else {
        format!("Content-Type: {media_type}\r\n")
    };
    Reply::new(200, header, body)
}

/// The validators of a resource.
struct Marks {
    etag: Option<String>,
    last_modified: Option<String>,
}

impl Marks {
    fn lines(&self) -> String {
        let mut lines = String::new();
        if let Some(tag) = &self.etag {
            lines.push_str(&format!("ETag: {tag}\r\n"));
        }
        if let Some(date) = &self.last_modified {
            lines.push_str(&format!("Last-Modified: {date}\r\n"));
        }
        lines
    }
}

fn validators(world: &World, site: usize, tag: u64, date: jiff::Timestamp) -> Marks {
    let kind = world.profile(site).validators;
    // Weak tags are as common as strong ones, and a client must send both back unchanged.
    let weak = if tag.is_multiple_of(2) { "W/" } else { "" };
    Marks {
        etag: (kind != Validators::LastModified).then(|| format!("{weak}\"{tag:016x}\"")),
        last_modified: (kind != Validators::Etag).then(|| http_date(date)),
    }
}

/// Whether the copy of the client is fresh. The entity tag takes precedence, as in RFC 9110.
fn fresh(head: &Head<'_>, marks: &Marks) -> bool {
    if let Some(known) = head.if_none_match {
        let Some(tag) = &marks.etag else { return false };
        let strong = tag.trim_start_matches("W/");
        return known.split(',').any(|one| one.trim() == "*" || one.trim().trim_start_matches("W/") == strong);
    }
    // Any other date counts as old; clients send back the date they received.
    head.if_modified_since.is_some() && head.if_modified_since == marks.last_modified.as_deref()
}
