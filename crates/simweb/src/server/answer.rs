//! What a host answers: which content, under which head, spoilt by which fault.

use std::time::Duration;

use bytes::Bytes;
use encoding_rs::Encoding;

use super::Shared;
use super::coding;
use super::deliver::head_with_length;
use super::head::Head;
use super::pool::Prepared;
use crate::fault::{Fault, Part};
use crate::feed;
use crate::log::{Host, Kind};
use crate::markup::{escaped, http_date, iso_date};
use crate::page;
use crate::profile::{FeedFormat, INTERNAL_HOST, SHARED_HOST, Validators, legacy_charset};
use crate::rng::mix;
use crate::state::Condition;
use crate::world::{Extent, World};

/// How many times [`Fault::RedirectChain`] redirects.
const CHAIN_HOPS: u32 = 5;

/// How many items the feed of [`Fault::HugeFeed`] has.
const HUGE_FEED_ITEMS: usize = 50_000;

/// A request that has been understood.
pub struct Asked<'a> {
    pub host: Host,
    pub head: &'a Head<'a>,
    /// The path without the detours of redirects.
    pub path: &'a str,
    pub kind: Kind,
    detour: Detour,
    /// The number of the article asked for, if it is one.
    number: Option<u64>,
    /// The format of the feed asked for, if it is one.
    format: Option<FeedFormat>,
    /// On the shared host: the site whose article is asked for.
    origin: Option<usize>,
}

/// How often a redirect has already been followed, as its path tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detour {
    None,
    Moved,
    Hop(u32),
}

/// How an answer is sent.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// As it should be, with its length.
    Whole,
    /// In chunks.
    Chunked,
    /// Never.
    Hang,
    /// By closing the connection.
    Cut,
    /// Byte by byte.
    Drip,
    /// Without end.
    Endless,
    /// Up to the middle.
    Truncated,
    /// As a stream that expands to this many bytes.
    Bomb(u64),
    /// With a head made beforehand.
    Prepared(Bytes),
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// Header lines, each with its line end; length and connection are added when it is sent.
    pub headers: String,
    pub body: Bytes,
    pub delivery: Delivery,
    /// Whether the connection ends with this answer.
    pub close: bool,
    /// What the answer asks its reader to wait.
    pub retry_after: Option<Duration>,
}

impl Reply {
    fn new(status: u16, headers: String, body: impl Into<Bytes>) -> Self {
        Reply { status, headers, body: body.into(), delivery: Delivery::Whole, close: false, retry_after: None }
    }

    /// A short page that only says its status.
    fn short(status: u16) -> Self {
        let body = format!("<!DOCTYPE html><title>{status}</title><h1>{status} {}</h1>\n", reason(status));
        Reply::new(status, "Content-Type: text/html; charset=utf-8\r\n".to_string(), body)
    }

    fn redirect(status: u16, location: &str) -> Self {
        let mut reply = Reply::short(status);
        reply.headers.push_str(&format!("Location: {location}\r\n"));
        reply
    }

    fn sent(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    fn waiting(mut self, wait: Duration) -> Self {
        self.headers.push_str(&format!("Retry-After: {}\r\n", wait.as_secs()));
        self.retry_after = Some(wait);
        self
    }
}

/// The words that go with a status.
pub fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Whatever",
    }
}

