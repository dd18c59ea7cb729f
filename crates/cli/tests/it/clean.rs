//! `tidings clean`: pages become documents; reruns do nothing, no page is lost, and a power failure costs at most one
//! day.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;
use tidings_model::{Document, Page};
use tidings_simweb::Spec;

use crate::support::{Corpus, copy_folder, unpacked};

/// A page so plain that every extractor finds the same text.
fn html(number: usize) -> String {
    let language = ["en", "de", "cs"][number % 3];
    format!(
        "<!DOCTYPE html><html lang=\"{language}\"><head><title>Number {number}</title></head><body><article><h1>Number {number}</h1>\
         <p>It was said in the town that number {number} would come back before the winter, and everybody waited for \
         it, and nobody knew what it would bring.</p><p>On the third day it came, and people carried their chairs \
         into the street to see it pass, and then they carried them in again.</p></article></body></html>"
    )
}

pub fn page(number: usize, body: &[u8], content_type: &str) -> Page {
    Page {
        url: format!("http://e.org/{number}"),
        final_url: format!("http://e.org/{number}"),
        feed: "http://e.org/feed".into(),
        downloaded: "2026-03-01T12:00:00.000Z".into(),
        status: 200,
        content_type: content_type.into(),
        body: body.to_vec(),
        ..Page::default()
    }
}

/// Pages of every kind: most are plain, some short, some empty, some not HTML.
pub fn mixed(numbers: std::ops::Range<usize>) -> Vec<Page> {
    numbers
        .map(|number| match number % 7 {
            3 => page(number, b"<html><body><p>Too short.</p></body></html>", "text/html"),
            5 => page(number, b"<html></html>", "text/html"),
            6 => page(number, b"%PDF-1.4", "application/pdf"),
            _ => page(number, html(number).as_bytes(), "text/html; charset=utf-8"),
        })
        .collect()
}

/// A home without a web.
pub fn corpus() -> Corpus {
    Corpus::new(Spec { sites: 1, items_per_feed: 1, ..Spec::default() })
}

