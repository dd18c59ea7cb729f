//! `tidings annotate`: documents become tokens once, atomically, and again after changes.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::clean::{corpus, mixed, put};
use crate::support::{Corpus, copy_folder, unpacked};

/// Everything under `text/`, by name.
fn text(corpus: &Corpus) -> BTreeMap<String, Vec<u8>> {
    let files = corpus.files("text", "").into_iter();
    files
        .map(|path| (path.strip_prefix(corpus.home()).unwrap().display().to_string(), fs::read(&path).unwrap()))
        .collect()
}

fn recipe(corpus: &Corpus, day: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(corpus.home().join(format!("text/recipes/{day}.json"))).unwrap()).unwrap()
}

#[test]
fn documents_become_tokens_once_and_again_when_they_change() {
    let corpus = corpus();
    corpus.run("annotate").ok().says("no documents yet");
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    put(&corpus, "2026-03-02", "a.0", &mixed(0..7));
    corpus.run("clean").ok();
    corpus.run("annotate").ok().says("12 documents annotated: ").says(" in 1 language");
    let vertical = unpacked(&corpus.home().join("text/en/2026-03-01.vert.zst"));
    assert_eq!(vertical.matches("<doc id=").count(), 8);
    assert!(vertical.contains(" site=\"e.org\"") && vertical.contains("\nwinter\twinter"), "{vertical}");
    assert_eq!(recipe(&corpus, "2026-03-01")["kept"]["en"], 8);
    let before = text(&corpus);
    corpus.run("annotate").ok().says("nothing to annotate: all 2 days are up to date");
    assert_eq!(text(&corpus), before);

    // The number of threads makes no difference, and deleted files are rebuilt with the same bytes.
    fs::remove_dir_all(corpus.home().join("text")).unwrap();
    corpus.run("annotate --threads 3").ok();
    assert_eq!(text(&corpus), before);
    fs::remove_file(corpus.home().join("text/en/2026-03-02.vert.zst")).unwrap();
    corpus.run("annotate").ok().says("4 documents annotated");
    assert_eq!(text(&corpus), before);

    // More pages change their day; a label changes the days with documents of its feed.
    put(&corpus, "2026-03-02", "b.0", &mixed(7..14));
    corpus.run("clean").ok();
    let told = corpus.run("annotate --json").ok().json();
    assert_eq!((&told["documents"], &told["documents_kept"]), (&json!(4), &json!(4)), "only what the day has gained");
    fs::write(corpus.home().join("feeds.txt"), "http://e.org/feed\ttopic=winter sports\n").unwrap();
    corpus.run("annotate").ok().says("16 documents annotated");
    let vertical = unpacked(&corpus.home().join("text/en/2026-03-01.vert.zst"));
    assert_eq!(vertical.matches(" topic=\"winter sports\"").count(), 8);
    corpus.run("annotate").ok().says("nothing to annotate");

    // Text whose documents are missing may be the last copy, so it is kept.
    fs::remove_file(corpus.home().join("docs/recipes/2026-03-02.json")).unwrap();
    corpus.run("annotate").ok();
    fs::remove_dir_all(corpus.home().join("pages/2026-03-02")).unwrap();
    corpus.run("annotate").ok().says("neither documents nor pages");
    assert!(corpus.home().join("text/en/2026-03-02.vert.zst").exists());
    corpus.is_tidy();
}

#[test]
fn a_power_failure_at_any_operation_leaves_complete_days() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    put(&corpus, "2026-03-02", "a.0", &mixed(0..7));
    corpus.run("clean").ok();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    corpus.run("annotate").ok();
    let whole = text(&corpus);
    corpus.cut_at_every_move("annotate", &prepared, |at| {
        for day in ["2026-03-01", "2026-03-02"] {
            if corpus.home().join(format!("text/recipes/{day}.json")).exists() {
                let file = format!("text/en/{day}.vert.zst");
                assert!(fs::read(corpus.home().join(&file)).unwrap() == whole[&file], "move {at}");
            }
        }
        corpus.run("annotate").ok();
        assert!(text(&corpus) == whole, "move {at}");
        corpus.is_tidy();
    });
}

#[test]
fn a_power_failure_while_a_day_grows_leaves_a_complete_day_or_none() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    corpus.run("clean").ok();
    corpus.run("annotate").ok();
    let file = "text/en/2026-03-01.vert.zst";
    let before = fs::read(corpus.home().join(file)).unwrap();
    put(&corpus, "2026-03-01", "b.0", &mixed(14..28));
    corpus.run("clean").ok();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    corpus.run("annotate").ok();
    let after = fs::read(corpus.home().join(file)).unwrap();
    corpus.cut_at_every_move("annotate", &prepared, |at| {
        if corpus.home().join("text/recipes/2026-03-01.json").exists() {
            let found = fs::read(corpus.home().join(file)).unwrap();
            assert!(found == before || found == after, "move {at}");
        }
        corpus.run("annotate").ok();
        assert!(fs::read(corpus.home().join(file)).unwrap() == after, "move {at}");
        corpus.is_tidy();
    });
}

