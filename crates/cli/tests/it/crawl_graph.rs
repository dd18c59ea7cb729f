//! A crawl of the link graph with known truth, with kills; the log of the server is the witness.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::Signal;
use tidings_simweb::Spec;
use tidings_simweb::graph::{GraphServer, GraphSpec};

use crate::support::{Corpus, unpacked};

const DELAY: Duration = Duration::from_millis(40);
const IP_DELAY: Duration = Duration::from_millis(20);
/// Clocks tick in milliseconds and pauses are cut to them.
const TICK_US: u64 = 2_000;
/// Requests that may be repeated after a kill: those in flight, and answers of the last second that were not durable.
const IN_FLIGHT: usize = 40;

/// A graph whose hosts are names under `localhost`, which share one address.
fn server() -> GraphServer {
    let spec = GraphSpec { sites: 40, size: 0.5, top_level: ["localhost", "localhost"], ..GraphSpec::default() };
    GraphServer::start(spec, 0).expect("a port is free")
}

fn home() -> Corpus {
    let spec = Spec { sites: 1, items_per_feed: 1, ..Spec::default() };
    Corpus::with(
        spec,
        &[
            ("allow_private", "['127.0.0.0/8', '::1/128']"),
            ("ip_delay_s", "0.02"),
            ("contact", "'crawler@example.org'"),
        ],
    )
}

/// URLs of pages that are stored, or listed as not kept.
fn acknowledged(corpus: &Corpus) -> BTreeSet<String> {
    let mut urls = BTreeSet::new();
    for path in corpus.files("pages", ".jsonl.zst") {
        for line in unpacked(&path).lines() {
            let page: tidings_model::Page = serde_json::from_str(line).unwrap();
            urls.insert(page.url);
        }
    }
    for path in corpus.files("crawl/web/refused", ".tsv.zst") {
        urls.extend(unpacked(&path).lines().filter_map(|line| line.split('\t').next()).map(str::to_owned));
    }
    urls
}

#[test]
fn a_crawl_of_the_graph_that_is_killed_is_polite_and_loses_and_repeats_nothing_but_what_was_in_flight() {
    let (server, corpus) = (server(), home());
    let seeds = server.graph().seeds("de", 8).join(" ");
    let crawl = |pages: u32| format!("crawl {seeds} --lang de --delay 0.04 --seed 1 --pages {pages}");
    let (mut kills, mut known) = (0, BTreeSet::new());
    while kills < 4 {
        let mut running = corpus.start(&crawl(400));
        let target = server.request_count() + 60;
        running.until(|| server.request_count() >= target);
        assert!(!running.has_ended(), "the crawl ended early");
        running.signal(Signal::KILL);
        running.wait();
        kills += 1;
        corpus.run(&crawl(10)).ok();
        let now = acknowledged(&corpus);
        let lost: Vec<&String> = known.difference(&now).collect();
        assert!(lost.is_empty(), "acknowledged pages are gone: {lost:?}");
        known = now;
    }
    let politeness = server.politeness();
    assert!(politeness.requests > 200, "{politeness:?}");
    assert_eq!((politeness.disallowed, politeness.nofollow_only), (0, 0), "{politeness:?}");
    assert_eq!((politeness.max_in_flight_host, politeness.max_in_flight_ip), (1, 1), "{politeness:?}");
    let short = |gap: Option<u64>, delay: Duration| gap.is_some_and(|gap| gap + TICK_US < delay.as_micros() as u64);
    assert!(!short(politeness.smallest_host_gap_us, DELAY), "{politeness:?}");
    assert!(!short(politeness.smallest_ip_gap_us, IP_DELAY), "{politeness:?}");
    let mut asked: Vec<String> =
        server.requests().into_iter().filter(|one| !one.is_policy()).map(|one| one.url).collect();
    asked.sort();
    let all = asked.len();
    asked.dedup();
    assert!(all - asked.len() <= kills * IN_FLIGHT, "{} of {all} requests are repeated", all - asked.len());
    // What was answered with a page is acknowledged, but for what was in flight and waits again.
    let pages = server.requests().into_iter().filter(|one| !one.is_policy() && one.status == 200).map(|one| one.url);
    let missing: BTreeSet<String> = pages.filter(|url| !known.contains(url)).collect();
    assert!(missing.len() <= kills * IN_FLIGHT, "{missing:?}");
}
