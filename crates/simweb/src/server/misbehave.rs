//! The effects of faults on responses.

use super::reply::{Delivery, Reply};
use super::target::{Detour, RequestTarget};
use super::{Shared, content};
use crate::fault::Fault;
use crate::feed;
use crate::log::RequestKind;
use crate::page;
use crate::profile::{INTERNAL_HOST, SHARED_HOST};
use crate::world::{Extent, World};

/// The number of redirects of [`Fault::RedirectChain`].
const CHAIN_HOPS: u32 = 5;

/// The number of items in the feed of [`Fault::HugeFeed`].
const HUGE_FEED_ITEMS: usize = 50_000;

/// The response of a fault that replaces the content.
pub fn instead(shared: &Shared, asked: &RequestTarget<'_>, site: usize, fault: Fault) -> Option<Reply> {
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
        Fault::Forbidden => Reply::short(403),
        Fault::RedirectHome => Reply::redirect(302, "/"),
        Fault::ConsentWall => html(page::CONSENT_WALL.to_owned()),
        Fault::SoftNotFound => html(page::write_soft_404(asked.number.unwrap_or(0))),
        Fault::Stub => {
            let stub = page::write_stub(world, world.article(site, asked.number?, Extent::Whole));
            content::text(shared, site, "text/html", &stub, None)
        }
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
        Fault::HugeFeed if asked.kind == RequestKind::Feed => {
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

fn html(body: String) -> Reply {
    Reply::new(200, "Content-Type: text/html; charset=utf-8\r\n".to_string(), body)
}

/// Private addresses that no public page should lead to, in turn.
fn private_location(world: &World, number: u64) -> String {
    match number % 4 {
        0 => format!("http://{INTERNAL_HOST}:{}/intranet/{number}", world.port),
        1 => "http://10.0.0.1/admin".to_string(),
        2 => "http://169.254.169.254/latest/meta-data/".to_string(),
        _ => format!("http://localhost:{}/intranet/{number}", world.port),
    }
}

/// Modifies a response according to a fault.
pub fn spoil(reply: &mut Reply, fault: Fault) {
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
