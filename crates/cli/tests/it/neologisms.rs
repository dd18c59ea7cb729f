//! `tidings neologisms`: candidates, decisions that hold for later runs, exclusion lists, history, export.

use std::fs;

use crate::ask::weather;
use crate::support::{Corpus, Ran};

fn ask(corpus: &Corpus, words: &str) -> Ran {
    corpus.shell(&format!("exec \"$T\" {words}"))
}

#[test]
fn decisions_about_new_words_hold_for_later_runs() {
    let corpus = weather();
    let open = || ask(&corpus, "neologisms --since 2026-06-01").ok().stdout;
    assert!(open().contains("heatdome"), "{}", open());
    ask(&corpus, "neologisms later heatdome --note 'ask the weather office'").ok().says("heatdome: later");
    ask(&corpus, "neologisms accept Heatdome").ok().says("heatdome: accepted");
    assert!(!open().contains("heatdome"), "{}", open());
    let accepted = ask(&corpus, "--json neologisms --status accepted").ok().json();
    let row = &accepted["rows"][0];
    assert_eq!((row["value"].as_str(), row["note"].as_str()), (Some("heatdome"), Some("ask the weather office")));
    assert!(row["citation"]["left"].is_string() && row["documents"].as_u64() > Some(0), "{row}");
    let csv = ask(&corpus, "neologisms --status accepted --csv").ok().stdout;
    assert!(csv.starts_with("value,variants,status,note,decided,candidate,first_seen"), "{csv}");
    ask(&corpus, "neologisms history heatdome").ok().says("later").says("accepted");

    // Another run of the pipeline changes nothing about decisions.
    corpus.shell("\"$T\" run --stages compile >/dev/null").ok();
    assert!(ask(&corpus, "neologisms --status accepted").ok().stdout.contains("heatdome"));
    ask(&corpus, "neologisms reopen heatdome").ok();
    assert!(open().contains("heatdome"));
    let log = fs::read_to_string(corpus.home().join("neologisms.tsv")).unwrap();
    assert_eq!(log.lines().count(), 4, "every decision stays: {log}");
}

#[test]
fn variants_are_merged_and_lists_leave_words_out() {
    let corpus = weather();
    ask(&corpus, "neologisms variant 'heat dome' heatdome").ok().says("a variant of heatdome");
    let rows = ask(&corpus, "--json neologisms --since 2026-06-01").ok().json()["rows"].clone();
    let row = rows.as_array().unwrap().iter().find(|row| row["value"] == "heatdome").unwrap();
    assert_eq!(row["variants"], serde_json::json!(["heat dome"]), "{rows}");
    ask(&corpus, "neologisms variant heatdome 'heat dome'").exits(2).says("variant of itself");
    corpus.shell("printf 'Heatdome\\n\\nother\\n' | \"$T\" neologisms exclude weather -").ok().says("2 words added");
    let left = ask(&corpus, "--json neologisms --since 2026-06-01").ok().json();
    assert!(left["rows"].as_array().unwrap().iter().all(|row| row["value"] != "heatdome"), "{left}");
    assert_eq!(left["excluded"], 1, "{left}");
    ask(&corpus, "neologisms lists").ok().says("weather");
    ask(&corpus, "neologisms remove-list nothing").exits(2).says("there are weather");
    ask(&corpus, "neologisms remove-list weather").ok();
    ask(&corpus, "neologisms exclude 'a b' -").exits(2).says("invalid list name");
    ask(&corpus, "neologisms accept").exits(2);
}