pub fn put(corpus: &Corpus, day: &str, name: &str, pages: &[Page]) -> PathBuf {
    let mut lines = Vec::new();
    pages.iter().for_each(|page| page.write_line(&mut lines).unwrap());
    let path = corpus.home().join("pages").join(day).join(format!("{name}.jsonl.zst"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
    path
}

fn recipe(corpus: &Corpus, day: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(corpus.home().join(format!("docs/recipes/{day}.json"))).unwrap()).unwrap()
}

/// Everything under `docs/`, by name.
fn docs(corpus: &Corpus) -> BTreeMap<String, Vec<u8>> {
    let files = corpus.files("docs", "").into_iter();
    files
        .map(|path| (path.strip_prefix(corpus.home()).unwrap().display().to_string(), fs::read(&path).unwrap()))
        .collect()
}

/// The documents and the dropped pages of a day; checks that they are the pages, each once, in order, and that the
/// recipe matches.
fn is_sound(corpus: &Corpus, day: &str) -> (Vec<Document>, Vec<Value>) {
    let recipe = recipe(corpus, day);
    let mut urls: Vec<String> = Vec::new();
    for input in recipe["inputs"].as_array().unwrap() {
        let path = corpus.home().join(input["file"].as_str().unwrap());
        assert_eq!(fs::metadata(&path).unwrap().len(), input["bytes"].as_u64().unwrap());
        urls.extend(unpacked(&path).lines().map(|line| serde_json::from_str::<Page>(line).unwrap().url));
    }
    let (mut documents, mut dropped) = (Vec::new(), Vec::new());
    let named: BTreeSet<PathBuf> = recipe["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|output| corpus.home().join(output["file"].as_str().unwrap()))
        .filter(|path| !path.ends_with(format!("docs/yield/{day}.tsv")))
        .collect();
    let found: BTreeSet<PathBuf> = corpus.files("docs", &format!("{day}.jsonl.zst")).into_iter().collect();
    assert_eq!(named, found, "the recipe lists the existing files");
    for path in found {
        let text = unpacked(&path);
        if path.to_string_lossy().contains("/dropped/") {
            dropped.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        } else {
            let these: Vec<Document> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let places = these.iter().map(|document| urls.iter().position(|url| *url == document.url).unwrap());
            assert!(places.is_sorted(), "documents keep the order of their pages");
            documents.extend(these);
        }
    }
    assert!(dropped.iter().all(|line| line["reason"].is_string() && line["feed"] == "http://e.org/feed"));
    let told: BTreeSet<String> = documents
        .iter()
        .map(|document| document.url.clone())
        .chain(dropped.iter().map(|line| line["url"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(told, urls.iter().cloned().collect(), "no page is lost");
    assert_eq!(documents.len() + dropped.len(), urls.len(), "no page occurs twice");
    assert_eq!(recipe["pages"].as_u64().unwrap() as usize, urls.len());
    let sum =
        |key: &str| recipe[key].as_object().unwrap().values().map(|n| n.as_u64().unwrap() as usize).sum::<usize>();
    assert_eq!((sum("documents"), sum("dropped")), (documents.len(), dropped.len()));
    let yields = fs::read_to_string(corpus.home().join(format!("docs/yield/{day}.tsv"))).unwrap();
    let counted = |column: usize| -> usize {
        yields.lines().skip(1).map(|row| row.split('\t').nth(column).unwrap().parse::<usize>().unwrap()).sum()
    };
    assert_eq!((counted(2), counted(3)), (urls.len(), documents.len()), "{yields}");
    let text: usize = documents.iter().flat_map(|document| &document.paragraphs).map(|p| p.text.len()).sum();
    assert_eq!(counted(5), text, "{yields}");
    (documents, dropped)
}

#[test]
fn pages_become_documents_once() {
    let corpus = corpus();
    corpus.run("clean").ok().says("nothing to clean: no pages yet");
    put(&corpus, "2026-03-01", "a.0", &mixed(0..70));
    put(&corpus, "2026-03-02", "a.0", &mixed(0..7));
    let ran = corpus.run("clean").ok().says("77 pages read: 44 documents in ").says("33 dropped (");
    assert!(ran.stdout.contains("11 not-html"), "{}", ran.stdout);
    let (documents, dropped) = is_sound(&corpus, "2026-03-01");
    assert_eq!((documents.len(), dropped.len()), (40, 30));
    for document in &documents {
        assert!(document.id.len() == 32 && !document.extractor.is_empty());
        assert_eq!((document.site.as_str(), document.feed.as_str()), ("e.org", "http://e.org/feed"));
        assert!(document.text().contains("before the winter"));
    }
    assert_eq!(documents.iter().map(|document| &document.id).collect::<BTreeSet<_>>().len(), 40);
    let before = docs(&corpus);
    let logs = corpus.run_logs("clean");
    let log = &logs[0];
    assert!(
        log.contains("\"began\"") && log.contains("\"day\":\"2026-03-02\"") && log.contains("\"summary\""),
        "{log}"
    );

    corpus.run("clean").ok().says("nothing to clean: all 2 days are up to date");
    corpus.run("clean --day 2026-03-01").ok().says("nothing to clean: the day is up to date");
    assert_eq!(corpus.run("clean --json").ok().json()["pages"], 0);
    assert_eq!(docs(&corpus), before);
    assert_eq!(corpus.run_logs("clean"), logs, "a run without work is not logged");
    corpus.run("audit").ok();
    corpus.is_tidy();
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_memory() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..150));
    put(&corpus, "2026-03-01", "b.0", &mixed(150..300));
    let mut all = Vec::new();
    for (threads, memory) in [(1, 512), (2, 16), (5, 64)] {
        let _ = fs::remove_dir_all(corpus.home().join("docs"));
        let mut command = corpus.command(&format!("clean --threads {threads}"));
        command.env("TIDINGS_CLEAN_MEMORY_MIB", memory.to_string());
        corpus.launch(command).wait().ok().says("300 pages read");
        is_sound(&corpus, "2026-03-01");
        all.push(docs(&corpus));
    }
    assert!(all[0] == all[1] && all[1] == all[2]);
}

#[test]
fn a_day_is_rebuilt_only_when_something_changes() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    put(&corpus, "2026-03-02", "a.0", &mixed(0..7));
    corpus.run("clean").ok();
    let untouched =
        |corpus: &Corpus| docs(corpus).into_iter().filter(|(name, _)| name.contains("2026-03-02")).collect::<Vec<_>>();
    let before = untouched(&corpus);
    put(&corpus, "2026-03-01", "b.0", &mixed(14..21));
    corpus.run("clean").ok().says("7 pages read: 4 documents");
    assert_eq!(is_sound(&corpus, "2026-03-01").0.len(), 12);
    assert_eq!(untouched(&corpus), before);

    // The existing output is kept, and the day equals one built at once; a file that sorts before another changes the
    // order and everything else.
    let grown = docs(&corpus);
    fs::remove_dir_all(corpus.home().join("docs")).unwrap();
    corpus.run("clean").ok().says("28 pages read");
    assert!(docs(&corpus) == grown);
    let before_others = put(&corpus, "2026-03-01", "A.0", &mixed(21..22));
    corpus.run("clean").ok().says("22 pages read");
    is_sound(&corpus, "2026-03-01");
    fs::remove_file(before_others).unwrap();
    corpus.run("clean").exits(1).says("A.0.jsonl.zst is missing");
    corpus.run("clean --accept-loss").ok().says("21 pages read");
    assert!(docs(&corpus) == grown);

    // Other settings give other documents; an empty partition is deleted.
    let leftover = corpus.home().join("docs/zz/2026-03-01.jsonl.zst");
    fs::create_dir_all(leftover.parent().unwrap()).unwrap();
    fs::write(&leftover, "").unwrap();
    let settings = corpus.home().join("tidings.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(
        &settings,
        format!("{text}\n[gate.all]\nleast_words = 0\nleast_sentences = 0\n[clean]\nmemory_mib = 64\n"),
    )
    .unwrap();
    corpus.run("clean").ok().says("28 pages read: 20 documents");
    is_sound(&corpus, "2026-03-01");
    assert!(!leftover.exists());
    assert_eq!(recipe(&corpus, "2026-03-01")["settings"]["gate"]["all"]["least_words"], 0);
    // Settings that do not affect the result do not make it stale.
    fs::write(
        &settings,
        format!("{text}\n[gate.all]\nleast_words = 0\nleast_sentences = 0\n[clean]\nmemory_mib = 32\nthreads = 1\n"),
    )
    .unwrap();
    corpus.run("clean").ok().says("nothing to clean");

    // A deleted file, a recipe of another extractor, an invalid recipe.
    fs::remove_file(corpus.home().join("docs/dropped/2026-03-02.jsonl.zst")).unwrap();
    corpus.run("clean").ok().says("7 pages read");
    let path = corpus.home().join("docs/recipes/2026-03-02.json");
    let mut other = recipe(&corpus, "2026-03-02");
    other["extractor"] = "another 9".into();
    for text in [other.to_string(), "nonsense".to_owned(), String::new()] {
        fs::write(&path, text).unwrap();
        corpus.run("clean").ok().says("7 pages read");
        is_sound(&corpus, "2026-03-02");
    }
    corpus.run("clean").ok().says("nothing to clean");
}

#[test]
fn pages_stored_by_a_crawl_are_cleaned() {
    let corpus = Corpus::new(Spec { sites: 4, items_per_feed: 5, ..Spec::default() });
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    let report = corpus.run("clean --json").ok().json();
    assert_eq!(report["pages"], 20);
    let dropped: u64 = report["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(report["documents"].as_u64().unwrap() + dropped, 20);
    corpus.run("clean").ok().says("nothing to clean");
    corpus.is_tidy();
}

#[test]
fn invalid_arguments_are_rejected() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..7));
    put(&corpus, "not-a-day", "a.0", &mixed(0..7));
    corpus.run("clean --day yesterday").exits(2).says("2026-03-01");
    corpus.run("clean --day 2026-3-1").exits(2);
    corpus.run("clean --threads 0").exits(2);
    corpus.run("clean --day 2026-03-09").exits(1).says("no pages of 2026-03-09");
    corpus.run("clean extra").exits(2);
    corpus.run("clean --home /nowhere").exits(1);
    let mut command = corpus.command("clean");
    command.env("TIDINGS_CLEAN_PRESET", "sloppy");
    corpus.launch(command).wait().exits(1).says("sloppy");
    corpus.run("clean").ok().says("7 pages read");
}