impl<'a> Asked<'a> {
    /// Finds out what a request is about.
    pub fn new(shared: &Shared, host: Host, head: &'a Head<'a>) -> Self {
        let (path, detour) = strip_detour(head.target);
        let mut asked = Asked { host, head, path, kind: Kind::Other, detour, number: None, format: None, origin: None };
        let bare = path.split('?').next().unwrap_or(path);
        asked.format = FeedFormat::ALL.into_iter().find(|format| format.path() == bare);
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

    fn part(&self) -> Option<Part> {
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

/// Answers a request.
pub fn answer(shared: &Shared, asked: &Asked<'_>) -> Reply {
    if !matches!(asked.head.method, "GET" | "HEAD") {
        return Reply::short(405);
    }
    match asked.host {
        Host::Site(site) => shared.conditions.with(site, |condition| answer_as_site(shared, asked, site, condition)),
        Host::Shared => match (asked.kind, asked.origin, asked.number) {
            (Kind::Robots, _, _) => robots_reply("User-agent: *\nDisallow:\n".to_string()),
            (_, Some(origin), Some(number)) => page_reply(shared, asked, origin, number, None),
            _ => Reply::short(404),
        },
        Host::Internal => {
            let body = "<!DOCTYPE html><title>intranet</title><p>This page is for the inside of a network.\n";
            Reply::new(200, "Content-Type: text/html; charset=utf-8\r\n".to_string(), body)
        }
    }
}

fn answer_as_site(shared: &Shared, asked: &Asked<'_>, site: usize, condition: &Condition) -> Reply {
    // The quick way of the benchmark mode: nothing is wrong here, and the page lies ready.
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
        None => condition.faults_on(Part::Everything).collect(),
    };
    for fault in &faults {
        if let Some(reply) = instead(shared, asked, site, *fault) {
            return reply;
        }
    }
    let charset = faults
        .contains(&Fault::WrongCharset)
        .then(|| legacy_charset(shared.world.profile(site).language, true))
        .flatten();
    let mut reply = match (asked.kind, asked.number) {
        (Kind::Robots, _) => {
            let sitemap = shared.world.url(site, "/sitemap.xml");
            robots_reply(condition.robots_text(&sitemap, shared.world.spec.crawl_delay))
        }
        (Kind::Tdmrep, _) => tdmrep_reply(condition),
        (Kind::Sitemap, _) => sitemap_reply(&shared.world, site),
        (Kind::Feed, _) => match asked.format {
            Some(format) => feed_reply(shared, asked.head, site, format, charset),
            None => Reply::short(404),
        },
        (Kind::Page, Some(number)) => page_reply(shared, asked, site, number, charset),
        _ if asked.path == "/" => {
            let html = page::write_home(&shared.world, site);
            text_reply(shared, site, "text/html", &html, charset)
        }
        _ => Reply::short(404),
    };
    for fault in &faults {
        spoil(&mut reply, *fault);
    }
    if reply.status == 200 {
        encode(&mut reply, asked.head, &faults);
    }
    reply
}

/// The answer of a fault that leaves nothing of the content.
fn instead(shared: &Shared, asked: &Asked<'_>, site: usize, fault: Fault) -> Option<Reply> {
    let world = &shared.world;
    let (target, hop) = match asked.detour {
        Detour::Hop(hop) => (asked.path, hop),
        _ => (asked.path, 0),
    };
    let reply = match fault {
        Fault::Hang => Reply::short(200).sent(Delivery::Hang),
        Fault::Cut => Reply::short(200).sent(Delivery::Cut),
        Fault::Error => Reply::short(500),
        Fault::TooMany => Reply::short(429).waiting(world.spec.retry_after),
        Fault::Unavailable => Reply::short(503).waiting(world.spec.retry_after),
        Fault::NotFound => Reply::short(404),
        Fault::Gone => Reply::short(410),
        Fault::Moved if asked.detour == Detour::None => Reply::redirect(301, &format!("/moved{target}")),
        Fault::RedirectChain if hop < CHAIN_HOPS => Reply::redirect(302, &format!("/hop/{}{target}", hop + 1)),
        Fault::RedirectLoop => Reply::redirect(302, &format!("/hop/{}{target}", (hop + 1) % 3)),
        Fault::RedirectPrivate => Reply::redirect(302, &private_location(world, asked.number.unwrap_or(0))),
        Fault::RedirectFile => Reply::redirect(302, "file:///etc/hostname"),
        Fault::RedirectShared => {
            Reply::redirect(302, &format!("http://{SHARED_HOST}:{}/from/{site}{target}", world.port))
        }
        Fault::Endless => Reply::new(200, "Content-Type: text/html; charset=utf-8\r\n".to_string(), "<p>and so on\n")
            .sent(Delivery::Endless),
        Fault::Video => Reply::new(200, "Content-Type: video/mp4\r\n".to_string(), &b"\0\0\0\x18ftypmp42"[..])
            .sent(Delivery::Endless),
        Fault::Empty => Reply::new(200, "Content-Type: text/html; charset=utf-8\r\n".to_string(), ""),
        Fault::GzipBomb => {
            let headers = "Content-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\n".to_string();
            Reply::new(200, headers, "").sent(Delivery::Bomb(world.spec.bomb_bytes))
        }
        Fault::HugeFeed if asked.kind == Kind::Feed => {
            let headers = "Content-Type: application/rss+xml; charset=utf-8\r\n".to_string();
            Reply::new(200, headers, feed::write_huge(world, site, HUGE_FEED_ITEMS))
        }
        Fault::NotXml => {
            let body = "<!DOCTYPE html><html><head><title>Oops</title></head><body><p>This page & that page<br>moved.</body></html>\n";
            Reply::new(200, "Content-Type: text/html; charset=utf-8\r\n".to_string(), body)
        }
        _ => return None,
    };
    Some(reply)
}

/// Addresses that no public page should lead to, in turn.
fn private_location(world: &World, number: u64) -> String {
    match number % 4 {
        0 => format!("http://{INTERNAL_HOST}:{}/intranet/{number}", world.port),
        1 => "http://10.0.0.1/admin".to_string(),
        2 => "http://169.254.169.254/latest/meta-data/".to_string(),
        _ => format!("http://localhost:{}/intranet/{number}", world.port),
    }
}

/// Changes a good answer in the way of a fault.
fn spoil(reply: &mut Reply, fault: Fault) {
    match fault {
        Fault::TdmReserved => reply.headers.push_str("tdm-reservation: 1\r\n"),
        Fault::XRobots => reply.headers.push_str("X-Robots-Tag: noindex, noarchive\r\n"),
        Fault::HugeHeaders => {
            for number in 0..400 {
                reply.headers.push_str(&format!("X-Padding-{number}: {}\r\n", "x".repeat(1000)));
            }
        }
        Fault::Close => reply.close = true,
        Fault::Chunked if reply.status == 200 => reply.delivery = Delivery::Chunked,
        Fault::Drip if reply.status == 200 => reply.delivery = Delivery::Drip,
        Fault::Truncated if reply.status == 200 => reply.delivery = Delivery::Truncated,
        _ => {}
    }
}

/// Compresses the body if the client takes it.
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

fn robots_reply(text: String) -> Reply {
    Reply::new(200, "Content-Type: text/plain; charset=utf-8\r\n".to_string(), text)
}

fn tdmrep_reply(condition: &Condition) -> Reply {
    if !condition.has(Fault::TdmReserved) {
        return Reply::short(404);
    }
    let body = "[{\"location\": \"/\", \"tdm-reservation\": 1}]\n";
    Reply::new(200, "Content-Type: application/json\r\n".to_string(), body)
}

fn sitemap_reply(world: &World, site: usize) -> Reply {
    const MAX_ENTRIES: usize = 1000;
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for number in (0..world.published(site)).rev().take(MAX_ENTRIES) {
        let article = world.article(site, number, Extent::Head);
        let date = iso_date(article.date, world.profile(site).east);
        out.push_str(&format!("<url><loc>{}</loc><lastmod>{date}</lastmod></url>\n", escaped(&article.url)));
    }
    out.push_str("</urlset>\n");
    Reply::new(200, "Content-Type: application/xml; charset=utf-8\r\n".to_string(), out)
}

/// The feed of a site as everybody gets it who accepts gzip and has no copy.
pub fn prepare_feed(shared: &Shared, site: usize, format: FeedFormat) -> Prepared {
    let head = Head { accept_encoding: "gzip", ..Head::default() };
    let mut reply = feed_reply(shared, &head, site, format, None);
    encode(&mut reply, &head, &[]);
    Prepared { head: head_with_length(&reply, reply.body.len() as u64), body: reply.body }
}

fn feed_reply(
    shared: &Shared,
    head: &Head<'_>,
    site: usize,
    format: FeedFormat,
    charset: Option<&'static Encoding>,
) -> Reply {
    let world = &shared.world;
    let published = world.published(site);
    let newest = published.checked_sub(1).map_or(world.spec.start, |number| world.date(site, number));
    let tag = mix(world.spec.seed ^ mix(site as u64) ^ mix(published << 8 | format as u64));
    let validators = validators(world, site, tag, newest);
    if fresh(head, &validators) {
        return Reply::new(304, validators.lines(), "");
    }
    let text = feed::write(world, site, format);
    let mut reply = if format == FeedFormat::Json {
        Reply::new(200, format!("Content-Type: {}\r\n", format.media_type()), text)
    } else {
        text_reply(shared, site, format.media_type(), &text, charset)
    };
    reply.headers.push_str(&validators.lines());
    reply
}

fn page_reply(
    shared: &Shared,
    asked: &Asked<'_>,
    site: usize,
    number: u64,
    charset: Option<&'static Encoding>,
) -> Reply {
    let world = &shared.world;
    let tag = mix(world.spec.seed ^ mix(site as u64) ^ mix(number) ^ 0x9A6E);
    let validators = validators(world, site, tag, world.date(site, number));
    if fresh(asked.head, &validators) {
        return Reply::new(304, validators.lines(), "");
    }
    if let Some(pool) = &shared.pool {
        return pooled_reply(pool.page(site, number), asked.head);
    }
    let html = page::write(world, &world.article(site, number, Extent::Whole));
    let mut reply = text_reply(shared, site, "text/html", &html, charset);
    reply.headers.push_str(&validators.lines());
    reply
}

/// A prepared page on the slow way, because something is odd about the site or the client.
fn pooled_reply(page: &Prepared, head: &Head<'_>) -> Reply {
    let mut headers = "Content-Type: text/html; charset=utf-8\r\n".to_string();
    if head.accepts("gzip") {
        headers.push_str("Content-Encoding: gzip\r\n");
        return Reply::new(200, headers, page.body.clone());
    }
    let mut html = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&page.body[..]);
    std::io::Read::read_to_end(&mut decoder, &mut html).expect("the pool holds what we compressed");
    Reply::new(200, headers, html)
}

/// A text in the character set of its site, or in one that nobody announced.
fn text_reply(
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

/// The marks by which a client can tell whether its copy is still good.
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
    // Weak tags are as common as strong ones, and a client has to send both back as they came.
    let weak = if tag.is_multiple_of(2) { "W/" } else { "" };
    Marks {
        etag: (kind != Validators::LastModified).then(|| format!("{weak}\"{tag:016x}\"")),
        last_modified: (kind != Validators::Etag).then(|| http_date(date)),
    }
}

/// Whether the client's copy is still good. The tag wins where there is one, as HTTP asks.
fn fresh(head: &Head<'_>, marks: &Marks) -> bool {
    if let Some(known) = head.if_none_match {
        let Some(tag) = &marks.etag else { return false };
        let strong = tag.trim_start_matches("W/");
        return known.split(',').any(|one| one.trim() == "*" || one.trim().trim_start_matches("W/") == strong);
    }
    // A date that differs in any way is treated as old; clients send back what they were given.
    head.if_modified_since.is_some() && head.if_modified_since == marks.last_modified.as_deref()
}
