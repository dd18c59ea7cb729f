//! Pages that are refused, cut short or not the article: the text of the feed takes their place, or they are dropped.

use std::collections::BTreeMap;

use serde_json::Value;
use tidings_simweb::{Fault, Spec};

use crate::support::{Corpus, addresses, unpacked};

/// A corpus of a healthy site and one with a fault, updated and fetched, with its documents.
fn harvested(fault: Fault, full_text_percent: u64) -> Corpus {
    let languages = vec!["en".to_owned()];
    let spec = Spec { sites: 2, items_per_feed: 3, full_text_percent, languages, ..Spec::default() };
    let corpus = Corpus::new(spec.with_fault(fault, 1));
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    corpus.run("clean").ok();
    corpus
}

/// The lines of the documents, or of the dropped pages, by URL.
fn lines(corpus: &Corpus, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, Value> {
    let files = corpus.files("docs", ".jsonl.zst").into_iter().filter(|path| is_wanted(&path.to_string_lossy()));
    let lines: Vec<String> = files.map(|path| unpacked(&path)).collect();
    let values = lines.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    values.map(|value| (value["url"].as_str().unwrap().to_owned(), value)).collect()
}

fn documents(corpus: &Corpus) -> BTreeMap<String, Value> {
    lines(corpus, |path| !path.contains("/dropped/"))
}

fn dropped(corpus: &Corpus) -> BTreeMap<String, Value> {
    lines(corpus, |path| path.contains("/dropped/"))
}

fn text(document: &Value) -> String {
    let paragraphs = document["paragraphs"].as_array().unwrap();
    paragraphs.iter().map(|paragraph| paragraph["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Checks that the articles of the second site are documents made from its feed.
fn is_from_feed(corpus: &Corpus) {
    let documents = documents(corpus);
    for article in corpus.web.site(1).listed() {
        let document = &documents[&article.url];
        assert_eq!(document["metadata"]["origin"], "feed", "{document}");
        assert_eq!(document["title"], article.title.as_str());
        assert_eq!(document["dated"]["day"], article.date.strftime("%Y-%m-%d").to_string());
        let last = article.paragraphs().last().unwrap();
        assert!(text(document).contains(last), "{last} is not in {document}");
    }
    for url in addresses(&corpus.web.site(0)) {
        assert_eq!(documents[&url]["metadata"], Value::Null, "the healthy site has its own pages");
    }
}

#[test]
fn refused_pages_have_the_text_of_their_feed() {
    let corpus = harvested(Fault::Forbidden, 100);
    is_from_feed(&corpus);
    let url = addresses(&corpus.web.site(1)).remove(0);
    corpus
        .run(&format!("why {url}"))
        .ok()
        .says("the text in the feed, because the page answered 403")
        .says("from the text in the feed");
    assert!(corpus.files("state", "feed-texts.jsonl.zst").is_empty(), "no page waits for its text");
    let pages = corpus.pages();
    let sizes =
        |site: usize| addresses(&corpus.web.site(site)).iter().map(|url| pages[url].feed_text.len()).sum::<usize>();
    assert_eq!([sizes(0), sizes(1)], [0; 2], "no text is stored twice");

    // Everything comes from raw pages, and a page that answers later is not counted again.
    corpus.run("run --from clean").ok();
    let digest = corpus.run("digest").ok().stdout;
    corpus.run("rebuild").ok();
    assert_eq!(corpus.run("digest").ok().stdout, digest);
    corpus.web.heal(1);
    corpus.run("fetch").ok().says("nothing to fetch");
    corpus.run("run").ok();
    corpus.run("why --all --items").ok();
    assert_eq!(documents(&corpus).len(), 6);
}

#[test]
fn the_outcome_of_fetch_counts_texts_of_feeds() {
    let spec = Spec { sites: 1, items_per_feed: 3, full_text_percent: 100, ..Spec::default() };
    let corpus = Corpus::new(spec.with_fault(Fault::Gone, 1));
    corpus.run("update --all").ok();
    assert!(!corpus.files("state", "feed-texts.jsonl.zst").is_empty());
    let outcome = corpus.run("--json fetch").ok().json();
    assert_eq!((&outcome["fetched"], &outcome["from_feeds"], &outcome["failed"]), (&3.into(), &3.into(), &0.into()));
    assert!(corpus.statuses().values().all(|status| status == "ok"));
}

#[test]
fn teasers_are_not_used_as_text() {
    let corpus = harvested(Fault::Forbidden, 0);
    assert!(corpus.files("state", "feed-texts.jsonl.zst").is_empty());
    assert_eq!(documents(&corpus).len(), 3);
    assert!(corpus.statuses_of(1).iter().all(|(status, _)| status == "403"));
}

#[test]
fn the_text_of_the_feed_takes_the_place_of_stubs_and_walls() {
    for fault in [Fault::Stub, Fault::ConsentWall] {
        is_from_feed(&harvested(fault, 100));
    }
}

#[test]
fn walls_soft_404s_and_front_pages_are_dropped_with_a_reason() {
    for (fault, reasons, says) in [
        (Fault::ConsentWall, &["same-text"][..], "a consent wall, login or error page"),
        (Fault::SoftNotFound, &["same-text"], "a consent wall, login or error page"),
        (Fault::RedirectHome, &["front-page", "same-text"], ""),
    ] {
        let corpus = harvested(fault, 0);
        let (documents, dropped) = (documents(&corpus), dropped(&corpus));
        let ill = addresses(&corpus.web.site(1));
        assert_eq!(documents.keys().cloned().collect::<Vec<_>>(), {
            let mut healthy = addresses(&corpus.web.site(0));
            healthy.sort();
            healthy
        });
        for url in &ill {
            let reason = dropped[url]["reason"].as_str().unwrap();
            assert!(reasons.contains(&reason), "{fault}: {}", dropped[url]);
        }
        corpus.run(&format!("why {}", ill[0])).ok().says("dropped by rule").says(says);
        corpus.run("run --from clean").ok();
        corpus.run("why --all --items").ok();
    }
}
