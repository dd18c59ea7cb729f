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
pub fn token(server: &TestServer, scope: Scope, expires_in_days: i64) -> String {
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
    // Of each hidden site with 72 documents, seven groups of ten are counted; the last two documents have two hits.
    assert_eq!((anybody["hits"].as_u64(), anybody["withheld"].as_u64()), (Some(122), Some(80)));
    let rights = &anybody["about"]["rights"];
    let counts =
        ["hidden_documents", "counted_documents", "group_documents"].map(|name| rights[name].as_u64().unwrap());
    assert_eq!(counts, [144, 140, 10]);
    assert!(anybody["rewrites"][0].as_str().unwrap().contains("144 documents may not be read without a token"));
    let lines = anybody["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 30);
    assert!(lines.iter().all(|line| line["fields"]["site"] == "a.example" && line["node"][0]["word"] == "storm"));
    for (format, shown) in [("csv", ",storm,"), ("jsonl", "\"word\":\"storm\"")] {
        let body = server.get(&format!("{path}&format={format}")).is(200).body;
        assert_eq!(body.matches(shown).count(), 30, "{body}");
        assert!(!body.contains("b.example"), "{body}");
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
    assert_eq!(seen, [true, true]);
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
        "sketch-diff?lemma=weasels&other=storm&min=1",
        "group?q=weasels&by=lc,right1&limit=10000",
        "freq?q=%5B%5D%5B%5D&by=word&limit=10000",
    ];
    for path in small {
        let answer = server.get(&format!("/api/v1/en/{path}")).is(200);
        assert!(!answer.body.contains("dance"), "{path}");
        assert!(answer.json()["rewrites"][0].as_str().unwrap().contains("without a token"));
    }
    let sorted = server.get("/api/v1/en/query?q=storm&sort=right&size=100").is(200).json();
    assert!(sorted["lines"].as_array().unwrap().iter().all(|line| line["fields"]["site"] == "a.example"));
    let open =
        TestServer::with(&document("2026-05-05", "z.example", "open", "Purple weasels dance quietly ."), public());
    assert!(open.get("/api/v1/en/words?ngram=3&min=1").is(200).body.contains("weasels dance quietly"));
}

#[test]
fn hidden_documents_are_counted_in_whole_groups_that_lie_in_one_cell() {
    let server = TestServer::with(&weather(), public());
    let hits = |path: &str| server.get(&format!("/api/v1/en/{path}")).is(200).json()["hits"].as_u64().unwrap();
    // The first ten documents of b.example are those of January 2 to 20.
    assert_eq!(hits("count?q=came&filter=site%3Db.example+date%3C%3D2026-01-20"), 10);
    assert_eq!(hits("count?q=came&filter=site%3Db.example+date%3C%3D2026-01-19"), 0);
    assert_eq!(hits("count?q=came&filter=site%3Db.example+date!%3D2026-01-20"), 60);
    assert_eq!(hits("count?q=%22came%22+%22from%22&filter=site%3Db.example"), 0);
    assert_eq!(hits("count?q=came+within+%3Cs/%3E&filter=site%3Db.example"), 0);
    let january = server.get("/api/v1/en/timeline?q=came&by=month&filter=site%3Db.example").is(200).json();
    let months: Vec<u64> = january["points"].as_array().unwrap().iter().map(|p| p["hits"].as_u64().unwrap()).collect();
    // Groups of ten among twelve documents a month: those that begin in one month and end in the next are left out.
    assert_eq!(months, [10, 0, 0, 0, 10, 10]);
    assert_eq!(hits("timeline?q=came&by=day&filter=site%3Db.example"), 0);
    let sites = server.get("/api/v1/en/freq?q=came&by=site").is(200).json();
    let rows: Vec<(&str, u64)> = sites["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["value"].as_str().unwrap(), row["hits"].as_u64().unwrap()))
        .collect();
    assert_eq!(rows, [("a.example", 72), ("b.example", 70), ("c.example", 70)]);
    assert_eq!(hits("freq?q=came&by=id&filter=site%3Db.example"), 0);
}

#[test]
fn lines_of_a_kwic_document_are_limited_per_day_and_client() {
    let text = document("2026-01-02", "b.example", "kwic", "One two three four five six .");
    let settings = Settings { kwic_windows_per_day: 3, ..public() };
    let server = TestServer::with(&text, settings);
    let (one, other) = (token(&server, Scope::Text, 1), token(&server, Scope::Text, 1));
    let lines = |query: &str, token: &str| {
        let answer = server.get_as(&format!("/api/v1/en/query?q={query}&context=2"), token).is(200).json();
        answer["lines"].as_array().unwrap().len()
    };
    assert_eq!((lines("One", &one), lines("two", &one), lines("three", &one)), (1, 1, 1));
    assert_eq!((lines("four", &one), lines("one", &one), lines("four", &other)), (0, 1, 1));
    let id = server.get("/api/v1/en/documents").json()["rows"][0]["id"].as_str().unwrap().to_owned();
    let around = |position: u64| {
        server.get_as(&format!("/api/v1/en/documents/{id}/context?position={position}"), &one).is(200).json()["restricted"]
            == true
    };
    assert!(around(5) && !around(1));
    // Counts of one document are none, whatever the query: the document is no group.
    let answer = server.get_as(&format!("/api/v1/en/colloc?q=%5B%5D&min=1&right=1000&filter=id%3D{id}"), &one).json();
    assert!(answer["rows"].as_array().unwrap().is_empty(), "{answer}");
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
