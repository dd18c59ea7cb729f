//! `tidings dedup`: reruns do nothing, no document is lost, and the result does not depend on the history.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tidings_model::{Document, Page};
use tidings_simweb::Spec;

use crate::piped;
use crate::support::{Corpus, copy_folder, program, unpacked};

const WORDS: [&str; 32] = [
    "the", "mayor", "river", "of", "a", "bridge", "was", "closed", "in", "spring", "and", "people", "walked", "to",
    "market", "before", "rain", "came", "over", "hills", "with", "wind", "that", "nobody", "expected", "on", "monday",
    "school", "children", "sang", "for", "hours",
];

/// A paragraph of its own for each number.
fn paragraph(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let words: Vec<String> = (0..40)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = WORDS[(state >> 59) as usize];
            if (state >> 50) & 7 == 0 { format!("{word} {}", state >> 52) } else { word.to_owned() }
        })
        .collect();
    format!("It was {}.", words.join(" "))
}

fn page(site: &str, name: &str, paragraphs: &[u64]) -> Page {
    let text: String = paragraphs.iter().map(|number| format!("<p>{}</p>", paragraph(*number))).collect();
    Page {
        url: format!("http://{site}/{name}"),
        final_url: format!("http://{site}/{name}"),
        downloaded: "2026-03-01T12:00:00.000Z".into(),
        status: 200,
        content_type: "text/html; charset=utf-8".into(),
        body: format!(
            "<!DOCTYPE html><html lang=\"en\"><head><title>{name}</title></head><body><article>{text}</article></body></html>"
        )
        .into_bytes(),
        ..Page::default()
    }
}

/// A page with a date of publication.
fn published(site: &str, date: &str, paragraphs: &[u64]) -> Page {
    Page { published: format!("{date}T08:00:00Z"), ..page(site, "published", paragraphs) }
}