#[test]
fn a_damaged_file_skips_its_day_and_is_reported() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    let damaged = put(&corpus, "2026-03-02", "a.0", &mixed(0..14));
    put(&corpus, "2026-03-03", "a.0", &mixed(0..14));
    let whole = fs::read(&damaged).unwrap();
    let line = zstd::encode_all(&b"{\"url\":\"http://e.org/1\",\"body\":\"x\"}\nnonsense\n"[..], 3).unwrap();
    for (bytes, words) in [(whole[..whole.len() / 2].to_vec(), "a.0.jsonl.zst"), (line, "line 2")] {
        fs::write(&damaged, bytes).unwrap();
        let ran = corpus.run("clean").exits(1).says(words);
        assert!(ran.stdout.contains("2026-03-02"), "{}", ran.stdout);
        is_sound(&corpus, "2026-03-01");
        is_sound(&corpus, "2026-03-03");
        assert!(!corpus.home().join("docs/recipes/2026-03-02.json").exists());
    }
    fs::write(&damaged, whole).unwrap();
    corpus.run("clean").ok().says("14 pages read");
    is_sound(&corpus, "2026-03-02");
    corpus.is_tidy();
}

#[test]
fn a_power_failure_at_any_operation_costs_at_most_one_day() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    corpus.run("clean").ok();
    put(&corpus, "2026-03-01", "b.0", &mixed(14..21));
    put(&corpus, "2026-03-02", "a.0", &mixed(0..14));
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    corpus.run("clean").ok().says("21 pages read");
    let expected = docs(&corpus);
    corpus.cut_at_every_move("clean", &prepared, |at| {
        // Readers of recipes see complete days only.
        for day in ["2026-03-01", "2026-03-02"] {
            if corpus.home().join(format!("docs/recipes/{day}.json")).exists() {
                is_sound(&corpus, day);
            }
        }
        corpus.run("clean").ok();
        assert!(docs(&corpus) == expected, "move {at}");
        corpus.is_tidy();
        corpus.run("clean").ok().says("nothing to clean");
    });
}

