//! Compatibility: a home of release 0.1.0 opens, can be queried, continued and rebuilt, and files of newer versions are
//! rejected.
//!
//! `fixtures/formats/README.md` describes the samples. Tests work on copies and use only the command line and files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::clean::corpus;
use crate::serve::Server;
use crate::support::{Corpus, Ran, copy_folder};

/// Minutes after the home was written.
const SOON: &str = "2026-11-15T23:30:00Z";
/// The next day.
const TOMORROW: &str = "2026-11-16T08:00:00Z";
/// A version that no format has.
const NEWER: u32 = 99;

/// A sample of version 1.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/formats/v1").join(name)
}

fn input(name: &str) -> String {
    sample("../inputs").join(name).display().to_string()
}

/// A corpus whose home is a copy of the sample.
fn opened() -> Corpus {
    let corpus = corpus();
    corpus.restore(&sample("home"));
    corpus
}

/// Runs the program with its clock turned to a time.
fn run_at(corpus: &Corpus, time: &str, args: &str) -> Ran {
    let mut command = corpus.command(args);
    command.env("TIDINGS_CLOCK", time);
    // Layers that the first release did not have would change its text.
    command.env("TIDINGS_ANNOTATE_LAYERS", "[]");
    corpus.launch(command).wait()
}

fn run(corpus: &Corpus, args: &str) -> Ran {
    run_at(corpus, SOON, args)
}

fn json(corpus: &Corpus, args: &str) -> Value {
    run(corpus, &format!("--json {args}")).ok().json()
}

fn hits(corpus: &Corpus, query: &str) -> u64 {
    json(corpus, &format!("query {query}"))["hits"].as_u64().expect("a number of hits")
}

/// All files of a home with their bytes, except locks and run logs, which a rejected run may write.
fn files(corpus: &Corpus) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &Path| path.strip_prefix(corpus.home()).unwrap().display().to_string();
    let files = corpus.files("", "").into_iter().map(|path| (name(&path), fs::read(&path).unwrap()));
    files.filter(|(name, _)| !name.ends_with(".lock") && !name.starts_with("runs/")).collect()
}

/// The content of a file, whatever it is compressed with.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    zstd::decode_all(bytes).unwrap_or_else(|_| bytes.to_vec())
}

