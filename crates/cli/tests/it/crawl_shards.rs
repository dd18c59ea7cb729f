//! Crawls on several machines: three homes that exchange links as files do the work of one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tidings_simweb::Spec;

use crate::support::Corpus;

/// A request: host and path.
type Asked = (String, String);

/// Sites at loopback addresses, and names that share one address, with links and redirects among all of them.
struct LinkedSites {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// Sites at addresses of their own, and sites that share the address 127.0.0.1.
const ADDRESSES: usize = 9;
const NAMES: usize = 4;

fn host(site: usize) -> String {
    match site % (ADDRESSES + NAMES) {
        site if site < ADDRESSES => format!("127.1.4.{}", site + 1),
        site => format!("site{}.localhost", site - ADDRESSES),
    }
}

/// The body of a page, or the target of a redirect.
enum Reply {
    Page(String),
    Moved(String),
    Missing,
}

fn reply(port: u16, asked: &str, path: &str) -> Reply {
    let Some(site) = (0..ADDRESSES + NAMES).find(|site| host(*site) == asked) else { return Reply::Missing };
    let at = |site: usize, path: &str| format!("http://{}:{port}{path}", host(site));
    let links = |targets: &[String]| targets.iter().map(|url| format!("<p><a href={url}>a link</a></p>")).collect();
    match path {
        "/" => Reply::Page(links(&[
            at(site, "/news/one"),
            at(site, "/news/two"),
            at(site, "/go"),
            at(site + 1, "/"),
            at(site + 5, "/news/two"),
        ])),
        "/news/one" => Reply::Page(links(&[at(site + 3, "/"), at(site + 4, "/news/three"), at(site, "/")])),
        "/news/two" | "/news/three" => Reply::Page(links(&[at(site, "/news/one")])),
        // Only this redirect leads to the last page of another site.
        "/go" => Reply::Moved(at(site + 2, "/news/last")),
        "/news/last" => Reply::Page(links(&[at(site + 7, "/news/one"), at(site, "/news/four")])),
        "/news/four" => Reply::Page(String::new()),
        _ => Reply::Missing,
    }
}

impl LinkedSites {
    /// Serves until the process ends.
    fn start() -> LinkedSites {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let log = asked.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
                let host = host.split(':').next().unwrap_or_default().to_owned();
                let (status, header, body) = match reply(port, &host, &path) {
                    Reply::Page(body) => (200, String::new(), body),
                    Reply::Moved(url) => (302, format!("Location: {url}\r\n"), String::new()),
                    Reply::Missing => (404, String::new(), String::new()),
                };
                log.lock().unwrap().push((host, path));
                let length = body.len();
                let reply = format!(
                    "HTTP/1.1 {status} x\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {length}\r\n{header}\r\n{body}"
                );
                let _ = stream.write_all(reply.as_bytes());
            }
        });
        LinkedSites { port, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn home() -> Corpus {
    let spec = Spec { sites: 1, items_per_feed: 1, languages: vec!["de".into()], ..Spec::default() };
    Corpus::with(spec, &[("allow_private", "['127.0.0.0/8', '::1/128']"), ("ip_delay_s", "0.01")])
}

#[test]
fn three_shards_ask_what_one_crawl_asks_each_host_by_one_of_them_and_nothing_twice() {
    let alone = LinkedSites::start();
    let whole = home();
    let crawl = |port: u16| format!("crawl http://{}:{port}/ --rule breadth-first --delay 0.01", host(0));
    whole.run(&crawl(alone.port)).ok().says("nothing left");
    let expected: BTreeSet<Asked> = alone.asked().into_iter().collect();
    assert_eq!(expected.iter().filter(|(_, path)| path == "/news/four").count(), ADDRESSES + NAMES);

    let sites = LinkedSites::start();
    let homes = [home(), home(), home()];
    let outboxes: Vec<PathBuf> = homes.iter().map(|home| home.home().join("crawl/web/outbox")).collect();
    let mut owners: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut rounds = 0;
    loop {
        let before = sites.asked().len();
        for (at, home) in homes.iter().enumerate() {
            let first = sites.asked().len();
            let others = outboxes.iter().enumerate().filter(|(other, _)| *other != at);
            let inboxes: String = others.map(|(_, outbox)| format!(" --inbox {}", outbox.display())).collect();
            home.run(&format!("{} --shard {}/3{inboxes}", crawl(sites.port), at + 1)).ok();
            for (host, _) in &sites.asked()[first..] {
                owners.entry(host.clone()).or_default().insert(at);
            }
        }
        rounds += 1;
        if sites.asked().len() == before {
            break;
        }
        assert!(rounds < 20, "the shards do not end");
    }
    let shared: Vec<_> = owners.iter().filter(|(_, homes)| homes.len() > 1).collect();
    assert!(shared.is_empty(), "asked by several: {shared:?}");
    assert!(owners.values().flatten().collect::<BTreeSet<_>>().len() > 1, "the work is divided: {owners:?}");
    let of_names: BTreeSet<_> = (ADDRESSES..ADDRESSES + NAMES).flat_map(|site| &owners[&host(site)]).collect();
    assert_eq!(of_names.len(), 1, "sites of one address have one shard: {owners:?}");
    let mut asked = sites.asked();
    asked.sort();
    let all = asked.len();
    asked.dedup();
    assert_eq!(asked.len(), all, "nothing is asked twice");
    assert_eq!(asked.into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn a_crawl_cannot_become_another_shard() {
    let sites = LinkedSites::start();
    let home = home();
    home.run(&format!("crawl http://{}:{}/ --shard 1/2 --pages 1 --delay 0.01", host(0), sites.port)).ok();
    let ran = home.run("crawl --shard 2/2");
    assert!(ran.code != Some(0) && ran.stderr.contains("begun as shard 1/2"), "{}", ran.stderr);
}
