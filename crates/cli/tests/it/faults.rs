//! Every fault of a server on every part of a site: the run ends in time, other sites are not affected, and the plan
//! has a status for the fault.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::process::Signal;
use tidings_simweb::{Fault, Host, RequestKind, SiteFault, SitePart, Spec};
use tidings_testing::WATCHDOG;

use crate::support::{Corpus, addresses};

const DELAY: Duration = Duration::from_millis(100);
const HEALTHY: usize = 6;

/// The possible statuses of each fault of pages.
const ON_PAGES: &[(Fault, &[&str])] = &[
    (Fault::Hang, &["timeout"]),
    (Fault::Drip, &["timeout", "slow"]),
    (Fault::Endless, &["too-large"]),
    (Fault::Error, &["500"]),
    (Fault::TooMany, &["429", "new"]),
    (Fault::Unavailable, &["503", "new"]),
    (Fault::NotFound, &["404"]),
    (Fault::Gone, &["410"]),
    (Fault::Moved, &["ok"]),
    (Fault::RedirectChain, &["ok"]),
    (Fault::RedirectLoop, &["redirects"]),
    (Fault::RedirectPrivate, &["private"]),
    (Fault::RedirectFile, &["scheme"]),
    (Fault::RedirectShared, &["ok"]),
    (Fault::Truncated, &["cut"]),
    (Fault::BrokenGzip, &["encoding"]),
    (Fault::GzipBomb, &["too-large"]),
    (Fault::WrongCharset, &["ok"]),
    (Fault::Empty, &["empty"]),
    (Fault::HugeHeaders, &["headers"]),
    (Fault::Cut, &["cut"]),
    (Fault::Video, &["not-text"]),
    (Fault::RobotsDisallow, &["robots"]),
    (Fault::RobotsPath, &["ok", "robots"]),
    (Fault::RobotsDelay, &["ok"]),
    (Fault::TdmReserved, &["ok"]),
    (Fault::XRobots, &["ok"]),
    (Fault::Brotli, &["ok"]),
    (Fault::Zstd, &["ok"]),
    (Fault::Chunked, &["ok"]),
    (Fault::Close, &["ok"]),
    (Fault::IdleClose, &["ok"]),
    (Fault::Forbidden, &["403"]),
    (Fault::RedirectHome, &["ok"]),
    (Fault::ConsentWall, &["ok"]),
    (Fault::SoftNotFound, &["ok"]),
    (Fault::Stub, &["ok"]),
];

/// The same for feeds: the result of the poll, and the reasons.
const ON_FEEDS: &[(Fault, &str, &[&str])] = &[
    (Fault::Hang, "failed", &["timeout"]),
    (Fault::Drip, "failed", &["timeout", "slow"]),
    (Fault::Endless, "failed", &["too-large"]),
    (Fault::Error, "failed", &["500"]),
    (Fault::TooMany, "failed", &["429"]),
    (Fault::Unavailable, "failed", &["503"]),
    (Fault::NotFound, "failed", &["404"]),
    (Fault::Gone, "gone", &["410"]),
    (Fault::Moved, "listed", &[]),
    (Fault::RedirectChain, "listed", &[]),
    (Fault::RedirectLoop, "failed", &["redirects"]),
    (Fault::RedirectPrivate, "failed", &["private"]),
    (Fault::RedirectFile, "failed", &["scheme"]),
    (Fault::RedirectShared, "failed", &["404"]),
    (Fault::Truncated, "failed", &["cut"]),
    (Fault::BrokenGzip, "failed", &["encoding"]),
    (Fault::GzipBomb, "failed", &["too-large"]),
    (Fault::WrongCharset, "listed", &[]),
    (Fault::Empty, "failed", &["not-a-feed"]),
    (Fault::HugeHeaders, "failed", &["headers"]),
    (Fault::Cut, "failed", &["cut"]),
    (Fault::Video, "failed", &["too-large"]),
    (Fault::NotXml, "failed", &["not-a-feed"]),
    (Fault::Brotli, "listed", &[]),
    (Fault::Zstd, "listed", &[]),
    (Fault::Chunked, "listed", &[]),
    (Fault::Close, "listed", &[]),
];

