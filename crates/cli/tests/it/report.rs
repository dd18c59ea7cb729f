//! `tidings report`: a self-contained file with reproducible numbers.

use std::fs;

use tidings_simweb::Spec;

use crate::clean::{corpus, mixed, put};
use crate::support::Corpus;

fn report(corpus: &Corpus, args: &str) -> String {
    corpus.run(&format!("report {args}")).ok();
    fs::read_to_string(corpus.home().join("report.html")).unwrap()
}

/// Every tag that is opened is closed, in order.
fn is_well_formed(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in html.split('<').skip(1).filter(|tag| !tag.starts_with('!')) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        match (tag.starts_with('/'), tag.ends_with('/') || name == "meta") {
            (true, _) => assert_eq!(open.pop(), Some(name), "closed out of order near {tag}"),
            (_, true) => {}
            _ => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
}

#[test]
fn the_report_shows_the_collection_and_loads_nothing() {
    let corpus = Corpus::new(Spec { sites: 5, items_per_feed: 3, ..Spec::default() });
    corpus.run("run").ok();
    assert!(corpus.home().join("report.html").exists(), "a round writes one");
    let html = report(&corpus, "--week");
    is_well_formed(&html);
    for id in ["volume", "funnel", "feeds", "yield", "months", "calendar"] {
        assert!(html.contains(&format!("<section id=\"{id}\">")), "{id} is missing");
    }
    assert_eq!(html.matches("<svg viewBox=\"0 0 1040 ").count(), 5, "five wide charts");
    assert!(html.contains("<dt>pages</dt><dd>15</dd>"), "the numbers are those of the home");
    let feed = corpus.web.feeds()[0].replace("http://", "");
    assert!(html.contains(&feed), "feeds are named");
    for outside in ["<script", "<link", "<img", "<iframe", "url(", "@import", "src="] {
        assert!(!html.contains(outside), "{outside} would load something");
    }
    assert!(html.contains("default-src 'none'"));
    // Another round on the same day leaves the page as it is.
    let before = fs::read(corpus.home().join("report.html")).unwrap();
    corpus.run("run").ok();
    assert_eq!(fs::read(corpus.home().join("report.html")).unwrap(), before);
    let out = corpus.beside("elsewhere.html");
    corpus.run(&format!("report --month --out {}", out.display())).ok().says("elsewhere.html");
    assert!(out.exists());
    assert!(corpus.run("report --out -").ok().stdout.starts_with("<!DOCTYPE html>"));
}

#[test]
fn days_without_a_crawl_differ_from_days_without_pages() {
    let corpus = corpus();
    for day in ["2026-03-01", "2026-03-02", "2026-03-06"] {
        put(&corpus, day, "a.0", &mixed(0..14));
    }
    corpus.run("clean").ok();
    let html = report(&corpus, "--days 10 --until 2026-03-07");
    is_well_formed(&html);
    assert!(html.contains("2026-03-03: not crawled") && html.contains("2026-03-06: 14 pages"), "{html}");
    assert!(html.contains("2026-02-20: before the first crawl"));
    assert!(html.contains("Of 42 pages, 24 became documents and 18 did not"), "{html}");
}

#[test]
fn an_empty_home_has_a_report_and_names_are_escaped() {
    let corpus = corpus();
    fs::write(corpus.home().join("feeds.txt"), "http://e.org/<b>&feed\n").unwrap();
    let html = report(&corpus, "");
    is_well_formed(&html);
    assert!(html.contains("e.org/&lt;b&gt;&amp;feed"), "{html}");
    corpus.run("report --until yesterday").exits(2);
}
