//! Shards: several processes in one home do the work once, and the merged home equals that of a single run.

use std::collections::BTreeSet;

use tidings_model::Page;

use crate::clean::{corpus, put};
use crate::digest::{pages, tree};
use crate::support::{Corpus, Running};

const SHARDS: usize = 4;

/// A home with thirty days of pages.
fn month() -> Corpus {
    let corpus = corpus();
    for day in 1..=30 {
        let pages: Vec<Page> = pages(day);
        put(&corpus, &format!("2026-06-{day:02}"), "a.0", &pages);
    }
    corpus
}

/// Starts all shards of a stage at once.
fn start(corpus: &Corpus, stage: &str) -> Vec<Running> {
    (1..=SHARDS).map(|index| corpus.start(&format!("--json {stage} --shard {index}/{SHARDS}"))).collect()
}

#[test]
fn four_processes_with_one_killed_and_repeated_give_the_corpus_of_one() {
    let alone = month();
    alone.run("run --from clean").ok();

    let shared = month();
    let mut command = shared.command("clean --shard 3/4");
    // The process is killed in the middle of its work, as in a power failure.
    command.env("TIDINGS_CRASH_AT", "40");
    let killed = shared.launch(command);
    let others: Vec<Running> =
        [1, 2, 4].iter().map(|index| shared.start(&format!("clean --shard {index}/4"))).collect();
    assert_eq!(killed.wait().code, None, "a signal ended it");
    others.into_iter().for_each(|shard| drop(shard.wait().ok()));
    let left = shared.run("--json merge").exits(1).json();
    let missing = left["missing"]["clean"].as_array().unwrap().len();
    assert!((1..30).contains(&missing), "some days of one shard are missing: {left}");
    shared.run("clean --shard 3/4").ok();

    for stage in ["dedup", "annotate", "compile"] {
        let days: Vec<u64> = start(&shared, stage)
            .into_iter()
            .map(|shard| {
                let outcome = shard.wait().ok().json();
                outcome["days"].as_u64().or(outcome["days_added"].as_u64()).unwrap()
            })
            .collect();
        // Days of documents and text are divided; verdicts depend on all earlier days, and two languages may share a
        // shard.
        assert!(stage != "annotate" || days.iter().all(|days| *days > 0), "{stage}: {days:?}");
    }
    shared.run("merge").ok().says("nothing is missing");
    assert_eq!(tree(&shared), tree(&alone));
    assert_eq!(shared.state("yield.tsv"), alone.state("yield.tsv"));
    let again = shared.run("run --from clean").ok();
    assert!(again.stdout.contains("all 30 days are up to date"), "{}", again.stdout);
    shared.is_tidy();
}

#[test]
fn a_shard_is_locked_once_and_excludes_a_whole_run() {
    let corpus = corpus();
    put(&corpus, "2026-06-01", "a.0", &pages(1));
    for nonsense in ["0/4", "5/4", "x", "1/0"] {
        corpus.run(&format!("clean --shard {nonsense}")).exits(2).says("invalid shard");
    }
    let texts: String =
        (1..=SHARDS).map(|index| corpus.run(&format!("clean --shard {index}/{SHARDS}")).ok().stdout).collect();
    assert!(texts.contains("read: ") && !texts.contains("no pages yet"), "{texts}");
    put(&corpus, "2026-06-02", "a.0", &pages(2));
    // Every day belongs to one shard, so exactly one of them has something to do.
    let done: BTreeSet<bool> = (1..=SHARDS)
        .map(|index| corpus.run(&format!("--json clean --shard {index}/{SHARDS}")).ok().json()["days"] == 1)
        .collect();
    assert_eq!(done.len(), 2);
}

#[test]
fn only_the_first_shard_uses_the_network() {
    let corpus = Corpus::new(tidings_simweb::Spec { sites: 2, items_per_feed: 2, ..Default::default() });
    corpus.run("update --shard 2/2").ok().says("shard 1 runs the network stages");
    assert!(corpus.plan().is_empty());
    corpus.run("update --shard 1/2").ok();
    assert_eq!(corpus.run("--json fetch --shard 2/2").ok().json()["fetched"], 0);
    assert_eq!(corpus.run("--json fetch --shard 1/2").ok().json()["fetched"], 4);
    corpus.was_polite(std::time::Duration::ZERO);
}
