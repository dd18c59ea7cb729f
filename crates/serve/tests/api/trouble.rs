//! Wrong, hostile and too many requests.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::json;
use tidings_serve::Settings;
use tidings_testing::{WATCHDOG, until};

use crate::test_server::{TestServer, document, received, weather};

#[test]
fn syntax_errors_point_at_their_place() {
    let server = TestServer::new();
    let error = server.get("/api/v1/en/query?q=%5Blema%3D%22x%22%5D").is(400).json();
    assert_eq!((error["parameter"].as_str(), &error["place"]), (Some("q"), &serde_json::json!({ "from": 1, "to": 5 })));
    assert!(error["shown"].as_str().unwrap().contains("^^^^"), "{error}");
    for (path, status, words) in [
        ("query", 400, "q is missing"),
        ("query?q=storm&size=many", 400, "a whole number"),
        ("query?q=storm&size=20000", 400, "as a stream"),
        ("query?q=storm&q=storm", 400, "given twice"),
        ("query?q=storm&colour=red", 400, "unknown parameter `colour`"),
        ("query?q=%FF", 400, "not UTF-8"),
        ("query?q=%5Bword%3D%22%28%22%5D", 400, "parameter"),
        ("count?q=storm&filter=date%3E%3D", 400, "\"parameter\":\"filter\""),
        ("words?regex=(", 400, "\"parameter\":\"regex\""),
        ("timeline?q=storm&by=fortnight", 400, "half-year"),
        ("new-words?since=2020-01-01", 400, "everything would be new"),
        ("new-words?since=soon", 400, "give a day"),
        ("nothing", 404, "openapi.json"),
        ("words?ngram=9", 400, "from 1 to 5"),
    ] {
        let got = server.get(&format!("/api/v1/en/{path}"));
        assert_eq!(got.status, status, "{path}: {got:?}");
        assert!(got.body.contains(words), "{path}: {}", got.body);
    }
    assert!(server.get("/api/v1/xx/count?q=a").is(404).body.contains("available: en"));
    server.get("/../etc/passwd").is(404);
}

