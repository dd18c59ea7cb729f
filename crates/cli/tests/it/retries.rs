//! Retries: what is retried, how often and when; permanent failures; and the age of entries.

use std::time::Duration;

use rustix::process::Signal;
use tidings_simweb::{Fault, RequestKind, SitePart, Spec};

use crate::support::{Corpus, addresses};

fn spec(sites: usize, items_per_feed: usize) -> Spec {
    // Refused pages of full-text feeds have the text of the feed.
    Spec { sites, items_per_feed, full_text_percent: 0, ..Spec::default() }
}

fn status(status: &str, retries: u32) -> Vec<(String, u32)> {
    vec![(status.to_owned(), retries)]
}

#[test]
fn temporary_failures_are_retried_with_growing_distances_and_permanent_ones_are_not() {
    let spec = spec(7, 1)
        .with_fault(Fault::Error, 1)
        .with_fault(Fault::Truncated, 1)
        .with_fault(Fault::NotFound, 1)
        .with_fault(Fault::Gone, 1)
        .with_fault(Fault::RobotsDisallow, 1);
    let corpus = Corpus::with(spec, &[("robots_for_feeds", "false")]);
    let started: jiff::Timestamp = "2026-06-01T06:00:00Z".parse().unwrap();
    let at_minute = |minutes: i64, args: &str| corpus.run_at(started + jiff::SignedDuration::from_mins(minutes), args);
    at_minute(0, "update --all").ok();
    for (attempt, due) in [(1, 0), (2, 16), (3, 47), (4, 108)] {
        if attempt > 1 {
            corpus.web.clear_log();
            at_minute(due - 2, "fetch").ok().says("nothing to fetch now: 3 pages wait for the next attempt");
            assert!(corpus.web.requests().is_empty(), "it is too early");
        }
        at_minute(due, "fetch").ok();
        assert_eq!(corpus.statuses_of(2), status("500", attempt));
        assert_eq!(corpus.statuses_of(3), status("cut", attempt));
        assert_eq!(corpus.statuses_of(4), status("404", 1));
        assert_eq!(corpus.statuses_of(5), status("410", 1));
        assert_eq!(corpus.statuses_of(6), status("robots", 0));
    }
    // Recovered sites are fetched.
    corpus.web.heal(2);
    at_minute(240, "fetch").ok();
    assert_eq!(corpus.statuses_of(2), status("ok", 5));
    assert_eq!(corpus.statuses_of(3), status("cut", 5));
}

#[test]
fn a_feed_that_is_gone_is_reported_once_and_not_polled_again() {
    let corpus = Corpus::new(spec(3, 2).with_fault(Fault::Gone.on(SitePart::Feed), 1));
    corpus.run("update --all").ok().says("1 gone");
    let feed = corpus.web.site(2).feed();
    assert_eq!(corpus.feed_state(&feed)["polled"], "gone");
    corpus.web.clear_log();
    let report = corpus.run("update --all --json").ok().json();
    assert_eq!(report["gone"], 1);
    assert!(corpus.web.requests().iter().all(|request| request.site() != Some(2)));
    // Except with --retry-gone.
    corpus.web.heal(2);
    corpus.run("update --all --retry-gone").ok().says("2 added to the plan");
    assert_eq!(corpus.feed_state(&feed)["polled"], "listed");
}

#[test]
fn a_moved_feed_is_followed_and_accepted_after_three_times() {
    let corpus = Corpus::new(spec(2, 3).with_fault(Fault::Moved.on(SitePart::Feed), 1));
    let feed = corpus.web.site(1).feed();
    let moved = feed.replace(&format!("{}/", corpus.web.port()), &format!("{}/moved/", corpus.web.port()));
    for times in 1..=3 {
        corpus.run("update --all").ok();
        let state = corpus.feed_state(&feed);
        assert_eq!((state["moved_to"].as_str(), state["moved_times"].as_str()), (&*moved, &*times.to_string()));
    }
    corpus.web.clear_log();
    corpus.run("update --all").ok();
    let asked: Vec<_> = corpus.web.requests().into_iter().filter(|request| request.site() == Some(1)).collect();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].path.starts_with("/moved/") && asked[0].conditional && asked[0].status == 304);
    assert_eq!(corpus.plan().len(), 6, "its entries are the same ones");
}

#[test]
fn only_entries_of_responding_feeds_age() {
    let corpus = Corpus::new(spec(2, 2));
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    let old = addresses(&corpus.web.site(0));
    let ages = || {
        let plan = corpus.plan();
        old.iter().map(|url| plan.iter().find(|entry| entry.url == *url).unwrap().age).collect::<Vec<_>>()
    };
    corpus.run("update --all").ok();
    assert_eq!(ages(), [0, 0], "an unchanged feed lists what it listed");

    corpus.web.advance(Duration::from_secs(48 * 3600));
    for fault in [Fault::Error, Fault::Cut, Fault::NotXml, Fault::NotFound] {
        corpus.web.set_fault(0, fault.on(SitePart::Feed));
        corpus.run("update --all").ok();
        assert_eq!(ages(), [0, 0], "{fault} says nothing about entries");
    }
    corpus.web.heal(0);
    corpus.run("update --all").ok();
    assert_eq!(ages(), [1, 1]);
    corpus.run("update --all").ok().says("unchanged");
    assert_eq!(ages(), [2, 2], "an unchanged feed still does not list them");
    corpus.web.set_fault(0, Fault::Hang.on(SitePart::Feed));
    corpus.run("update --all --time-limit 1s").ok();
    assert_eq!(ages(), [2, 2], "nor does one that was not reached");
}

