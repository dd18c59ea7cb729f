//! Outages of hosts, and wrong clocks: nothing that a feed still lists is lost. The clock of the program is set, so that
//! days pass without waiting.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tidings_simweb::{Fault, SitePart, Spec};

use crate::support::{Corpus, Ran};

/// The start of the simulated time.
fn start() -> Timestamp {
    "2026-06-01T06:00:00Z".parse().unwrap()
}

/// Runs the program this many hours after the start.
fn at_hour(corpus: &Corpus, hour: i64, args: &str) -> Ran {
    corpus.run_at(start() + SignedDuration::from_hours(hour), args)
}

fn corpus(sites: usize) -> Corpus {
    let spec = Spec { sites, items_per_feed: 3, retry_after: Duration::from_millis(100), ..Spec::default() };
    let corpus = Corpus::with(spec, &[("robots_for_feeds", "false")]);
    at_hour(&corpus, 0, "update --all").ok();
    corpus
}

fn is_stored(corpus: &Corpus) -> bool {
    corpus.plan().iter().all(|entry| entry.status == "ok")
}

fn rules(report: &serde_json::Value) -> Vec<&str> {
    report["alerts"].as_array().unwrap().iter().map(|alert| alert["rule"].as_str().unwrap()).collect()
}

#[test]
fn an_outage_of_four_hours_with_hourly_runs_loses_nothing() {
    let outages = [
        Fault::Error.on(SitePart::Robots),
        Fault::Unavailable.on(SitePart::Pages),
        Fault::Error.on(SitePart::Pages),
        Fault::TooMany.on(SitePart::Pages),
        Fault::Cut.on(SitePart::Everything),
    ];
    let corpus = corpus(outages.len() + 1);
    for (site, fault) in outages.into_iter().enumerate() {
        corpus.web.set_fault(site, fault);
    }
    for hour in 0..=4 {
        at_hour(&corpus, hour, "fetch").ok();
    }
    let attempts = |site: usize| corpus.statuses_of(site).into_iter().map(|(_, attempts)| attempts).max();
    assert_eq!([0, 1, 3].map(attempts), [Some(0); 3], "failures of the host are no attempts: {:?}", corpus.plan());
    for site in 0..outages.len() {
        corpus.web.heal(site);
    }
    // The backoff at the end of four hours is at most four hours.
    for hour in 5..=10 {
        at_hour(&corpus, hour, "fetch").ok();
    }
    assert!(is_stored(&corpus), "{:?}", corpus.statuses());
    let report = at_hour(&corpus, 10, "--json status").json();
    assert!(!rules(&report).contains(&"given-up"), "{report}");
}

#[test]
fn robots_that_fails_three_times_and_heals_costs_no_page() {
    let corpus = corpus(2);
    corpus.web.set_fault(0, Fault::Error.on(SitePart::Robots));
    for _ in 0..3 {
        at_hour(&corpus, 0, "fetch").ok();
    }
    let robots = corpus
        .web
        .requests()
        .iter()
        .filter(|request| &*request.path == "/robots.txt" && request.site() == Some(0))
        .count();
    assert_eq!(robots, 2, "the host has a backoff");
    assert_eq!(corpus.statuses_of(0), [("robots-unreachable".to_owned(), 0)]);
    let url = corpus.plan().into_iter().find(|entry| entry.status != "ok").unwrap().url;
    at_hour(&corpus, 0, &format!("why {url}")).ok().says("HTTP status 500 for robots.txt");
    corpus.web.heal(0);
    at_hour(&corpus, 1, "fetch").ok().says("3 pages fetched");
    assert!(is_stored(&corpus) && corpus.plan().iter().all(|entry| entry.retries == 1));
}

#[test]
fn a_page_that_fails_for_days_is_given_up_with_an_alert() {
    let corpus = corpus(2);
    corpus.web.set_fault(0, Fault::Error);
    for hour in (0..=96).step_by(8) {
        at_hour(&corpus, hour, "fetch").ok();
    }
    corpus.web.clear_log();
    at_hour(&corpus, 120, "fetch").ok().says("nothing to fetch");
    assert!(corpus.web.requests().is_empty());
    at_hour(&corpus, 120, "status").exits(1).says("3 pages given up although their feeds still list them");
    let url = corpus.plan().into_iter().find(|entry| entry.status == "500").unwrap().url;
    at_hour(&corpus, 120, &format!("why {url}")).ok().says("failing since 2026-06-01T06:").says("given up");
    // A longer time brings them back.
    let mut command = corpus.command("fetch");
    command
        .env("TIDINGS_FETCH_RETRY_DAYS", "30")
        .env("TIDINGS_CLOCK", (start() + SignedDuration::from_hours(120)).to_string());
    corpus.web.heal(0);
    corpus.launch(command).wait().ok().says("3 pages fetched");
}