#[test]
fn a_killed_run_is_completed_by_the_next_one() {
    let corpus = corpus();
    for day in ["2026-03-01", "2026-03-02", "2026-03-03"] {
        put(&corpus, day, "a.0", &mixed(0..1500));
    }
    let mut running = corpus.start("clean --threads 1");
    running.until(|| corpus.home().join("docs/draft/dropped.tmp").exists());
    corpus.run("clean").exits(1).says("another run");
    running.until(|| corpus.home().join("docs/recipes/2026-03-01.json").exists());
    if !running.has_ended() {
        running.signal(Signal::KILL);
    }
    running.wait();
    is_sound(&corpus, "2026-03-01");
    corpus.run("clean").ok();
    for day in ["2026-03-01", "2026-03-02", "2026-03-03"] {
        is_sound(&corpus, day);
    }
    corpus.is_tidy();
}

#[test]
fn a_full_disk_stops_the_run_and_the_next_one_continues() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..7));
    // Random text does not compress, so that the second day needs disk space.
    let noise = |seed: usize| {
        let word = |n: usize| (n * 2_654_435_761 + seed * 97) % 1_000_003;
        (0..15_000).map(|n| format!("The w{:x} is in a w{:x}. ", word(n), word(n + 20_000))).collect::<String>()
    };
    let loud: Vec<Page> = (0..6)
        .map(|n| page(n, format!("<html><body><p>{}</p></body></html>", noise(n)).as_bytes(), "text/html"))
        .collect();
    put(&corpus, "2026-03-02", "a.0", &loud);
    let ran = corpus.shell("trap '' XFSZ; ulimit -f 200; exec \"$T\" clean").exits(1);
    assert!(ran.stderr.contains("cannot write") && ran.stderr.contains("docs/draft"), "{}", ran.stderr);
    is_sound(&corpus, "2026-03-01");
    assert!(!corpus.home().join("docs/recipes/2026-03-02.json").exists());
    corpus.run("clean").ok().says("6 pages read: 6 documents");
    is_sound(&corpus, "2026-03-02");
    let mut command = corpus.command("clean");
    command.env("TIDINGS_CLEAN_PRESET", "recall").env("TIDINGS_STORE_MIN_FREE_MIB", (1u64 << 40).to_string());
    corpus.launch(command).wait().exits(1).says("min_free_mib");
    corpus.is_tidy();
}

