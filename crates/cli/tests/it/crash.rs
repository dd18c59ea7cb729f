//! Power failures and kills at every operation: no acknowledged page is lost, and none is requested twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use tidings_simweb::{Fault, Spec};

use crate::formats::warc_records;
use crate::support::{Corpus, Running, copy_folder, unpacked};

const DELAY: Duration = Duration::from_millis(50);

/// Workers that share the operations; each has its own web.
const WORKERS: usize = 4;

/// More operations than any run of these tests has.
const MANY_MOVES: usize = 200;

/// Pages so large that each is a batch, so that a small run has many operations.
fn weighty(sites: usize, items_per_feed: usize) -> Spec {
    Spec {
        sites,
        items_per_feed,
        page_bytes: Some(700_000),
        page_pool: 3,
        languages: vec!["de".into()],
        ..Spec::default()
    }
}

/// Runs a verb with a power failure at its first durable operation, its second, and so on until none happens. `check`
/// inspects the home after each failure.
fn cut_at_every_move(make: impl Fn() -> Corpus + Sync, verb: &str, check: impl Fn(&Corpus, usize) + Sync) {
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (make, check) = (&make, &check);
            scope.spawn(move || {
                let corpus = make();
                let prepared = corpus.beside("prepared");
                copy_folder(&corpus.home(), &prepared);
                for at in (1 + worker..MANY_MOVES).step_by(WORKERS) {
                    corpus.restore(&prepared);
                    corpus.web.clear_log();
                    let mut command = corpus.command(verb);
                    command.env("TIDINGS_CRASH_AT", at.to_string());
                    let ran = corpus.launch(command).wait();
                    match ran.code {
                        Some(0) => return,
                        Some(code) => panic!("move {at}: exit code {code}: {}", ran.stderr),
                        None => check(&corpus, at),
                    }
                }
                panic!("the run did not end");
            });
        }
    });
}

/// Waits until the journal vouches for a page.
fn until_acknowledged(running: &mut Running, corpus: &Corpus) {
    running.until(|| {
        let Ok(file) = File::open(corpus.home().join("plan.journal.zst")) else { return false };
        let mut text = Vec::new();
        // The last batch may be incomplete; the ones before count.
        let _ = zstd::Decoder::new(file).and_then(|mut decoder| decoder.read_to_end(&mut text));
        String::from_utf8_lossy(&text).contains("\"status\":\"ok\"")
    });
}

/// The plan without times and port, which differ between webs.
fn plan(corpus: &Corpus) -> BTreeMap<String, (String, u32, u32)> {
    let port = format!(":{}/", corpus.web.port());
    let rows = corpus.plan().into_iter();
    rows.map(|entry| (entry.url.replace(&port, "/"), (entry.status, entry.retries, entry.age))).collect()
}

/// Checks that everything occurs once and in order.
fn is_sound(corpus: &Corpus) {
    corpus.is_tidy();
    let ok: BTreeSet<String> =
        corpus.statuses().into_iter().filter(|(_, status)| status == "ok").map(|(url, _)| url).collect();
    assert_eq!(corpus.pages().into_keys().collect::<BTreeSet<_>>(), ok, "the plan and the pages differ");
}

#[test]
fn a_power_failure_at_any_operation_of_fetch_loses_and_repeats_nothing() {
    let make = || {
        let corpus = Corpus::new(weighty(3, 2).with_fault(Fault::NotFound, 1));
        corpus.run("update --all").ok();
        corpus
    };
    let undisturbed = make();
    undisturbed.run("fetch").ok();
    let expected = plan(&undisturbed);
    let moves = AtomicUsize::new(0);
    cut_at_every_move(make, "fetch --warc", |corpus, at| {
        moves.fetch_max(at, Ordering::Relaxed);
        // The next command recovers the home.
        let mended = corpus.run("fetch --dry-run").ok();
        let kept = corpus.pages();
        is_sound(corpus);
        assert!(!mended.stderr.contains("interrupted run :"), "move {at}: {}", mended.stderr);
        let before: HashMap<String, u32> = kept.keys().map(|url| (url.clone(), corpus.asked_for(url))).collect();
        corpus.run("fetch").ok();
        for (url, times) in before {
            assert_eq!(corpus.asked_for(&url), times, "move {at}: {url} was stored and requested again");
        }
        assert_eq!(plan(corpus), expected, "move {at}");
        assert_eq!(corpus.pages().len(), 4, "move {at}");
        is_sound(corpus);
        archives_agree(corpus);
        corpus.was_polite_across_crashes(DELAY);
    });
    assert!(moves.into_inner() > 20, "a run has many operations");
}

