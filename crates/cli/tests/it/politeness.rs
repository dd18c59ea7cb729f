//! Politeness per IP address: two names of one machine share its limit. The second name of each site is its address in
//! IPv6 notation (`[::ffff:7f01:1]` for 127.1.0.1), so no name server is needed.

use std::fs;
use std::time::Duration;

use tidings_simweb::{Request, Spec};

use crate::support::Corpus;

const PAIRS: usize = 6;
const IP_DELAY: Duration = Duration::from_millis(150);

/// Clocks tick in milliseconds.
const TICK_US: u64 = 2_000;

/// Six sites with two names each: both names have a feed, and half of the pages of a site are listed under each name.
fn pairs(more: &[(&str, &str)]) -> Corpus {
    let spec = Spec { sites: PAIRS, items_per_feed: 4, latency: Duration::from_millis(60), ..Spec::default() };
    let settings = [("delay_s", "0.4"), ("feed_delay_s", "0.4"), ("ip_delay_s", "0.15")];
    let corpus = Corpus::with(spec, &[&settings, more].concat());
    let feeds = corpus.web.feeds();
    let both: Vec<String> = feeds.iter().flat_map(|feed| [feed.clone(), second_name(&corpus, feed)]).collect();
    fs::write(corpus.home().join("feeds.txt"), both.join("\n")).unwrap();
    corpus
}

/// A URL with the host in IPv6 notation.
fn second_name(corpus: &Corpus, url: &str) -> String {
    let site = corpus.web.sites().find(|site| url.contains(&format!("//{}:", site.address()))).expect("a site");
    let mapped = site.address().to_ipv6_mapped();
    url.replace(
        &format!("//{}:", site.address()),
        &format!("//[::ffff:{:x}:{:x}]:", mapped.segments()[6], mapped.segments()[7]),
    )
}

/// Updates, lists every second page under the second name of its site, and fetches.
fn harvest(corpus: &Corpus) {
    corpus.run("update --all").ok();
    let plan = corpus.run("plan").ok().stdout;
    let rename = |(number, line): (usize, &str)| {
        let url = line.split('\t').nth(6).expect("a URL");
        let line = if number % 2 == 0 { line.to_owned() } else { line.replace(url, &second_name(corpus, url)) };
        line + "\n"
    };
    let plan: String = plan.lines().enumerate().map(rename).collect();
    fs::write(corpus.home().join("plan.tsv.zst"), zstd::encode_all(plan.as_bytes(), 1).unwrap()).unwrap();
    corpus.run("fetch").ok();
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok"));
}

/// Pairs of requests in the server's log that were active at the same time, at one address or at two.
fn overlaps(requests: &[Request], at_one_address: bool) -> usize {
    let pairs =
        requests.iter().enumerate().flat_map(|(at, one)| requests[at + 1..].iter().map(move |other| (one, other)));
    pairs
        .filter(|(one, other)| (one.address == other.address) == at_one_address)
        .filter(|(one, other)| {
            let end = |request: &Request| request.end_us.unwrap_or(u64::MAX);
            one.start_us < end(other) && other.start_us < end(one)
        })
        .count()
}

#[test]
fn two_names_of_one_address_are_never_asked_at_once_and_keep_the_pause() {
    let corpus = pairs(&[]);
    harvest(&corpus);
    let politeness = corpus.was_polite(IP_DELAY);
    assert_eq!(politeness.hosts.len(), PAIRS);
    let requests = corpus.web.requests();
    assert_eq!(overlaps(&requests, true), 0);
    assert!(overlaps(&requests, false) > 0, "different addresses are asked at the same time");
    let audit = corpus.run("audit --json").ok().json();
    assert_eq!((&audit["hosts"], &audit["addresses"]), (&(2 * PAIRS).into(), &PAIRS.into()));
    let sent: u64 = audit["requests"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(sent, politeness.requests, "the audit counts what the server saw");
    assert!(audit["smallest_ip_gap_s"].as_f64().unwrap() * 1e6 >= (IP_DELAY.as_micros() as u64 - TICK_US) as f64);
}

#[test]
fn addresses_of_a_shared_network_are_limited_by_host_only() {
    let corpus = pairs(&[("shared_networks", "['127.1.0.0/16']")]);
    harvest(&corpus);
    assert!(overlaps(&corpus.web.requests(), true) > 0, "two names at once");
    let audit = corpus.run("audit --json").ok().json();
    assert_eq!((&audit["addresses"], &audit["overlapping"]), (&0.into(), &0.into()));
}

#[test]
fn attempts_that_never_left_are_not_counted_as_requests() {
    let corpus = Corpus::new(Spec { sites: 2, items_per_feed: 3, ..Spec::default() });
    // Nothing listens at this port.
    let deserted = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let feeds = [corpus.web.feeds(), vec![format!("http://127.1.9.9:{deserted}/rss.xml")]].concat();
    fs::write(corpus.home().join("feeds.txt"), feeds.join("\n")).unwrap();
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    let audit = corpus.run("audit --json").ok().json();
    let sent: u64 = audit["requests"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(sent, corpus.web.politeness().requests);
    assert_eq!((&audit["unsent"], &audit["hosts"]), (&1.into(), &2.into()), "{audit}");
}

#[test]
fn an_audit_finds_a_planted_overlap_at_an_address_and_a_deleted_log() {
    let corpus = Corpus::new(Spec { sites: 2, items_per_feed: 2, ..Spec::default() });
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    corpus.run("audit").ok().says("concurrent requests to the same IP address: 0");
    let log = corpus.files("runs", ".jsonl.zst").pop().expect("a log of the day");
    let kept = fs::read(&log).unwrap();
    fs::remove_file(&log).unwrap();
    let pages = corpus.files("pages", ".jsonl.zst").pop().expect("pages");
    let run = pages.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned();
    corpus.run("audit").exits(1).says("missing run logs").says(&run);
    fs::write(&log, kept).unwrap();
    corpus.run("audit").ok();
    let row = |host: &str, sent: u32, ended: u32| {
        format!(
            r#"{{"sent_ms":{sent},"ended_ms":{ended},"host":"{host}","kind":"page","url":"http://{host}/","status":"200","delay_ms":5000,"bytes":1,"ip":"192.0.2.1","ip_delay_ms":500}}"#
        )
    };
    let plant = |rows: [String; 2]| {
        let text = format!("{{\"began\":\"2026-03-01T10:00:00Z\"}}\n{}\n", rows.join("\n"));
        let path = log.with_file_name("20260301T100000000Z-fetch.jsonl.zst");
        fs::write(path, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    };
    plant([row("a.org", 0, 100), row("b.org", 50, 200)]);
    corpus.run("audit").exits(1).says("concurrent requests to the same IP address: 1");
    plant([row("a.org", 0, 100), row("b.org", 400, 500)]);
    corpus.run("audit").exits(1).says("before the pause of their IP address was over: 1");
    plant([row("a.org", 0, 100), row("b.org", 600, 700)]);
    corpus.run("audit").ok();
}
