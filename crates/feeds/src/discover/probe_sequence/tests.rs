//! Probe sequences against sites of a few documents.

use super::*;
use crate::discover::reduce;
use proptest::prelude::*;

/// Runs a sequence to its end against a site of a few documents.
fn probe(start: &str, options: ProbeOptions, site: &[(&str, &str)]) -> (ProbeSequence, Vec<String>) {
    let mut sequence = ProbeSequence::new(start, options).unwrap();
    let mut urls_requested = Vec::new();
    loop {
        if sequence.needs_sitemaps() {
            sequence.add_sitemaps(&[]);
        }
        let requests = sequence.next();
        if requests.is_empty() {
            return (sequence, urls_requested);
        }
        for request in requests {
            urls_requested.push(request.url.clone());
            let body = site.iter().find(|row| row.0 == request.url).map(|row| row.1);
            let probe_result = match body {
                Some(body) => reduce(body.as_bytes(), None, &request.url),
                None => ProbeResult::Nothing("404".into()),
            };
            sequence.record(&request, &probe_result);
        }
    }
}

fn feed(link: &str) -> String {
    format!("<rss><channel><title>News</title><item><link>{link}</link></item></channel></rss>")
}

fn urls(sequence: &ProbeSequence) -> Vec<&str> {
    sequence.found().iter().map(|found| found.url.as_str()).collect()
}

#[test]
fn an_address_that_is_a_feed_costs_one_request() {
    let rss = feed("https://g.example/1");
    let (sequence, urls_requested) =
        probe("https://g.example/x", ProbeOptions::default(), &[("https://g.example/x", &rss)]);
    assert_eq!((urls(&sequence), urls_requested.len()), (vec!["https://g.example/x"], 1));
    assert_eq!(sequence.found()[0].evidence, Evidence::Given);
}

#[test]
fn declared_feeds_are_found_without_variants_and_comments() {
    let page = r#"<html><link rel="alternate" type="application/rss+xml" href="/feed/">
        <link rel="alternate" type="application/atom+xml" href="/feed/atom/">
        <link rel="alternate" type="application/rss+xml" href="/politics/feed/">
        <link rel="alternate" type="application/rss+xml" href="/comments/feed/">
        <link rel="alternate" type="application/json+oembed" href="/wp-json/oembed/1.0/embed?url=x">
        <link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/7"></html>"#;
    let (main, politics) = (feed("https://g.example/1"), feed("https://g.example/2"));
    let site = [
        ("https://g.example/a-b-c-d.html", page),
        ("https://g.example/feed/", &main),
        ("https://g.example/feed/atom/", &main),
        ("https://g.example/politics/feed/", &politics),
        ("https://g.example/comments/feed/", &main),
    ];
    let (sequence, urls_requested) = probe("https://g.example/a-b-c-d.html", ProbeOptions::default(), &site);
    assert_eq!(urls(&sequence), ["https://g.example/feed/", "https://g.example/politics/feed/"]);
    assert_eq!(urls_requested.len(), 3, "{urls_requested:?}");
    assert_eq!(sequence.found()[0].found_on, "https://g.example/a-b-c-d.html");
}

#[test]
fn the_atom_variant_is_requested_when_the_rss_feed_is_broken() {
    let page = r#"<html><link rel="alternate" type="application/rss+xml" href="/feed/">
        <link rel="alternate" type="application/atom+xml" href="/feed/atom/"></html>"#;
    let atom = feed("https://g.example/1");
    let site = [("https://g.example/", page), ("https://g.example/feed/atom/", &atom)];
    let (sequence, _) = probe("https://g.example/", ProbeOptions::default(), &site);
    assert_eq!(urls(&sequence), ["https://g.example/feed/atom/"]);
}

