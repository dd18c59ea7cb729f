//! `tidings run`: all stages in one command, within time limits, one at a time, and as a service.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::process::Signal;
use tidings_simweb::Spec;

use crate::clean::{corpus, mixed, put};
use crate::support::{Corpus, copy_folder};

const TEXT_STAGES: [&str; 4] = ["clean", "dedup", "annotate", "compile"];

/// Three days of unprocessed pages. Their duplicates are kept.
fn three_days() -> Corpus {
    let corpus = corpus();
    set(&corpus, "[annotate]\nduplicates = 'keep'\n");
    for (day, from) in [("2026-03-01", 0), ("2026-03-02", 14), ("2026-03-03", 28)] {
        put(&corpus, day, "a.0", &mixed(from..from + 14));
    }
    corpus
}

/// Adds tables to the settings.
fn set(corpus: &Corpus, tables: &str) {
    let path = corpus.home().join("tidings.toml");
    fs::write(&path, fs::read_to_string(&path).unwrap() + tables).unwrap();
}

/// The documents, verdicts and text, by name. An index built in steps has other segments.
fn derived(corpus: &Corpus) -> BTreeMap<String, Vec<u8>> {
    let files = ["docs", "seen", "text"].into_iter().flat_map(|folder| corpus.files(folder, ""));
    files
        .map(|path| (path.strip_prefix(corpus.home()).unwrap().display().to_string(), fs::read(&path).unwrap()))
        .collect()
}

#[test]
fn a_stage_without_time_processes_one_unit_and_continues_next_time() {
    let corpus = three_days();
    for stage in TEXT_STAGES {
        let first = corpus.run(&format!("--json {stage} --time-limit 0.000001s")).ok().json();
        let left = if stage == "compile" { &first["languages"]["en"]["days_left"] } else { &first["days_left"] };
        assert_eq!(left.as_u64(), Some(2), "{first}");
        corpus.run(&format!("{stage} --time-limit 0.000001s")).ok();
        corpus.run(stage).ok();
        corpus.run(stage).ok().says("nothing to ");
    }
    let at_once = three_days();
    at_once.run("run --from clean").ok();
    assert_eq!(derived(&corpus), derived(&at_once));
    let words = |corpus: &Corpus| corpus.run("words --lang en --csv").ok().stdout;
    assert_eq!(words(&corpus), words(&at_once));
}

#[test]
fn every_run_makes_progress_with_any_time_limit() {
    let corpus = three_days();
    let budget: String = TEXT_STAGES.iter().map(|stage| format!("{stage} = '0.000001s'\n")).collect();
    set(&corpus, &format!("[run]\n{budget}"));
    for searchable in 1..=3 {
        let ran = corpus.run("--json run --from clean").ok().json();
        assert_eq!(ran["compile"]["languages"]["en"]["days_added"].as_u64(), Some(1), "round {searchable}: {ran}");
    }
    corpus.run("run --from clean").ok().says("the index is up to date");
    let at_once = three_days();
    at_once.run("run --from clean").ok();
    assert_eq!(derived(&corpus), derived(&at_once));
    // Each round has written one record with the outcome of every stage.
    let records = corpus.run_logs("run");
    assert_eq!(records.len(), 4);
    let last: serde_json::Value = serde_json::from_str(records[0].lines().last().unwrap()).unwrap();
    assert_eq!(last["summary"]["stages"]["clean"]["days_left"], 2, "{last}");
}

#[test]
fn a_changed_day_is_never_missing_from_the_index() {
    let corpus = three_days();
    corpus.run("run --from clean").ok();
    put(&corpus, "2026-03-01", "b.0", &mixed(70..77));
    put(&corpus, "2026-03-03", "b.0", &mixed(77..84));
    for stage in ["clean", "dedup", "annotate"] {
        corpus.run(stage).ok();
    }
    let ran = corpus.run("--json compile --time-limit 0.000001s").ok().json();
    assert_eq!(ran["languages"]["en"]["days_left"], 0, "deleted documents were replaced in the same step: {ran}");
    assert_eq!(ran["languages"]["en"]["days_added"], ran["languages"]["en"]["days_withdrawn"], "{ran}");
}

