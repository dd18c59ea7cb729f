//! Problems of a home: a missing or damaged plan, two runs at once, a full disk, missing permissions.

use std::time::Duration;

use rustix::process::Signal;
use tidings_simweb::{Fault, Spec};

use crate::support::Corpus;

fn spec(sites: usize, items_per_feed: usize) -> Spec {
    Spec { sites, items_per_feed, ..Spec::default() }
}

#[test]
fn a_missing_plan_is_an_error_with_a_working_remedy() {
    let corpus = Corpus::new(spec(3, 2));
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    let plan = corpus.home().join("plan.tsv.zst");
    std::fs::remove_file(&plan).unwrap();
    corpus.web.clear_log();
    for verb in ["fetch", "update", "plan", "prune"] {
        let ran = corpus.run(verb).exits(1).says("plan.tsv.zst is missing");
        assert!(ran.stderr.contains("`tidings doctor --repair` restores it"), "{}", ran.stderr);
        assert!(!plan.exists(), "no empty plan is created");
    }
    assert!(corpus.web.requests().is_empty(), "no request is sent without a plan");
    corpus.run("doctor --repair").says("repaired");
    corpus.run("fetch").ok().says("nothing to fetch");
    assert_eq!(corpus.plan().len(), 6);
}

#[test]
fn a_damaged_plan_is_reported_and_not_changed() {
    let corpus = Corpus::new(spec(3, 4));
    corpus.run("update --all").ok();
    let path = corpus.home().join("plan.tsv.zst");
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let cut = whole[..whole.len() - 10].to_vec();
    for damaged in [flipped, cut] {
        std::fs::write(&path, &damaged).unwrap();
        for verb in ["fetch", "plan", "update --all"] {
            corpus.run(verb).exits(1).says("plan.tsv.zst").says("damaged");
        }
        assert_eq!(std::fs::read(&path).unwrap(), damaged, "a damaged file is still evidence");
    }
    // An invalid line is reported with its number.
    std::fs::write(&path, "0\tnew\t0\t\t\thttp://127.1.0.1/f\thttp://127.1.0.1/a\tA\n0\tnew\tnothing\n").unwrap();
    corpus.run("fetch").exits(1).says("plan.tsv.zst, line 2");
    // The journal written without a plan is applied once it is back.
    std::fs::write(&path, &whole).unwrap();
    corpus.run("fetch").ok();
    assert_eq!(corpus.pages().len(), 12);
}

#[test]
fn a_second_run_is_rejected_and_the_first_continues() {
    let corpus = Corpus::with(spec(3, 15), &[("delay_s", "0.2"), ("feed_delay_s", "0.2")]);
    corpus.run("update --all").ok();
    let mut first = corpus.start("fetch");
    first.until(|| corpus.web.politeness().pages > 2);
    for verb in ["fetch", "update", "prune"] {
        corpus.run(verb).exits(1).says("another run").says("process");
    }
    corpus.run("plan --count").ok();
    assert!(!first.has_ended(), "the first run must be active all the time");
    first.wait().ok().says("45 pages fetched");
    assert_eq!(corpus.pages().len(), 45);
    corpus.asked_nothing_twice();

    // The lock dies with its process.
    corpus.web.advance(Duration::from_secs(24 * 3600));
    corpus.run("update --all").ok();
    let mut killed = corpus.start("fetch");
    killed.until(|| corpus.web.politeness().pages > 47);
    killed.signal(Signal::KILL);
    killed.wait();
    corpus.run("fetch").ok();
    corpus.was_polite_across_crashes(Duration::from_millis(200));
}

#[test]
fn a_full_disk_stops_the_run_and_loses_nothing() {
    let spec = Spec { page_bytes: Some(400_000), page_pool: 3, ..spec(6, 4) };
    let corpus = Corpus::new(spec);
    corpus.run("update --all").ok();
    let before = corpus.statuses();
    // Limits the size of files to simulate a full disk.
    let ran = corpus.shell("trap '' XFSZ; ulimit -f 400; exec \"$T\" fetch").exits(1);
    assert!(ran.stderr.contains("pages/") && ran.stderr.contains("cannot write"), "{}", ran.stderr);
    assert_eq!(corpus.run("plan").ok().stdout.lines().count(), before.len());
    let mended = corpus.run("fetch --dry-run").ok();
    let kept: Vec<(String, u32)> =
        corpus.pages().into_keys().map(|url| (url.clone(), corpus.asked_for(&url))).collect();
    corpus.run("fetch").ok();
    for (url, times) in kept {
        assert_eq!(corpus.asked_for(&url), times, "{url} was requested again; {}", mended.stderr);
    }
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok" && entry.retries == 1));
    assert_eq!(corpus.pages().len(), 24);
    corpus.is_tidy();
}

#[test]
fn a_full_disk_during_an_update_loses_no_entry() {
    let corpus = Corpus::new(spec(4, 30));
    corpus.run("update --all").ok();
    let before = corpus.statuses();
    corpus.web.advance(Duration::from_secs(30 * 3600));
    let ran = corpus.shell("trap '' XFSZ; ulimit -f 2; exec \"$T\" update --all").exits(1);
    assert!(ran.stderr.contains("cannot write"), "{}", ran.stderr);
    assert_eq!(corpus.statuses(), before);
    corpus.run("update --all").ok();
    let after = corpus.statuses();
    let listed: Vec<String> = corpus.healthy_articles().into_iter().collect();
    assert!(before.keys().chain(&listed).all(|url| after.contains_key(url)));
    corpus.is_tidy();
}

#[test]
fn a_nearly_full_disk_is_noticed_in_time() {
    let corpus = Corpus::new(spec(2, 40));
    corpus.run("update --all").ok();
    let mut command = corpus.command("fetch");
    command.env("TIDINGS_STORE_MIN_FREE_MIB", (1u64 << 40).to_string());
    corpus.launch(command).wait().exits(1).says("min_free_mib");
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok" || entry.retries == 0));
    corpus.is_tidy();
}

#[test]
fn a_read_only_home_is_an_error() {
    let corpus = Corpus::new(spec(1, 1));
    corpus.run("update --all").ok();
    for verb in ["fetch", "update", "prune"] {
        let ran = corpus.run_without_write_permission(verb).exits(1);
        assert!(ran.stderr.contains(".lock") && ran.stderr.contains("permissions"), "{}", ran.stderr);
    }
    corpus.run_without_write_permission("plan").ok();
    corpus.run("fetch").ok().says("1 page fetched");
}

#[test]
fn a_home_without_feeds_or_with_invalid_lines_is_reported() {
    let corpus = Corpus::new(spec(1, 2).with_fault(Fault::NotXml, 1));
    let list = corpus.home().join("feeds.txt");
    std::fs::write(&list, "# nothing\n\nnot an address\n").unwrap();
    corpus.run("update --all").ok().says("feeds.txt, line 3").says("no feeds to poll");
    std::fs::remove_file(&list).unwrap();
    corpus.run("update --all").exits(1).says("feeds.txt");
}