#[test]
fn a_page_about_feeds_is_read_for_the_feeds_it_lists() {
    let page = r#"<html><body><a href="/service/rss/">RSS</a></body></html>"#;
    let hub = r#"<html><body><a href="/service/rss/politics.xml">Politics</a></body></html>"#;
    let rss = feed("https://g.example/1");
    let site = [
        ("https://g.example/", page),
        ("https://g.example/service/rss/", hub),
        ("https://g.example/service/rss/politics.xml", &rss),
    ];
    let (sequence, _) = probe("https://g.example/", ProbeOptions::default(), &site);
    assert_eq!(urls(&sequence), ["https://g.example/service/rss/politics.xml"]);
}

#[test]
fn recommended_feeds_of_other_sites_are_skipped() {
    let page = r#"<html><body><a href="https://other.example/feed/">A friend</a>
        <a href="https://feeds.feedburner.com/gazette">RSS</a></body></html>"#;
    let rss = feed("https://g.example/1");
    let site = [
        ("https://g.example/", page),
        ("https://other.example/feed/", &rss),
        ("https://feeds.feedburner.com/gazette", &rss),
    ];
    let (sequence, urls_requested) = probe("https://g.example/", ProbeOptions::default(), &site);
    assert_eq!((urls(&sequence), urls_requested.len()), (vec!["https://feeds.feedburner.com/gazette"], 2));
}

#[test]
fn the_front_page_may_declare_what_an_article_does_not() {
    let front = r#"<html><link rel="alternate" type="application/rss+xml" href="/data/stories"></html>"#;
    let rss = feed("https://g.example/1");
    let site = [
        ("https://g.example/a", "<html>x</html>"),
        ("https://g.example/", front),
        ("https://g.example/data/stories", &rss),
    ];
    let (sequence, urls_requested) = probe("https://g.example/a", ProbeOptions::default(), &site);
    assert_eq!((urls(&sequence), urls_requested.len()), (vec!["https://g.example/data/stories"], 3));
}

#[test]
fn the_usual_path_of_the_cms_is_requested() {
    let page = r#"<html><head><meta name="generator" content="SPIP 4"></head></html>"#;
    let rss = feed("https://g.example/1");
    let site = [("https://g.example/a", page), ("https://g.example/spip.php?page=backend", &rss)];
    let (sequence, urls_requested) = probe("https://g.example/a", ProbeOptions::default(), &site);
    assert_eq!((urls(&sequence), urls_requested.len()), (vec!["https://g.example/spip.php?page=backend"], 2));
    assert_eq!(sequence.found()[0].evidence, Evidence::Program);
}

#[test]
fn common_paths_are_tried_in_the_order_of_their_frequency() {
    let (_, urls_requested) =
        probe("https://g.example/", ProbeOptions::default(), &[("https://g.example/", "<html>x</html>")]);
    assert_eq!(urls_requested[1..4], ["https://g.example/feed", "https://g.example/rss", "https://g.example/rss.xml"]);
    assert_eq!(urls_requested.len(), 12, "{urls_requested:?}");
    assert!(urls_requested.contains(&"https://g.example/sitemap.xml".to_owned()));
}

#[test]
fn a_feed_in_the_sitemap_is_found() {
    let map = "<urlset><url><loc>https://g.example/syndication/rss-7.xml</loc></url></urlset>";
    let rss = feed("https://g.example/1");
    let site = [("https://g.example/sitemap.xml", map), ("https://g.example/syndication/rss-7.xml", rss.as_str())];
    let (sequence, _) = probe("https://g.example/", ProbeOptions::default(), &site);
    assert_eq!(sequence.found()[0].evidence, Evidence::Sitemap);
}

#[test]
fn the_parent_domain_is_requested_but_never_a_public_suffix() {
    let front = r#"<html><link rel="alternate" type="application/rss+xml" href="/f"></html>"#;
    let rss = feed("https://g.example.co.uk/1");
    let site = [("https://example.co.uk/", front), ("https://example.co.uk/f", rss.as_str())];
    let (sequence, _) = probe("https://blog.example.co.uk/", ProbeOptions::default(), &site);
    assert_eq!(urls(&sequence), ["https://example.co.uk/f"]);
    let (_, urls_requested) = probe("https://www.example.co.uk/", ProbeOptions::default(), &[]);
    assert!(urls_requested.iter().all(|url| url.starts_with("https://www.example.co.uk/")), "{urls_requested:?}");
}

