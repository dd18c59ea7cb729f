//! `tidings remove`: pages are deleted everywhere, also after interruptions, and do not return.

use std::fs;
use std::path::Path;

use tidings_model::Page;
use tidings_simweb::Spec;

use crate::clean::{corpus, page, put};
use crate::digest::{pages, tree};
use crate::support::{Corpus, copy_folder};

/// A word that occurs nowhere else.
const RARE: &str = "Quastenflosserkunde";

fn rare(number: usize) -> Page {
    let body = format!(
        "<!DOCTYPE html><html lang=\"de\"><head><title>Über die {RARE}</title></head><body><article><h1>Über die {RARE}</h1>\
         <p>Die {RARE} ist ein altes Fach, das heute kaum noch jemand lernt, obwohl es an guten Büchern darüber nicht fehlt und \
         die Tiere selbst noch leben.</p><p>Wer sie kennt, der weiß auch, wo das Meer am tiefsten ist und warum die Fischer dort \
         nur selten ihre Netze auswerfen.</p></article></body></html>"
    );
    Page { title: format!("Über die {RARE}"), ..page(number, body.as_bytes(), "text/html; charset=utf-8") }
}

/// Two days of pages; the first has a page to be removed, the second a copy of it that stays.
fn prepared(with_rare: bool) -> Corpus {
    let corpus = corpus();
    let first = if with_rare { vec![rare(777)] } else { Vec::new() };
    put(&corpus, "2026-03-01", "a.0", &pages(1));
    put(&corpus, "2026-03-01", "b.0", &[first, pages(3)[8..].to_vec()].concat());
    put(&corpus, "2026-03-02", "a.0", &pages(2));
    let entry = format!("0\tok\t1\t2026-03-01T00:00:00.000Z\t\thttp://e.org/feed\thttp://e.org/777\tÜber die {RARE}\n");
    if with_rare {
        fs::remove_file(corpus.home().join("plan.tsv.zst")).unwrap();
        fs::write(corpus.home().join("plan.tsv"), entry).unwrap();
    }
    corpus
}

/// Files of the home that contain the word, compressed or not.
fn mentions(corpus: &Corpus) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(RARE.len()).any(|part| part.eq_ignore_ascii_case(RARE.as_bytes()));
    let mentions = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        // A log that a power failure left empty is ignored.
        let is_packed = path.extension().is_some_and(|ending| ending == "zst") && !bytes.is_empty();
        let unpacked = if is_packed { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
        holds(&unpacked)
    };
    let files = corpus.files("", "").into_iter().filter(|path| mentions(path));
    files.map(|path| path.strip_prefix(corpus.home()).unwrap().display().to_string()).collect()
}

#[test]
fn a_removed_page_leaves_no_trace() {
    let without = prepared(false);
    without.run("run --from clean").ok();
    let corpus = prepared(true);
    corpus.run("run --from clean").ok();
    assert!(mentions(&corpus).iter().any(|file| file.starts_with("text/de/")), "{:?}", mentions(&corpus));
    let before = tree(&corpus);

    corpus.run("remove http://e.org/777 --dry-run").ok().says("would remove 1 page on 1 day with 1 document");
    corpus.run("remove http://e.org/777").exits(1).says("give a --reason");
    corpus.run("remove e.org/777 --reason x").exits(1).says("https://e.org/777");
    corpus.run("remove *.* --reason x").exits(1).says("matches everything");
    assert_eq!(tree(&corpus), before);
    assert!(!corpus.home().join("removed.tsv").exists());

    corpus
        .run("remove http://e.org/777 --reason asked")
        .ok()
        .says("1 page and 1 document removed, 1 entry in the plan");
    assert_eq!(tree(&corpus), tree(&without));
    // Only the lexicon still contains the word, without documents.
    let left = mentions(&corpus);
    assert!(left.iter().all(|file| file.ends_with(".lexicon")), "{left:?}");
    corpus.run(&format!("query --lang de {RARE}")).ok().says("0 hits");
    corpus.run("rebuild --from compile").ok();
    assert_eq!(mentions(&corpus), Vec::<String>::new());
    corpus.run("why --all --items").ok();
    corpus.is_tidy();

    let plan = corpus.plan();
    assert_eq!((plan[0].status.as_str(), plan[0].title.as_str()), ("removed", ""));
    let stones = fs::read_to_string(corpus.home().join("removed.tsv")).unwrap();
    assert!(stones.contains("\tasked\t") && !stones.contains("777"), "{stones}");
    corpus.run("why http://e.org/777").ok().says("removed by address, reason: asked");
    corpus.run("fetch --dry-run").ok().says("nothing to fetch");
    corpus.run("remove").ok().says("nothing to remove");

    // It is added again in another way, and dropped.
    put(&corpus, "2026-03-02", "x.0", &[rare(777)]);
    corpus.run("run --from clean").ok();
    assert_eq!(mentions(&corpus), ["pages/2026-03-02/x.0.jsonl.zst"]);
    corpus.run("remove http://e.org/777 --reason again").ok().says("1 page and 0 documents removed");
    assert_eq!(mentions(&corpus), Vec::<String>::new());
    assert_eq!(tree(&corpus), tree(&without));
}

