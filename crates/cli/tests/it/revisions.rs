//! Articles that change after their download: they are fetched again once per change, and the corpus has the newest
//! revision. The clock of the program is set, so that hours pass without waiting.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tidings_simweb::{Article, FeedFormat, RequestKind, Spec};

use crate::support::{Corpus, Ran, copy_folder};

/// The start of the simulated time, shortly before midnight.
fn start() -> Timestamp {
    "2026-06-01T20:00:00Z".parse().unwrap()
}

/// Runs the program this many hours after the start.
fn at_hour(corpus: &Corpus, hour: i64, args: &str) -> Ran {
    corpus.run_at(start() + SignedDuration::from_hours(hour), args)
}

/// A corpus of sites with three articles each in Atom feeds, all of them stored and indexed.
fn corpus(sites: usize) -> Corpus {
    let languages = vec!["en".to_owned()];
    let spec = Spec { sites, items_per_feed: 3, start: start(), languages, agency_percent: 0, ..Spec::default() };
    let corpus = Corpus::with(spec, &[("robots_for_feeds", "false")]);
    let feeds: Vec<String> = corpus.web.sites().map(|site| site.feed_as(FeedFormat::Atom)).collect();
    std::fs::write(corpus.home().join("feeds.txt"), feeds.join("\n")).unwrap();
    round(&corpus, 0);
    corpus
}

/// One round of all stages.
fn round(corpus: &Corpus, hour: i64) {
    at_hour(corpus, hour, "update --all").ok();
    at_hour(corpus, hour, "fetch").ok();
    process(corpus, hour);
}

fn process(corpus: &Corpus, hour: i64) {
    for stage in ["clean", "dedup", "annotate", "compile"] {
        at_hour(corpus, hour, stage).ok();
    }
}

/// The number of requests for pages since the log was cleared, and of these the conditional ones that were answered 304.
fn requests(corpus: &Corpus) -> (usize, usize) {
    let requests = corpus.web.requests();
    let pages: Vec<_> = requests.iter().filter(|request| request.kind == RequestKind::Page).collect();
    (pages.len(), pages.iter().filter(|request| request.status == 304).count())
}

fn count(corpus: &Corpus, query: &str) -> u64 {
    let ran = corpus.launch({
        let mut command = corpus.command("--json count");
        command.arg(query);
        command
    });
    ran.wait().ok().json()["hits"].as_u64().unwrap()
}

fn first_article(corpus: &Corpus) -> Article {
    corpus.web.site(0).listed().next().unwrap()
}

const NEW_TITLE: &str = "Minister corrects earlier statement";
const PARAGRAPH: &str = "In an earlier version of this article the quarterly figures of the observatory were wrong, and \
    the zyxwvutian commission has confirmed the corrected numbers in writing.";

#[test]
fn a_changed_article_is_fetched_once_more_and_the_corpus_has_the_newest_revision() {
    let corpus = corpus(2);
    let article = first_article(&corpus);
    let words = count(&corpus, "[]");
    corpus.web.clear_log();
    round(&corpus, 2);
    assert_eq!(requests(&corpus).0, 0, "nothing changed");

    corpus.web.revise(&article, NEW_TITLE, PARAGRAPH);
    at_hour(&corpus, 6, "update --all").ok();
    at_hour(&corpus, 6, &format!("why {}", article.url)).ok().says("its feed announced a change; it will be fetched");
    round(&corpus, 6);
    assert_eq!(requests(&corpus), (1, 0), "one page changed");
    round(&corpus, 12);
    assert_eq!(requests(&corpus), (1, 0), "it is fetched once for each change");
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok"));

    assert_eq!(count(&corpus, "\"zyxwvutian\""), 1);
    let added = count(&corpus, "[]") - words;
    assert!((20..60).contains(&added), "only the new paragraph was added, not the article again: {added}");
    at_hour(&corpus, 12, "why --all --items").ok().says("1 superseded").says("no items are missing");

    let trace = at_hour(&corpus, 12, &format!("--json why {}", article.url)).ok().json();
    assert_eq!(trace["fate"], "searchable", "{trace:#}");
    let events = trace["events"].as_array().unwrap();
    let titles: Vec<&Value> = events.iter().filter(|event| event["stage"] == "clean").map(|e| &e["title"]).collect();
    assert_eq!(titles, [article.title.as_str(), NEW_TITLE], "{trace:#}");
    let first = events.iter().find(|event| event["stage"] == "clean").unwrap()["id"].as_str().unwrap();
    let superseded = at_hour(&corpus, 12, &format!("--json why {first}")).ok().json();
    assert_eq!(superseded["fate"], "superseded", "{superseded:#}");

    let text = at_hour(&corpus, 12, "revisions").ok();
    text.says(&format!("old: {}", article.title)).says(&format!("new: {NEW_TITLE}"));
    let listed = at_hour(&corpus, 12, "--json revisions --headlines --since 2026-06-02 --site 127.1.0.1").ok().json();
    assert_eq!((listed["pages"].as_u64(), listed["rows"][0]["revision"].as_u64()), (Some(1), Some(2)), "{listed}");
    at_hour(&corpus, 12, "revisions --csv").ok().says("fetched,before,site,revision,old_title,new_title");
    at_hour(&corpus, 12, "revisions --until 2026-06-01").ok().says("no revisions match the filters");

    let digest = at_hour(&corpus, 13, "digest").ok().stdout;
    at_hour(&corpus, 13, "rebuild").ok();
    assert_eq!(at_hour(&corpus, 13, "digest").ok().stdout, digest);
    assert_eq!(count(&corpus, "\"zyxwvutian\""), 1);
}

