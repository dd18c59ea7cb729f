//! Prepared pages and feeds, for benchmarks.
//!
//! If the client is measured, the server must not be the bottleneck. A few thousand different pages and the feed of
//! every site are written and compressed once; serving one then only copies two pointers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::page;
use crate::profile::FeedFormat;
use crate::server::coding;
use crate::text::{Lexicon, grammar};
use crate::world::World;

/// An answer, ready to be sent.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The head of the response, from the status line to the empty line.
    pub head: Bytes,
    /// The body under gzip.
    pub body: Bytes,
}

/// A feed at a given number of published articles.
#[derive(Debug)]
struct PreparedFeed {
    format: FeedFormat,
    published: u64,
    feed: Prepared,
}

/// All prepared answers.
#[derive(Debug)]
pub struct Pool {
    pages: Vec<Prepared>,
    feeds: Vec<Mutex<Vec<PreparedFeed>>>,
}

impl Pool {
    /// Writes the pages, on as many threads as serve later.
    pub fn new(world: &World, page_bytes: usize) -> Self {
        let count = world.spec.page_pool.clamp(1, world.spec.sites.max(1) * 1000);
        let threads = world.spec.threads.max(1);
        let share = count.div_ceil(threads);
        let lexicons = lexicons(world);
        let lexicons = &lexicons;
        let mut pages = Vec::with_capacity(count);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|thread| {
                    let range = thread * share..count.min((thread + 1) * share);
                    scope.spawn(move || {
                        range.map(|number| prepare_page(world, number, page_bytes, lexicons)).collect::<Vec<_>>()
                    })
                })
                .collect();
            for worker in workers {
                pages.extend(worker.join().expect("writing a page does not panic"));
            }
        });
        Pool { pages, feeds: (0..world.spec.sites).map(|_| Mutex::default()).collect() }
    }

    /// The page for this article, always the same.
    pub fn page(&self, site: usize, number: u64) -> &Prepared {
        let spread = (site as u64).wrapping_mul(31).wrapping_add(number.wrapping_mul(7919));
        &self.pages[(spread % self.pages.len() as u64) as usize]
    }

    /// The feed of a site, prepared by `prepare` if it is new or has changed.
    pub fn feed(
        &self,
        site: usize,
        format: FeedFormat,
        published: u64,
        prepare: impl FnOnce() -> Prepared,
    ) -> Prepared {
        let mut feeds = self.feeds[site].lock().unwrap_or_else(PoisonError::into_inner);
        feeds.retain(|known| known.published == published);
        if let Some(known) = feeds.iter().find(|known| known.format == format) {
            return known.feed.clone();
        }
        let feed = prepare();
        feeds.push(PreparedFeed { format, published, feed: feed.clone() });
        feed
    }
}

fn lexicons(world: &World) -> HashMap<&'static str, Lexicon> {
    let languages = (0..world.spec.sites).map(|site| world.profile(site).language);
    let mut lexicons = HashMap::new();
    for language in languages {
        lexicons.entry(language).or_insert_with(|| Lexicon::new(grammar(language)));
    }
    lexicons
}

fn prepare_page(
    world: &World,
    number: usize,
    page_bytes: usize,
    lexicons: &HashMap<&'static str, Lexicon>,
) -> Prepared {
    let site = number % world.spec.sites;
    let lexicon = &lexicons[world.profile(site).language];
    let html = page::write_padded(world, site, number as u64, page_bytes, lexicon);
    let charset = world.profile(site).charset;
    let body = coding::gzip(&charset.encode(&html).0, 6);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset={}\r\nContent-Encoding: gzip\r\n\
         Vary: Accept-Encoding\r\nContent-Length: {}\r\n\r\n",
        charset.name().to_lowercase(),
        body.len()
    );
    Prepared { head: head.into(), body: body.into() }
}