#[test]
fn names_that_resolve_to_a_private_address_for_a_while_cost_no_page() {
    let corpus = corpus(2);
    // A captive portal: all addresses are private. The simulated web is, unless it is allowed.
    let time = start().to_string();
    let mut command = corpus.command("fetch");
    command.env("TIDINGS_FETCH_ALLOW_PRIVATE", "['10.9.8.0/24']").env("TIDINGS_CLOCK", &time);
    corpus.launch(command).wait();
    assert_eq!(corpus.statuses_of(0), [("private".to_owned(), 0)]);
    corpus.web.clear_log();
    at_hour(&corpus, 1, "fetch").ok().says("6 pages wait for the next attempt");
    assert!(corpus.web.requests().is_empty());
    at_hour(&corpus, 25, "fetch").ok().says("6 pages fetched");
    assert!(is_stored(&corpus));
}

#[test]
fn a_robots_txt_that_forbids_is_read_again_after_a_day_while_the_feed_lists_the_pages() {
    let corpus = corpus(1);
    corpus.web.set_fault(0, Fault::RobotsDisallow);
    at_hour(&corpus, 0, "fetch").ok();
    assert_eq!(corpus.statuses_of(0), [("robots".to_owned(), 0)]);
    corpus.web.heal(0);
    at_hour(&corpus, 2, "fetch").ok().says("wait for the next attempt");
    at_hour(&corpus, 25, "fetch").ok().says("3 pages fetched");
}

#[test]
fn retry_days_of_zero_counts_attempts_only() {
    let corpus = corpus(1);
    corpus.web.set_fault(0, Fault::Error);
    let settings = std::fs::read_to_string(corpus.home().join("tidings.toml")).unwrap();
    let settings = settings.replace("[fetch]\n", "[fetch]\nretry_days = 0.0\nretries = 2\n");
    std::fs::write(corpus.home().join("tidings.toml"), settings).unwrap();
    for hour in 0..2 {
        at_hour(&corpus, hour, "fetch").ok();
    }
    at_hour(&corpus, 2, "fetch").ok().says("nothing to fetch");
    assert_eq!(corpus.statuses_of(0), [("500".to_owned(), 2)]);
}

#[test]
fn a_run_under_a_clock_a_year_ahead_does_not_stop_the_harvest() {
    const YEAR: i64 = 365 * 24;
    let corpus = corpus(3);
    at_hour(&corpus, 0, "fetch").ok();
    corpus.web.advance(std::time::Duration::from_secs(24 * 3600));
    at_hour(&corpus, YEAR, "update --all").ok();
    at_hour(&corpus, YEAR, "fetch").ok();
    assert!(is_stored(&corpus));

    // The clock is right again: the jump is reported, and the harvest goes on.
    let report = at_hour(&corpus, 1, "--json status").exits(1).json();
    assert!(rules(&report).contains(&"clock-jump"), "{report}");
    at_hour(&corpus, 1, "doctor").exits(1).says("tidings doctor --repair");
    corpus.web.advance(std::time::Duration::from_secs(24 * 3600));
    let before = corpus.plan().len();
    at_hour(&corpus, 1, "update").ok().says("3 feeds polled");
    assert_eq!(corpus.plan().len(), before + 9, "all feeds are polled and their new entries listed");
    at_hour(&corpus, 1, "fetch").ok().says("9 pages fetched");
    let next = at_hour(&corpus, 1, "--json update").ok().json();
    let due: Timestamp = next["next_due"].as_str().unwrap().parse().unwrap();
    assert!(due < start() + SignedDuration::from_hours(1 + 50), "{next}");

    at_hour(&corpus, 2, "doctor --repair");
    let report = at_hour(&corpus, 2, "--json status").json();
    assert!(!rules(&report).contains(&"clock-jump"), "{report}");
    let doctor = at_hour(&corpus, 2, "--json doctor").json();
    let clock = doctor["findings"].as_array().unwrap().iter().filter(|finding| finding["about"] == "clock");
    assert!(clock.clone().all(|finding| finding["level"] != "fault"), "{doctor}");
}