#[test]
fn pruned_entries_are_not_fetched_again() {
    let corpus = Corpus::new(spec(2, 3));
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    let old: Vec<String> = corpus.plan().into_iter().map(|entry| entry.url).collect();
    corpus.web.advance(Duration::from_secs(48 * 3600));
    corpus.run("update --all").ok();
    corpus.run("prune --min-age 1 --dry-run").ok().says("would prune 6");
    assert_eq!(corpus.plan().len(), 12);
    corpus.run("prune --min-age 1").ok().says("6 entries pruned");
    assert_eq!(corpus.plan().len(), 6);
    corpus.run("fetch").ok().says("6 pages fetched");

    // The old articles return in a feed of their own.
    let items: String = old.iter().map(|url| format!("<item><title>Again</title><link>{url}</link></item>")).collect();
    let rss = format!("<rss version=\"2.0\"><channel><title>Old</title>{items}</channel></rss>");
    let feed = serve(with_body(&rss));
    std::fs::write(corpus.home().join("feeds.txt"), &feed).unwrap();
    corpus.run("update --all --allow-private=127.0.0.0/8").ok().says("listed 6 entries").says("0 added to the plan");
    corpus.web.clear_log();
    corpus.run("fetch").ok().says("nothing to fetch");
    assert!(corpus.web.requests().is_empty());
    assert_eq!(corpus.pages().len(), 12);
}

/// A server with one response and no robots.txt; it ends with the test.
fn serve(answer: String) -> String {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let robots = lines.next().is_some_and(|line| line.contains("robots.txt"));
            for _ in lines.take_while(|line| !line.is_empty()) {}
            let nothing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = (&stream).write_all(if robots { nothing } else { &answer }.as_bytes());
        }
    });
    format!("http://{address}/feed")
}

