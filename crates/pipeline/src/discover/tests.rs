//! Tests of the filter, the order of candidates, their adoption, and outcomes.

use super::*;
use crate::testing::{context, home, home_with_feeds};

fn candidate(feed: &str, evidence: Evidence) -> Candidate {
    Candidate {
        feed: feed.to_owned(),
        site: site(feed).unwrap_or_default(),
        evidence: evidence.name().to_owned(),
        seen: 100,
        ..Candidate::default()
    }
}

fn filter_of(languages: &[&str]) -> Filter {
    Filter { min_seen: 2, min_good_pages: 1, languages: languages.iter().map(|code| (*code).to_owned()).collect() }
}

fn best_feeds(context: &RunContext, again: bool, budget: u64) -> Vec<String> {
    best(context, again, budget).unwrap().into_iter().map(|probe| probe.candidate.feed).collect()
}

#[test]
fn urls_are_compared_without_scheme_www_and_final_slash() {
    for address in ["https://www.E.org/feed/", "http://e.org/feed", "e.org/feed"] {
        assert_eq!(plain(address), "e.org/feed");
    }
}

#[test]
fn feeds_given_by_the_user_or_a_list_pass_any_filter() {
    let filter = filter_of(&["de"]);
    for evidence in [Evidence::Given, Evidence::Listed] {
        assert!(fits(&filter, &Candidate { seen: 0, ..candidate("https://e.fr/feed", evidence) }));
    }
}

#[test]
fn a_feed_found_in_a_crawl_needs_enough_links() {
    let filter = filter_of(&[]);
    let row = candidate("https://e.org/feed", Evidence::Declared);
    assert!(fits(&filter, &row));
    assert!(!fits(&filter, &Candidate { seen: 1, ..row }));
}

#[test]
fn a_page_needs_no_links_but_a_selected_language() {
    let filter = filter_of(&["de"]);
    let rare = |feed: &str| Candidate { seen: 1, ..candidate(feed, Evidence::Page) };
    assert!(fits(&filter, &rare("https://e.de/")));
    assert!(!fits(&filter, &rare("https://e.de/fr/")));
}

#[test]
fn unknown_evidence_counts_as_a_page() {
    let row = Candidate { evidence: "hearsay".into(), seen: 1, ..candidate("https://e.org/", Evidence::Page) };
    assert!(fits(&filter_of(&[]), &row));
}

#[test]
fn the_best_candidates_come_first_within_the_budget() {
    let (_folder, pipeline) = home();
    let context = context(&pipeline);
    let rows = vec![
        candidate("https://b.example/", Evidence::Page),
        candidate("https://c.example/feed", Evidence::Declared),
        candidate("https://a.example/feed", Evidence::Declared),
    ];
    candidates::replace(&context.home, rows).unwrap();
    let all = ["https://a.example/feed", "https://c.example/feed", "https://b.example/"];
    assert_eq!(best_feeds(&context, false, 10), all);
    assert_eq!(best_feeds(&context, false, 2), all[..2]);
}

#[test]
fn feeds_in_the_list_are_not_probed() {
    let (_folder, pipeline) = home_with_feeds("http://www.a.example/feed/\n");
    let context = context(&pipeline);
    candidates::replace(&context.home, vec![candidate("https://a.example/feed", Evidence::Declared)]).unwrap();
    assert_eq!(best_feeds(&context, true, 10), Vec::<String>::new());
}

#[test]
fn probed_candidates_are_probed_again_only_on_request() {
    let (_folder, pipeline) = home();
    let context = context(&pipeline);
    let asked = |status, reason: &str| Candidate {
        status,
        reason: reason.to_owned(),
        requests: 1,
        ..candidate(&format!("https://{}.example/feed", reason.replace(' ', "")), Evidence::Declared)
    };
    let rows = vec![
        asked(CandidateStatus::NotAFeed, "no"),
        asked(CandidateStatus::Unreachable, "dns"),
        asked(CandidateStatus::NotAFeed, "leads to x"),
        asked(CandidateStatus::ProbedFeed, "feed"),
        asked(CandidateStatus::Rejected, "language"),
    ];
    candidates::replace(&context.home, rows).unwrap();
    assert_eq!(best_feeds(&context, false, 10), Vec::<String>::new());
    let mut again = best_feeds(&context, true, 10);
    again.sort();
    assert_eq!(again, ["https://dns.example/feed", "https://no.example/feed"]);
}

