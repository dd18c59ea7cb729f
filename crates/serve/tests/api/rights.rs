//! Access to text by availability and scope.

use jiff::Timestamp;
use tidings_serve::{Availability, Settings};
use tidings_store::tokens::{self, Scope, Token};

use crate::test_server::{TestServer, document, weather};

const DAY_S: i64 = 86_400;

fn public() -> Settings {
    Settings { public: true, ..Settings::default() }
}

/// Makes tokens in the home of a server; an age in days that is negative has not come yet.
fn token(server: &TestServer, scope: Scope, expires_in_days: i64) -> String {
    let now = Timestamp::now();
    let end = Timestamp::from_second(now.as_second() + expires_in_days * DAY_S).unwrap();
    let mut known = tokens::read(&server.home()).unwrap();
    let (token, secret) = Token::make(&format!("token {}", known.len()), scope, now, Some(end)).unwrap();
    known.push(token);
    tokens::write(&server.home(), known).unwrap();
    secret
}

#[test]
fn without_a_token_there_are_counts_and_metadata_but_no_text() {
    let server = TestServer::with(&weather(), public());
    let (reader, owner) = (token(&server, Scope::Text, 1), token(&server, Scope::Admin, 1));
    let path = "/api/v1/en/query?q=storm&size=30&order=oldest";
    let anybody = server.get(path).is(200).json();
    assert_eq!(anybody["hits"], 126);
    let lines = anybody["lines"].as_array().unwrap();
    let hidden: Vec<_> = lines.iter().filter(|line| line["restricted"] == true).collect();
    assert_eq!((hidden.len(), anybody["withheld"].as_u64()), (20, Some(20)));
    for line in hidden {
        assert_eq!(line.as_object().unwrap().keys().collect::<Vec<_>>(), ["document", "fields", "restricted"]);
        assert_ne!(line["fields"]["site"], "a.example");
    }
    assert!(lines.iter().any(|line| line["fields"]["site"] == "a.example" && line["node"][0]["word"] == "storm"));
    for (format, shown) in [("csv", ",storm,"), ("jsonl", "\"word\":\"storm\"")] {
        let body = server.get(&format!("{path}&format={format}")).is(200).body;
        assert_eq!(body.matches(shown).count(), 10, "{body}");
    }
    let seen = server.get_as(path, &reader).is(200).json();
    assert_eq!((seen["withheld"].as_u64(), seen["lines"][29]["node"][0]["word"].as_str()), (Some(0), Some("storm")));
    assert_eq!(server.get_as(path, &owner).is(200).json()["withheld"], 0);
}

#[test]
fn whole_texts_are_for_open_documents_and_for_the_owner() {
    let text = document("2026-01-01", "a.example", "open", "Free words .")
        + &document("2026-01-02", "b.example", "kwic", "Some words .")
        + &document("2026-01-03", "c.example", "metadata", "Secret words .")
        + &document("2026-01-04", "d.example", "whatever", "Unknown words .");
    let server = TestServer::with(&text, public());
    let (reader, owner) = (token(&server, Scope::Text, 1), token(&server, Scope::Admin, 1));
    let rows = server.get("/api/v1/en/documents?order=oldest").is(200).json()["rows"].clone();
    let expected = [(true, true, true), (false, false, true), (false, false, true), (false, false, true)];
    for (row, expected) in rows.as_array().unwrap().iter().zip(expected) {
        let path = format!("/api/v1/en/documents/{}", row["id"].as_str().unwrap());
        let answers = [server.get(&path), server.get_as(&path, &reader), server.get_as(&path, &owner)];
        let [anybody, reader, owner] = answers.map(|got| got.is(200).body.contains("words ."));
        assert_eq!((anybody, reader, owner), expected, "{row}");
    }
    let lines = server.get_as("/api/v1/en/query?q=words&order=oldest", &reader).json();
    let seen: Vec<bool> = lines["lines"].as_array().unwrap().iter().map(|line| line["node"].is_array()).collect();
    assert_eq!(seen, [true, true, false, false]);
    let contexts = rows.as_array().unwrap().iter().map(|row| {
        let path = format!("/api/v1/en/documents/{}/context?position=1", row["id"].as_str().unwrap());
        [server.get(&path), server.get_as(&path, &reader), server.get_as(&path, &owner)].map(|got| {
            let found = got.is(200).json();
            let shows = !found["sentences"].as_array().unwrap().is_empty();
            assert_eq!(found["restricted"], !shows, "{found}");
            shows
        })
    });
    let expected = [[true, true, true], [false, true, true], [false, false, true], [false, false, true]];
    assert_eq!(contexts.collect::<Vec<_>>(), expected);
    server.get("/api/v1/en/documents/00").is(404);
}

#[test]
fn small_counts_do_not_reveal_text() {
    let secret = document("2026-05-05", "z.example", "metadata", "Purple weasels dance quietly .");
    let server = TestServer::with(&(weather() + &secret), public());
    let small = [
        "words?ngram=3&limit=10000",
        "colloc?q=weasels&min=1",
        "sketch?lemma=weasels&min=1",
        "freq?q=%5B%5D%5B%5D&by=word&limit=10000",
    ];
    for path in small {
        let answer = server.get(&format!("/api/v1/en/{path}")).is(200);
        assert!(!answer.body.contains("dance"), "{path}");
        assert!(answer.json()["rewrites"][0].as_str().unwrap().contains("without a token"));
    }
    assert!(server.get("/api/v1/en/query?q=storm&sort=right").is(403).body.contains("sort by fields"));
    server.get("/api/v1/en/query?q=storm&sort=site").is(200);
    let open =
        TestServer::with(&document("2026-05-05", "z.example", "open", "Purple weasels dance quietly ."), public());
    assert!(open.get("/api/v1/en/words?ngram=3&min=1").is(200).body.contains("weasels dance quietly"));
}

#[test]
fn expired_and_unknown_tokens_are_rejected() {
    let server = TestServer::with(&weather(), public());
    let (good, over) = (token(&server, Scope::Text, 1), token(&server, Scope::Text, -1));
    server.get_as("/api/v1/en/count?q=storm", &good).is(200);
    let refused = server.get_as("/api/v1/en/count?q=storm", &over).is(401);
    assert!(refused.head.contains("www-authenticate: Bearer") && !refused.body.contains(&over));
    server.get_as("/api/v1/en/count?q=storm", "tidings_0").is(401);
    server.get("/metrics").is(403);
    server.get_as("/metrics", &good).is(403);
}

#[test]
fn loopback_clients_need_no_token_by_default() {
    let line = |settings: Settings| {
        let server = TestServer::with(&weather(), settings);
        server.get("/api/v1/en/query?q=storm&filter=site%3Db.example").is(200).json()["lines"][0]["node"].is_array()
    };
    assert!(line(Settings::default()));
    assert!(!line(Settings { loopback_scope: None, ..Settings::default() }));
    assert!(!line(public()));
    assert!(line(Settings { default_availability: Availability::Open, ..public() }));
}
