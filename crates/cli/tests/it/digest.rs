//! `tidings digest`: deleted derived files, changed settings and other machines.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tidings_model::Page;

use crate::clean::{corpus, mixed, page, put};
use crate::support::{Corpus, copy_folder};

/// Sentences that no other number has.
fn own(number: usize, who: [&str; 5], did: [&str; 7], place: [&str; 6]) -> String {
    let sentence = |at: usize| {
        let seed = number * 13 + at * 5 + number % 3 * at;
        format!("{} {} {} {}.", who[seed % 5], did[(seed / 2 + at) % 7], number + at, place[(seed / 3 + at) % 6])
    };
    (0..5).map(sentence).collect::<Vec<_>>().join(" ")
}

/// A page whose first paragraph is shared with others, and whose second is unique.
fn german(number: usize) -> Page {
    let who =
        ["Der Bäcker aus der Gasse", "Die alte Lehrerin", "Das Kind der Nachbarin", "Ein Maler", "Niemand im Rathaus"];
    let did =
        ["zählte am Morgen", "verkaufte gestern", "wollte noch", "fand auf dem Weg", "brachte uns", "verlor", "sah"];
    let place =
        ["Körbe am Fluss", "Bilder im Garten", "Briefe vor der Tür", "Steine unter der Brücke", "Hüte", "Vögel"];
    let body = format!(
        "<!DOCTYPE html><html lang=\"de\"><head><title>Nummer {number}</title></head><body><article><h1>Nummer {number}</h1>\
         <p>In der Stadt wurde erzählt, dass es noch vor dem Winter wiederkommen würde, und alle warteten darauf, ohne zu \
         wissen, was es bringen würde.</p><p>{}</p></article></body></html>",
        own(number, who, did, place)
    );
    let mut page = page(number, body.as_bytes(), "text/html; charset=utf-8");
    page.feed = "http://e.org/deutsch".into();
    page
}

fn english(number: usize) -> Page {
    let who =
        ["The baker of our street", "An old teacher", "My neighbour's child", "Some painter", "Nobody in the hall"];
    let did =
        ["counted this morning", "sold yesterday", "still wanted", "found on the way", "brought us", "lost", "saw"];
    let place =
        ["baskets by the river", "pictures in a garden", "letters at the door", "stones", "hats", "birds on the roof"];
    let body = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>Own {number}</title></head><body><article><h1>Own {number}</h1>\
         <p>{}</p></article></body></html>",
        own(number, who, did, place)
    );
    page(number, body.as_bytes(), "text/html; charset=utf-8")
}

/// A day of pages in two languages, with duplicates within the day and across days, and some without documents.
pub fn pages(day: usize) -> Vec<Page> {
    let start = day * 100;
    let german = (start + 50..start + 53).map(german);
    mixed(start..start + 8).into_iter().chain(german).chain((start + 60..start + 62).map(english)).collect()
}

/// A home with two days of pages after all stages.
pub fn built() -> Corpus {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &pages(1));
    put(&corpus, "2026-03-02", "a.0", &pages(2));
    corpus.run("run --from clean").ok();
    corpus
}

/// The digest of the corpus.
pub fn digest(corpus: &Corpus) -> String {
    corpus.run("--json digest").ok().json()["digest"].as_str().unwrap().to_owned()
}

/// The digests of all stages, all days and the index.
pub fn tree(corpus: &Corpus) -> String {
    let ran = corpus.run("digest --tree").ok();
    assert!(!ran.stderr.contains("the index is out of date"), "{}", ran.stderr);
    ran.stdout
}

/// The number of days that each stage rebuilt.
fn redone(ran: &Value) -> BTreeMap<&'static str, u64> {
    let days = |stage: &str, field: &str| ran[stage][field].as_u64().unwrap_or_else(|| panic!("{stage}: {ran}"));
    [("clean", days("clean", "days")), ("dedup", days("dedup", "days")), ("annotate", days("annotate", "days"))].into()
}

fn again(corpus: &Corpus) -> Value {
    corpus.run("--json run --from clean").ok().json()
}

