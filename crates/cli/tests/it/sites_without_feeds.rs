//! Sites without feeds: their front pages are polled.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use tidings_simweb::{Hiding, Spec};

use crate::support::Corpus;

/// A web without feeds, and a home that lists its front pages.
fn front_pages(sites: usize) -> Corpus {
    let spec = Spec {
        sites,
        items_per_feed: 10,
        hiding: vec![Hiding::Nowhere],
        full_text_percent: 0,
        languages: vec!["en".into(), "de".into(), "cs".into()],
        ..Spec::default()
    };
    let corpus = Corpus::new(spec);
    let lines: String = corpus.web.sites().map(|site| format!("{}\tkind=page\n", site.url("/"))).collect();
    fs::write(corpus.home().join("feeds.txt"), lines).unwrap();
    corpus
}

/// The articles that front pages list now.
fn listed(corpus: &Corpus) -> BTreeSet<String> {
    corpus.web.sites().flat_map(|site| site.listed().map(|article| article.url).collect::<Vec<_>>()).collect()
}

fn planned(corpus: &Corpus) -> BTreeSet<String> {
    corpus.plan().into_iter().map(|entry| entry.url).collect()
}

#[test]
fn articles_of_front_pages_are_planned_and_fetched_and_later_only_the_new_ones() {
    let corpus = front_pages(6);
    let first = corpus.run("update --json").ok().json();
    assert_eq!((&first["polled"]["listed"], &first["polled"]["entries listed"]), (&6.into(), &60.into()), "{first}");
    let before = listed(&corpus);
    assert_eq!(planned(&corpus), before);
    assert!(corpus.plan().iter().all(|entry| entry.feed.ends_with('/') && !entry.title.is_empty()));
    corpus.run("fetch").ok();
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok"));

    let unchanged = corpus.run("update --all --json").ok().json();
    assert_eq!((&unchanged["polled"]["unchanged"], &unchanged["new_entries"]), (&6.into(), &0.into()));

    corpus.web.advance(Duration::from_secs(3 * 3600));
    let new: BTreeSet<String> = listed(&corpus).difference(&before).cloned().collect();
    assert!(!new.is_empty());
    let second = corpus.run("update --all --json").ok().json();
    assert_eq!(second["new_entries"], new.len());
    assert_eq!(planned(&corpus), before.union(&new).cloned().collect());
    corpus.web.clear_log();
    corpus.run("fetch").ok();
    let asked: BTreeSet<String> = corpus
        .web
        .requests()
        .iter()
        .filter(|request| request.kind == tidings_simweb::RequestKind::Page)
        .map(|request| request.path.to_string())
        .collect();
    assert_eq!(asked.len(), new.len(), "{asked:?}");

    // Titles are anchors, and every article becomes a document.
    let cleaned = corpus.run("clean --json").ok().json();
    assert_eq!(cleaned["documents"], before.union(&new).count(), "{cleaned}");
    let page = corpus.web.site(0).url("/");
    corpus.run(&format!("why {page}")).ok().says("kind=page");
    corpus.run("status").says("6 pages among them");
}

#[test]
fn discover_names_the_front_page_of_a_site_without_a_feed() {
    let corpus = front_pages(1);
    fs::write(corpus.home().join("feeds.txt"), "# none yet\n").unwrap();
    let page = corpus.web.site(0).url("/");
    let found = corpus.run(&format!("discover --json {page}")).ok().json();
    assert_eq!(
        (&found["pages"][0]["page"], &found["pages"][0]["articles"]),
        (&page.clone().into(), &10.into()),
        "{found}"
    );
    assert_eq!(found["feeds"].as_array().map(Vec::len), Some(0));
    let text = corpus.run(&format!("discover --again {page}")).ok();
    text.says("kind=page");
    assert_eq!(fs::read_to_string(corpus.home().join("feeds.txt")).unwrap(), "# none yet\n", "nothing is added");
    corpus.run(&format!("discover --again --add {page}")).ok();
    assert_eq!(fs::read_to_string(corpus.home().join("feeds.txt")).unwrap(), "# none yet\n");
}

#[test]
fn a_front_page_without_its_kind_fails_with_a_hint() {
    let corpus = front_pages(1);
    let page = corpus.web.site(0).url("/");
    fs::write(corpus.home().join("feeds.txt"), format!("{page}\n")).unwrap();
    corpus.run("update");
    corpus.run(&format!("why {page}")).says("kind=page");
}
