//! Damaged files: kinds of files × flipped, cut, deleted. Nothing vanishes without a word, and derived data is made
//! again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tidings_simweb::Spec;
use tidings_testing::until;

use crate::serve::Server;
use crate::support::{Corpus, copy_folder};

/// A way to damage a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip,
    Cut,
    Delete,
}

const DAMAGES: [Damage; 3] = [Damage::Flip, Damage::Cut, Damage::Delete];

impl Damage {
    fn apply(self, path: &Path) {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        match self {
            Damage::Flip => bytes[middle] ^= 1,
            Damage::Cut => bytes.truncate(middle),
            Damage::Delete => return fs::remove_file(path).unwrap(),
        }
        fs::write(path, bytes).unwrap();
    }
}

/// A corpus after a round, and a copy of its home.
fn built() -> (Corpus, PathBuf) {
    let languages = vec!["en".into()];
    let corpus = Corpus::new(Spec { sites: 3, items_per_feed: 4, languages, ..Spec::default() });
    corpus.run("run").ok();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    (corpus, prepared)
}

/// The largest file under a folder of the home with this ending.
fn file(corpus: &Corpus, folder: &str, ending: &str) -> PathBuf {
    let files = corpus.files(folder, ending).into_iter();
    files.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap_or_else(|| panic!("no {ending} in {folder}"))
}

/// The status; its exit code depends on the alerts.
fn status(corpus: &Corpus) -> Value {
    serde_json::from_str(&corpus.run("--json status").stdout).unwrap()
}

/// The number of searchable documents by language.
fn searchable(corpus: &Corpus) -> BTreeMap<String, u64> {
    let status = status(corpus);
    let languages = status["languages"].as_object().unwrap();
    languages.iter().map(|(code, index)| (code.clone(), index["documents"].as_u64().unwrap())).collect()
}

fn digest(corpus: &Corpus) -> String {
    corpus.run("digest --tree").ok().stdout
}

#[test]
fn missing_or_truncated_pages_are_an_error_and_their_documents_stay() {
    let (corpus, prepared) = built();
    let (before, documents) = (searchable(&corpus), corpus.files("docs", ".jsonl.zst"));
    for damage in [Damage::Cut, Damage::Delete] {
        corpus.restore(&prepared);
        let path = file(&corpus, "pages", ".jsonl.zst");
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        damage.apply(&path);
        for verb in ["clean", "run --from clean", "rebuild", "rebuild --lang en"] {
            let ran = corpus.run(verb).exits(1);
            assert!(ran.stderr.contains(&name) && ran.stderr.contains("backup"), "{damage:?} {verb}: {}", ran.stderr);
        }
        assert_eq!(corpus.files("docs", ".jsonl.zst"), documents, "{damage:?}");
        assert_eq!(searchable(&corpus), before, "{damage:?}");
        let alerts = status(&corpus)["alerts"].to_string();
        assert!(alerts.contains("pages-lost") && alerts.contains(&name), "{damage:?}: {alerts}");
        corpus.run("why --all").exits(1).says(&name);
        corpus.run("doctor").exits(1).says(&name);
    }
    corpus.run("clean --accept-loss").ok();
    corpus.run("run --from clean").ok();
    assert!(!status(&corpus)["alerts"].to_string().contains("pages-lost"));
}

#[test]
fn a_flipped_bit_in_raw_pages_costs_nothing_that_was_made_before() {
    let (corpus, _) = built();
    let before = searchable(&corpus);
    let path = file(&corpus, "pages", ".jsonl.zst");
    Damage::Flip.apply(&path);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    corpus.run("rebuild").exits(1).says(&name);
    assert_eq!(searchable(&corpus), before, "a rebuild replaces nothing");
    let settings = corpus.home().join("tidings.toml");
    fs::write(&settings, fs::read_to_string(&settings).unwrap() + "\n[clean]\nlinks = true\n").unwrap();
    corpus.run("run --from clean").exits(3).says(&name);
    assert_eq!(searchable(&corpus), before, "documents of damaged pages are kept");
    assert!(status(&corpus)["alerts"].to_string().contains(&name));
}

