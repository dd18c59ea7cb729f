//! `tidings status`: an overview of a home, with an exit code for monitoring.

use std::fs;

use jiff::{SignedDuration, Timestamp, ToSpan as _};
use tidings_simweb::{Fault, Spec};

use crate::clean::{mixed, put};
use crate::support::Corpus;

/// A home that was harvested just now.
fn harvested(spec: Spec) -> Corpus {
    let corpus = Corpus::new(spec);
    corpus.run("run").ok();
    corpus
}

fn rules(report: &serde_json::Value) -> Vec<&str> {
    report["alerts"].as_array().unwrap().iter().map(|alert| alert["rule"].as_str().unwrap()).collect()
}

#[test]
fn a_healthy_home_has_no_alerts() {
    let corpus = harvested(Spec { sites: 4, items_per_feed: 3, ..Spec::default() });
    let ran = corpus.run("status").ok();
    for words in [
        "feeds ",
        "update just now",
        "compile just now",
        "everything is searchable",
        "12 in 24 hours",
        "alerts     none",
    ] {
        assert!(ran.stdout.contains(words), "{words} is missing: {}", ran.stdout);
    }
    corpus.run("status --health").ok();
    let report = corpus.run("--json status").ok().json();
    assert_eq!((report["state"].as_str(), report["harvest"]["pages"].as_u64()), (Some("ok"), Some(12)));
    // The feeds of the simulated web are old and may count as quiet.
    let answered = ["alive", "quiet"].map(|kind| report["feeds"][kind].as_u64().unwrap());
    assert_eq!(answered.iter().sum::<u64>(), 4, "{report}");
    assert!(report["disk"]["free"].as_u64().is_some());
}

#[test]
fn a_home_without_runs_is_a_warning_and_a_folder_without_home_an_error() {
    let corpus = Corpus::new(Spec { sites: 1, ..Spec::default() });
    corpus.run("status").exits(1).says("no crawl has run here yet").says("1 not polled yet");
    corpus.run("status --health").ok();
    fs::write(corpus.home().join("tidings.toml"), "[nonsense]\n").unwrap();
    corpus.run("status").exits(3).says("unknown key");
}

#[test]
fn a_stopped_timer_is_detected_by_its_usual_interval() {
    let corpus = harvested(Spec { sites: 2, items_per_feed: 2, ..Spec::default() });
    let in_hours = |hours: i64| {
        let mut command = corpus.command("--json status");
        command.env("TIDINGS_CLOCK", (Timestamp::now() + SignedDuration::from_hours(hours)).to_string());
        corpus.launch(command).wait()
    };
    in_hours(2).ok();
    let late = in_hours(80).exits(1).json();
    assert_eq!(rules(&late), ["stage-late", "stage-late", "feeds-late"], "{late}");
    let very_late = in_hours(24 * 9).exits(2).json();
    assert_eq!(very_late["state"], "critical");
}

#[test]
fn unprocessed_pages_are_reported_with_the_stage_they_wait_for() {
    let corpus = harvested(Spec { sites: 1, items_per_feed: 2, ..Spec::default() });
    let day = (Timestamp::now() - SignedDuration::from_hours(48)).strftime("%Y-%m-%d").to_string();
    put(&corpus, &day, "a.0", &mixed(0..7));
    corpus.run("status").exits(1).says("are not searchable yet: 1 day waits for clean");
    corpus.run("clean").ok();
    corpus.run("status").exits(1).says("1 day waits for dedup");
    corpus.run("run --from dedup").ok();
    corpus.run("status").ok().says("everything is searchable");
}

#[test]
fn a_feed_below_its_baseline_is_reported() {
    let corpus = harvested(Spec { sites: 3, items_per_feed: 2, ..Spec::default() });
    let header = fs::read_to_string(&corpus.files("docs/yield", ".tsv")[0]).unwrap().lines().next().unwrap().to_owned();
    let feeds = corpus.web.feeds();
    let today = Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    for ago in 1..=40 {
        // The first feed has listed nothing for five days; the second pauses now and then; the third is new.
        let pages =
            [if ago > 5 { 20 + ago % 3 } else { 0 }, if ago % 4 == 0 { 0 } else { 3 }, if ago < 5 { 9 } else { 0 }];
        let rows = feeds.iter().zip(pages).filter(|(_, pages)| *pages > 0);
        let rows = rows.map(|(feed, pages)| format!("{feed}\te.org\t{pages}\t{pages}\t90000\t3000\n"));
        let path = corpus.home().join(format!("docs/yield/{}.tsv", today - ago.days()));
        fs::write(path, format!("{header}\n{}", rows.collect::<String>())).unwrap();
    }
    let report = corpus.run("--json status").exits(1).json();
    assert_eq!(rules(&report), ["feed-fell"], "{report}");
    assert_eq!(report["fallen"][0]["feed"], feeds[0].as_str());
    assert_eq!(report["fallen"][0]["came"], 0);
    // A feed that is not in the list is not reported.
    fs::write(corpus.home().join("feeds.txt"), feeds[1..].join("\n")).unwrap();
    corpus.run("status").ok();
}

#[test]
fn failing_feeds_are_counted_and_a_network_outage_is_critical() {
    let corpus = harvested(Spec { sites: 4, items_per_feed: 2, ..Spec::default() }.with_fault(Fault::NotFound, 1));
    let report = corpus.run("--json status").json();
    assert_eq!(report["feeds"]["listed"], 4);
    let table = corpus.home().join("state/feeds.tsv");
    let text = fs::read_to_string(&table).unwrap();
    fs::write(&table, text.replace("\tlisted\t", "\tfailed\t").replace("\tunchanged\t", "\tfailed\t")).unwrap();
    corpus.run("status").exits(2).says("none of 4 feeds answers");
    corpus.run("status --health").exits(1);
}