#[test]
fn a_site_without_a_feed_is_skipped() {
    let (_folder, pipeline) = home();
    let context = context(&pipeline);
    let rows =
        vec![candidate("https://a.example/", Evidence::Page), candidate("https://a.example/feed", Evidence::Declared)];
    candidates::replace(&context.home, rows).unwrap();
    candidates::add_sites_without_feed(
        &context.home,
        vec![SiteWithoutFeed { site: site("https://a.example/").unwrap(), ..SiteWithoutFeed::default() }],
    )
    .unwrap();
    assert_eq!(best_feeds(&context, false, 10), ["https://a.example/feed"]);
    assert_eq!(best_feeds(&context, true, 10).len(), 2);
}

#[test]
fn adopted_feeds_are_listed_with_labels_and_origin() {
    let (_folder, pipeline) = home_with_feeds("https://known.example/feed\n");
    let context = context(&pipeline);
    let rows = vec![
        Candidate {
            language: "de".into(),
            found_on: "https://a.example/".into(),
            ..candidate("https://a.example/feed", Evidence::Declared)
        },
        Candidate {
            labels: "lang=fr\ttopic=local".into(),
            language: "de".into(),
            ..candidate("https://b.example/feed", Evidence::Given)
        },
        candidate("http://www.a.example/feed/", Evidence::Path),
        candidate("https://known.example/feed/", Evidence::Path),
    ];
    assert_eq!(adopt(&context, rows).unwrap(), 2);
    let feeds = feeds::list(&context.home).unwrap().feeds;
    let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(feeds.len(), 3);
    assert_eq!((feeds[1].url.as_str(), &feeds[1].labels), ("https://a.example/feed", &vec![label("lang", "de")]));
    assert_eq!(feeds[2].labels, [label("lang", "fr"), label("topic", "local")]);
    let text = std::fs::read_to_string(context.home.feed_list()).unwrap();
    assert!(text.contains(", declared on https://a.example/\n") && text.contains(", as given\n"), "{text}");
}

#[test]
fn the_origin_of_a_feed_is_described() {
    let of = |evidence| origin(&Candidate { found_on: "e.org".into(), ..candidate("https://e.org/feed", evidence) });
    assert_eq!(of(Evidence::Given), "as given");
    assert_eq!(of(Evidence::Listed), "listed in e.org");
    assert_eq!(of(Evidence::Path), "at a common path, from e.org");
    assert_eq!(of(Evidence::Sitemap), "in the site map e.org");
    assert_eq!(origin(&candidate("https://e.org/feed", Evidence::Text)), "linked from");
}

#[test]
fn an_invalid_url_is_rejected_before_any_request() {
    let (_folder, pipeline) = home();
    let options = Options {
        task: Task::Search(vec!["mailto:x".into(), "http://".into()]),
        probe: None,
        add: false,
        again: false,
        paper_rule: false,
        seed: Some(1),
    };
    assert!(run(&pipeline, &options).unwrap_err().to_string().ends_with("is not a valid http or https URL"));
}

#[test]
fn a_search_of_sites_without_a_feed_sends_no_request() {
    let (_folder, pipeline) = home();
    let context = context(&pipeline);
    candidates::add_sites_without_feed(
        &context.home,
        vec![SiteWithoutFeed { site: site("http://a.example").unwrap(), ..SiteWithoutFeed::default() }],
    )
    .unwrap();
    drop(context);
    let options = Options {
        task: Task::Search(vec!["a.example".into()]),
        probe: None,
        add: false,
        again: false,
        paper_rule: false,
        seed: Some(1),
    };
    let outcome = run(&pipeline, &options).unwrap();
    let search = outcome.search.as_ref().unwrap();
    assert_eq!((outcome.done, search.skipped, search.requests), (true, 1, 0));
    assert!(outcome.to_string().starts_with("a.example: no feed found in an earlier search"), "{outcome}");
}

#[test]
fn a_search_is_one_line() {
    let outcome = SearchOutcome { addresses: 1, requests: 1, left: 2, offline: true, ..SearchOutcome::default() };
    assert_eq!(
        outcome.to_string(),
        "0 feeds found from 1 URL with 1 request; 0 without a feed, 0 unreachable; 2 left for a later run; \
         no host responded, the network seems to be down, 0.0 s\n"
    );
}

#[test]
fn growth_is_one_line() {
    let grown = GrowOutcome { pages_searched: 1, feeds_linked: 2, feeds_found: 1, requests: 3 };
    assert_eq!(grown.to_string(), "2 feeds linked from 1 page, 1 new feed confirmed with 3 requests\n");
}

#[test]
fn the_outcome_has_the_keys_of_the_steps_that_were_taken() {
    let keys = |outcome: &DiscoverOutcome| {
        serde_json::to_value(outcome).unwrap().as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(&DiscoverOutcome::default()), ["done"]);
    let gathered = DiscoverOutcome { gathered: Some(Gathered::default()), ..DiscoverOutcome::default() };
    assert_eq!(keys(&gathered), ["candidates", "done", "expanded", "fit", "known", "pages", "rejected"]);
}
