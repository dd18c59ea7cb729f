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

/// Starts the processes of all shards; those of `killed` end by a power failure at that operation, and are repeated.
fn run_with_kills(corpus: &Corpus, args: &str, killed: &[(usize, u32)]) -> Vec<serde_json::Value> {
    let started: Vec<(usize, Running)> = (1..=SHARDS)
        .map(|index| {
            let mut command = corpus.command(&format!("--json {args} --shard {index}/{SHARDS}"));
            if let Some((_, at)) = killed.iter().find(|(shard, _)| *shard == index) {
                command.env("TIDINGS_CRASH_AT", at.to_string());
            }
            (index, corpus.launch(command))
        })
        .collect();
    let (killed, others): (Vec<_>, Vec<_>) =
        started.into_iter().partition(|(index, _)| killed.iter().any(|(shard, _)| shard == index));
    let mut repeated = Vec::new();
    for (index, running) in killed {
        assert_eq!(running.wait().code, None, "a signal ended shard {index}");
        repeated.push((index, corpus.start(&format!("--json {args} --shard {index}/{SHARDS}"))));
    }
    others.into_iter().chain(repeated).map(|(_, running)| running.wait().ok().json()).collect()
}

/// The digest of the corpus, and the one of the index files.
fn digest(corpus: &Corpus) -> String {
    corpus.run("digest").ok().stdout
}

#[test]
fn four_processes_on_one_home_with_two_killed_and_repeated_make_the_corpus_of_one() {
    let alone = month();
    alone.run("run --from clean").ok();
    let shared = month();
    // One is killed in the middle of a day, the other one between two days or in a later stage.
    let outcomes = run_with_kills(&shared, "run", &[(2, 25), (3, 60)]);
    for outcome in &outcomes {
        assert!(outcome["done"] == true && outcome.get("awaited").is_none(), "{outcome}");
    }
    let days =
        |stage: &str| outcomes.iter().map(|outcome| outcome["stages"][stage]["days"].as_u64().unwrap()).sum::<u64>();
    assert!(days("clean") > 15 && days("annotate") > 15, "a killed process had done some of 30 days before");
    shared.run("merge").ok().says("nothing is missing");
    assert_eq!(tree(&shared), tree(&alone));
    assert_eq!(digest(&shared), digest(&alone));
    assert_eq!(shared.state("yield.tsv"), alone.state("yield.tsv"));
    assert!(shared.files(".claims", "").is_empty());
    shared.is_tidy();
}