#[test]
fn damaged_derived_files_are_named_and_made_again() {
    let (corpus, prepared) = built();
    let (before, whole) = (searchable(&corpus), digest(&corpus));
    // The folder, the ending of the file, and the command that reads it.
    let kinds = [
        ("docs/en", ".jsonl.zst", "rebuild --from dedup"),
        ("docs/dropped", ".jsonl.zst", "digest"),
        ("docs/yield", ".tsv", "digest"),
        ("docs/recipes", ".json", "digest"),
        ("seen/verdicts", ".jsonl.zst", "rebuild --from annotate"),
        ("seen", "ledger.jsonl", "digest"),
        ("seen/keys", ".keys", "digest"),
        ("seen/pieces", ".pieces", "digest"),
        ("text/en", ".vert.zst", "rebuild --from compile"),
        ("text/recipes", ".json", "digest"),
        ("index/en", ".segment", "compile --verify"),
        ("index/en", ".lexicon", "compile --verify"),
        ("index/en", "MANIFEST", "compile --verify"),
    ];
    for (folder, ending, reader) in kinds {
        for damage in DAMAGES {
            corpus.restore(&prepared);
            let path = file(&corpus, folder, ending);
            damage.apply(&path);
            let case = format!("{damage:?} {}", path.display());
            let ran = corpus.run(reader);
            assert!(matches!(ran.code, Some(0 | 1)), "{case}: {:?} {}", ran.code, ran.stderr);
            if ran.code == Some(1) && !folder.starts_with("index") {
                assert!(ran.stderr.contains(path.file_name().unwrap().to_str().unwrap()), "{case}: {}", ran.stderr);
                assert_eq!(searchable(&corpus), before, "{case}: the old index stays");
            }
            corpus.run("run --from clean");
            let ran = corpus.run("run --from clean");
            assert_eq!(ran.code, Some(0), "{case}: {}", ran.stderr);
            corpus.run("compile --verify").ok();
            assert_eq!(searchable(&corpus), before, "{case}");
            if !matches!((folder, damage), ("docs/dropped" | "docs/yield", Damage::Flip)) {
                assert_eq!(digest(&corpus), whole, "{case}");
            }
        }
    }
}

#[test]
fn a_damaged_plan_is_restored_and_no_page_is_requested_twice() {
    let (corpus, prepared) = built();
    let (entries, before) = (corpus.plan().len(), searchable(&corpus));
    for damage in DAMAGES {
        corpus.restore(&prepared);
        damage.apply(&corpus.home().join("plan.tsv.zst"));
        corpus.run("fetch").exits(1).says("plan.tsv.zst").says("tidings doctor --repair");
        corpus.run("doctor").exits(1).says("tidings doctor --repair");
        corpus.run("doctor --repair").says("repaired");
        corpus.run("run").ok();
        assert_eq!(corpus.plan().len(), entries, "{damage:?}");
        assert_eq!(searchable(&corpus), before, "{damage:?}");
        corpus.run("why --all").ok();
    }
    // Without copies, stored pages and feeds know all entries.
    corpus.restore(&prepared);
    Damage::Delete.apply(&corpus.home().join("plan.tsv.zst"));
    fs::remove_dir_all(corpus.home().join("history")).unwrap();
    corpus.run("doctor --repair").says("repaired");
    corpus.run("update --all").ok();
    corpus.run("run").ok();
    assert_eq!(corpus.plan().len(), entries);
    corpus.asked_nothing_twice();
}

