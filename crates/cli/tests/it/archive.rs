//! Backfills: the history of sites beside their feeds, and sitemaps polled like feeds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use tidings_simweb::{HistoryAccess, Host, RequestKind, Site, Spec};

use crate::support::Corpus;

/// Sites with every way to show their history: 120 articles at the start, some months in all.
fn history() -> Spec {
    Spec {
        sites: HistoryAccess::ALL.len(),
        items_per_feed: 15,
        history: 120,
        publish_every: Duration::from_secs(6 * 3600),
        histories: HistoryAccess::ALL.to_vec(),
        full_text_percent: 0,
        ..Spec::default()
    }
}

/// The URLs of all articles of a site.
fn addresses(site: &Site<'_>) -> BTreeSet<String> {
    site.articles().map(|article| article.url).collect()
}

/// Polls the feeds of a web at several times, so that they bring a sample of its articles.
fn poll_for_weeks(corpus: &Corpus) {
    corpus.run("update --all").ok();
    for _ in 0..6 {
        corpus.web.advance(Duration::from_secs(9 * 86_400));
        corpus.run("update --all").ok();
    }
}

#[test]
fn a_backfill_finds_the_history_once_fetches_it_and_estimates_its_recall() {
    let corpus = Corpus::with(history(), &[("archive_pages", "100000"), ("delay_s", "0.01"), ("feed_delay_s", "0.01")]);
    poll_for_weeks(&corpus);
    let known: BTreeSet<String> = corpus.statuses().into_keys().collect();
    corpus.web.clear_log();
    let outcome = corpus.run("crawl --archive --json").ok().json();
    let listings = corpus.web.requests().len() as f64;
    corpus.run("fetch").ok();
    let statuses = corpus.statuses();
    let sites: BTreeMap<String, &Value> = outcome["sites"]
        .as_array()
        .unwrap()
        .iter()
        .map(|site| (site["site"].as_str().unwrap().to_owned(), site))
        .collect();
    for site in corpus.web.sites() {
        let access = site.history().unwrap();
        let all = addresses(&site);
        let planned = all.iter().filter(|url| statuses.contains_key(*url)).count() as f64 / all.len() as f64;
        let expected = if access == HistoryAccess::Partial { 0.7 } else { 0.95 };
        assert!(planned >= expected, "{}: {planned:.2} of {} articles are in the plan", access.name(), all.len());
        let name = format!("{}:{}", site.address(), corpus.web.port());
        let own = sites[&name]["recall"]["share"].as_f64().unwrap();
        let expected = if access == HistoryAccess::Partial { 0.55..0.85 } else { 0.95..1.01 };
        assert!(expected.contains(&own), "{}: {own:.2}", access.name());
        assert!(!sites[&name]["ended"].as_str().unwrap().is_empty(), "{}: sources are dry", access.name());
    }
    let added = statuses.keys().filter(|url| !known.contains(*url)).count() as f64;
    assert!(listings <= 0.2 * added, "{listings} requests for listings, {added} articles");
    assert!(statuses.values().all(|status| status == "ok"));
    corpus.asked_nothing_twice();
    corpus.is_tidy();
    corpus.run("audit").ok();
    // A second run has nothing to do.
    corpus.web.clear_log();
    corpus.run("crawl --archive").ok().says("0 articles added to the plan");
    assert!(corpus.web.requests().is_empty());
}

#[test]
fn a_backfill_that_is_killed_goes_on_where_it_was() {
    let corpus = Corpus::with(history(), &[("delay_s", "0.02"), ("feed_delay_s", "0.02")]);
    corpus.run("update --all").ok();
    for pages in 1..6 {
        corpus.run(&format!("crawl --archive --pages {}", pages * 4)).ok();
    }
    let mut crashes = 0;
    for at in [3, 9, 14] {
        let mut command = corpus.command("crawl --archive");
        command.env("TIDINGS_CRASH_AT", at.to_string());
        crashes += u32::from(corpus.launch(command).wait().code != Some(0));
    }
    assert!(crashes > 0, "no run was interrupted");
    corpus.run("crawl --archive").ok().says("recall");
    let statuses = corpus.statuses();
    for site in corpus.web.sites().filter(|site| site.history() != Some(HistoryAccess::Partial)) {
        let all = addresses(&site);
        let planned = all.iter().filter(|url| statuses.contains_key(*url)).count();
        assert!(planned * 100 >= all.len() * 95, "{}: {planned} of {}", site.history().unwrap().name(), all.len());
    }
    corpus.is_tidy();
}

#[test]
fn the_range_of_a_backfill_and_a_dry_run_are_obeyed() {
    let corpus = Corpus::new(history());
    corpus.run("update --all").ok();
    corpus.web.clear_log();
    corpus.run("crawl --archive --dry-run").ok().says("would ask for");
    assert!(corpus.web.requests().is_empty());
    let site = corpus.web.site(0);
    let name = format!("{}:{}", site.address(), corpus.web.port());
    let now = corpus.web.now().to_string();
    let since = &now[..7];
    corpus.run(&format!("crawl --archive --since {since} {name}")).ok();
    let plan = corpus.plan();
    let added: Vec<&str> = plan
        .iter()
        .filter(|entry| entry.feed == format!("archive:{name}"))
        .map(|entry| entry.published.as_str())
        .collect();
    assert!(added.iter().all(|published| *published >= since), "{added:?}");
    let before = plan.len();
    // Another range reads the listings again.
    corpus.run(&format!("crawl --archive {name}")).ok();
    assert!(corpus.plan().len() > before);
}

#[test]
fn a_sitemap_is_polled_like_a_feed_and_its_history_is_left_out() {
    let spec =
        Spec { histories: vec![HistoryAccess::Complete, HistoryAccess::Monthly], sites: 2, history: 300, ..history() };
    let corpus = Corpus::new(spec);
    let maps: Vec<String> = corpus
        .web
        .sites()
        .map(|site| format!("{}\tkind=sitemap", site.url(site.history().unwrap().sitemap().unwrap())))
        .collect();
    std::fs::write(corpus.home().join("feeds.txt"), maps.join("\n")).unwrap();
    // The program's clock is that of the simulated web, because recent entries are those of the last 30 days.
    let run = |args: &str| corpus.run_at(corpus.web.now(), args);
    run("update --all").ok().says("left to `tidings crawl --archive`");
    let first: BTreeSet<String> = corpus.statuses().into_keys().collect();
    let oldest = corpus.web.now() - jiff::SignedDuration::from_hours(30 * 24);
    for site in corpus.web.sites() {
        for article in site.articles() {
            assert_eq!(first.contains(&article.url), article.date >= oldest, "{} of {}", article.url, article.date);
        }
    }
    corpus.web.advance(Duration::from_secs(2 * 86_400));
    run("update --all").ok();
    let second = corpus.statuses();
    let news: Vec<String> = corpus
        .web
        .sites()
        .flat_map(|site| site.articles().collect::<Vec<_>>())
        .filter(|article| article.date > corpus.web.now() - jiff::SignedDuration::from_hours(40))
        .map(|article| article.url)
        .collect();
    assert!(!news.is_empty() && news.iter().all(|url| second.contains_key(url)));
    let asked = corpus.web.requests();
    let pages = asked.iter().filter(|request| request.kind == RequestKind::Page && request.host == Host::Site(0));
    assert_eq!(pages.count(), 0);
    run(&format!("why {}", corpus.web.site(0).url("/sitemap.xml"))).ok().says("are history");
}