fn with_body(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// A corpus with a backlog, half of it on hanging servers.
fn hanging() -> Corpus {
    let patience = [("answer_timeout_s", "3600.0"), ("total_timeout_s", "3600.0"), ("delay_s", "8.0")];
    let corpus = Corpus::with(spec(20, 3).with_fault(Fault::Hang, 8).with_fault(Fault::Drip, 2), &patience);
    corpus.run("update --all").ok();
    corpus
}

/// Checks that untried entries are unchanged and all are counted.
fn untouched(corpus: &Corpus, report: &serde_json::Value) {
    // A cancelled run may leave the last step to the next one.
    corpus.run("fetch --dry-run").ok();
    let plan = corpus.plan();
    for entry in &plan {
        let stored = entry.status == "ok" && entry.retries == 1;
        assert!(stored || (entry.status == "new" && entry.retries == 0), "{entry:?}");
    }
    let number = |key: &str| report[key].as_u64().unwrap() as usize;
    assert_eq!(number("fetched"), corpus.pages().len());
    assert_eq!(number("fetched") + number("failed") + number("left"), plan.len(), "{report}");
    corpus.is_tidy();
}

#[test]
fn signals_end_a_run_promptly_and_leave_the_rest_untouched() {
    for (signal, name) in [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM")] {
        let corpus = hanging();
        corpus.web.clear_log();
        let delay = if name == "SIGINT" { "0.05" } else { "8" };
        let mut running = corpus.start(&format!("fetch --json --delay {delay}"));
        running.until(|| {
            corpus.web.requests().iter().filter(|request| request.kind == RequestKind::Page).count() > 10
                || delay == "8" && corpus.web.requests().len() >= 20
        });
        // The servers hang for an hour: a run that waited for one would not end.
        running.signal(signal);
        let ran = running.wait().exits(1).says(name);
        assert_eq!(ran.json()["done"], false);
        untouched(&corpus, &ran.json());
    }
}

#[test]
fn a_signal_ends_an_update_and_keeps_the_responses() {
    let patience = [("answer_timeout_s", "3600.0"), ("total_timeout_s", "3600.0")];
    let corpus = Corpus::with(spec(8, 2).with_fault(Fault::Hang.on(SitePart::Feed), 4), &patience);
    let mut running = corpus.start("update");
    running.until(|| {
        let heard = corpus.journal().iter().filter(|record| record.get("poll").is_some()).count();
        corpus.web.politeness().feeds >= 8 && heard >= 4
    });
    running.signal(Signal::TERM);
    running.wait().exits(1).says("SIGTERM").says("4 left for a later run");
    assert_eq!(corpus.plan().len(), 8);
    assert_eq!(corpus.state("feeds.tsv").len(), 4, "feeds without a response have no failures");
    corpus.is_tidy();
}

#[test]
fn a_time_limit_ends_a_run_promptly_and_counts_as_done() {
    let corpus = hanging();
    let ran = corpus.run("fetch --json --delay 0.05 --time-limit 1.5s").ok();
    assert!(ran.json()["left"].as_u64().unwrap() > 0);
    untouched(&corpus, &ran.json());
    // Feeds too.
    let hours = [("answer_timeout_s", "3600.0"), ("total_timeout_s", "3600.0")];
    let corpus = Corpus::with(spec(6, 2).with_fault(Fault::Hang.on(SitePart::Feed), 3), &hours);
    corpus.run("update --all --time-limit 1s").ok();
    assert_eq!(corpus.plan().len(), 6);
}

#[test]
fn a_network_outage_costs_no_attempt() {
    let corpus = Corpus::new(spec(12, 1));
    corpus.run("update --all").ok();
    let before = corpus.statuses();
    corpus.web.set_down(true);
    corpus.run("fetch").exits(1).says("network");
    assert!(corpus.plan().iter().all(|entry| entry.status == "new" && entry.retries == 0));
    corpus.run("update --all").exits(1).says("network");
    assert!(corpus.state("feeds.tsv").iter().all(|row| row["failures"] == "0" && row["polled"] == "listed"));
    // Refused connections count like hanging ones.
    let feeds = std::fs::read_to_string(corpus.home().join("feeds.txt")).unwrap();
    let deserted = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nowhere = feeds.replace(&format!(":{}/", corpus.web.port()), &format!(":{deserted}/"));
    std::fs::write(corpus.home().join("feeds.txt"), nowhere).unwrap();
    corpus.run("update --all").exits(1).says("network");
    std::fs::write(corpus.home().join("feeds.txt"), feeds).unwrap();
    corpus.web.set_down(false);
    corpus.run("fetch").ok().says("12 pages fetched");
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok" && entry.retries == 1));
    assert_eq!(corpus.statuses().len(), before.len());
    corpus.is_tidy();
}

#[test]
fn retry_after_holds_across_runs() {
    let spec = Spec { retry_after: Duration::from_secs(4), ..spec(3, 2) };
    let corpus = Corpus::with(spec.with_fault(Fault::TooMany, 1), &[("max_retry_after_s", "1.0")]);
    corpus.run("update --all").ok();
    corpus.run("fetch").ok().says("1 left for a later run");
    let rest_s = |row: &std::collections::HashMap<String, String>| {
        let [last, until] =
            ["last_request", "not_before"].map(|column| row[column].parse::<jiff::Timestamp>().unwrap());
        until.duration_since(last).as_secs()
    };
    assert_eq!(corpus.state("hosts.tsv").iter().filter(|row| rest_s(row) >= 3).count(), 1);
    corpus.web.heal(2);
    corpus.run("fetch").ok().says("Retry-After or backoff of an earlier run");
    corpus.run("update --all").ok();
    assert_eq!(corpus.web.politeness().early_for_retry_after, 0);
    // A run that may wait that long waits for the rest of it.
    let mut patient = corpus.command("fetch");
    patient.env("TIDINGS_FETCH_MAX_RETRY_AFTER_S", "60");
    corpus.launch(patient).wait().ok();
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok"));
    assert_eq!(corpus.web.politeness().early_for_retry_after, 0);
}

#[test]
fn retry_after_holds_for_redirects() {
    let spec = Spec { retry_after: Duration::from_secs(60), ..spec(1, 2) };
    let corpus = Corpus::with(spec.with_fault(Fault::TooMany.on(SitePart::Feed), 1), &[("max_retry_after_s", "1.0")]);
    let target = corpus.web.site(0).feed();
    let feeds =
        serve(format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    std::fs::write(corpus.home().join("feeds.txt"), feeds).unwrap();
    corpus.run("update --all --allow-private=127.0.0.0/8").ok().says("1 failed");
    corpus.web.heal(0);
    corpus.run("update --all --allow-private=127.0.0.0/8").ok().says("1 left for a later run");
    let manners = corpus.web.politeness();
    assert_eq!((manners.feeds, manners.early_for_retry_after), (1, 0));
}

#[test]
fn a_run_waits_for_a_short_retry_after() {
    let spec = Spec { retry_after: Duration::from_secs(1), ..spec(2, 2) }.with_fault(Fault::Unavailable, 1);
    let corpus = Corpus::new(spec);
    corpus.run("update --all").ok();
    corpus.run("fetch").ok().says("2 pages fetched, 2 failed (2 503)");
    corpus.was_polite(Duration::from_millis(50));
}

#[test]
fn crawl_delay_holds_across_runs() {
    let spec = Spec { crawl_delay: Duration::from_secs(2), ..spec(2, 1) }.with_fault(Fault::RobotsDelay, 1);
    let corpus = Corpus::new(spec);
    corpus.run("update --all").ok();
    corpus.run("fetch").ok().says("2 pages fetched");
    corpus.run("update --all").ok();
    let manners = corpus.was_polite(Duration::from_millis(50));
    assert_eq!((manners.pages, manners.feeds), (2, 4));
    corpus.run("audit").ok();
}