const GERMAN: &str = "<p>Der Fluss ist in der Nacht über die Ufer getreten. Die Feuerwehr hat zwei Straßen gesperrt, und \
    wer in der Unterstadt wohnt, soll zu Hause bleiben, bis das Wasser wieder gefallen ist.</p>\
    <p>Fragen beantwortet das Rathaus unter rathaus@example.org oder +49 30 901820, auch in der Nacht.</p>";
const ENGLISH: &str = "<p>The river rose again during the night, and the fire brigade had to close two of the roads. \
    People in the lower town were told to stay at home until the water has gone.</p>";

fn article(language: &str, body: &str) -> Vec<u8> {
    format!("<html lang={language}><head><meta charset=utf-8><title>Flut</title></head><body><article><h1>Flut</h1>{body}</article></body></html>")
        .into_bytes()
}

#[test]
fn documents_have_a_language_no_private_data_and_pass_the_gate() {
    let corpus = corpus();
    let pages = [
        // The page declares a wrong language and contains a paragraph in another.
        page(0, &article("fr", &format!("{GERMAN}{ENGLISH}{GERMAN}")), "text/html"),
        page(1, &article("en", &ENGLISH.repeat(2).replace("river", "Severn")), "text/html"),
        page(
            2,
            &article("de", &format!("<p>{}</p>", "Schuhe kaufen, Schuhe billig, Schuhe online. ".repeat(20))),
            "text/html",
        ),
    ];
    put(&corpus, "2026-03-01", "a.0", &pages);
    corpus.run("clean").ok().says("3 pages read: 2 documents in 2 languages, 1 dropped (1 repeated)");
    let (documents, dropped) = is_sound(&corpus, "2026-03-01");
    let german = documents.iter().find(|document| document.url.ends_with("/0")).unwrap();
    assert_eq!((german.about.language.as_str(), german.about.declared_language.as_str()), ("de", "fr"));
    let marked: Vec<&str> = german.paragraphs.iter().map(|paragraph| paragraph.language.as_str()).collect();
    assert!(marked.contains(&"en") && marked.iter().filter(|language| !language.is_empty()).count() == 1, "{marked:?}");
    assert!(german.text().contains("unter [EMAIL] oder [PHONE], auch"), "{}", german.text());
    // The paragraph is twice in one container, so it is repeated on purpose.
    assert_eq!(german.masked, [("email".to_owned(), 2), ("phone".to_owned(), 2)].into());
    assert!(corpus.home().join("docs/de/2026-03-01.jsonl.zst").exists());
    assert_eq!((&dropped[0]["reason"], &dropped[0]["limit"]), (&"repeated".into(), &0.5.into()));
    assert!(dropped[0]["measured"].as_f64().unwrap() > 0.5);
    let yields = fs::read_to_string(corpus.home().join("state/yield.tsv")).unwrap();
    assert!(yields.contains("feed\thttp://e.org/feed\t3\t2\t") && yields.contains("host\te.org\t3\t2\t"), "{yields}");

    // The settings decide about languages, masks and repetition.
    let settings = corpus.home().join("tidings.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let more = "[clean]\nlanguages = ['de']\nforeign = 'drop'\nmask = ['phone']\n[gate.de]\nmost_repeated = 1.0\nmost_of_one_word = 1.0\nleast_small_words = 0.0\n";
    fs::write(&settings, format!("{text}\n{more}")).unwrap();
    corpus.run("clean").ok().says("3 pages read: 2 documents in 1 language, 1 dropped (1 foreign)");
    let (documents, _) = is_sound(&corpus, "2026-03-01");
    let german = documents.iter().find(|document| document.url.ends_with("/0")).unwrap();
    assert!(german.text().contains("rathaus@example.org oder [PHONE]") && !german.text().contains("brigade"));
    assert_eq!(german.left_out[0].reason, "foreign");
    assert!(german.left_out[0].paragraph.text.contains("brigade"));

    for (wrong, says) in [
        ("[clean]\nmask = ['passport']\n", "unknown rule `passport`"),
        ("[clean]\nlanguages = ['German']\n", "is not a language code"),
        ("[gate.german]\nleast_words = 3\n", "is not a language code"),
        ("[gate.all]\nmost_repeated = 7.0\n", "is out of range"),
        ("[gate.all]\nleast_word = 7\n", "did you mean `least_words` of the table `[gate.all]`"),
    ] {
        fs::write(&settings, format!("{text}\n{wrong}")).unwrap();
        corpus.run("clean").exits(1).says(says);
    }
}