fn put(corpus: &Corpus, day: &str, name: &str, pages: &[Page]) {
    let mut lines = Vec::new();
    pages.iter().for_each(|page| page.write_line(&mut lines).unwrap());
    let path = corpus.home().join("pages").join(day).join(format!("{name}.jsonl.zst"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
}

fn corpus() -> Corpus {
    Corpus::new(Spec { sites: 1, items_per_feed: 1, ..Spec::default() })
}

fn day(number: u64) -> String {
    format!("2026-{:02}-{:02}", 3 + number / 28, number % 28 + 1)
}

/// A day of pages, some of which repeat those of earlier days.
fn put_day(corpus: &Corpus, number: u64) {
    let fresh = [number * 100, number * 100 + 1, number * 100 + 2];
    let earlier = (number / 2) * 100;
    let pages = [
        page("gazette.example", &format!("a{number}"), &fresh),
        page("courier.example", &format!("b{number}"), &[number * 100 + 3, earlier + 1, number * 100 + 4]),
        page("herald.example", &format!("c{number}"), &fresh),
    ];
    put(corpus, &day(number), "a.0", &pages);
}

/// Everything under `seen/`, by name.
/// The state of deduplication, without the log of the last day, which is a cache.
fn seen_files(corpus: &Corpus) -> BTreeMap<String, Vec<u8>> {
    let files = corpus.files("seen", "").into_iter();
    files
        .filter(|path| !path.strip_prefix(corpus.home()).unwrap().starts_with("seen/growth"))
        .map(|path| (path.strip_prefix(corpus.home()).unwrap().display().to_string(), fs::read(&path).unwrap()))
        .collect()
}

/// The verdicts of a day; checks that there is one per document, in order.
fn verdicts(corpus: &Corpus, day: &str) -> Vec<Value> {
    let path = corpus.home().join(format!("seen/verdicts/{day}.jsonl.zst"));
    let verdicts: Vec<Value> = unpacked(&path).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let documents: Vec<Document> = corpus
        .files("docs", &format!("{day}.jsonl.zst"))
        .into_iter()
        .filter(|path| !path.to_string_lossy().contains("/dropped/"))
        .flat_map(|path| unpacked(&path).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
        .collect();
    let ids: Vec<&str> = verdicts.iter().map(|verdict| verdict["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        documents.iter().map(|document| document.id.as_str()).collect::<Vec<_>>(),
        "every document has a verdict"
    );
    verdicts
}

#[test]
fn copies_are_found_and_the_earliest_is_kept() {
    let corpus = corpus();
    corpus.run("dedup").ok().says("nothing to deduplicate: no documents yet");
    put_day(&corpus, 0);
    put_day(&corpus, 1);
    corpus.run("clean").ok().says("6 documents");
    corpus.run("dedup").ok().says("2 days deduplicated: 6 documents, 2 of them duplicates of earlier ones");
    let first = verdicts(&corpus, &day(0));
    let (copies, kept): (Vec<&Value>, Vec<&Value>) = first.iter().partition(|verdict| verdict["copy_of"].is_string());
    assert_eq!((copies.len(), kept.len()), (1, 2));
    let original = kept.iter().find(|verdict| verdict["id"] == copies[0]["copy_of"]).unwrap();
    assert_eq!(original["copies"][0]["id"], copies[0]["id"]);
    assert_eq!(original["copies"][0]["site"], copies[0]["site"]);
    assert_eq!(copies[0]["words"], copies[0]["duplicate_words"]);
    let second = verdicts(&corpus, &day(1));
    let partly = second.iter().find(|verdict| verdict["site"] == "courier.example").unwrap();
    assert_eq!(partly["duplicates"].as_array().unwrap().len(), 1);
    assert_eq!(partly["duplicates"][0]["why"], "exact");

    let before = seen_files(&corpus);
    corpus.run("dedup").ok().says("nothing to deduplicate: all 2 days are up to date");
    assert!(seen_files(&corpus) == before);
    let removed = corpus.run("dedup --removed").ok().stdout;
    let removed: Vec<Value> = removed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(removed.iter().any(|line| line["text"] == paragraph(1)));
    let top = corpus.run("dedup --top 2 --json").ok().json();
    assert_eq!((&top[0]["times"], &top[0]["text"]), (&json!(3), &json!(paragraph(1))));
    assert_eq!(corpus.run("dedup --copies").ok().stdout.lines().count(), 2);
    let log = corpus.run_logs("dedup").pop().unwrap();
    assert!(log.contains("duplicate_share_so_far") && log.contains("summary"), "{log}");
    corpus.run("audit").ok();
    corpus.is_tidy();
}

#[test]
fn a_rebuild_gives_the_same_bytes_as_any_history() {
    let corpus = corpus();
    // Twenty days in steps, so that files are merged; then one is inserted.
    for number in 0..20 {
        put_day(&corpus, number);
        if number % 7 == 3 {
            corpus.run("clean").ok();
            corpus.run(&format!("dedup --threads {}", number % 3 + 1)).ok();
        }
    }
    corpus.run("clean").ok();
    corpus.run("dedup").ok();
    let straight = seen_files(&corpus);
    put(&corpus, &day(12), "b.0", &[page("late.example", "late", &[9001, 1500, 9002])]);
    corpus.run("clean").ok();
    corpus.run("dedup").ok().says(&format!("deduplicating again from {}", day(12))).says("8 days deduplicated");
    let history = seen_files(&corpus);
    assert!(history != straight);
    let late = verdicts(&corpus, &day(15));
    let copied = late.iter().find(|verdict| verdict["site"] == "gazette.example").unwrap();
    assert!(!copied["duplicates"].as_array().unwrap().is_empty(), "the inserted day is the original");
    corpus.run("rebuild --from dedup").ok().says("20 days deduplicated");
    assert!(seen_files(&corpus) == history, "a rebuild gives the same bytes");
    let docs = corpus.files("docs", ".jsonl.zst").iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    corpus.run("rebuild --from clean").ok().says("61 pages read").says("20 days deduplicated");
    assert!(seen_files(&corpus) == history);
    assert!(docs == corpus.files("docs", ".jsonl.zst").iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>());
    fs::remove_dir_all(corpus.home().join("pages").join(day(19))).unwrap();
    fs::remove_file(corpus.home().join(format!("docs/recipes/{}.json", day(19)))).unwrap();
    corpus.run("dedup").ok();
    assert_eq!(corpus.run("dedup --json").ok().json()["days_up_to_date"], 19);
    corpus.is_tidy();
}

#[test]
fn settings_that_matter_make_days_stale_and_others_do_not() {
    let corpus = corpus();
    (0..3).for_each(|number| put_day(&corpus, number));
    corpus.run("clean").ok();
    corpus.run("dedup").ok();
    let all = seen_files(&corpus);
    let with = |key: &str, value: &str| {
        let mut command = corpus.command("dedup");
        command.env(format!("TIDINGS_DEDUP_{key}"), value);
        corpus.launch(command).wait()
    };
    with("MEMORY_MIB", "1").ok().says("nothing to deduplicate");
    with("THREADS", "3").ok().says("nothing to deduplicate");
    with("SCOPE", "site").ok().says("3 days deduplicated: 9 documents, 0 of them duplicates");
    with("PRESET", "now").ok().says("3 days deduplicated");
    corpus.run("dedup --level sentence").ok().says("3 days deduplicated");
    with("MEMORY_MIB", "1").ok().says("3 days deduplicated");
    assert!(seen_files(&corpus) == all);
    fs::remove_file(corpus.home().join(format!("seen/verdicts/{}.jsonl.zst", day(1)))).unwrap();
    corpus.run("dedup").ok().says("2 days deduplicated");
    fs::remove_dir_all(corpus.home().join("seen/keys")).unwrap();
    corpus.run("dedup").ok().says("3 days deduplicated");
    assert!(seen_files(&corpus) == all);
    with("PRESET", "sloppy").exits(1).says("tidings, onion, aranea, now");
    with("SCOPE", "week").exits(1).says("30d");
    corpus.run("dedup --level chapter").exits(2);
    corpus.run("dedup --top 3 --removed").exits(2);
}

#[test]
fn the_same_page_under_two_urls_is_found_by_its_checksum() {
    let corpus = corpus();
    let one = page("gazette.example", "one", &[1, 2]);
    let other =
        Page { url: "http://mirror.example/1".into(), final_url: "http://mirror.example/1".into(), ..one.clone() };
    put(&corpus, &day(0), "a.0", &[one]);
    put(&corpus, &day(1), "a.0", &[other, page("gazette.example", "two", &[1, 2])]);
    corpus.run("clean").ok();
    corpus.run("dedup --level page").ok().says("3 documents, 1 of them duplicates");
    let told = verdicts(&corpus, &day(1));
    let copy = told.iter().find(|verdict| verdict["copy_of"].is_string()).unwrap();
    assert_eq!((&copy["site"], &copy["duplicates"][0]["why"]), (&json!("mirror.example"), &json!("page")));
}

#[test]
fn a_power_failure_at_any_operation_leaves_the_old_or_the_new_state() {
    let corpus = corpus();
    (0..3).for_each(|number| put_day(&corpus, number));
    put(&corpus, &day(0), "b.0", &[published("second.example", "2026-02-25", &[7001, 7002, 7003])]);
    corpus.run("clean").ok();
    corpus.run("dedup").ok();
    put(&corpus, &day(2), "b.0", &[page("late.example", "late", &[9001, 100, 9002])]);
    put_day(&corpus, 3);
    // An original that is fetched after its copy revises an earlier day.
    put(&corpus, &day(3), "b.0", &[published("first.example", "2026-02-20", &[7001, 7002, 7003])]);
    corpus.run("clean").ok();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    corpus.run("dedup").ok().says("2 days deduplicated");
    let expected = seen_files(&corpus);
    let revisions = format!("seen/amendments/{}.{}.jsonl.zst", day(0), day(3));
    assert!(expected.contains_key(&revisions), "{:?}", expected.keys());
    corpus.cut_at_every_move("dedup", &prepared, |at| {
        // Every file in the ledger exists; an incomplete line is ignored.
        let ledger = fs::read_to_string(corpus.home().join("seen/ledger.jsonl")).unwrap();
        for line in ledger.split_inclusive('\n').skip(1).filter(|line| line.ends_with('\n')) {
            let judged: Value = serde_json::from_str(line).unwrap();
            let file = corpus.home().join(judged["verdicts"]["file"].as_str().unwrap());
            assert_eq!(fs::metadata(&file).unwrap().len(), judged["verdicts"]["bytes"].as_u64().unwrap(), "move {at}");
        }
        corpus.run("dedup").ok();
        let found = seen_files(&corpus);
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "move {at}");
        let differ: Vec<&String> = expected.keys().filter(|name| found[*name] != expected[*name]).collect();
        assert!(differ.is_empty(), "move {at}: {differ:?}");
        corpus.is_tidy();
    });
}

fn filter(arguments: &[&str], input: &str) -> (i32, String) {
    let mut command = program();
    command.args(["dedup", "--jsonl"]).args(arguments);
    let finished = piped::run(command, input);
    (finished.code, finished.stdout)
}

#[test]
fn the_filter_needs_no_home() {
    let line = |id: &str| json!({ "id": id, "paragraphs": [paragraph(1), paragraph(2)] }).to_string();
    let input = format!("{}\n{}\n", line("a"), line("b"));
    let (code, out) = filter(&[], &input);
    assert_eq!((code, out), (0, format!("{}\n{}\n", line("a"), "{\"id\":\"b\",\"paragraphs\":[]}")));
    assert_eq!(filter(&["--scope", "site"], &input).0, 3, "lines without a site are faults");
    let (code, out) = filter(&["--preset", "onion", "--marks", "--memory-mb", "1"], &input);
    assert_eq!((code, out.matches("\"of\":\"a\"").count()), (0, 2));
    assert_eq!(filter(&["--threshold", "2"], "").0, 2);
    assert_eq!(filter(&["--preset", "sloppy"], "").0, 1);
}