/// The statuses of pages for faults of robots.txt.
const ON_ROBOTS: &[(Fault, &[&str])] = &[
    (Fault::Hang, &["timeout"]),
    (Fault::Drip, &["timeout", "slow"]),
    // The first half megabyte is used (RFC 9309) and forbids nothing here.
    (Fault::Endless, &["ok"]),
    (Fault::Video, &["ok"]),
    (Fault::Error, &["robots-unreachable"]),
    // Hosts with a Retry-After are postponed.
    (Fault::TooMany, &["new"]),
    (Fault::Unavailable, &["new"]),
    (Fault::NotFound, &["ok"]),
    (Fault::Gone, &["ok"]),
    (Fault::Moved, &["ok"]),
    (Fault::RedirectChain, &["ok"]),
    (Fault::RedirectLoop, &["ok"]),
    (Fault::RedirectPrivate, &["robots-unreachable"]),
    (Fault::RedirectFile, &["robots-unreachable"]),
    (Fault::RedirectShared, &["ok"]),
    (Fault::Truncated, &["cut"]),
    (Fault::BrokenGzip, &["robots-unreachable"]),
    (Fault::GzipBomb, &["robots-unreachable"]),
    (Fault::Empty, &["ok"]),
    (Fault::HugeHeaders, &["robots-unreachable"]),
    (Fault::Cut, &["cut"]),
    (Fault::NotXml, &["ok"]),
];

const SETTINGS: &[(&str, &str)] = &[
    ("delay_s", "0.1"),
    ("feed_delay_s", "0.1"),
    ("answer_timeout_s", "2.0"),
    ("total_timeout_s", "3.0"),
    ("max_feed_mib", "2"),
    ("max_retry_after_s", "1.0"),
    ("allow_private", "['127.1.0.0/16', '127.254.0.0/16']"),
];

/// Settings with which disallowed pages are planned.
fn feeds_without_robots() -> Vec<(&'static str, &'static str)> {
    SETTINGS.iter().copied().chain([("robots_for_feeds", "false")]).collect()
}

fn ill(faults: impl Iterator<Item = Fault>, part: Option<SitePart>) -> Spec {
    let spec = Spec {
        items_per_feed: 2,
        crawl_delay: Duration::from_secs(1),
        endless_bytes_per_second: 20 << 20,
        // A dripping server notices a closed connection only with its next byte.
        drip_every: Duration::from_millis(20),
        languages: ["cs", "de", "ru"].map(str::to_owned).to_vec(),
        // Otherwise refused pages have the text of their feeds.
        full_text_percent: 0,
        ..Spec::default()
    };
    let spec = faults.fold(spec, |spec, fault| match part {
        Some(part) => spec.with_fault(fault.on(part), 1),
        None => spec.with_fault(fault, 1),
    });
    Spec { sites: HEALTHY + spec.faults.len(), ..spec }
}

/// The statuses in the plan of the pages of every site with a fault.
fn words(corpus: &Corpus) -> BTreeMap<String, Vec<String>> {
    let statuses = corpus.statuses();
    let of =
        |site: &tidings_simweb::Site<'_>| addresses(site).iter().filter_map(|url| statuses.get(url).cloned()).collect();
    let ill = corpus.web.sites().filter(|site| site.fault().is_some());
    ill.map(|site| (site.fault().unwrap().to_string(), of(&site))).collect()
}

fn healthy_pages_arrived(corpus: &Corpus) {
    let pages = corpus.pages();
    let missing: Vec<_> = corpus
        .web
        .sites()
        .take(HEALTHY)
        .flat_map(|site| addresses(&site))
        .filter(|url| !pages.contains_key(url))
        .collect();
    assert!(missing.is_empty(), "missing from healthy sites: {missing:?}");
    let statuses = corpus.statuses();
    assert_eq!(pages.len(), statuses.values().filter(|status| *status == "ok").count());
    assert!(pages.keys().all(|url| statuses[url] == "ok"));
}

