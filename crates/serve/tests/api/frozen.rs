//! Frozen states: the same answers while the corpus grows, without what was removed since, and with the rights of today.

use serde_json::Value;
use tidings_serve::Settings;
use tidings_store::removed::{Removed, Tombstone, TombstoneKind};
use tidings_store::tokens::Scope;

use crate::rights::token;
use crate::test_server::{TestServer, document, weather};

/// An answer without what names its state.
fn without_state(mut answer: Value) -> Value {
    let about = answer["about"].as_object_mut().unwrap();
    about.remove("frozen");
    about.remove("generation");
    answer.as_object_mut().unwrap().remove("link");
    answer
}

#[test]
fn every_question_has_the_same_answer_from_a_frozen_state_while_the_corpus_grows() {
    let server = TestServer::new();
    server.freeze("spring");
    let paths = [
        "count?q=storm",
        "query?q=storm&size=5",
        "freq?q=storm&by=site",
        "timeline?q=storm&by=month",
        "words?limit=50",
        "colloc?q=storm&min=1",
        "trends?by=month&min=1&fdr=1",
        "documents?q=storm&size=10",
    ];
    let get = |path: &str| server.get(&format!("/api/v1/en/{path}")).is(200).json();
    let before = paths.map(|path| without_state(get(path)));
    let asked = paths.map(|path| format!("{path}&as_of=spring"));
    (0..3).for_each(|day| {
        server.add(&document(&format!("2026-07-0{}", day + 1), "d.example", "open", "A storm again ."))
    });
    server.until_generation(4);
    for ((path, asked), before) in paths.iter().zip(&asked).zip(before) {
        assert_ne!(without_state(get(path)), before, "{path}");
        let frozen = get(asked);
        let state = &frozen["about"]["frozen"];
        assert_eq!(
            (&state["name"], &state["documents"], &state["generation"]),
            (&"spring".into(), &216.into(), &1.into())
        );
        assert!(frozen["link"].as_str().unwrap().contains("as_of=spring"), "{asked}");
        assert_eq!(without_state(frozen), before, "{asked}");
        assert_eq!(without_state(get(&path.replace('?', "?as_of=2026-07-01&"))), without_state(get(asked)));
    }
    let csv = server.get("/api/v1/en/query?q=storm&format=csv&as_of=spring").is(200).body;
    assert!(!csv.contains("d.example"), "{csv}");
    let corpora = server.get("/api/v1/corpora").is(200).json();
    assert_eq!(corpora["corpora"][0]["frozen"][0]["name"], "spring");
}

#[test]
fn pages_of_a_frozen_state_follow_each_other() {
    let server = TestServer::new();
    server.freeze("spring");
    server.add(&document("2026-07-01", "d.example", "open", "A storm again ."));
    server.until_generation(2);
    let mut path = "/api/v1/en/query?q=storm&size=40&order=oldest&as_of=spring".to_owned();
    let mut lines = 0;
    for _ in 0..10 {
        let page = server.get(&path).is(200).json();
        lines += page["lines"].as_array().unwrap().len();
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/v1/en/query?q=storm&size=40&order=oldest&as_of=spring&cursor={next}");
    }
    let all = server.get("/api/v1/en/count?q=storm&as_of=spring").is(200).json()["hits"].as_u64().unwrap();
    assert_eq!((lines as u64, all), (all, 126));
    let error = server.get("/api/v1/en/query?q=storm&as_of=spring&cursor=9-0").is(400);
    assert!(error.body.contains("of another state"), "{error:?}");
}

#[test]
fn a_state_that_there_is_not_is_refused_with_those_there_are() {
    let server = TestServer::new();
    let error = server.get("/api/v1/en/count?q=storm&as_of=spring").is(404);
    assert!(error.body.contains("none is frozen yet") && error.json()["parameter"] == "as_of", "{error:?}");
    server.freeze("spring");
    for as_of in ["autumn", "2026-07-02", "..%2Fen%2Fspring", ""] {
        let error = server.get(&format!("/api/v1/en/count?q=storm&as_of={as_of}")).is(404);
        assert!(error.body.contains("spring (2026-07-01)"), "{error:?}");
    }
    for lang in ["xx", "..", "%2E%2E"] {
        server.get(&format!("/api/v1/{lang}/count?q=storm&as_of=spring")).is(404);
    }
    // The home itself is no corpus that could have states.
    server.get("/api/v1/corpora?as_of=spring").is(400);
}

