//! Pairs of translations, and hits side by side with their translations: command line and server.

use std::fs;

use serde_json::{Value, json};

use crate::export::filled;
use crate::serve::Server;
use crate::support::Corpus;

fn lines(answer: &Value) -> Vec<(String, String)> {
    let text = |tokens: &Value| {
        let words = tokens.as_array().unwrap().iter().map(|token| token["word"].as_str().unwrap());
        words.collect::<Vec<_>>().join(" ")
    };
    let line = |line: &Value| (text(&line["left"]) + " " + &text(&line["node"]), text(&line["translation"]));
    answer["lines"].as_array().unwrap().iter().map(line).collect()
}

fn parallel(corpus: &Corpus, args: &str) -> Value {
    corpus.run(&format!("parallel --json --lang en {args}")).ok().json()
}

#[test]
fn linked_pages_are_pairs_and_are_searched_together() {
    let corpus = filled();
    corpus.run("parallel rain de --lang en").ok().says("no document has a known translation");
    let outcome = corpus.run("pairs find --json").ok().json();
    assert_eq!(outcome, json!({"pairs": 6, "added": 6, "unknown": 0}));
    corpus.run("pairs find").ok().says("6 pairs of documents, 0 new");

    let all = parallel(&corpus, "rain de --limit 100");
    assert_eq!(all["documents"], 6);
    let hits = all["hits"].as_u64().unwrap();
    assert!(hits >= 6, "{all}");
    let found = parallel(&corpus, "rain de --with Regen --limit 100");
    for (own, translation) in lines(&found) {
        assert!(own.contains("rain") && translation.contains("Regen"), "{own} | {translation}");
    }
    let others = parallel(&corpus, "rain de --without Regen --limit 100");
    assert_eq!(found["hits"].as_u64().unwrap() + others["hits"].as_u64().unwrap(), hits);
    let shown = corpus.run("parallel rain de --lang en --with Regen --limit 1").ok().stdout;
    assert!(shown.contains("rain") && shown.contains("Regen"), "{shown}");

    let server = Server::start(&corpus, "");
    let answer = server.json("/api/v1/en/parallel?q=rain&to=de&with=Regen&size=100", None);
    for name in ["hits", "unaligned", "documents", "tokens", "lines"] {
        assert_eq!(answer[name], found[name], "{name}");
    }
    let (status, ..) = server.get("/api/v1/en/parallel?q=rain&to=xx", None);
    assert_eq!(status, 404);
}

#[test]
fn pairs_can_be_given_by_address_or_id() {
    let corpus = filled();
    let documents = corpus.run("documents --lang de --limit 100 --json").ok().json();
    let id = documents["rows"].as_array().unwrap().iter().find(|row| row["url"] == "http://e.org/de/1").unwrap()["id"]
        .clone();
    let list = corpus.beside("list.tsv");
    let text = format!(
        "# two documents\nhttp://e.org/en/1\t{}\n\nhttp://e.org/en/1\thttp://e.org/de/none\n",
        id.as_str().unwrap()
    );
    fs::write(&list, text).unwrap();
    let added = corpus.run(&format!("pairs add {} --json", list.display())).ok().json();
    assert_eq!(added, json!({"pairs": 1, "added": 1, "unknown": 1}));
    assert_eq!(parallel(&corpus, "rain de --limit 0")["documents"], 1);
    // Given pairs stay when pairs are found by links.
    assert_eq!(corpus.run("pairs find --json").ok().json(), json!({"pairs": 6, "added": 5, "unknown": 0}));

    fs::write(&list, "http://e.org/en/1\thttp://e.org/de/1\nonly one\n").unwrap();
    corpus.run(&format!("pairs add {}", list.display())).exits(2).says("list.tsv, line 2: not two documents");
    corpus.run("pairs add nowhere.tsv").exits(1).says("cannot read nowhere.tsv");
}

#[test]
fn a_query_and_its_translations_are_in_two_languages() {
    let corpus = filled();
    corpus.run("parallel rain en --lang en").exits(2).says("is the language of the query");
    corpus.run("parallel rain fr --lang en").exits(1).says("fr");
    corpus.run("parallel rain --lang en").exits(2).says("<CODE>");
}