#[test]
fn an_unreachable_host_is_requested_once() {
    let mut sequence = ProbeSequence::new("https://g.example/", ProbeOptions::default()).unwrap();
    let first = sequence.next();
    sequence.record(&first[0], &ProbeResult::Unreachable("timeout".into()));
    assert!(sequence.next().is_empty());
    assert_eq!(sequence.unreachable(), Some("timeout"));
}

#[test]
fn the_rule_of_the_paper_requests_one_page_and_three_paths() {
    let page = r#"<html><body><a href="/a.rss">RSS</a></body></html>"#;
    let paper = ProbeOptions { paper_rule: true, ..ProbeOptions::default() };
    let (_, urls_requested) = probe("https://g.example/a", paper, &[("https://g.example/a", page)]);
    assert_eq!(urls_requested[1..], ["https://g.example/rss", "https://g.example/rss.xml", "https://g.example/feed"]);
}

proptest! {
    #[test]
    fn a_sequence_always_ends_within_its_request_limit(
        seed in proptest::collection::vec(0u8..8, 1..40),
        limit in 1u32..20,
    ) {
        let options = ProbeOptions { max_requests: limit, ..ProbeOptions::default() };
        let mut sequence = ProbeSequence::new("https://blog.g.example/section/a.html", options).unwrap();
        let mut urls_requested = HashSet::new();
        let mut at = 0;
        loop {
            if sequence.needs_sitemaps() {
                sequence.add_sitemaps(&[]);
            }
            let requests = sequence.next();
            if requests.is_empty() {
                break;
            }
            for request in requests {
                prop_assert!(urls_requested.insert(request.url.clone()), "{} was requested twice", request.url);
                at += 1;
                let page = format!(
                    "<html><meta name=generator content=SPIP><a href=/rss/{at}.xml>RSS</a>
                     <link rel=alternate type=application/rss+xml href=/f{at}></html>"
                );
                let map = format!("<sitemapindex><sitemap><loc>/m{at}.xml</loc></sitemap></sitemapindex>");
                let body = match seed[at % seed.len()] {
                    0 => feed(&format!("https://g.example/{at}")),
                    1..4 => page,
                    4 => map,
                    _ => String::new(),
                };
                sequence.record(&request, &reduce(body.as_bytes(), None, &request.url));
            }
        }
        prop_assert!(sequence.requests() <= limit && urls_requested.len() as u32 == sequence.requests());
    }
}

#[test]
fn confirming_requests_the_url_alone() {
    let mut sequence =
        ProbeSequence::confirm("https://g.example/feed/", Evidence::Declared, "https://g.example/").unwrap();
    let requests = sequence.next();
    assert_eq!(requests.len(), 1);
    let page = r#"<html><link rel="alternate" type="application/rss+xml" href="/f"></html>"#;
    sequence.record(&requests[0], &reduce(page.as_bytes(), None, "https://g.example/feed/"));
    assert!(sequence.next().is_empty());
}

#[test]
fn the_page_with_most_articles_is_remembered_for_sites_without_a_feed() {
    let mut sequence = ProbeSequence::new("https://g.example/a/story", ProbeOptions::default()).unwrap();
    let mut pages = 0;
    loop {
        let requests = sequence.next();
        if requests.is_empty() {
            break;
        }
        for request in requests {
            let articles = match request.url.as_str() {
                "https://g.example/" => 12,
                "https://g.example/a/story" => 4,
                _ => 0,
            };
            pages += u32::from(articles > 0);
            sequence.record(&request, &ProbeResult::Page(PageSummary { articles, ..PageSummary::default() }));
        }
    }
    assert_eq!((pages, sequence.article_list()), (2, Some(("https://g.example/", 12))));
}