#[test]
fn damaged_settings_and_state_files_lose_nothing() {
    let (corpus, prepared) = built();
    let (entries, before) = (corpus.plan().len(), searchable(&corpus));
    // What the files of the state remember is learned again, so a round succeeds without them; the settings and the
    // feed list are the user's, and a missing or unreadable one is an error.
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let state: Vec<String> = corpus.files("state", "").iter().map(name).collect();
    for known in ["feeds.tsv", "hosts.tsv", "rules.tsv", "rules.jsonl.zst", "yield.tsv"] {
        assert!(state.iter().any(|name| name == known), "{known}: {state:?}");
    }
    let kinds = state.iter().map(|name| ("state", name.as_str()));
    let kinds = kinds.chain([("history", ".plan.tsv.zst"), ("runs", ".zst"), ("", "tidings.toml"), ("", "feeds.txt")]);
    for (folder, ending) in kinds {
        for damage in DAMAGES {
            corpus.restore(&prepared);
            let path = match folder {
                "" => corpus.home().join(ending),
                _ => file(&corpus, folder, ending),
            };
            damage.apply(&path);
            let case = format!("{damage:?} {folder}/{ending}");
            let ran = corpus.run("run");
            assert!(!ran.stderr.contains("panicked"), "{case}: {}", ran.stderr);
            let is_named = ran.stderr.contains(ending) || ran.stderr.contains("tidings.toml");
            let is_expected = match ending {
                "tidings.toml" => ran.code == Some(1) && is_named,
                // A line of the list may be cut or changed without a trace.
                "feeds.txt" => ran.code == Some(0) || ran.code == Some(1) && is_named,
                _ => ran.code == Some(0),
            };
            assert!(is_expected, "{case}: {:?} {}", ran.code, ran.stderr);
            fs::copy(prepared.join("tidings.toml"), corpus.home().join("tidings.toml")).unwrap();
            fs::copy(prepared.join("feeds.txt"), corpus.home().join("feeds.txt")).unwrap();
            corpus.run("run").ok();
            assert_eq!((corpus.plan().len(), searchable(&corpus)), (entries, before.clone()), "{case}");
        }
    }
    corpus.asked_nothing_twice();
}

#[test]
fn a_damaged_journal_deletes_no_stored_page() {
    let spec = Spec { page_bytes: Some(700_000), page_pool: 3, languages: vec!["en".into()], ..Spec::default() };
    let corpus = Corpus::with(Spec { sites: 3, items_per_feed: 6, ..spec }, &[("delay_s", "0.2")]);
    corpus.run("update --all").ok();
    let mut running = corpus.start("fetch --warc");
    let is_ok = |record: &Value| record["fate"]["status"] == "ok";
    running.until(|| corpus.journal().iter().filter(|record| is_ok(record)).count() >= 6);
    running.signal(Signal::KILL);
    running.wait();
    let stored = corpus.journal().iter().filter(|record| is_ok(record)).count();
    let prepared = corpus.beside("interrupted");
    copy_folder(&corpus.home(), &prepared);
    for damage in DAMAGES {
        corpus.restore(&prepared);
        damage.apply(&corpus.home().join("plan.journal.zst"));
        let ran = corpus.run("fetch --dry-run").ok().says("recovered");
        assert!(corpus.pages().len() >= stored, "{damage:?}: {} pages of {stored}", corpus.pages().len());
        assert!(ran.stderr.contains("journal") && ran.stderr.contains("damaged"), "{damage:?}: {}", ran.stderr);
        let statuses = corpus.statuses();
        assert!(corpus.pages().keys().all(|url| statuses[url] == "ok"), "{damage:?}");
        corpus.is_tidy();
    }
    corpus.web.advance(Duration::ZERO);
    corpus.run("fetch").ok();
    assert_eq!(corpus.pages().len(), 18, "every page is stored once");
}

#[test]
fn a_power_failure_at_any_operation_of_a_rebuild_leaves_the_old_or_the_new_data() {
    let (corpus, prepared) = built();
    let (before, whole) = (searchable(&corpus), digest(&corpus));
    corpus.cut_at_every_move("rebuild --from compile", &prepared, |at| {
        // The next command that locks the home completes the swap or removes the draft.
        corpus.run("prune").ok();
        assert_eq!(searchable(&corpus), before, "move {at}");
        assert_eq!(digest(&corpus), whole, "move {at}");
        assert!(!corpus.home().join("rebuild").exists(), "move {at}");
        corpus.is_tidy();
    });
}