/// Checks that the archive has the stored pages; pages of the second run have no archive file, because it was not
/// requested.
fn archives_agree(corpus: &Corpus) {
    let archives = corpus.files("pages", ".warc.gz");
    assert!(archives.len() <= 1);
    for archive in archives {
        let pages = archive.to_string_lossy().replace(".warc.gz", ".jsonl.zst");
        let stored = unpacked(Path::new(&pages)).lines().count();
        let records = warc_records(&archive);
        let archived = records.iter().filter(|record| record.head["WARC-Type"] == "response").count();
        assert_eq!(archived, stored);
    }
}

#[test]
fn a_power_failure_during_recovery_is_recovered_too() {
    let make = || {
        let corpus = Corpus::new(weighty(3, 2));
        corpus.run("update --all").ok();
        let mut running = corpus.start("fetch");
        until_acknowledged(&mut running, &corpus);
        running.signal(Signal::KILL);
        running.wait();
        corpus
    };
    cut_at_every_move(make, "fetch --dry-run", |corpus, at| {
        corpus.run("fetch --dry-run").ok();
        is_sound(corpus);
        let kept: Vec<String> = corpus.pages().into_keys().collect();
        assert!(!kept.is_empty(), "move {at}: acknowledged pages are kept");
        corpus.run("fetch").ok();
        assert!(kept.iter().all(|url| corpus.asked_for(url) == 0), "move {at}: requested again");
        assert_eq!(corpus.pages().len(), 6);
        is_sound(corpus);
    });
}

#[test]
fn a_power_failure_at_any_operation_of_update_loses_no_entry_and_counts_no_age_twice() {
    let make = || {
        let corpus = Corpus::new(Spec { sites: 3, items_per_feed: 3, ..Spec::default() });
        corpus.run("update --all").ok();
        corpus.web.advance(Duration::from_secs(2 * 3600));
        corpus
    };
    let undisturbed = make();
    undisturbed.run("update --all").ok();
    let expected = plan(&undisturbed);
    cut_at_every_move(make, "update", |corpus, at| {
        corpus.run("update --all").ok();
        let found = plan(corpus);
        // The second run is a new cycle: entries that left their feed in the first are one cycle older.
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "move {at}");
        for (url, (status, retries, age)) in found {
            let (_, _, once) = expected[&url];
            assert!(status == "new" && retries == 0, "move {at}: {url} {status}");
            assert!(age == once || (once > 0 && age == once + 1), "move {at}: {url} is {age} cycles old");
        }
        is_sound(corpus);
        corpus.was_polite_across_crashes(DELAY);
        assert!(corpus.state("feeds.tsv").iter().all(|row| row["failures"] == "0"));
    });
}

#[test]
fn a_power_failure_at_any_operation_of_init_is_repaired_by_another_init() {
    let corpus = Corpus::new(Spec { sites: 1, ..Spec::default() });
    for at in 1..MANY_MOVES {
        let home = corpus.beside(&format!("new-{at}")).display().to_string();
        let mut command = corpus.command(&format!("init {home}"));
        command.env("TIDINGS_CRASH_AT", at.to_string());
        if corpus.launch(command).wait().code == Some(0) {
            assert!(at > 3, "init has several operations");
            return;
        }
        corpus.run(&format!("init {home}")).ok();
        corpus.run(&format!("update --home {home}")).ok().says("no feeds to poll");
        corpus.run(&format!("fetch --home {home}")).ok().says("nothing to fetch");
    }
    panic!("init did not end");
}

