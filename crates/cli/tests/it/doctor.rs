//! `tidings doctor`: problems are found with their remedies.

use std::fs;

use tidings_simweb::Spec;

use crate::support::Corpus;

fn harvested() -> Corpus {
    let corpus =
        Corpus::with(Spec { sites: 2, items_per_feed: 2, ..Spec::default() }, &[("contact", "'mailto:a@b.example'")]);
    corpus.run("run").ok();
    corpus
}

/// The findings about a subject, with their severity.
fn about(report: &serde_json::Value, about: &str) -> Vec<(String, String)> {
    let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["about"] == about);
    findings.map(|found| ["level", "seen"].map(|key| found[key].as_str().unwrap().to_owned()).into()).collect()
}

#[test]
fn a_home_without_problems_has_no_faults_and_is_not_changed() {
    let corpus = harvested();
    let before = corpus.files("", "");
    let ran = corpus.run("doctor --thorough --network");
    assert!(matches!(ran.code, Some(0 | 3)), "{}{}", ran.stdout, ran.stderr);
    for words in [
        "all keys and values are valid",
        "write and sync, rename, hard links, locks work",
        "4 entries",
        "2 feeds",
        "is reachable at 127.1.",
    ] {
        assert!(ran.stdout.contains(words), "{words} is missing: {}", ran.stdout);
    }
    assert_eq!(corpus.files("", ""), before);
    corpus.web.clear_log();
    corpus.run("doctor --network");
    assert!(corpus.web.requests().is_empty(), "no request is sent");
}

#[test]
fn each_problem_is_found_with_its_remedy() {
    let corpus = harvested();
    fs::write(corpus.home().join("tidings.toml"), "[fetch]\nconcurrency = 2_000_000\n").unwrap();
    fs::write(corpus.home().join("feeds.txt"), "no address at all\n").unwrap();
    fs::remove_file(corpus.home().join("plan.tsv.zst")).unwrap();
    fs::write(corpus.home().join("runs/20990101T000000000Z-fetch.jsonl.zst"), b"").unwrap();
    let language = fs::read_dir(corpus.home().join("index")).unwrap().next().unwrap().unwrap().path();
    let mut files = fs::read_dir(&language).unwrap().map(|entry| entry.unwrap().path());
    let segment = files.find(|path| path.extension().is_some_and(|ending| ending == "segment")).unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&segment, bytes).unwrap();
    let pages = corpus.files("pages", ".jsonl.zst").pop().unwrap();
    fs::write(&pages, b"nonsense\n").unwrap();

    let mut command = corpus.command("--json doctor");
    command.env("TIDINGS_FETCH_CONCURENCY", "5");
    let report = corpus.launch(command).wait().exits(1).json();
    let is = |name: &str, level: &str, words: &str| {
        let found = about(&report, name);
        assert!(found.iter().any(|(is, seen)| is == level && seen.contains(words)), "{name}: {found:?}");
    };
    is("settings", "fault", "fetch.concurrency");
    is("environment", "warning", "unknown environment variable TIDINGS_FETCH_CONCURENCY");
    is("contact", "warning", "no contact set");
    is("feeds", "warning", "line 1");
    is("plan", "fault", "is missing");
    is("clock", "fault", "2099");
    is("pages", "fault", "pages/");
    is("index", "fault", "is damaged");
    let silent = report["findings"].as_array().unwrap().iter();
    let silent: Vec<_> = silent.filter(|found| found["level"] == "warning" && found["remedy"].is_null()).collect();
    assert!(silent.is_empty(), "every warning has a remedy: {silent:?}");
}

#[test]
fn a_read_only_folder_is_a_fault() {
    let corpus = harvested();
    corpus.run_without_write_permission("doctor").exits(1).says("check its owner");
}