#[test]
fn a_duplicate_of_a_removed_text_becomes_the_original() {
    let corpus = prepared(true);
    put(&corpus, "2026-03-02", "copy.0", &[rare(888)]);
    corpus.run("run --from clean").ok();
    assert_eq!(corpus.run("--json why http://e.org/888").ok().json()["fate"], "duplicate");
    corpus.run("remove http://e.org/777 --reason asked --later").ok().says("1 day to be rebuilt by the next");
    // Deleted at once, before the rebuild.
    corpus.run(&format!("query --lang de {RARE}")).ok().says("0 hits");
    corpus.run("run --from clean").ok();
    assert_eq!(corpus.run("--json why http://e.org/888").ok().json()["fate"], "searchable");
    corpus.run("remove e.org/8* --reason copies").ok().says("1 page and 1 document removed");
    let left = mentions(&corpus);
    assert!(left.iter().all(|file| file.ends_with(".lexicon")), "{left:?}");
}

#[test]
fn removed_pages_are_not_fetched_again() {
    let corpus = Corpus::new(Spec { sites: 3, items_per_feed: 3, ..Spec::default() });
    corpus.run("update --all").ok();
    let [first, second] = [0, 1].map(|site| corpus.web.site(site).address().to_string());
    corpus
        .run(&format!("remove {first} --reason opt-out"))
        .ok()
        .says("0 pages and 0 documents removed, 3 entries in the plan");
    let article = corpus.healthy_articles().into_iter().find(|url| url.contains(&second)).unwrap();
    corpus.run(&format!("remove {article} --reason asked")).ok();
    corpus.run("fetch").ok().says("5 pages fetched");
    assert_eq!(corpus.statuses_of(0), [("removed".to_owned(), 0)]);
    assert_eq!(corpus.asked_for(&article), 0);

    // An empty plan, and feeds that list everything again.
    fs::remove_file(corpus.home().join("plan.tsv.zst")).unwrap();
    corpus.run(&format!("init {}", corpus.home().display())).ok();
    fs::remove_dir_all(corpus.home().join("state")).unwrap();
    corpus.run("update --all").ok().says("9 added to the plan");
    assert_eq!(corpus.statuses_of(0), [("removed".to_owned(), 0)]);
    let entry = corpus.plan().into_iter().find(|entry| entry.url == article).unwrap();
    assert_eq!((entry.status.as_str(), entry.title.as_str()), ("removed", ""));
    corpus.run("fetch").ok();
    assert_eq!(corpus.asked_for(&article), 0);
    corpus.run(&format!("why {first}")).ok().says("removed by host, reason: opt-out");
}

#[test]
fn a_takedown_is_completed_after_a_power_failure_at_any_operation() {
    let without = prepared(false);
    without.run("run --from clean").ok();
    let expected = tree(&without);
    let corpus = prepared(true);
    corpus.run("run --from clean").ok();
    let start = corpus.beside("start");
    copy_folder(&corpus.home(), &start);
    let before = tree(&corpus);
    corpus.cut_at_every_move("remove http://e.org/777 --reason asked --later", &start, |at| {
        let begun = corpus.home().join("removed.tsv").exists();
        if begun {
            corpus.run("remove --later").ok();
            let left = mentions(&corpus);
            assert!(left.iter().all(|file| file.ends_with(".lexicon")), "move {at}: {left:?}");
        }
        corpus.run("run --from clean").ok();
        assert_eq!(tree(&corpus), if begun { &expected } else { &before }.as_str(), "move {at}");
        corpus.run("why --all").ok();
        corpus.is_tidy();
    });
}
