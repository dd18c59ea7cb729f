//! Changes that the owner makes: saved searches with their feeds, and virtual corpora; hits in documents.

use serde_json::json;
use tidings_serve::Settings;
use tidings_store::tokens::Scope;

use crate::rights::token;
use crate::test_server::{Got, TestServer, weather};

pub const JSON: &str = "Content-Type: application/json\r\n";

/// Sends a change with a body.
pub fn change(server: &TestServer, method: &str, path: &str, headers: &str, body: &str) -> Got {
    let length = body.len();
    server.send(&format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    ))
}

#[test]
fn the_owner_saves_a_search_and_reads_its_feed() {
    let server = TestServer::new();
    let search = json!({ "name": "storms", "lang": "en", "q": "storm", "filter": "site=a.example" }).to_string();
    change(&server, "POST", "/api/v1/searches", JSON, &search).is(200);
    let rows = server.get("/api/v1/searches").is(200).json()["rows"].clone();
    assert_eq!((rows[0]["name"].as_str(), rows[0]["q"].as_str()), (Some("storms"), Some("storm")));
    let feed = server.get("/api/v1/searches/storms/feed").is(200);
    assert!(feed.header("content-type").unwrap().starts_with("application/rss+xml"));
    assert_eq!(feed.body.matches("<item>").count(), 42, "one item for each document: {}", feed.body);
    assert!(feed.body.contains("The storm came from the heatdome sea"), "{}", feed.body);
    let json = server.get("/api/v1/searches/storms/feed?format=json").is(200).json();
    assert_eq!(json["items"].as_array().unwrap().len(), 42);
    assert_eq!(json["items"][0]["date_published"], "2026-06-24T00:00:00Z");
    // Saving under the same name replaces.
    change(&server, "POST", "/api/v1/searches", JSON, &search.replace("site=a.example", "")).is(200);
    assert_eq!(server.get("/api/v1/searches").json()["rows"].as_array().unwrap().len(), 1);
    change(&server, "DELETE", "/api/v1/searches/storms", JSON, "{}").is(200);
    change(&server, "DELETE", "/api/v1/searches/storms", JSON, "{}").is(404);
    server.get("/api/v1/searches/storms/feed").is(404);
}

#[test]
fn wrong_searches_are_refused_with_the_reason() {
    let server = TestServer::new();
    let save = |body: serde_json::Value| change(&server, "POST", "/api/v1/searches", JSON, &body.to_string());
    let good = json!({ "name": "a", "lang": "en", "q": "storm" });
    for (key, value, parameter) in [("name", "../a", "name"), ("q", "[lc=", "q"), ("filter", "site~", "filter")] {
        let mut wrong = good.clone();
        wrong[key] = value.into();
        assert_eq!(save(wrong).is(400).json()["parameter"], parameter);
    }
    save(json!({ "name": "a", "lang": "xx", "q": "storm" })).is(404);
    save(json!({ "name": "a" })).is(400);
    change(&server, "POST", "/api/v1/searches", JSON, &"x".repeat(100_000)).is(413);
    assert!(server.get("/api/v1/searches").json()["rows"].as_array().unwrap().is_empty());
}

#[test]
fn only_the_owner_on_the_same_machine_makes_changes() {
    let body = json!({ "name": "a", "lang": "en", "q": "storm" }).to_string();
    let server = TestServer::new();
    let other = |headers: &str| change(&server, "POST", "/api/v1/searches", headers, &body);
    other(&format!("{JSON}Origin: https://evil.example\r\n")).is(403);
    other("Content-Type: text/plain\r\n").is(403);
    other(&format!("{JSON}Origin: http://localhost\r\n")).is(200);
    change(&server, "POST", "/api/v1/en/query", JSON, &body).is(405);

    let public = TestServer::with(&weather(), Settings { public: true, ..Settings::default() });
    let admin = token(&public, Scope::Admin, 1);
    change(&public, "POST", "/api/v1/searches", JSON, &body).is(403);
    change(&public, "POST", "/api/v1/searches", &format!("{JSON}Authorization: Bearer {admin}\r\n"), &body).is(403);
    public.get("/api/v1/searches").is(403);
    public.get("/api/v1/searches/a/feed").is(403);
    assert_eq!(public.get("/api/v1/server").is(200).json()["owner"], false);
    assert_eq!(server.get("/api/v1/server").is(200).json()["owner"], true);
    let limited = TestServer::with(&weather(), Settings { loopback_scope: Some(Scope::Text), ..Settings::default() });
    change(&limited, "POST", "/api/v1/searches", JSON, &body).is(403);
}

#[test]
fn virtual_corpora_are_saved_and_deleted() {
    let server = TestServer::new();
    let corpus = json!({ "name": "spring", "filter": "date>=2026-03 date<=2026-05" }).to_string();
    change(&server, "POST", "/api/v1/corpora-named", JSON, &corpus).is(200);
    assert_eq!(server.get("/api/v1/en/documents?in=spring").is(200).json()["documents"], 108);
    change(&server, "DELETE", "/api/v1/corpora-named/spring", JSON, "{}").is(200);
    server.get("/api/v1/en/documents?in=spring").is(404);
}