#[test]
fn a_home_without_changes_has_no_revisions() {
    let corpus = corpus(1);
    at_hour(&corpus, 1, "revisions").ok().says("no page has changed after its first download");
}

#[test]
fn a_feed_that_always_says_updated_now_is_followed_a_few_times_with_conditional_requests() {
    let corpus = corpus(1);
    corpus.web.set_restless(0, true);
    corpus.web.clear_log();
    for hour in (1..=96).step_by(2) {
        corpus.web.advance(Duration::from_secs(2));
        at_hour(&corpus, hour, "update --all").ok();
        at_hour(&corpus, hour, "fetch").ok();
    }
    let (pages, unchanged) = requests(&corpus);
    assert_eq!((pages, unchanged), (15, 15), "five times each, and nothing was stored");
    assert_eq!(corpus.pages().len(), 3);
    process(&corpus, 97);
    at_hour(&corpus, 97, "why --all --items").ok().says("no items are missing");
    at_hour(&corpus, 97, "revisions").ok().says("no revisions");
}

#[test]
fn revisions_can_be_switched_off() {
    let corpus = corpus(1);
    corpus.web.revise(&first_article(&corpus), NEW_TITLE, PARAGRAPH);
    corpus.web.clear_log();
    at_hour(&corpus, 3, "update --all").ok();
    let mut command = corpus.command("fetch");
    let time = start() + SignedDuration::from_hours(3);
    command.env("TIDINGS_FETCH_REVISIONS", "0").env("TIDINGS_CLOCK", time.to_string());
    corpus.launch(command).wait().ok().says("nothing to fetch");
    assert_eq!(requests(&corpus).0, 0);
}

#[test]
fn an_article_that_turns_into_an_error_keeps_its_document() {
    let corpus = corpus(1);
    let article = first_article(&corpus);
    let words = count(&corpus, "[]");
    corpus.web.revise(&article, NEW_TITLE, "");
    corpus.web.set_fault(0, tidings_simweb::Fault::NotFound.on(tidings_simweb::SitePart::Pages));
    round(&corpus, 3);
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok"));
    assert_eq!(count(&corpus, "[]"), words);
    at_hour(&corpus, 3, "why --all --items").ok().says("no items are missing");
}

#[test]
fn a_power_failure_at_any_operation_of_a_further_download_loses_nothing() {
    let corpus = corpus(1);
    let article = first_article(&corpus);
    corpus.web.revise(&article, NEW_TITLE, PARAGRAPH);
    at_hour(&corpus, 3, "update --all").ok();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    let time = start() + SignedDuration::from_hours(3);
    for at in 1..100 {
        corpus.restore(&prepared);
        let mut command = corpus.command("fetch");
        command.env("TIDINGS_CRASH_AT", at.to_string()).env("TIDINGS_CLOCK", time.to_string());
        let is_done = corpus.launch(command).wait().code == Some(0);
        at_hour(&corpus, 6, "fetch").ok();
        process(&corpus, 6);
        assert_eq!(count(&corpus, "\"zyxwvutian\""), 1, "operation {at}");
        at_hour(&corpus, 6, "why --all --items").ok().says("1 superseded").says("no items are missing");
        if is_done {
            return;
        }
    }
    panic!("the run did not end");
}
