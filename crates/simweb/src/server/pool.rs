//! Pages made beforehand, for benchmarks.
//!
//! When the client is to be measured, the server must not be what is slow. A few thousand different
//! pages are written and compressed once; serving one is then a matter of two pointers.

use bytes::Bytes;

use crate::page;
use crate::server::coding;
use crate::world::World;

/// One page, ready to be sent.
#[derive(Debug)]
pub struct Prepared {
    /// The head of the answer, from the status line to the empty line.
    pub head: Bytes,
    /// The body under gzip.
    pub body: Bytes,
}

/// All prepared pages.
#[derive(Debug)]
pub struct Pool {
    pages: Vec<Prepared>,
}

impl Pool {
    /// Writes the pages, on as many threads as serve later.
    pub fn new(world: &World, page_bytes: usize) -> Self {
        let count = world
            .spec
            .page_pool
            .clamp(1, world.spec.sites.max(1) * 1000);
        let threads = world.spec.threads.max(1);
        let share = count.div_ceil(threads);
        let mut pages = Vec::with_capacity(count);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|thread| {
                    let range = thread * share..count.min((thread + 1) * share);
                    scope.spawn(move || {
                        range
                            .map(|number| prepare(world, number, page_bytes))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            for worker in workers {
                pages.extend(worker.join().expect("writing a page does not panic"));
            }
        });
        Pool { pages }
    }

    /// The page that always stands for this article.
    pub fn page(&self, site: usize, number: u64) -> &Prepared {
        let spread = (site as u64)
            .wrapping_mul(31)
            .wrapping_add(number.wrapping_mul(7919));
        &self.pages[(spread % self.pages.len() as u64) as usize]
    }
}

fn prepare(world: &World, number: usize, page_bytes: usize) -> Prepared {
    let site = number % world.spec.sites;
    let html = page::write_padded(world, site, number as u64, page_bytes);
    let body = coding::gzip(html.as_bytes(), 6);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\
         ETag: \"pool-{number}\"\r\nVary: Accept-Encoding\r\n\r\n",
        body.len()
    );
    Prepared {
        head: head.into(),
        body: body.into(),
    }
}