/// Compares the results with the table and lists all differences.
fn compare(found: &BTreeMap<String, Vec<String>>, table: &[(Fault, &[&str])]) {
    let right = |fault: &Fault, allowed: &[&str]| {
        let words = &found[fault.name()];
        !words.is_empty()
            && words.iter().all(|word| allowed.contains(&word.as_str()))
            && words.iter().any(|word| word == allowed[0])
    };
    let wrong: Vec<_> = table
        .iter()
        .filter(|(fault, allowed)| !right(fault, allowed))
        .map(|(fault, allowed)| format!("{fault}: {:?} instead of {allowed:?}", found[fault.name()]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn faulty_pages_get_a_status_and_delay_no_other_host() {
    let corpus = Corpus::with(ill(ON_PAGES.iter().map(|row| row.0), None), &feeds_without_robots());
    corpus.run("update --all").ok();
    corpus.web.clear_log();
    let ran = corpus.run("fetch").ok();
    corpus.was_polite(DELAY);
    compare(&words(&corpus), ON_PAGES);
    healthy_pages_arrived(&corpus);
    let requests = corpus.web.requests();
    let healthy = requests.iter().filter(|request| request.site().is_some_and(|site| site < HEALTHY));
    let hanging = corpus.web.sites_with(Fault::Hang).next().unwrap().address();
    let hang = requests
        .iter()
        .find(|request| request.address == hanging && request.kind == RequestKind::Page)
        .expect("it was asked");
    let meanwhile = hang.start_us..hang.end_us.unwrap_or(u64::MAX);
    assert!(healthy.filter(|request| meanwhile.contains(&request.start_us)).count() > 0, "all waited for {hanging}");
    assert!(ran.peak_kib < 250 << 10, "{} KiB", ran.peak_kib);
    let cut = corpus.web.sites_with(Fault::Cut).next().unwrap().address();
    for ((host, path), times) in corpus.page_requests() {
        // If a kept-alive connection was cut, it is unknown whether the request was received.
        assert!(times == 1 || (host == cut && times == 2), "{host}{path} was asked for {times} times");
    }
    corpus.run("audit").ok();
    corpus.is_tidy();

    // The target of a redirect is stored with the page.
    let pages = corpus.pages();
    let shared = corpus.web.sites_with(Fault::RedirectShared).next().unwrap();
    for url in addresses(&shared) {
        assert!(pages[&url].final_url.contains("//127.254.254.1:"), "{}", pages[&url].final_url);
    }
}

#[test]
fn faulty_feeds_get_a_status_and_delay_no_other_host() {
    let corpus = Corpus::with(ill(ON_FEEDS.iter().map(|row| row.0), Some(SitePart::Feed)), SETTINGS);
    let ran = corpus.run("update --all").ok().says("1 gone");
    corpus.was_polite(DELAY);
    assert!(ran.peak_kib < 250 << 10, "{} KiB", ran.peak_kib);
    let mut wrong = Vec::new();
    for (fault, polled, reasons) in ON_FEEDS {
        let site = corpus.web.sites_with(*fault).next().unwrap();
        let state = corpus.feed_state(&site.feed());
        let reason = state["error"].split(':').next().unwrap_or_default();
        let named = if reasons.is_empty() { reason.is_empty() } else { reasons.contains(&reason) };
        if state["polled"] != *polled || !named {
            wrong.push(format!("{fault}: {} ({})", state["polled"], state["error"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    corpus.run("fetch").ok();
    healthy_pages_arrived(&corpus);
    corpus.was_polite(DELAY);
    corpus.run("audit").ok();
}

#[test]
fn a_faulty_robots_txt_is_handled_as_in_rfc_9309() {
    let spec = ill(ON_ROBOTS.iter().map(|row| row.0), Some(SitePart::Robots));
    let corpus = Corpus::with(Spec { drip_every: Duration::from_millis(100), ..spec }, &feeds_without_robots());
    corpus.run("update --all").ok();
    corpus.web.clear_log();
    corpus.run("fetch").ok();
    corpus.was_polite(DELAY);
    corpus.asked_nothing_twice();
    compare(&words(&corpus), ON_ROBOTS);
    healthy_pages_arrived(&corpus);
}

#[test]
fn a_disallowed_path_is_not_requested_and_the_rest_is() {
    let spec = Spec { sites: 2, items_per_feed: 10, ..Spec::default() }.with_fault(Fault::RobotsPath, 1);
    let corpus = Corpus::with(spec, SETTINGS);
    corpus.run("update --all").ok();
    corpus.run("fetch").ok().says("18 pages fetched, 2 failed (2 robots)");
    corpus.was_polite(DELAY);
    let members: Vec<_> = corpus.plan().into_iter().filter(|entry| entry.status == "robots").collect();
    assert!(members.iter().all(|entry| entry.url.contains("/members/")) && members.len() == 2);
    corpus.run("fetch").ok().says("nothing to fetch");
}

#[test]
fn many_redirects_to_one_host_are_sent_one_at_a_time() {
    let spec = Spec { sites: 30, items_per_feed: 1, ..Spec::default() }.with_fault(Fault::RedirectShared, 30);
    let corpus = Corpus::with(spec, SETTINGS);
    corpus.run("update --all").ok();
    corpus.run("fetch").ok().says("30 pages fetched");
    let manners = corpus.was_polite(DELAY);
    let shared = manners.host(Host::Shared).expect("the shared host was asked");
    assert_eq!((shared.pages, shared.robots, shared.max_in_flight), (30, 1, 1));
    assert!(shared.smallest_gap_us.unwrap() >= 98_000);
}

#[test]
fn bombs_and_endless_bodies_do_not_fill_the_memory() {
    let spec = Spec {
        sites: 40,
        items_per_feed: 2,
        bomb_bytes: 4 << 30,
        endless_bytes_per_second: 50 << 20,
        ..Spec::default()
    };
    let spec = spec
        .with_fault(Fault::GzipBomb, 8)
        .with_fault(Fault::Endless, 8)
        .with_fault(Fault::GzipBomb.on(SitePart::Feed), 6)
        .with_fault(Fault::Endless.on(SitePart::Feed), 6)
        .with_fault(Fault::GzipBomb.on(SitePart::Robots), 3)
        .with_fault(Fault::Endless.on(SitePart::Robots), 3);
    let corpus = Corpus::with(spec, &[("max_page_mib", "10"), ("memory_mib", "32"), ("total_timeout_s", "20.0")]);
    let update = corpus.run("update --all").ok();
    let fetch = corpus.run("fetch").ok();
    for ran in [update, fetch] {
        assert!(ran.peak_kib < 200 << 10, "{} KiB: {}", ran.peak_kib, ran.stdout);
    }
    let pages = corpus.pages();
    assert!(corpus.healthy_articles().iter().all(|url| pages.contains_key(url)));
    let found = corpus.run("plan --count").ok();
    assert!(found.stdout.contains("32\ttoo-large"), "{}", found.stdout);
}

#[test]
fn a_feed_of_fifty_thousand_items_is_planned_completely_and_delays_no_other_host() {
    let spec = Spec { sites: 3, items_per_feed: 2, ..Spec::default() }.with_fault(Fault::HugeFeed, 1);
    let corpus = Corpus::with(spec, &[("total_timeout_s", "30.0"), ("answer_timeout_s", "30.0")]);
    let update = corpus.run("update --all").ok().says("3 feeds polled");
    assert!(update.peak_kib < 400 << 10, "{} KiB", update.peak_kib);
    assert_eq!(corpus.plan().len(), 50_000 + 4);
    let fetch = corpus.run("fetch --time-limit 2s").ok().says("time limit");
    assert!(fetch.peak_kib < 300 << 10, "{} KiB", fetch.peak_kib);
    let pages = corpus.pages();
    assert!(corpus.healthy_articles().iter().all(|url| pages.contains_key(url)));
    let requests = corpus.web.requests();
    assert!(requests.iter().filter(|request| request.kind == RequestKind::Page).count() >= pages.len());
    corpus.was_polite(Duration::from_millis(50));
}

#[test]
fn days_with_all_faults_lose_nothing() {
    let mix: Vec<_> = SiteFault::mix().filter(|fault| fault.fault != Fault::HugeFeed).collect();
    let spec = Spec {
        sites: HEALTHY + mix.len(),
        items_per_feed: 3,
        publish_every: Duration::from_secs(12 * 3600),
        crawl_delay: Duration::from_secs(1),
        endless_bytes_per_second: 20 << 20,
        drip_every: Duration::from_millis(50),
        // Longer than the test: a Retry-After that is not received before a kill cannot be kept, so all of them are
        // sent on the first day, without kills.
        retry_after: WATCHDOG * 4,
        faults: mix,
        ..Spec::default()
    };
    let corpus = Corpus::with(spec, SETTINGS);
    let mut listed = BTreeSet::new();
    for day in 0..2 {
        listed.extend(corpus.web.sites().take(HEALTHY).flat_map(|site| addresses(&site)));
        let mut update = corpus.start("update --all");
        if day == 1 {
            update.until(|| corpus.web.politeness().feeds > 90);
            update.signal(Signal::KILL);
            update.wait();
            update = corpus.start("update --all");
        }
        update.wait().ok();
        let mut fetch = corpus.start("fetch");
        if day == 1 {
            let pages = corpus.web.politeness().pages;
            fetch.until(|| corpus.web.politeness().pages > pages + 20);
            fetch.signal(Signal::KILL);
            fetch.wait();
            fetch = corpus.start("fetch");
        }
        fetch.wait().ok();
        corpus.is_tidy();
        corpus.was_polite_across_crashes(DELAY);
        corpus.web.advance(Duration::from_secs(24 * 3600));
        // Some get well, as they do.
        for site in (HEALTHY..corpus.web.sites().count()).filter(|site| site % 3 == day) {
            corpus.web.heal(site);
        }
    }
    let (pages, statuses) = (corpus.pages(), corpus.statuses());
    assert!(listed.iter().all(|url| pages.contains_key(url)), "every article of the healthy sites is there");
    let ok: BTreeSet<&String> = statuses.iter().filter(|(_, status)| *status == "ok").map(|(url, _)| url).collect();
    assert_eq!(pages.keys().collect::<BTreeSet<_>>(), ok);
    assert!(corpus.plan().iter().all(|entry| entry.retries <= 3 && (entry.status != "new" || entry.retries == 0)));
    corpus.run("audit").ok();
}