#[test]
fn four_processes_rebuild_with_two_killed_and_the_last_one_replaces_the_data() {
    let corpus = month();
    corpus.run("run --from clean").ok();
    let (before, files) = (tree(&corpus), digest(&corpus));
    // Damage that only a rebuild from the pages undoes shows that the data was replaced.
    std::fs::remove_dir_all(corpus.home().join("text")).unwrap();
    let outcomes = run_with_kills(&corpus, "rebuild --from clean", &[(1, 30), (4, 50)]);
    assert!(outcomes.iter().any(|outcome| outcome["replaced"] == true), "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| outcome["done"] == true), "{outcomes:?}");
    assert_eq!((tree(&corpus), digest(&corpus)), (before, files));
    assert!(!corpus.home().join("rebuild").exists());
    corpus.is_tidy();
}

#[test]
fn a_rebuild_by_shards_waits_for_all_of_them_and_can_be_abandoned() {
    let corpus = month();
    corpus.run("run --from clean").ok();
    let before = tree(&corpus);
    let first = corpus.run("--json rebuild --shard 1/2 --wait 0s").ok().json();
    assert_eq!((&first["replaced"], &first["awaited"]["stage"]), (&false.into(), &"clean".into()), "{first}");
    corpus.run("rebuild").exits(1).says("a rebuild from clean by 2 shards is not complete");
    corpus.run("rebuild --shard 1/3").exits(1).says("tidings rebuild --from clean --shard I/2");
    corpus.run("status").says("rebuild from clean: 0 of 2 shards done").says("clean: ");
    // Rounds go on meanwhile, and new pages become part of the rebuild.
    put(&corpus, "2026-07-01", "a.0", &pages(31));
    corpus.run("run --from clean").ok();
    let after = tree(&corpus);
    assert!(before != after);
    // One after the other, as on a machine with one free slot.
    let mut outcomes = Vec::new();
    for at in 0..8 {
        outcomes.push(corpus.run(&format!("--json rebuild --shard {}/2 --wait 0s", at % 2 + 1)).ok().json());
        if outcomes[at]["replaced"] == true {
            break;
        }
        assert!(corpus.home().join("rebuild").exists());
    }
    assert!(outcomes.len() > 2 && outcomes.last().unwrap()["replaced"] == true, "{outcomes:?}");
    assert!(!corpus.home().join("rebuild").exists());
    assert_eq!(tree(&corpus), after);
    corpus.run("rebuild --shard 2/2 --wait 0s").ok().says("the following stages are left");
    corpus.run("rebuild --abandon").ok().says("was deleted");
    corpus.run("rebuild --abandon").ok().says("nothing to abandon");
    assert_eq!(tree(&corpus), after);
}

#[test]
fn a_shard_that_finds_others_unfinished_says_so_and_the_same_command_continues() {
    let corpus = month();
    let alone = month();
    alone.run("run --from clean").ok();
    let left = corpus.run("--json run --shard 1/2 --wait 0s").ok().json();
    assert_eq!(left["awaited"]["stage"], "clean");
    let missing = left["awaited"]["number"].as_u64().unwrap();
    assert!((1..30).contains(&missing), "{left}");
    corpus.run("run --shard 1/2 --wait 0s").ok().says("of other shards missing (2026-06-");
    corpus.run("run --from update --shard 1/2").exits(1).says("run `tidings update` without --shard");
    // One after the other, as on a machine with one free slot.
    for _ in 0..3 {
        for index in 1..=2 {
            corpus.run(&format!("run --shard {index}/2 --wait 0s")).ok();
        }
    }
    corpus.run("run --shard 1/2").ok().says("nothing is left in any shard");
    assert_eq!(tree(&corpus), tree(&alone));
}

#[test]
fn the_same_shard_twice_and_other_divisions_share_the_work() {
    let corpus = month();
    let alone = month();
    alone.run("run --from clean").ok();
    let started: Vec<Running> =
        ["1/2", "1/2", "2/2", "2/3", "1/3"].iter().map(|shard| corpus.start(&format!("run --shard {shard}"))).collect();
    started.into_iter().for_each(|running| drop(running.wait().ok()));
    assert_eq!(tree(&corpus), tree(&alone));
    assert_eq!(digest(&corpus), digest(&alone));
}

#[test]
fn commands_that_need_the_whole_home_and_processes_that_share_it_exclude_each_other() {
    let corpus = month();
    let home = tidings_store::Home::at(&corpus.home()).unwrap();
    let shared = home.for_shard("1-of-2").lock_shared().unwrap();
    let whole = [
        "update",
        "fetch",
        "clean",
        "dedup",
        "annotate",
        "compile",
        "rebuild",
        "merge",
        "prune",
        "crawl http://127.1.0.1/",
        "remove http://127.1.0.1/x --reason test",
        "discover http://127.1.0.1/",
    ];
    for command in whole {
        let ran = corpus.run(command);
        assert!(
            ran.code == Some(1) && ran.stderr.contains("another run is active"),
            "{command}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    corpus.run("clean --shard 2/2").ok();
    drop(shared);
    let lock = home.lock().unwrap();
    for command in ["clean --shard 1/2", "annotate --shard 1/2", "dedup --shard 1/2", "compile --shard 2/2"] {
        corpus.run(command).exits(1).says("another run is active");
    }
    corpus.run("run --shard 1/2 --time-limit 0.3s").exits(1).says("another run is active");
    drop(lock);
    corpus.run("run --shard 1/2 --wait 0s").ok();
}

#[test]
fn units_that_a_process_of_another_machine_has_claimed_are_left_to_it_while_it_beats() {
    let corpus = month();
    let home = tidings_store::Home::at(&corpus.home()).unwrap();
    let claim = match home.claim("clean", "2026-06-05").unwrap() {
        tidings_store::claims::Attempt::Taken(claim) => claim,
        tidings_store::claims::Attempt::Held(other) => panic!("{other:?}"),
    };
    let path = corpus.home().join(".claims/clean~2026-06-05~1");
    let text = std::fs::read_to_string(&path).unwrap();
    drop(claim);
    let mut holder: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    holder["host"] = "elsewhere".into();
    let forged = |lease_ms: u64| {
        let mut holder = holder.clone();
        holder["lease_ms"] = lease_ms.into();
        std::fs::write(&path, format!("{holder}\n")).unwrap();
    };
    forged(600_000);
    corpus.run("status").says("2026-06-05 by ").says(" on elsewhere since ");
    let beat = || {
        use std::io::Write as _;
        std::fs::File::options().append(true).open(&path).unwrap().write_all(b".").unwrap();
    };
    let mut done = 0;
    for index in 1..=2 {
        let mut shard = corpus.start(&format!("--json clean --shard {index}/2"));
        while !shard.has_ended() {
            // The other machine is at work.
            beat();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        done += shard.wait().ok().json()["days"].as_u64().unwrap();
    }
    assert_eq!(done, 29);
    // It is dead.
    forged(200);
    for index in 1..=2 {
        done += corpus.run(&format!("--json clean --shard {index}/2")).ok().json()["days"].as_u64().unwrap();
    }
    assert_eq!(done, 30);
    assert!(!path.exists());
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