#[test]
fn a_power_failure_at_any_operation_of_prune_keeps_all_fingerprints() {
    let make = || {
        let corpus = Corpus::new(Spec { sites: 2, items_per_feed: 2, ..Spec::default() });
        corpus.run("update --all").ok();
        corpus.run("fetch").ok();
        corpus.web.advance(Duration::from_secs(48 * 3600));
        corpus.run("update --all").ok();
        corpus
    };
    cut_at_every_move(make, "prune --min-age 1", |corpus, at| {
        corpus.run("prune --min-age 1").ok();
        assert_eq!(corpus.plan().len(), 4, "move {at}");
        corpus.is_tidy();
        assert_eq!(std::fs::read(corpus.home().join("state/fetched.u64")).unwrap().len(), 16 + 12 + 4 * 8, "move {at}");
    });
}

#[test]
fn twenty_kills_at_random_times_lose_no_acknowledged_page() {
    let delay = Duration::from_millis(200);
    let spec = Spec { latency: Duration::from_millis(5), ..weighty(10, 6) };
    let corpus = Corpus::with(spec.with_fault(Fault::WrongCharset, 1), &[("delay_s", "0.2"), ("feed_delay_s", "0.2")]);
    corpus.run("update --all").ok();
    let mut chance = fastrand::Rng::with_seed(20260301);
    let mut acknowledged: HashMap<String, u32> = HashMap::new();
    let mut recovered = 0;
    for kill in 0..20 {
        let mut running = corpus.start("fetch");
        let until = std::time::Instant::now() + Duration::from_millis(chance.u64(20..700));
        running.until(|| std::time::Instant::now() >= until);
        if !running.has_ended() {
            running.signal(Signal::KILL);
        }
        running.wait();
        // Every other time a command other than fetch recovers the home.
        if kill % 2 == 1 {
            recovered += u32::from(corpus.run("fetch --dry-run").ok().stderr.contains("recovered"));
            corpus.is_tidy();
        }
        for url in corpus.pages().into_keys() {
            let times = corpus.asked_for(&url);
            assert_eq!(*acknowledged.entry(url.clone()).or_insert(times), times, "{url} was requested again");
        }
    }
    assert!(recovered > 0, "no kill came in the middle of a run");
    corpus.run("fetch").ok();
    for (url, times) in &acknowledged {
        assert_eq!(corpus.asked_for(url), *times, "{url} was requested again");
    }
    assert!(corpus.plan().iter().all(|entry| entry.status == "ok" && entry.retries == 1));
    assert_eq!(corpus.pages().len(), 60);
    is_sound(&corpus);
    corpus.was_polite_across_crashes(delay);
    corpus.run("audit").ok();
}

#[test]
fn a_retry_after_survives_a_kill() {
    let spec = Spec { sites: 10, items_per_feed: 40, retry_after: Duration::from_secs(60), ..Spec::default() };
    let corpus = Corpus::with(spec.with_fault(Fault::TooMany, 1), &[("max_retry_after_s", "5.0")]);
    corpus.run("update --all").ok();
    let mut running = corpus.start("fetch");
    running.until(|| corpus.web.requests().iter().any(|request| request.status == 429));
    let until = std::time::Instant::now() + Duration::from_secs(1);
    running.until(|| std::time::Instant::now() >= until);
    running.signal(Signal::KILL);
    running.wait();
    corpus.run("fetch --time-limit 1s").ok().says("Retry-After or backoff of an earlier run");
    assert_eq!(corpus.web.politeness().early_for_retry_after, 0);
}

#[test]
fn a_truncated_or_damaged_journal_loses_its_last_batch_only() {
    let corpus = Corpus::new(weighty(4, 3));
    corpus.run("update --all").ok();
    let mut running = corpus.start("fetch");
    let journal: PathBuf = corpus.home().join("plan.journal.zst");
    until_acknowledged(&mut running, &corpus);
    running.signal(Signal::KILL);
    running.wait();
    let whole = std::fs::read(&journal).unwrap();
    let torn = corpus.beside("torn");
    copy_folder(&corpus.home(), &torn);
    let garbage = [&whole[..], &[0xff; 100]].concat();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 0x55;
    for damage in [&garbage, &flipped, &whole[..whole.len() - 3].to_vec(), &whole[..20].to_vec(), &Vec::new()] {
        corpus.restore(&torn);
        std::fs::write(&journal, damage).unwrap();
        corpus.run("fetch").ok();
        assert_eq!(corpus.pages().len(), 12);
        is_sound(&corpus);
    }
}