#[test]
fn a_second_run_reports_the_first_and_succeeds() {
    let corpus = corpus();
    let lock = fs::File::create(corpus.home().join(".run.lock")).unwrap();
    fs::write(corpus.home().join(".run.lock"), "4711\n").unwrap();
    lock.try_lock().unwrap();
    corpus.run("run").ok().says("nothing done: another run is active").says("(process 4711)");
    assert_eq!(corpus.run("--json run").ok().json()["running"], true);
    assert!(corpus.web.requests().is_empty());
    drop(lock);
    corpus.run("run").ok().says("run       1 page fetched, 1 document made");
}

#[test]
fn a_run_waits_for_the_lock_of_the_home() {
    let corpus = three_days();
    let lock = fs::File::create(corpus.home().join(".lock")).unwrap();
    lock.try_lock().unwrap();
    let mut running = corpus.start("run --from clean");
    let mut waited = false;
    running.until(|| {
        waited =
            waited || fs::read_to_string(corpus.beside("run-1.err")).unwrap_or_default().contains("waiting for it");
        waited
    });
    drop(lock);
    running.wait().ok().says("made searchable");
    let lock = fs::File::create(corpus.home().join(".lock")).unwrap();
    lock.try_lock().unwrap();
    corpus.run("run --from clean --time-limit 0.1s").exits(1).says("the home was locked by another command");
}

#[test]
fn a_failed_stage_does_not_stop_the_others() {
    let corpus = three_days();
    fs::create_dir_all(corpus.home().join("state/feeds.tsv")).unwrap();
    let ran = corpus.run("run").exits(1).says("made searchable in 1 language");
    let line = ran.stderr.lines().find(|line| line.contains("update:")).expect("the failure is logged").to_owned();
    assert_eq!(line.matches("Is a directory").count(), 1, "a cause is logged once: {line}");
    assert!(line.contains("feeds.tsv: Is a directory"), "{line}");
}

#[test]
fn a_signal_ends_a_derived_stage_soon_and_the_next_run_continues() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..7));
    put(&corpus, "2026-03-02", "a.0", &mixed(7..20_000));
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    let first = corpus.home().join("docs/recipes/2026-03-01.json");
    let mut running = corpus.start("run --from clean");
    running.until(|| first.exists());
    running.signal(Signal::TERM);
    let ran = running.wait().exits(1).says("SIGTERM");
    assert!(ran.stdout.contains("1 day left for a later run"), "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("annotate"), "no further stage begins: {}", ran.stdout);
    corpus.is_tidy();
    assert!(!corpus.home().join("docs/recipes/2026-03-02.json").exists());
    let record = corpus.run_logs("run").pop().unwrap();
    assert!(record.contains("\"done\":false"), "{record}");
    // Fewer pages, so that the test is fast: the day is rebuilt from them.
    put(&corpus, "2026-03-02", "a.0", &mixed(7..21));
    corpus.run("run --from clean").ok();
    corpus.run("run --from clean").ok().says("nothing to clean");
}

#[test]
fn the_service_notifies_systemd_and_ends_on_a_signal() {
    let corpus = Corpus::new(Spec { sites: 1, items_per_feed: 2, ..Spec::default() });
    let socket = UnixDatagram::bind(corpus.beside("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let next = || {
        let mut message = [0; 4096];
        let length = socket.recv(&mut message).expect("the service sends a message");
        String::from_utf8_lossy(&message[..length]).into_owned()
    };
    let until = |words: &str| (0..1000).map(|_| next()).find(|message| message.contains(words)).expect("it says so");
    let mut command = corpus.command("run --loop --every 0.3s");
    command.env("NOTIFY_SOCKET", corpus.beside("notify")).env("WATCHDOG_USEC", "300000").env_remove("WATCHDOG_PID");
    let running = corpus.launch(command);
    until("READY=1");
    until("STATUS=running update");
    until("STATUS=running compile");
    until("STATUS=waiting");
    until("STATUS=running update");
    until("WATCHDOG=1");
    running.signal(Signal::HUP);
    assert!(until("RELOADING=1").contains("MONOTONIC_USEC="));
    until("READY=1");
    // Invalid settings are logged and do not end the service.
    fs::write(corpus.home().join("tidings.toml"), "[run]\nevery = 'now and then'\n").unwrap();
    running.signal(Signal::HUP);
    until("READY=1");
    running.signal(Signal::TERM);
    until("STOPPING=1");
    let ran = running.wait().ok().says("stopped by SIGTERM").says("settings reloaded").says("settings not reloaded");
    assert!(ran.stderr.contains("give a duration such as"), "{}", ran.stderr);
    assert!(corpus.run_logs("run").len() >= 2);
    corpus.is_tidy();
}