#[test]
fn a_round_finds_damage_that_no_stage_reads() {
    let (corpus, prepared) = built();
    let before = searchable(&corpus);
    let kinds = [
        ("docs/en", ".jsonl.zst"),
        ("seen/keys", ".keys"),
        ("index/en", ".segment"),
        ("index/en", ".lexicon"),
        ("pages", ".jsonl.zst"),
    ];
    for (folder, ending) in kinds {
        corpus.restore(&prepared);
        let path = file(&corpus, folder, ending);
        Damage::Flip.apply(&path);
        let name = path.strip_prefix(corpus.home()).unwrap().to_str().unwrap().to_owned();
        // Files are read once a day; the last time is forgotten instead of waiting for a day.
        fs::remove_file(corpus.home().join("state/scrub.tsv")).unwrap();
        corpus.run("run --from clean").exits(3).says(&name);
        assert!(status(&corpus)["alerts"].to_string().contains(&name), "{name}");
        assert_eq!(searchable(&corpus), before, "{name}");
        if folder != "pages" {
            corpus.run("run --from clean").ok();
            assert!(!status(&corpus)["alerts"].to_string().contains(&name), "{name} was made again");
            assert_eq!(searchable(&corpus), before, "{name}");
        }
    }
}

#[test]
fn a_server_survives_a_truncated_segment() {
    let (corpus, _) = built();
    let server = Server::start(&corpus, "");
    assert_eq!(server.get("/api/v1/en/count?q=the", None).0, 200);
    let path = file(&corpus, "index/en", ".segment");
    let bytes = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(bytes / 2).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let (status, _, body) = server.get("/api/v1/en/count?q=and", None);
    assert!(status == 503 && body.contains(name), "{status} {body}");
    corpus.run("compile --verify").ok();
    until("the index is rebuilt", || server.get("/api/v1/en/count?q=of", None).0 == 200);
    server.signal(Signal::TERM);
}

/// The offset of a section of an index file, from the table at its end.
fn section_start(bytes: &[u8], name: &str) -> usize {
    let end = bytes.len() - 32;
    let length = u64::from_le_bytes(bytes[end..end + 8].try_into().unwrap()) as usize;
    let table: Vec<Value> = serde_json::from_slice(&bytes[end - length..end]).unwrap();
    table.iter().find(|section| section["name"] == name).unwrap()["at"].as_u64().unwrap() as usize
}

#[test]
fn a_server_names_the_file_with_a_flipped_bit() {
    let (corpus, _) = built();
    let path = file(&corpus, "index/en", ".segment");
    let mut bytes = fs::read(&path).unwrap();
    let column = section_start(&bytes, "column");
    bytes[column + 20] ^= 1;
    fs::write(&path, bytes).unwrap();
    let server = Server::start(&corpus, "");
    let name = path.file_name().unwrap().to_str().unwrap();
    let (status, _, body) = server.get("/api/v1/en/words", None);
    assert!(status == 503 && body.contains(name) && body.contains("tidings compile --verify"), "{status} {body}");
    corpus.run("compile --verify").ok();
    until("the index is rebuilt", || server.get("/api/v1/en/words", None).0 == 200);
    server.signal(Signal::TERM);
}

#[test]
fn a_query_of_a_damaged_index_is_an_error_that_names_the_file() {
    let (corpus, _) = built();
    let commands =
        ["count the", "query the --size 5", "freq the", "colloc the", "words", "timeline the", "names", "documents"];
    let commands = commands.map(|command| format!("{command} --lang en"));
    let commands =
        commands.into_iter().chain(["corpus languages".to_owned(), "export --format jsonl --cql the -".to_owned()]);
    let sound: Vec<(String, String)> =
        commands.map(|command| (command.clone(), corpus.run(&command).ok().stdout)).collect();
    for ending in [".segment", ".lexicon"] {
        let path = file(&corpus, "index/en", ending);
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(&path).unwrap();
        let mut errors = 0;
        for part in 1..12 {
            let mut damaged = bytes.clone();
            damaged[bytes.len() * part / 12] ^= 4;
            fs::write(&path, damaged).unwrap();
            for (command, answer) in &sound {
                let ran = corpus.run(command);
                match ran.code {
                    Some(0) => assert_eq!(ran.stdout, *answer, "{command}, {name}, part {part}"),
                    _ => {
                        errors += 1;
                        ran.exits(1).says(&name).says("tidings compile --verify");
                    }
                }
            }
        }
        assert!(errors > 0, "{name}");
        fs::write(&path, bytes).unwrap();
    }
}