fn changed(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names = before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name));
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn a_home_of_the_first_release_opens_and_reading_changes_nothing() {
    let corpus = opened();
    let before = files(&corpus);

    let status = json(&corpus, "status");
    assert_eq!(status["alerts"], json!([]), "{status}");
    let tokens = |code: &str| status["languages"][code]["tokens"].as_u64();
    assert_eq!(["en", "de", "fr", "eo"].map(tokens), [Some(2306), Some(1986), Some(2124), Some(69)]);
    // A warning about the user that runs the tests is not about the home.
    let doctor = run(&corpus, "--json doctor --thorough");
    assert!(matches!(doctor.code, Some(0 | 3)), "{}{}", doctor.stdout, doctor.stderr);
    assert_eq!(doctor.json()["faults"], 0, "{}", doctor.stdout);

    let plan = json(&corpus, "plan");
    assert_eq!((&plan["entries"], &plan["statuses"]), (&json!(12), &json!({"new": 8, "ok": 4})));
    assert_eq!(json(&corpus, "pages")["pages"], 26);
    let audit = json(&corpus, "audit");
    assert_eq!(audit["requests"], json!({"feed": 6, "page": 12, "probe": 16, "robots": 3, "tdmrep": 3}));
    let names = |list: Value| list.as_array().unwrap().iter().map(|row| row["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(json(&corpus, "corpus list")), ["first-days", "gazette"]);
    assert_eq!(names(json(&corpus, "token list")), ["reader"]);
    assert_eq!(json(&corpus, &format!("models {}", sample("models.bin").display()))[0]["language"], "en");

    assert_eq!(changed(&before, &files(&corpus)), Vec::<String>::new());
}

#[test]
fn every_page_can_be_traced() {
    let corpus = opened();
    let all = json(&corpus, "why --all --items");
    assert_eq!(all["faults"], json!([]), "{all}");
    let stages: Vec<(&str, u64, u64)> = all["stages"].as_array().unwrap().iter().map(way).collect();
    let expected = [("fetch", 12, 4), ("clean", 26, 24), ("dedup", 24, 24), ("annotate", 24, 23), ("compile", 23, 22)];
    assert_eq!(stages, expected);
    for (page, outcome) in [
        ("https://gazette.example/lighthouse", "searchable"),
        ("https://gazette.example/copy", "duplicate"),
        ("https://gazette.example/draft", "hidden"),
        ("https://gazette.example/short", "left out"),
        ("https://gazette.example/letter", "removed"),
        ("http://127.1.0.1:20089/article/0", "searchable"),
    ] {
        assert_eq!(json(&corpus, &format!("why {page}"))["fate"], outcome, "{page}");
    }
}

/// The input and output of a stage.
fn way(stage: &Value) -> (&str, u64, u64) {
    (stage["stage"].as_str().unwrap(), stage["in"].as_u64().unwrap(), stage["out"].as_u64().unwrap())
}

#[test]
fn it_can_be_queried() {
    let corpus = opened();
    assert_eq!(hits(&corpus, "--lang en lighthouse"), 3);
    assert_eq!(hits(&corpus, "--lang de Leuchtturm"), 3);
    assert_eq!(hits(&corpus, "--lang fr phare"), 3);
    // A language without a model: a lexicon without features, of version 1.
    assert_eq!(hits(&corpus, "--lang eo lumturo"), 2);
    assert_eq!(hits(&corpus, "--lang en --in first-days lighthouse"), 2);
    assert_eq!(hits(&corpus, "--lang en --in gazette [tag=\"NOUN\"]"), 64);
    // Tokens of an imported text, with their features.
    assert_eq!(hits(&corpus, "--lang en --in gazette [lemma=\"ferry\"&feats=\"Number=Sing\"]"), 1);
    // Words of the hidden and of the removed document.
    assert_eq!(hits(&corpus, "--lang en unfinished"), 0);
    assert_eq!(hits(&corpus, "--lang en attic"), 0);

    let counted = json(&corpus, "freq --lang en --by site lighthouse");
    let row = &counted["rows"][0];
    assert_eq!((&row["value"], &row["hits"], &row["tokens"]), (&json!("gazette.example"), &json!(3), &json!(270)));
    assert_eq!(counted["tokens"], 2306);
    let points = json(&corpus, "timeline --lang en --by month lighthouse")["points"].clone();
    assert_eq!(points.as_array().unwrap().len(), 1);
    assert_eq!(
        (&points[0]["bin"], &points[0]["hits"], &points[0]["tokens"]),
        (&json!("2026-03"), &json!(3), &json!(2306))
    );
    run(&corpus, "compile --verify").ok();
}

#[test]
fn it_is_served_and_its_token_is_still_valid() {
    let corpus = opened();
    let server = Server::start(&corpus, "--public");
    // Its documents are hidden, and too few to be counted without a token.
    let counted = server.json("/api/v1/en/count?q=lighthouse", None);
    assert_eq!(
        (&counted["hits"], &counted["about"]["rights"]["counted_documents"]),
        (&json!(0), &json!(0)),
        "{counted}"
    );
    let secret = fs::read_to_string(sample("token.txt")).unwrap();
    let found = server.json("/api/v1/en/query?q=lighthouse&size=1", Some(secret.trim()));
    assert_eq!(found["lines"][0]["document"], "15e42a8056ef9f76636505e8e538aef6", "{found}");
    server.signal(Signal::TERM);
}

#[test]
fn it_is_exported_and_exports_of_the_first_release_are_recognised() {
    let corpus = opened();
    let target = corpus.beside("de.jsonl");
    run(&corpus, &format!("export --format jsonl --lang de {}", target.display())).ok();
    let ids = |path: &Path| -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect()
    };
    assert_eq!(ids(&target).len(), 7);
    assert_eq!(ids(&target), ids(&sample("export/de.jsonl")));
    let exports = corpus.beside("export");
    copy_folder(&sample("export"), &exports);
    let told =
        json(&corpus, &format!("remove https://anzeiger.example/fluss --dry-run --exports {}", exports.display()));
    assert_eq!(told["exports"]["hold"], json!([exports.join("de.jsonl.manifest.json")]));
}

#[test]
fn a_killed_run_is_continued() {
    let corpus = opened();
    fs::write(corpus.home().join("feeds.txt"), corpus.web.feeds().join("\n")).unwrap();
    let before = files(&corpus);
    let ran = run_at(&corpus, TOMORROW, "--json run").json();
    // `clean` has a new version since, which makes every day again.
    assert_eq!((&ran["clean"]["days"], &ran["clean"]["days_up_to_date"]), (&json!(5), &json!(0)), "{ran}");
    corpus.is_tidy();

    // The journal had seven pages of eight; the server of the eighth does not exist.
    let plan = run_at(&corpus, TOMORROW, "--json plan").ok().json();
    assert_eq!(plan["statuses"], json!({"connect": 1, "ok": 12}), "{plan}");
    assert_eq!(run_at(&corpus, TOMORROW, "--json pages").ok().json()["pages"], 26 + 7 + 1);
    run_at(&corpus, TOMORROW, "why --all --items").ok();

    // Raw pages of complete days are unchanged, and the days have the same documents; the day of the killed run has only
    // grown.
    let after = files(&corpus);
    for (name, bytes) in before.iter().filter(|(name, _)| !name.contains("/recipes/")) {
        if name.starts_with("docs/") && name.ends_with(".zst") {
            // Ids follow from the text, which another version of `clean` may cut otherwise.
            let (urls, earlier) = (urls(&after[name]), urls(bytes));
            let is_day_of_kill = name.contains("2026-11-15");
            assert!(urls == earlier || is_day_of_kill && urls.starts_with(&earlier), "{name}: {urls:?}, {earlier:?}");
        } else if name.starts_with("pages/") && !name.contains("2026-11-15") {
            assert_eq!(&after[name], bytes, "{name}");
        }
    }
    assert_eq!(hits_at(&corpus, TOMORROW, "--lang en lighthouse"), 3);
}

/// The URLs in a file of documents or of dropped pages.
fn urls(file: &[u8]) -> Vec<String> {
    let text = String::from_utf8(unpacked(file)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| line["url"].to_string()).collect()
}

fn hits_at(corpus: &Corpus, time: &str, query: &str) -> u64 {
    run_at(corpus, time, &format!("--json query {query}")).ok().json()["hits"].as_u64().unwrap()
}

#[test]
fn imported_searched_and_pruned_items_are_known() {
    let corpus = opened();
    let again = json(&corpus, &format!("import {}", input("pages-second.jsonl")));
    assert_eq!((&again["pages"], &again["files_known"]), (&json!(0), &json!(1)));
    // No server runs there: a URL that was searched before is not requested.
    let found = json(&corpus, "discover http://127.1.0.3:20089/");
    assert_eq!((&found["skipped"], &found["requests"]), (&json!(1), &json!(0)), "{found}");
    assert_eq!(corpus.state("candidates.tsv").len(), 2);

    let lines = corpus.beside("lines");
    copy_folder(&sample("lines"), &lines);
    let read = fs::read(lines.join("en.txt.zst")).unwrap();
    run(&corpus, &format!("import {} --lines {}", input("lines.jsonl"), lines.display())).ok();
    assert_eq!(fs::read(lines.join("en.txt.zst")).unwrap(), read);
}

#[test]
fn an_import_extends_the_old_index() {
    let corpus = opened();
    settle(&corpus);
    let page = json!({
        "url": "https://gazette.example/kite", "final_url": "https://gazette.example/kite", "status": 200,
        "downloaded": "2026-03-04T08:30:00.000Z", "content_type": "text/html; charset=utf-8",
        "body": "<html lang=\"en\"><title>Kites</title><body><article><h1>Kites</h1><p>On the first windy day of the month all the \
                 children of the town carry their kites to the beach below the lighthouse and let them fly.</p><p>The largest of \
                 them was made by the keeper himself, who used the sail of a boat that nobody needed any more.</p></article>",
    });
    let path = corpus.beside("kite.jsonl");
    fs::write(&path, format!("{page}\n")).unwrap();
    let recipes = |corpus: &Corpus| {
        let recipes = files(corpus).into_iter().filter(|(name, _)| name.contains("recipes/"));
        recipes.collect::<BTreeMap<_, _>>()
    };
    // Makes the days again whose stage has a new version.
    run(&corpus, "run --from clean").ok();
    let before = recipes(&corpus);
    run(&corpus, &format!("import {}", path.display())).ok();
    run(&corpus, "run --from clean").ok();
    assert_eq!(changed(&before, &recipes(&corpus)), ["docs/recipes/2026-03-04.json", "text/recipes/2026-03-04.json"]);
    assert_eq!(hits(&corpus, "--lang en lighthouse"), 4);
    assert_eq!(hits(&corpus, "--lang en unfinished"), 0, "hidden documents stay hidden");
}

#[test]
fn layers_of_later_versions_are_added_to_its_text() {
    let corpus = opened();
    settle(&corpus);
    let before = upgraded_digest(&corpus);
    let upgraded = |args: &str| {
        let mut command = corpus.command(args);
        command.env("TIDINGS_CLOCK", SOON);
        corpus.launch(command).wait().ok()
    };
    upgraded("run --from clean");
    let named = upgraded("--json query --lang en <ne/>").json();
    assert!(named["hits"].as_u64().unwrap() > 0, "{named}");
    assert_eq!(hits(&corpus, "--lang en lighthouse"), 3);
    // Without them the text is the same as before again.
    assert_eq!(upgraded_digest(&corpus), before);
}

/// The digest of a home whose days are made again by the stages that have a new version.
fn upgraded_digest(corpus: &Corpus) -> String {
    run(corpus, "run --from clean").ok();
    run(corpus, "digest --tree").ok().stdout
}

/// The lines of a digest about raw pages.
fn digest_of_pages(digest: &str) -> Vec<&str> {
    digest.lines().filter(|line| line.starts_with("pages\t")).collect()
}

#[test]
fn an_upgrade_and_a_rebuild_give_the_same_corpus() {
    let corpus = opened();
    settle(&corpus);
    let pinned = fs::read_to_string(sample("digest.tsv")).unwrap();
    assert_eq!(run(&corpus, "digest --tree").ok().stdout, pinned);
    let upgraded = upgraded_digest(&corpus);
    assert_ne!(upgraded, pinned, "stages have changed since the first release");
    assert_eq!(digest_of_pages(&upgraded), digest_of_pages(&pinned));
    run(&corpus, "rebuild").ok();
    assert_eq!(run(&corpus, "digest --tree").ok().stdout, upgraded);
    assert_eq!(hits(&corpus, "--lang en lighthouse"), 3);
    assert_eq!(hits(&corpus, "--lang en unfinished"), 0);
}

#[test]
fn a_takedown_reaches_everything() {
    let corpus = opened();
    settle(&corpus);
    run(&corpus, "remove anzeiger.example --reason asked").ok();
    assert_eq!(hits(&corpus, "--lang de Leuchtturm"), 0);
    assert_eq!(json(&corpus, "pages")["pages"], 23);
    assert_eq!(json(&corpus, "why https://anzeiger.example/brot")["fate"], "removed");
    assert_eq!(json(&corpus, "why https://gazette.example/letter")["fate"], "removed");
    run(&corpus, "why --all --items").ok();
}

#[test]
fn a_backup_of_the_first_release_is_restored_and_extended() {
    let corpus = opened();
    let backup = corpus.beside("backup");
    copy_folder(&sample("backup"), &backup);
    run(&corpus, &format!("backup {} --verify", backup.display())).ok();
    let more = json(&corpus, &format!("backup {}", backup.display()));
    assert!(more["copied"].as_u64().unwrap() < more["files"].as_u64().unwrap() / 2, "pages are copied once: {more}");

    fs::remove_dir_all(corpus.home()).unwrap();
    run(&corpus, &format!("restore {} {}", sample("backup").display(), corpus.home().display())).ok();
    let original = opened();
    settle(&original);
    assert_eq!(upgraded_digest(&corpus), upgraded_digest(&original));
    assert_eq!(json(&corpus, "token list")[0]["name"], "reader");
    assert_eq!(json(&corpus, "why https://gazette.example/letter")["fate"], "removed");
    assert_eq!(hits(&corpus, "--lang en unfinished"), 0);
}

/// Replaces the version in the header of a compressed file: a skippable frame with the text `tidings FORMAT VERSION`, a
/// line end and a note.
fn label_newer(bytes: &[u8]) -> Vec<u8> {
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let text = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
    let (first, note) = text.split_once('\n').unwrap();
    let (format, _) = first.rsplit_once(' ').unwrap();
    let text = format!("{format} {NEWER}\n{note}");
    [&bytes[..4], &(text.len() as u32).to_le_bytes(), text.as_bytes(), &bytes[8 + length..]].concat()
}

/// Replaces the version in the `format` of a JSON object in a text.
fn json_newer(bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap();
    let start = text.find("\"tidings ").unwrap() + 1;
    let end = start + text[start..].find('"').unwrap();
    let (format, _) = text[start..end].rsplit_once(' ').unwrap();
    format!("{}{format} {NEWER}{}", &text[..start], &text[end..]).into_bytes()
}

/// Replaces the version of a binary file of the index: 32 bits after the 16 bytes of its name.
fn section_newer(bytes: &[u8]) -> Vec<u8> {
    [&bytes[..16], &NEWER.to_le_bytes(), &bytes[20..]].concat()
}

/// The name of the journal.
const JOURNAL: &str = "plan.journal.zst";

/// Removes the files of the killed run, so that no run starts with a recovery.
fn settle(corpus: &Corpus) {
    let left = corpus.files("", ".part").into_iter().chain(corpus.files("", JOURNAL));
    left.for_each(|path| fs::remove_file(path).unwrap());
}

/// Changes the version of the last file of the home with this ending, and checks that the verb reports the file and the
/// supported versions, and writes nothing.
#[track_caller]
fn is_refused(folder: &str, ending: &str, newer: impl Fn(&[u8]) -> Vec<u8>, verb: &str) {
    let corpus = opened();
    if ending != JOURNAL {
        settle(&corpus);
    }
    let path = corpus.files(folder, ending).pop().expect("the museum has one");
    fs::write(&path, newer(&fs::read(&path).unwrap())).unwrap();
    refuses(&corpus, &path, NEWER, verb);
}

#[track_caller]
fn refuses(corpus: &Corpus, path: &Path, version: u32, verb: &str) {
    let before = files(corpus);
    let ran = run(corpus, verb).exits(1);
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let told = ran.stderr.lines().chain(ran.stdout.lines()).find(|line| line.contains("newer Tidings"));
    let told = told.unwrap_or_else(|| panic!("{verb}: {}{}", ran.stdout, ran.stderr));
    assert!(told.contains(&name), "{told}");
    assert!(told.contains(&format!("{version}, ")) && told.contains("reads up to "), "{told}");
    assert!(told.contains("install a newer version"), "{told}");
    assert_eq!(changed(&before, &files(corpus)), Vec::<String>::new(), "{verb}");
}

#[test]
fn a_newer_plan_is_refused() {
    for verb in ["plan", "fetch", "prune --min-age 1"] {
        is_refused("", "home/plan.tsv.zst", label_newer, verb);
    }
    // The files of a killed run are not touched either.
    let corpus = opened();
    let path = corpus.home().join("plan.tsv.zst");
    fs::write(&path, label_newer(&fs::read(&path).unwrap())).unwrap();
    refuses(&corpus, &path, NEWER, "update");
}

#[test]
fn a_newer_journal_is_refused() {
    for verb in ["update", "fetch"] {
        is_refused("", JOURNAL, label_newer, verb);
    }
}

#[test]
fn newer_pages_are_refused() {
    is_refused("pages/2026-03-03", ".jsonl.zst", label_newer, "pages");
    let corpus = opened();
    settle(&corpus);
    run(&corpus, "clean").ok();
    let path = corpus.files("pages/2026-03-03", ".jsonl.zst").pop().expect("the museum has one");
    fs::write(&path, label_newer(&fs::read(&path).unwrap())).unwrap();
    refuses(&corpus, &path, NEWER, "clean");
}

#[test]
fn newer_logs_of_runs_are_refused() {
    is_refused("runs", "-fetch.jsonl.zst", label_newer, "audit");
}

#[test]
fn logs_of_single_runs_are_moved_to_the_files_of_their_days() {
    let corpus = opened();
    settle(&corpus);
    let before = json(&corpus, "audit");
    assert!(corpus.files("runs", "").len() > 20);
    run(&corpus, "run --from compile").ok();
    let files = corpus.files("runs", "");
    assert!(files.len() <= 2, "{files:?}");
    let after = json(&corpus, "audit");
    assert_eq!((&after["requests"], &after["smallest_gap_s"]), (&before["requests"], &before["smallest_gap_s"]));
    let why = run(&corpus, "why http://127.1.0.1:20089/article/0").ok().stdout;
    assert!(why.contains("(run 20261115T232825891Z-fetch)"), "{why}");
}

#[test]
fn newer_bodies_of_host_policies_are_refused() {
    is_refused("state", "rules.jsonl.zst", label_newer, "why 127.1.0.1");
}

#[test]
fn newer_documents_are_refused() {
    is_refused("docs/en", "2026-03-03.jsonl.zst", label_newer, "why https://gazette.example/river");
    is_refused("docs/en", "2026-03-03.jsonl.zst", label_newer, "export --format jsonl -");
}

#[test]
fn newer_dropped_pages_are_refused() {
    is_refused("docs/dropped", "2026-03-02.jsonl.zst", label_newer, "why https://gazette.example/short");
}

#[test]
fn newer_recipes_of_documents_are_refused() {
    for verb in ["clean", "dedup", "annotate", "export --format jsonl -", "why --all"] {
        is_refused("docs/recipes", "2026-03-03.json", json_newer, verb);
    }
}

#[test]
fn newer_verdicts_are_refused() {
    is_refused("seen/verdicts", "2026-03-02.jsonl.zst", label_newer, "why https://gazette.example/copy");
}

#[test]
fn a_newer_list_of_judged_days_is_refused() {
    for verb in ["dedup", "annotate", "why --all"] {
        is_refused("seen", "ledger.jsonl", json_newer, verb);
    }
}

#[test]
fn newer_text_is_refused() {
    is_refused("text/en", "2026-03-03.vert.zst", label_newer, "export --format conllu -");
}

#[test]
fn newer_recipes_of_text_are_refused() {
    for verb in ["annotate", "compile", "digest --stage text"] {
        is_refused("text/recipes", "2026-03-03.json", json_newer, verb);
    }
}

#[test]
fn a_newer_manifest_of_the_index_is_refused() {
    for verb in ["query --lang en lighthouse", "compile"] {
        is_refused("index/en", "MANIFEST", json_newer, verb);
    }
}

#[test]
fn newer_segments_lexicons_and_deletions_are_refused() {
    for ending in [".segment", ".lexicon", ".removed"] {
        for verb in ["query --lang en lighthouse", "compile"] {
            is_refused("index/en", ending, section_newer, verb);
        }
    }
}

/// The version is the last digit of the eight bytes at the start of fingerprint files.
fn digit_newer(bytes: &[u8]) -> Vec<u8> {
    [&bytes[..7], b"9", &bytes[8..]].concat()
}

#[test]
fn newer_fingerprints_of_duplicates_are_refused() {
    let corpus = opened();
    run(&corpus, "clean").ok();
    run(&corpus, "dedup").ok();
    // A day without verdicts is deduplicated again.
    fs::remove_file(corpus.files("seen/verdicts", ".jsonl.zst").pop().unwrap()).unwrap();
    let path = corpus.files("seen/keys", ".keys").pop().unwrap();
    fs::write(&path, digit_newer(&fs::read(&path).unwrap())).unwrap();
    refuses(&corpus, &path, 9, "dedup");
}

#[test]
fn newer_models_are_refused() {
    let corpus = opened();
    let path = corpus.beside("models.bin");
    let bytes = fs::read(sample("models.bin")).unwrap();
    let at = b"tidings-tags ".len();
    fs::write(&path, [&bytes[..at], b"9", &bytes[at + 1..]].concat()).unwrap();
    let told = run(&corpus, &format!("models {}", path.display())).exits(1).says("newer Tidings").says("reads up to 3");
    assert!(told.stderr.contains("models.bin"), "{}", told.stderr);
}