#[test]
fn hostile_requests_cost_no_more_than_their_limits() {
    let server = TestServer::new();
    let long = "a".repeat(62 << 10);
    server.get(&format!("/api/v1/en/count?q={long}")).is(414);
    let endless = "a".repeat(1 << 20);
    assert!(matches!(server.get(&format!("/{endless}")).status, 0 | 414 | 431));
    let headers: String = (0..200).map(|number| format!("X-{number}: a\r\n")).collect();
    assert!(matches!(server.send(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")).status, 0 | 431));
    assert!(matches!(server.send("NONSENSE\r\n\r\n").status, 0 | 400));
    server.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").is(405);
    server.send("GET / HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n").is(421);
    let nested = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
    assert!(server.get(&format!("/api/v1/en/count?q={nested}")).status < 500);
    let bomb = "%5Bword%3D%22((a*)*)*b%22%5D%7B1%2C1000%7D";
    assert!(server.get(&format!("/api/v1/en/count?q={bomb}")).status <= 503);
    server.get("/healthz").is(200);
}

/// Text that makes a stream of many megabytes.
fn much() -> String {
    let sentence = "word ".repeat(400) + ".";
    (1..=20).map(|day| document(&format!("2026-01-{day:02}"), "a.example", "", &sentence)).collect()
}

const LONG_STREAM: &str = "GET /api/v1/en/query?q=word&context=200&format=jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn heavy_requests_over_the_limit_get_503_and_others_continue() {
    // No answer below can be due to the time limit: it is longer than the test waits for any answer.
    let limits = Settings { heavy_requests: 1, time_limit: WATCHDOG * 2, ..Settings::default() };
    let server = TestServer::with(&much(), limits);
    // A client that does not read holds the one place there is.
    let mut holder = server.open();
    holder.write_all(LONG_STREAM.as_bytes()).unwrap();
    let mut first = [0; 1];
    holder.read_exact(&mut first).unwrap();
    let heavy = "GET /api/v1/en/words HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let others: Vec<_> = (0..12)
        .map(|_| {
            let mut stream = server.open();
            stream.write_all(heavy.as_bytes()).unwrap();
            stream
        })
        .collect();
    server.get("/api/v1/en/count?q=word").is(200);
    for stream in others {
        let got = received(stream).is(503);
        assert!(got.head.contains("retry-after: ") && got.body.contains("try again"), "{got:?}");
    }
    // The client of the stream hangs up, and its place is free.
    drop(holder);
    until("the place is free", || server.get("/api/v1/en/words").status == 200);
}

#[test]
fn a_stream_past_its_deadline_is_aborted() {
    let limits = Settings { time_limit: Duration::from_millis(1), ..Settings::default() };
    let server = TestServer::with(&much(), limits);
    let got = server.get("/api/v1/en/query?q=word&context=200&format=jsonl");
    // The connection may be aborted before the head of the answer was sent, so that there is no status.
    assert!(matches!(got.status, 0 | 503) || !got.whole, "{} {}", got.status, got.body.len());
    server.get("/healthz").is(200);
}

#[test]
fn answers_that_are_cut_off_say_so() {
    let server = TestServer::with(&weather(), Settings { time_limit: Duration::ZERO, ..Settings::default() });
    let q = "q=%5Bword%3D%22s.*%22%5D+%5B%5D";
    for path in [
        "words",
        "words?ngram=2",
        "keywords?focus=date%3D2026-06",
        "compare?before=date%3D2026-05&after=date%3D2026-06",
        "trends",
        "seasons",
        "steps",
        "bursts",
        "new-words?since=2026-06-01",
        "names",
        "quotes",
        &format!("query?{q}"),
        &format!("count?{q}"),
        &format!("freq?{q}"),
        &format!("colloc?{q}"),
        &format!("timeline?{q}"),
    ] {
        let answer = server.get(&format!("/api/v1/en/{path}")).is(200).json();
        let about = &answer["about"];
        assert_eq!((&about["exactness"]["kind"], &about["exactness"]["limit"]), (&json!("cut-off"), &json!("time")));
        assert!(about["exactness"]["of_tokens"].as_u64() > Some(0), "{path}: {about}");
        assert!(
            about["warning"].as_str().is_some_and(|text| text.starts_with("cut off after 0 s: ")),
            "{path}: {about}"
        );
        assert!(answer["per_million"].is_null() && answer["values"].as_u64().unwrap_or(0) == 0, "{path}: {answer}");
    }
    let timeline = server.get(&format!("/api/v1/en/timeline?{q}&by=month")).is(200).json();
    let points = timeline["points"].as_array().unwrap();
    assert!(points.iter().all(|point| point["hits"].is_null() && point["band"].is_null()), "{timeline}");
    let csv = server.get(&format!("/api/v1/en/freq?{q}&format=csv")).is(200);
    assert!(csv.head.contains(r#""kind":"cut-off""#), "{}", csv.head);
}

#[test]
fn unknown_names_are_refused_with_their_place_and_a_suggestion() {
    let server = TestServer::new();
    for (path, parameter, words) in [
        ("documents?filter=foo%3Dbar", "filter", "unknown field foo"),
        ("compare?before=date%3D2026-05&after=dat%3D2026-06", "after", "did you mean date?"),
        ("query?q=storm+within+%3Cdoc+colour%3Dred%2F%3E", "q", "unknown field colour"),
        ("freq?q=storm&by=colour", "by", "unknown attribute or field"),
        ("query?q=storm&sort=lft", "sort", "did you mean left?"),
        ("query?q=storm&fields=titel", "fields", "did you mean title?"),
        ("count?q=MU%28join+%22a%22+%22b%22%29", "q", "write MU(meet A B -3 3)"),
        ("count?q=climate.*", "q", "write \"climate.*\""),
    ] {
        let refused = server.get(&format!("/api/v1/en/{path}")).is(400).json();
        assert_eq!(refused["parameter"], parameter, "{path}: {refused}");
        assert!(refused["error"].as_str().is_some_and(|text| text.contains(words)), "{path}: {refused}");
        assert!(
            ["q", "filter", "after"].contains(&parameter) == refused["place"]["from"].is_u64(),
            "{path}: {refused}"
        );
    }
}

#[test]
fn the_rate_limit_answers_429_with_retry_after() {
    let settings = Settings { public: true, requests_per_minute: 3, ..Settings::default() };
    let server = TestServer::with(&weather(), settings);
    (0..3).for_each(|_| drop(server.get("/healthz").is(200)));
    let refused = server.get("/healthz").is(429);
    assert!(refused.head.contains("retry-after: "), "{refused:?}");
}

#[test]
fn cors_is_off_by_default() {
    let preflight = "OPTIONS /api/v1/corpora HTTP/1.1\r\nHost: localhost\r\nOrigin: https://page.example\r\nConnection: close\r\n\r\n";
    let server = TestServer::new();
    assert!(!server.send(preflight).is(405).head.contains("access-control"));
    let server =
        TestServer::with(&weather(), Settings { cors: Some("https://page.example".into()), ..Settings::default() });
    let permission = server.send(preflight).is(204);
    assert!(permission.head.contains("access-control-allow-origin: https://page.example"), "{permission:?}");
    assert!(permission.head.contains("access-control-allow-headers: authorization"));
}