#[test]
fn duplicates_are_omitted_after_deduplication() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..7));
    // The same pages under other URLs, and a new one.
    let mut copies = mixed(0..7);
    copies.iter_mut().for_each(|page| page.url = page.url.replace("e.org", "copy.example"));
    copies.extend(mixed(8..9));
    put(&corpus, "2026-03-02", "a.0", &copies);
    corpus.run("clean").ok();
    corpus.run("annotate").ok().says("9 documents annotated");
    assert_eq!(recipe(&corpus, "2026-03-02")["kept"]["en"], 5);

    corpus.run("dedup").ok();
    corpus.run("annotate").ok();
    let told = recipe(&corpus, "2026-03-02");
    assert_eq!(told["documents"], 5);
    assert!(told["dropped"]["duplicate"].as_u64().unwrap() >= 4, "{told}");
    assert_eq!(recipe(&corpus, "2026-03-01")["documents"], 4);

    // A day that is not deduplicated yet waits.
    put(&corpus, "2026-03-03", "a.0", &mixed(21..28));
    corpus.run("clean").ok();
    corpus.run("annotate").ok().says("1 day is not deduplicated yet; run `tidings dedup` first");
    assert!(!corpus.home().join("text/recipes/2026-03-03.json").exists());
    let mut command = corpus.command("annotate");
    command.env("TIDINGS_ANNOTATE_DUPLICATES", "keep");
    corpus.launch(command).wait().ok();
    assert_eq!(recipe(&corpus, "2026-03-02")["kept"]["en"], 5);
    corpus.run("dedup").ok();
    corpus.run("annotate").ok();
    assert!(corpus.home().join("text/recipes/2026-03-03.json").exists());
    corpus.is_tidy();
}

/// A tool that gives every token the same tag.
fn tool(tag: &str) -> String {
    format!(
        "while IFS= read -r line; do case $line in '<'?*'>') echo \"$line\";; \
         *) printf '%s\\tlemma-of-%s\\t{tag}\\n' \"$line\" \"$line\";; esac; done"
    )
}

/// Appends a table of a tool to the settings.
fn with_tool(corpus: &Corpus, language: &str, script: &str, more: &str) {
    let path = corpus.home().join("tidings.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let before = settings.split("\n[annotate").next().unwrap();
    let table = format!("\n[annotate.external.{language}]\ncommand = ['sh', '-c', '''{script}''']\n{more}\n");
    fs::write(&path, format!("{before}{table}")).unwrap();
}

#[test]
fn an_external_tool_annotates_its_language_and_is_recorded_in_the_recipe() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    corpus.run("clean").ok();
    with_tool(&corpus, "en", &tool("NN"), "version = 'sh tagger 1'\ntags = { 'N*' = 'NOUN' }");
    corpus.run("annotate").ok().says("8 documents annotated");
    let file = corpus.home().join("text/en/2026-03-01.vert.zst");
    assert!(unpacked(&file).contains("\nwinter\tlemma-of-winter\tNOUN\n"));
    let layer = recipe(&corpus, "2026-03-01")["layers"]["en"].as_str().unwrap().to_owned();
    assert!(layer.starts_with("external sh tagger 1 "), "{layer}");
    let before = text(&corpus);
    corpus.run("annotate").ok().says("nothing to annotate");

    // Threads, workers and timeouts do not change the bytes.
    fs::remove_dir_all(corpus.home().join("text")).unwrap();
    let patient = "version = 'sh tagger 1'\ntags = { 'N*' = 'NOUN' }\nworkers = 3\ntimeout_s = 50.0";
    with_tool(&corpus, "en", &tool("NN"), patient);
    corpus.run("annotate --threads 3").ok();
    assert_eq!(text(&corpus), before);

    // A tool of a language without documents changes nothing; another version of the used one does.
    with_tool(&corpus, "fi", &tool("NN"), "");
    corpus.run("annotate").ok().says("8 documents annotated");
    with_tool(&corpus, "sv", &tool("NN"), "");
    corpus.run("annotate").ok().says("nothing to annotate");
    with_tool(&corpus, "en", &tool("NN"), "version = ['echo', 'sh tagger 2']");
    corpus.run("annotate").ok().says("8 documents annotated");
    assert!(recipe(&corpus, "2026-03-01")["layers"]["en"].as_str().unwrap().starts_with("external sh tagger 2 "));

    let mut command = corpus.command("annotate");
    command.env("TIDINGS_ANNOTATE_TAGS", "false");
    corpus.launch(command).wait().ok().says("8 documents annotated");
    assert!(unpacked(&file).contains("\nwinter\n"));
    assert_eq!(recipe(&corpus, "2026-03-01")["layers"]["en"], "none");
    corpus.is_tidy();
}

#[test]
fn a_failing_tool_skips_its_days_and_leaves_no_files() {
    let corpus = corpus();
    for day in 1..=5 {
        put(&corpus, &format!("2026-03-0{day}"), "a.0", &mixed(day * 7 - 7..day * 7));
    }
    corpus.run("clean").ok();
    with_tool(&corpus, "en", "while read -r line; do echo nonsense; done", "");
    let ran = corpus.run("annotate").exits(3);
    ran.says("“nonsense” instead of the token")
        .says("3 days are not annotated because a tool failed, and 2 more were not tried");
    assert!(text(&corpus).is_empty(), "nothing is written");
    corpus.is_tidy();
    with_tool(&corpus, "en", "sleep 1000", "timeout_s = 0.2");
    corpus.run("annotate").exits(3).says("2026-03-01 was not annotated").says("timed out after 0.2 s");
    with_tool(&corpus, "en", "exit 1", "version = ['/nowhere/tagger']");
    corpus.run("annotate").exits(1).says("/nowhere/tagger").says("cannot be started");
    with_tool(&corpus, "en", &tool("X"), "");
    corpus.run("annotate").ok().says("documents annotated");
    with_tool(&corpus, "english", &tool("X"), "");
    corpus.run("annotate").exits(1).says("`english` is not a language code");
    with_tool(&corpus, "en", &tool("X"), "columns = ['lemma', 'word']");
    corpus.run("annotate").exits(1).says("the first column must be `word`");
}
