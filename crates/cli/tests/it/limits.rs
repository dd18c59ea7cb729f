//! Limits of open files, TLS connections, and the order fixed by a seed.

use std::time::Duration;

use tidings_simweb::{Fault, RequestKind, Spec};

use crate::support::Corpus;

#[test]
fn a_low_limit_of_open_files_costs_time_and_nothing_else() {
    let spec = Spec { sites: 200, items_per_feed: 1, ..Spec::default() };
    let corpus = Corpus::with(spec, &[("delay_s", "0.02"), ("feed_delay_s", "0.02")]);
    for (verb, says) in [("update", "200 added to the plan"), ("fetch", "200 pages fetched")] {
        corpus.shell(&format!("ulimit -n 64; exec \"$T\" {verb}")).ok().says(says);
    }
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok" && entry.retries == 1));
    corpus.asked_nothing_twice();
    corpus.was_polite(Duration::from_millis(20));
    // With hardly any more than the program itself needs.
    corpus.web.advance(Duration::from_secs(24 * 3600));
    for verb in ["update", "fetch"] {
        corpus.shell(&format!("ulimit -n 80; exec \"$T\" {verb}")).ok();
    }
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok" && entry.retries == 1));
}

#[test]
fn running_out_of_sockets_costs_no_attempt() {
    // The settings allow more than the system, and sockets are the scarce resource.
    let spec = Spec { sites: 120, items_per_feed: 2, latency: Duration::from_millis(30), ..Spec::default() };
    let corpus = Corpus::with(spec.with_fault(Fault::Close, 20), &[("concurrency", "5000")]);
    corpus.run("update --all").ok();
    corpus.shell("ulimit -n 100; exec \"$T\" fetch").ok().says("240 pages fetched");
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok" && entry.retries == 1));
    corpus.was_polite(Duration::from_millis(50));
}

#[test]
fn the_number_of_concurrent_hosts_is_limited() {
    let spec = Spec { sites: 40, items_per_feed: 1, latency: Duration::from_millis(20), ..Spec::default() };
    let corpus = Corpus::new(spec);
    corpus.run("update --concurrency 7").ok();
    corpus.run("fetch --concurrency 7").ok().says("40 pages fetched");
    let requests = corpus.web.requests();
    let starts = requests.iter().map(|request| (request.start_us, 1));
    let ends = requests.iter().filter_map(|request| Some((request.end_us?, -1)));
    let mut moments: Vec<(u64, i32)> = starts.chain(ends).collect();
    moments.sort();
    let (mut now, mut most) = (0, 0);
    for (_, change) in moments {
        now += change;
        most = most.max(now);
    }
    assert!((2..=7).contains(&most), "{most} at once");
}

#[test]
fn feeds_and_pages_are_fetched_over_tls_with_http_2() {
    let spec = Spec { sites: 6, items_per_feed: 3, tls: true, ..Spec::default() };
    let corpus = Corpus::new(spec);
    // The certificate authority is not trusted yet.
    corpus.run("update --all").ok().says("6 tls");
    assert!(corpus.plan().is_empty());
    let roots = corpus.home().join("roots.pem");
    std::fs::write(&roots, corpus.web.authority_pem().unwrap()).unwrap();
    let settings = crate::support::settings(&[("extra_roots", &format!("'{}'", roots.display()))]);
    std::fs::write(corpus.home().join("tidings.toml"), settings).unwrap();
    corpus.web.clear_log();
    corpus.run("update --all").ok().says("18 added to the plan");
    corpus.run("fetch").ok().says("18 pages fetched");
    let pages = corpus.pages();
    assert!(pages.keys().all(|url| url.starts_with("https://")));
    for article in corpus.web.articles() {
        let body = &pages[&article.url].body;
        assert!(!body.is_empty() && body.len() > article.text().len() / 2, "{}", article.url);
    }
    corpus.was_polite(Duration::from_millis(50));
    let manners = corpus.web.politeness();
    assert!(manners.max_connections_per_host <= 2, "one connection per run serves all requests to a host");
    corpus.run("update --all").ok().says("6 unchanged");
    std::fs::write(&roots, "no certificate").unwrap();
    corpus.run("update --all").exits(1).says("roots.pem");
}

#[test]
fn the_reason_why_a_certificate_was_refused_is_kept() {
    let corpus = Corpus::new(Spec { sites: 1, items_per_feed: 1, tls: true, ..Spec::default() });
    let roots = corpus.home().join("roots.pem");
    std::fs::write(&roots, corpus.web.authority_pem().unwrap()).unwrap();
    let settings = corpus.home().join("tidings.toml");
    let trusting = crate::support::settings(&[("extra_roots", &format!("'{}'", roots.display()))]);
    std::fs::write(&settings, trusting).unwrap();
    corpus.run("update --all").ok().says("1 added to the plan");
    std::fs::write(&settings, crate::support::settings(&[])).unwrap();
    corpus.run("fetch");
    let url = corpus.web.articles().next().unwrap().url;
    let told = corpus.run(&format!("why {url}")).stdout;
    assert!(
        told.contains("tls: the secure connection could not be set up (") && told.contains("UnknownIssuer"),
        "{told}"
    );
}

/// The order in which the pages of each host were requested.
fn order(corpus: &Corpus) -> Vec<String> {
    let mut requests: Vec<_> =
        corpus.web.requests().into_iter().filter(|request| request.kind == RequestKind::Page).collect();
    requests.sort_by_key(|request| (request.address, request.start_us));
    requests.into_iter().map(|request| format!("{} {}", request.address, request.path)).collect()
}

#[test]
fn a_seed_fixes_the_order_of_pages_within_a_host() {
    let corpus = Corpus::with(Spec { sites: 3, items_per_feed: 12, ..Spec::default() }, &[("delay_s", "0.01")]);
    corpus.run("update --all").ok();
    let prepared = corpus.beside("prepared");
    crate::support::copy_folder(&corpus.home(), &prepared);
    let mut orders = Vec::new();
    for seed in ["7", "7", "8"] {
        corpus.restore(&prepared);
        corpus.web.clear_log();
        corpus.run(&format!("fetch --seed {seed}")).ok().says("36 pages fetched");
        orders.push(order(&corpus));
    }
    assert_eq!(orders[0], orders[1]);
    assert_ne!(orders[0], orders[2]);
    let mut sorted = orders[0].clone();
    sorted.sort();
    assert_ne!(orders[0], sorted, "the order is not that of names");
}