#[test]
fn documents_with_hits_are_listed_and_their_hits_are_marked() {
    let server = TestServer::new();
    let found = server.get("/api/v1/en/documents?q=heatdome&size=3").is(200).json();
    assert_eq!(found["documents"], 36);
    assert_eq!(found["rows"][0]["hits"], 1);
    let id = found["rows"][0]["id"].as_str().unwrap();
    let document = server.get(&format!("/api/v1/en/documents/{id}?q=%22storm%22+%5B%5D%2B+%22sea%22")).is(200).json();
    let hit = &document["hits"][0];
    let text: String = document["paragraphs"][0].as_str().unwrap().to_owned();
    let [start, end] = ["start", "end"].map(|name| hit[name].as_u64().unwrap() as usize);
    let marked: String = text.chars().skip(start).take(end - start).collect();
    assert_eq!(marked, "storm came from the heatdome sea");
    assert_eq!(server.get("/api/v1/en/documents?q=weasels").is(200).json()["documents"], 0);

    // Whoever may not read a document does not learn whether it has a word.
    let public = TestServer::with(&weather(), Settings { public: true, ..Settings::default() });
    let found = public.get("/api/v1/en/documents?q=heatdome&size=100").is(200).json();
    assert_eq!(found["documents"], 12);
    assert!(found["rows"].as_array().unwrap().iter().all(|row| row["fields"]["site"] == "a.example"));
}

#[test]
fn sites_are_listed_by_documents_and_the_owner_reads_everything() {
    let server = TestServer::new();
    let sites = server.get("/api/v1/sites?limit=2").is(200).json();
    assert_eq!((sites["sites"].as_u64(), sites["rows"].as_array().unwrap().len()), (Some(3), 2));
    assert_eq!(sites["rows"][0]["documents"], 72);
    let hidden = server.get("/api/v1/en/documents?filter=site%3Db.example&size=1").is(200).json();
    let path = format!("/api/v1/en/documents/{}", hidden["rows"][0]["id"].as_str().unwrap());
    assert!(server.get(&path).is(200).json()["paragraphs"].is_array(), "the owner on the same machine reads all texts");
}

#[test]
fn the_owner_decides_about_new_words_and_the_decisions_hold() {
    let server = TestServer::new();
    let words = |status: &str| {
        let path = format!(
            "/api/v1/en/neologisms?since=2026-04-01&fdr=1&min_documents=1&min_days=1&min_sites=1&status={status}"
        );
        let rows = server.get(&path).is(200).json()["rows"].clone();
        rows.as_array().unwrap().iter().map(|row| row["value"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let candidates = words("open");
    let word = candidates.first().expect("the weather has new words").clone();
    let decide = |status: &str, note: &str| {
        let body = json!({ "lang": "en", "word": word, "status": status, "note": note }).to_string();
        change(&server, "POST", "/api/v1/decisions", JSON, &body).is(200);
    };
    decide("later", "ask again");
    decide("accepted", "two papers");
    assert!(!words("open").contains(&word));
    assert_eq!(words("accepted"), std::slice::from_ref(&word));
    let history = server.get("/api/v1/decisions").is(200).json();
    let notes: Vec<&str> =
        history["rows"].as_array().unwrap().iter().map(|row| row["note"].as_str().unwrap()).collect();
    assert_eq!(notes, ["two papers", "ask again"], "the newest first");
    for (key, value) in [("status", "maybe"), ("word", " "), ("variant_of", &word)] {
        let mut wrong = json!({ "lang": "en", "word": word, "status": "open" });
        wrong[key] = value.into();
        change(&server, "POST", "/api/v1/decisions", JSON, &wrong.to_string()).is(400);
    }
    decide("open", "");
    assert_eq!(words("open"), candidates);
    let list = json!({ "lang": "en", "list": "known", "words": [word] }).to_string();
    change(&server, "POST", "/api/v1/word-lists", JSON, &list).is(200);
    assert!(!words("open").contains(&word));
    change(&server, "DELETE", "/api/v1/word-lists/known", JSON, "{}").is(200);
    change(&server, "DELETE", "/api/v1/word-lists/known", JSON, "{}").is(404);
    assert_eq!(words("open"), candidates);
}

#[test]
fn decisions_are_made_and_read_by_the_owner_only() {
    let body = json!({ "lang": "en", "word": "heatdome", "status": "accepted", "note": "private" }).to_string();
    let server = TestServer::new();
    let evil = format!("{JSON}Origin: https://evil.example\r\n");
    for path in ["/api/v1/decisions", "/api/v1/word-lists"] {
        change(&server, "POST", path, &evil, &body).is(403);
        change(&server, "POST", path, "Content-Type: text/plain\r\n", &body).is(403);
    }
    let public = TestServer::with(&weather(), Settings { public: true, ..Settings::default() });
    let admin = token(&public, Scope::Admin, 1);
    let signed = format!("{JSON}Authorization: Bearer {admin}\r\n");
    change(&public, "POST", "/api/v1/decisions", &signed, &body).is(403);
    public.get("/api/v1/decisions").is(403);
    let found = public.get("/api/v1/en/neologisms?status=all").is(200);
    assert!(!found.body.contains("private"));
}