fn settle(corpus: &Corpus, more: &str) {
    let path = corpus.home().join("tidings.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, format!("{text}{more}")).unwrap();
}

#[test]
fn the_same_pages_give_the_same_corpus_in_any_order() {
    let once = built();
    let tree_of_once = tree(&once);
    assert!(tree_of_once.starts_with("pages\t*\t*\t26\t"), "{tree_of_once}");
    for part in
        ["docs\tde\t2026-03-01\t3\t", "docs\tdropped\t*\t", "seen\t*\t*\t", "text\ten\t2026-03-02\t", "text\t*\t*\t"]
    {
        assert!(tree_of_once.contains(part), "{part}: {tree_of_once}");
    }

    // In many runs, other files, other threads, other compression, from the last page to the first.
    let often = corpus();
    for (day, name) in [(1, "2026-03-01"), (2, "2026-03-02")] {
        for (number, page) in pages(day).into_iter().rev().enumerate() {
            put(&often, name, &format!("{number:02}.0"), &[page]);
            if number % 4 == 0 {
                often.run("clean --threads 1").ok();
                often.run("dedup --threads 1").ok();
                often.run("annotate --threads 1").ok();
                often.run("compile").ok();
            }
        }
    }
    often.run("run --from clean").ok();
    assert_eq!(tree(&often), tree_of_once);
    assert_eq!(digest(&often), digest(&once));
    assert!(tree_of_once.contains(&digest(&once)), "the root of the text is the digest");
    often.run("digest --verify").ok();
    often.run("digest --lang de").ok().says("in 1 language, 2 days");

    // The cache is invalidated with its files and may be deleted.
    fs::remove_file(often.home().join("state/digests.tsv")).unwrap();
    assert_eq!(tree(&often), tree_of_once);
    put(&often, "2026-03-03", "a.0", &pages(3));
    again(&often);
    assert_ne!(digest(&often), digest(&once));
}

#[test]
fn every_derived_file_can_be_deleted_and_rebuilt() {
    let corpus = built();
    let before = tree(&corpus);
    let derived = |corpus: &Corpus| {
        let folders = ["docs", "seen", "text", "index"].into_iter();
        let files = folders.flat_map(|folder| corpus.files(folder, ""));
        files.map(|path| path.strip_prefix(corpus.home()).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let files = derived(&corpus);
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        // A file may have another name if generations are counted.
        if fs::remove_file(corpus.home().join(&file)).is_ok() {
            corpus.run("run --from clean").ok();
            assert_eq!(tree(&corpus), before, "without {}", file.display());
            corpus.run("compile --verify").ok();
        }
    }
    for folder in ["docs", "seen", "text", "index", "docs/recipes", "text/recipes"] {
        fs::remove_dir_all(corpus.home().join(folder)).unwrap();
        corpus.run("run --from clean").ok();
        assert_eq!(tree(&corpus), before, "without {folder}");
    }
    for from in ["clean", "dedup", "annotate", "compile"] {
        corpus.run(&format!("rebuild --from {from}")).ok();
        assert_eq!(tree(&corpus), before, "from {from} on");
        corpus.run(&format!("rebuild --from {from} --lang de")).ok();
        assert_eq!(tree(&corpus), before, "German from {from} on");
    }
    corpus.run("rebuild").ok();
    assert_eq!(tree(&corpus), before);
    corpus.run("rebuild --lang xx").exits(1).says("no data in language xx");
}

#[test]
fn a_changed_setting_rebuilds_exactly_what_depends_on_it() {
    let raw = corpus();
    put(&raw, "2026-03-01", "a.0", &pages(1));
    put(&raw, "2026-03-02", "a.0", &[mixed(200..208), vec![english(260)]].concat());
    let pristine = raw.beside("pristine");
    copy_folder(&raw.home(), &pristine);
    raw.run("run --from clean").ok();
    let grown = raw.beside("grown");
    copy_folder(&raw.home(), &grown);
    let before = tree(&raw);

    let label = "http://e.org/deutsch\ttopic=post\n";
    // Possibly affected days are rebuilt; unchanged results are not propagated.
    let cases = [
        ("clean.gate", "[gate.all]\nleast_words = 50\n", "", [2, 2, 1], true),
        ("clean.links", "[clean]\nlinks = true\n", "", [2, 2, 0], false),
        ("clean.threads", "[clean]\nthreads = 1\n", "", [0, 0, 0], false),
        ("dedup", "[dedup]\nlevels = [\"text\"]\n", "", [0, 2, 2], true),
        ("annotate", "[annotate]\nduplicates = \"keep\"\n", "", [0, 0, 2], true),
        ("a label", "", label, [0, 0, 1], true),
        ("compile", "[index]\nmemory_mib = 64\n", "", [0, 0, 0], false),
    ];
    for (what, settings, feeds, days, changes) in cases {
        let mut digests = Vec::new();
        for start in [&grown, &pristine] {
            raw.restore(start);
            settle(&raw, settings);
            if !feeds.is_empty() {
                fs::write(raw.home().join("feeds.txt"), feeds).unwrap();
            }
            let ran = again(&raw);
            if start == &grown {
                let expected: BTreeMap<&str, u64> = ["clean", "dedup", "annotate"].into_iter().zip(days).collect();
                assert_eq!(redone(&ran), expected, "{what}");
            }
            digests.push(tree(&raw));
        }
        assert_eq!(digests[0], digests[1], "{what}: the same as with this setting from the start");
        let text = |tree: &str| tree.lines().find(|line| line.starts_with("text\t*")).unwrap().to_owned();
        assert_eq!(text(&digests[0]) != text(&before), changes, "{what}");
    }
}
