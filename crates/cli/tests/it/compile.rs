//! `tidings compile`: text becomes an index that follows it.

use std::fs;

use tidings_index::Snapshot;
use tidings_simweb::Spec;

use crate::clean::{corpus, mixed, put};
use crate::support::{Corpus, copy_folder};

fn index(corpus: &Corpus) -> Snapshot {
    Snapshot::open(&corpus.home().join("index/en")).unwrap()
}

/// Documents that are not hidden, by their addresses.
fn addresses(corpus: &Corpus) -> Vec<String> {
    let mut found = Vec::new();
    for live in index(corpus).segments() {
        let mut see = |document: u32, url: &str| {
            if !live.deleted().get(document) {
                found.push(url.to_owned());
            }
        };
        live.segment().each_text(|document, url, _| see(document, url)).unwrap();
    }
    found.sort();
    found
}

#[test]
fn the_index_is_updated_with_the_text() {
    let corpus = corpus();
    corpus.run("compile").ok().says("nothing to compile: no annotated text yet");
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    put(&corpus, "2026-03-02", "a.0", &mixed(21..28));
    for stage in ["clean", "annotate"] {
        corpus.run(stage).ok();
    }
    corpus.run("compile").ok().says(" made searchable in 1 language");
    let (tokens, generation) = (index(&corpus).tokens(), index(&corpus).generation());
    assert_eq!(addresses(&corpus).len(), 12);
    corpus.run("compile").ok().says("the index is up to date");
    assert_eq!(index(&corpus).generation(), generation);
    corpus.run("compile --verify --lang en").ok();
    corpus.run("compile --lang xx").exits(1).says("no annotated text in language xx");

    // A changed day replaces its former version without duplicates.
    put(&corpus, "2026-03-02", "b.0", &mixed(28..35));
    for stage in ["clean", "annotate", "compile"] {
        corpus.run(stage).ok();
    }
    let found = addresses(&corpus);
    assert_eq!(found.len(), 16);
    assert!(found.windows(2).all(|two| two[0] != two[1]), "{found:?}");

    // A hidden document is hidden at once, and stays so when the index is rebuilt.
    corpus.run(&format!("compile --hide {}", found[0])).ok().says("1 document hidden");
    assert_eq!(addresses(&corpus), found[1..]);
    corpus.run("rebuild --from compile").ok();
    assert_eq!(addresses(&corpus), found[1..]);
    fs::remove_file(corpus.home().join("hidden.tsv")).unwrap();

    // A deleted index is rebuilt with the same content.
    fs::remove_dir_all(corpus.home().join("index")).unwrap();
    corpus.run("compile").ok();
    assert_eq!(addresses(&corpus), found);

    // A day that can be made again stays searchable; a day of which nothing is left does not.
    for recipe in ["docs/recipes/2026-03-02.json", "text/recipes/2026-03-02.json"] {
        fs::remove_file(corpus.home().join(recipe)).unwrap();
        corpus.run("compile").ok();
        assert_eq!(addresses(&corpus), found);
    }
    fs::remove_dir_all(corpus.home().join("pages/2026-03-02")).unwrap();
    corpus.run("compile").ok();
    assert_eq!(addresses(&corpus).len(), 8);
    assert!(index(&corpus).tokens() < tokens);
}

#[test]
fn one_command_runs_all_stages() {
    let corpus = Corpus::new(Spec { sites: 3, items_per_feed: 4, ..Spec::default() });
    let ran = corpus.run("run").ok();
    for stage in ["update ", "fetch ", "clean ", "dedup ", "annotate ", "compile "] {
        assert!(ran.stdout.lines().any(|line| line.starts_with(stage)), "{}", ran.stdout);
    }
    ran.says("made searchable");
    let again = corpus.run("--json run --from clean").ok().json();
    assert_eq!((again["clean"]["days"].as_u64(), again["compile"]["tokens_added"].as_u64()), (Some(0), Some(0)));
    corpus.is_tidy();
}

#[test]
fn a_power_failure_leaves_the_old_or_the_new_index() {
    let corpus = corpus();
    put(&corpus, "2026-03-01", "a.0", &mixed(0..14));
    for stage in ["clean", "annotate", "compile"] {
        corpus.run(stage).ok();
    }
    put(&corpus, "2026-03-01", "b.0", &mixed(14..21));
    put(&corpus, "2026-03-02", "a.0", &mixed(28..35));
    corpus.run("clean").ok();
    corpus.run("annotate").ok();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    let before = addresses(&corpus);
    corpus.run("compile").ok();
    let after = addresses(&corpus);
    assert_eq!((before.len(), after.len()), (8, 16));
    corpus.cut_at_every_move("compile", &prepared, |at| {
        let found = addresses(&corpus);
        assert!(found == before || found == after, "move {at}: {found:?}");
        corpus.run("compile --verify").ok();
        assert_eq!(addresses(&corpus), after, "move {at}");
    });
}