#[test]
fn a_name_that_is_frozen_anew_has_the_answers_of_the_new_state() {
    let server = TestServer::new();
    server.freeze("now");
    let hits = || server.get("/api/v1/en/count?q=storm&as_of=now").is(200).json()["hits"].as_u64();
    assert_eq!(hits(), Some(126));
    server.add(&document("2026-07-01", "d.example", "open", "A storm again ."));
    tidings_store::frozen::remove(&server.home(), "en", "now").unwrap();
    server.freeze("now");
    assert_eq!(hits(), Some(127));
}

#[test]
fn a_removed_text_is_in_no_answer_of_a_frozen_state_from_the_tombstone_on() {
    let text = weather() + &document("2026-06-30", "secret.example", "open", "The vault is marmalade .");
    let server = TestServer::with(&text, Settings::default());
    server.freeze("spring");
    let paths = ["query?q=marmalade", "words?limit=1000", "documents?size=1000"];
    let get = |path: &str| server.get(&format!("/api/v1/en/{path}&as_of=spring")).is(200).body;
    assert!(paths.iter().all(|path| get(path).contains("marmalade") || get(path).contains("secret.example")));
    let mut removed = Removed::read(&server.home()).unwrap();
    let (kind, what) = (TombstoneKind::Host, "secret.example".to_owned());
    removed.begin(Tombstone { kind, what, ..Tombstone::default() });
    removed.write(&server.home()).unwrap();
    for path in paths {
        let body = get(path);
        assert!(!body.contains("\"marmalade\"") && !body.contains("secret.example"), "{path}: {body}");
    }
}

#[test]
fn a_frozen_state_shows_a_client_only_what_it_may_read_then_and_now() {
    let open = |site: &str, sentence: &str| document("2026-01-01", site, "open", sentence);
    let text = open("a.example", "A free storm .")
        + &open("b.example", "A storm that closes .")
        + &document("2026-01-02", "c.example", "metadata", "A secret storm .")
        + &document("2026-01-03", "d.example", "kwic", "A short storm .");
    let server = TestServer::with(&text, Settings { public: true, ..Settings::default() });
    server.freeze("spring");
    let (reader, owner) = (token(&server, Scope::Text, 1), token(&server, Scope::Admin, 1));
    let path = "/api/v1/en/query?q=storm&as_of=spring";
    let of = |answer: Value| {
        let withheld = answer["about"]["frozen"]["withheld_documents"].as_u64().unwrap();
        let mut sites: Vec<String> = Vec::new();
        let lines = answer["lines"].as_array().unwrap().iter();
        sites.extend(lines.map(|line| line["fields"]["site"].as_str().unwrap().to_owned()));
        sites.sort();
        (answer["hits"].as_u64().unwrap(), withheld, sites.join(" "))
    };
    assert_eq!(of(server.get(path).is(200).json()), (2, 2, "a.example b.example".to_owned()));
    assert_eq!(of(server.get_as(path, &reader).is(200).json()).0, 2);
    assert_eq!(of(server.get_as(path, &owner).is(200).json()).1, 0);
    // The publisher of b.example closes its text: the same document has another availability today.
    let mut writer =
        tidings_index::Writer::open(&server.home().index_of("en"), tidings_index::Settings::default()).unwrap();
    writer.delete_where(|url| url.contains("b.example")).unwrap();
    drop(writer);
    server.add(&document("2026-01-01", "b.example", "metadata", "A storm that closes ."));
    server.until_generation(3);
    let seen = server.get(path).is(200).json();
    assert!(seen["rewrites"][0].as_str().unwrap().contains("3 may not be read without a token"), "{seen}");
    assert_eq!(of(seen), (1, 3, "a.example".to_owned()));
    let all = of(server.get_as(path, &owner).is(200).json());
    assert_eq!((all.0, all.1), (4, 0), "the owner sees the state as it was");
    let metadata = server.get("/api/v1/en/documents?as_of=spring").is(200).body;
    assert!(!metadata.contains("c.example") && metadata.contains("a.example"), "{metadata}");
}
