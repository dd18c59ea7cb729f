//! Creates the response to a request: its content, faults and content coding.

use super::deliver::head_with_length;
use super::head::Head;
use super::pool::Prepared;
use super::reply::{Delivery, Reply};
use super::target::RequestTarget;
use super::{Shared, coding, content, misbehave};
use crate::fault::{Fault, SitePart};
use crate::history;
use crate::log::{Host, RequestKind};
use crate::markup::http_date;
use crate::page;
use crate::profile::{FeedFormat, legacy_charset};
use crate::state::Condition;

/// Answers a request.
pub fn answer(shared: &Shared, asked: &RequestTarget<'_>) -> Reply {
    if !matches!(asked.head.method, "GET" | "HEAD") {
        return Reply::short(405);
    }
    let mut reply = match asked.host {
        Host::Site(site) => shared.conditions.with(site, |condition| answer_as_site(shared, asked, site, condition)),
        Host::Shared => match (asked.kind, asked.origin, asked.number) {
            (RequestKind::Robots, _, _) => content::robots("User-agent: *\nDisallow:\n".to_string()),
            (_, Some(origin), Some(number)) => content::page(shared, asked, origin, number, None),
            _ => Reply::short(404),
        },
        Host::Internal => {
            let body = "<!DOCTYPE html><title>intranet</title><p>This page is for the inside of a network.\n";
            Reply::new(200, "Content-Type: text/html; charset=utf-8\r\n".to_string(), body)
        }
    };
    // A server with a clock must send the date; this one uses the publishing clock.
    if !matches!(reply.delivery, Delivery::Prepared(_)) {
        let now = http_date(shared.world.clock.now());
        reply.headers.push_str(&format!("Date: {now}\r\n"));
    }
    reply
}

fn answer_as_site(shared: &Shared, asked: &RequestTarget<'_>, site: usize, condition: &Condition) -> Reply {
    // The fast path of the benchmark mode: a healthy site and a prepared page.
    if condition.is_plain()
        && let (Some(pool), Some(number)) = (&shared.pool, asked.number)
        && asked.head.accepts("gzip")
        && !asked.head.conditional()
    {
        let page = pool.page(site, number);
        return Reply::new(200, String::new(), page.body.clone()).sent(Delivery::Prepared(page.head.clone()));
    }
    if condition.is_plain()
        && let (Some(pool), Some(format)) = (&shared.pool, asked.format)
        && asked.head.accepts("gzip")
        && !asked.head.conditional()
    {
        let published = shared.world.published(site);
        let feed = pool.feed(site, format, published, || prepare_feed(shared, site, format));
        return Reply::new(200, String::new(), feed.body).sent(Delivery::Prepared(feed.head));
    }
    let faults: Vec<Fault> = match asked.part() {
        Some(part) => condition.faults_on(part).collect(),
        None => condition.faults_on(SitePart::Everything).collect(),
    };
    for fault in &faults {
        if let Some(reply) = misbehave::instead(shared, asked, site, *fault) {
            return reply;
        }
    }
    let charset = faults
        .contains(&Fault::WrongCharset)
        .then(|| legacy_charset(shared.world.profile(site).language, true))
        .flatten();
    let access = shared.world.history(site).filter(|_| asked.number.is_none());
    let listed = access.and_then(|access| history::reply(&shared.world, site, access, asked.path));
    let mut reply = listed.unwrap_or_else(|| match (asked.kind, asked.number) {
        (RequestKind::Robots, _) => robots(shared, site, condition),
        (RequestKind::Tdmrep, _) => content::tdmrep(condition),
        (RequestKind::Sitemap, _) => content::sitemap(&shared.world, site),
        (RequestKind::Feed, _) => match asked.format {
            Some(format) => content::feed(shared, asked.head, site, format, charset),
            None => Reply::short(404),
        },
        (RequestKind::Page, Some(number)) => content::page(shared, asked, site, number, charset),
        _ if asked.path == "/" => {
            let html = match condition.has(Fault::RedirectHome) {
                true => page::write_front(&shared.world, site),
                false => page::write_home(&shared.world, site),
            };
            content::text(shared, site, "text/html", &html, charset)
        }
        _ => content::trap(&shared.world, site, asked.path).unwrap_or_else(|| Reply::short(404)),
    });
    for fault in &faults {
        misbehave::spoil(&mut reply, *fault);
    }
    if reply.status == 200 {
        encode(&mut reply, asked.head, &faults);
    }
    reply
}

fn robots(shared: &Shared, site: usize, condition: &Condition) -> Reply {
    let path = shared.world.history(site).map_or(Some("/sitemap.xml"), |access| access.sitemap());
    let sitemap = path.map(|path| shared.world.url(site, path));
    content::robots(condition.robots_text(sitemap.as_deref(), shared.world.spec.crawl_delay))
}

/// The feed of a site for clients that accept gzip and have no copy.
pub fn prepare_feed(shared: &Shared, site: usize, format: FeedFormat) -> Prepared {
    let head = Head { accept_encoding: "gzip", ..Head::default() };
    let mut reply = content::feed(shared, &head, site, format, None);
    encode(&mut reply, &head, &[]);
    Prepared { head: head_with_length(&reply, reply.body.len() as u64), body: reply.body }
}

/// Compresses the body if the client accepts it.
fn encode(reply: &mut Reply, head: &Head<'_>, faults: &[Fault]) {
    const WORTH_BYTES: usize = 256;
    let (coding, body) = if faults.contains(&Fault::BrokenGzip) {
        ("gzip", coding::broken_gzip(&reply.body))
    } else if reply.headers.contains("Content-Encoding") || reply.body.len() < WORTH_BYTES {
        return;
    } else if faults.contains(&Fault::Brotli) && head.accepts("br") {
        ("br", coding::brotli(&reply.body))
    } else if faults.contains(&Fault::Zstd) && head.accepts("zstd") {
        ("zstd", coding::zstd(&reply.body))
    } else if head.accepts("gzip") {
        ("gzip", coding::gzip(&reply.body, 3))
    } else {
        return;
    };
    reply.headers.push_str(&format!("Content-Encoding: {coding}\r\nVary: Accept-Encoding\r\n"));
    reply.body = body.into();
}
