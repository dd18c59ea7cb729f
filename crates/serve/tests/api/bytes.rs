//! Answers on the wire: packed, not sent twice, or only their heads; and new words as a feed.

use std::io::Read as _;

use tidings_serve::Settings;

use crate::test_server::{Got, TestServer, document, weather};

const GZIP: &str = "Accept-Encoding: gzip, deflate\r\n";

fn unpacked(got: &Got) -> String {
    assert_eq!(got.header("content-encoding"), Some("gzip"), "{}", got.head);
    let mut text = String::new();
    flate2::read::GzDecoder::new(&got.bytes[..]).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn responses_are_compressed_if_the_client_accepts_gzip() {
    let server = TestServer::new();
    for path in [
        "/api/v1/en/query?q=storm",
        "/api/v1/en/words?limit=10000",
        "/api/v1/en/query?q=storm&format=csv",
        "/api/v1/en/query?q=storm&format=jsonl",
        "/api/openapi.json",
        "/app.js",
    ] {
        let plain = server.get(path).is(200);
        assert_eq!(plain.header("content-encoding"), None);
        let packed = server.ask("GET", path, GZIP).is(200);
        assert!(packed.whole && packed.bytes.len() < plain.bytes.len() / 2, "{path}");
        assert_eq!(unpacked(&packed), plain.body, "{path}");
        assert!(packed.header("vary").unwrap().contains("Accept-Encoding"));
    }
    assert_eq!(server.ask("GET", "/healthz", GZIP).header("content-encoding"), None);
    assert_eq!(server.ask("GET", "/app.js", "Accept-Encoding: gzip;q=0\r\n").header("content-encoding"), None);
}

#[test]
fn a_matching_etag_gets_304_until_the_corpus_changes() {
    let server = TestServer::new();
    for path in ["/api/v1/en/query?q=storm", "/api/v1/en/words", "/api/v1/corpora", "/", "/api/v1/feeds"] {
        let tag = server.get(path).is(200).header("etag").unwrap().to_owned();
        let again = server.ask("GET", path, &format!("If-None-Match: \"other\", {tag}\r\n{GZIP}")).is(304);
        assert_eq!((again.bytes.len(), again.header("etag")), (0, Some(tag.as_str())), "{path}");
        assert_eq!(server.ask("GET", path, "If-None-Match: \"other\"\r\n").is(200).header("etag"), Some(tag.as_str()));
    }
    let path = "/api/v1/en/count?q=storm";
    let tag = server.get(path).header("etag").unwrap().to_owned();
    server.add(&document("2026-07-01", "a.example", "", "The storm came again ."));
    server.until_generation(2);
    let changed = server.ask("GET", path, &format!("If-None-Match: {tag}\r\n")).is(200);
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
    // What was not counted to its end is worth nothing later.
    let hasty = TestServer::with(&weather(), Settings { time_limit: std::time::Duration::ZERO, ..Settings::default() });
    let counted = "/api/v1/en/count?q=%5Bword%3D%22s.*%22%5D+%5B%5D";
    let tag = hasty.get(counted).is(200).header("etag").unwrap().to_owned();
    let again = hasty.ask("GET", counted, &format!("If-None-Match: {tag}\r\n"));
    assert!(again.status == 304 || again.status == 200);
}

#[test]
fn etags_differ_by_scope() {
    let server = TestServer::with(&weather(), Settings { public: true, ..Settings::default() });
    let now = jiff::Timestamp::now();
    let (token, secret) =
        tidings_store::tokens::Token::make("reader", tidings_store::tokens::Scope::Text, now, None).unwrap();
    tidings_store::tokens::write(&server.home(), vec![token]).unwrap();
    let path = "/api/v1/en/query?q=storm&filter=site%3Db.example";
    let seen = server.get_as(path, &secret).is(200).header("etag").unwrap().to_owned();
    server.ask("GET", path, &format!("If-None-Match: {seen}\r\n")).is(200);
}

#[test]
fn head_requests_have_no_body() {
    let server = TestServer::new();
    for path in ["/", "/api/v1/en/count?q=storm", "/api/v1/en/query?q=storm&format=csv", "/healthz"] {
        let (whole, head) = (server.get(path).is(200), server.ask("HEAD", path, "").is(200));
        assert!(head.bytes.is_empty(), "{path}");
        assert_eq!(head.header("content-type"), whole.header("content-type"));
        assert_eq!(head.header("content-length"), whole.header("content-length"));
    }
    server.ask("HEAD", "/nothing", "").is(404);
}

#[test]
fn new_words_are_a_valid_rss_feed() {
    let server = TestServer::new();
    let path = "/api/v1/en/new-words?since=2026-06-01&format=rss";
    let got = server.get(path).is(200);
    assert_eq!(got.header("content-type"), Some("application/rss+xml; charset=utf-8"));
    let feed = tidings_feeds::read(&got.bytes, Some("application/rss+xml"), "http://localhost/").unwrap();
    assert_eq!((feed.title.as_str(), feed.self_link), ("New words (en)", Some(format!("http://localhost{path}"))));
    assert_eq!(feed.entries.len(), 1, "{}", got.body);
    let entry = &feed.entries[0];
    assert_eq!((entry.title.as_str(), feed.repairs.len()), ("heatdome", 0), "{entry:?}");
    assert_eq!(entry.published, Some("2026-06-02T00:00:00Z".parse().unwrap()));
    assert_eq!(entry.link.as_deref(), Some("http://localhost/?lang=en&q=heatdome"));
    assert!(got.header("etag").is_some());
    server.get("/api/v1/en/words?format=rss").is(400);
}
