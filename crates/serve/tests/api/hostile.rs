//! Malformed and hostile requests and clients.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use tidings_serve::Settings;

use crate::test_server::{TestServer, weather};

/// Fragments of random requests: some valid, most not.
const PIECES: &[&str] = &[
    "storm",
    "the",
    "[",
    "]",
    "[]",
    "[]{0,50}",
    "{1,100}",
    "(",
    ")",
    "|",
    "&",
    "!",
    "\"",
    "'",
    "=",
    "==",
    "lc=\"s.*\"",
    "word=\"",
    "tag=\"X\"",
    "lemma=\".*\"",
    "((a*)*)*",
    "\\p{L}+",
    ".*.*.*.*",
    "(?i)",
    "within <s/>",
    "containing",
    "<doc site=a.example/>",
    "1:",
    "::",
    "%c",
    "%cd",
    "date=2026",
    "date>=2026-06",
    "date<",
    "site=",
    "title=.*",
    "url!=x",
    " ",
    "\u{0}",
    "\u{202e}",
    "\u{1F600}",
    "é",
    "ſ",
    "İ",
    "99999999999999999999",
    "-1",
    "0",
    "1e400",
    "NaN",
    "true",
    "false",
    "10000",
    "year",
    "day",
    "rss",
    "csv",
    "jsonl",
    "a,b,,c",
    "1-20",
    "../..",
    "<script>",
    "&amp;",
    "\r\n",
];

const PATHS: &[&str] = &[
    "query",
    "parallel",
    "count",
    "freq",
    "colloc",
    "words",
    "keywords",
    "compare",
    "meaning",
    "timeline",
    "trends",
    "seasons",
    "steps",
    "bursts",
    "new-words",
    "names",
    "quotes",
    "documents",
    "documents/0a",
    "documents/0a/context",
    "nothing",
];

const PARAMS: &[&str] = &[
    "q",
    "filter",
    "in",
    "order",
    "size",
    "cursor",
    "context",
    "fields",
    "sort",
    "sample",
    "seed",
    "longest",
    "count",
    "by",
    "attribute",
    "ngram",
    "limit",
    "regex",
    "min",
    "focus",
    "against",
    "before",
    "after",
    "measure",
    "left",
    "right",
    "sentence",
    "fdr",
    "direction",
    "panel",
    "since",
    "position",
    "format",
    "confidence",
    "add",
    "health",
    "to",
    "with",
    "without",
];

fn question(rng: &mut fastrand::Rng) -> String {
    let mut text = |most: usize| -> String {
        let pieces = 1 + rng.usize(0..most);
        let joined: String = (0..pieces).map(|_| PIECES[rng.usize(0..PIECES.len())]).collect();
        joined.bytes().map(|byte| format!("%{byte:02X}")).collect()
    };
    let values: Vec<String> = (0..8).map(|_| text(5)).collect();
    let lang = if rng.u8(0..20) == 0 { "xx" } else { "en" };
    let path = PATHS[rng.usize(0..PATHS.len())];
    let mut query = String::new();
    // Most questions have what they need, so that they get farther than the first check.
    for needed in ["q", "focus", "before", "after", "position"] {
        let takes = match needed {
            "q" => ["query", "parallel", "count", "freq", "colloc", "timeline"].contains(&path),
            "focus" => path == "keywords",
            "position" => path.ends_with("context"),
            _ => ["compare", "meaning"].contains(&path),
        };
        if takes {
            query +=
                &format!("{needed}={}&", if needed == "position" { "3" } else { values[rng.usize(0..8)].as_str() });
        }
    }
    for _ in 0..rng.usize(0..3) {
        query += &format!("{}={}&", PARAMS[rng.usize(0..PARAMS.len())], values[rng.usize(0..8)]);
    }
    format!("/api/v1/{lang}/{path}?{query}")
}

#[test]
fn random_requests_never_break_the_server() {
    let limit = Duration::from_secs(2);
    let server = TestServer::with(&weather(), Settings { time_limit: limit, ..Settings::default() });
    let mut rng = fastrand::Rng::with_seed(8);
    let mut answered = 0;
    for _ in 0..600 {
        let question = question(&mut rng);
        let got = server.get(&question);
        assert!(matches!(got.status, 200 | 400 | 403 | 404 | 422 | 503), "{question}: {got:?}");
        answered += u32::from(got.status == 200);
    }
    assert!(answered > 20, "only {answered} questions were understood: they test nothing");
    server.get("/healthz").is(200);
}

#[test]
fn slow_clients_do_not_block_others() {
    let settings = Settings { most_connections: 20, head_patience: Duration::from_millis(300), ..Settings::default() };
    let server = TestServer::with(&weather(), settings);
    // All connections there are, each with half a question.
    let mut slow: Vec<_> = (0..60).map(|_| server.open()).collect();
    slow.iter_mut().for_each(|stream| drop(stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: loc")));
    server.get("/healthz").is(200);
    for mut stream in slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&rest));
    }
}

#[test]
fn more_connections_than_allowed_wait_and_are_served_when_others_end() {
    let server = TestServer::with(&weather(), Settings { most_connections: 4, ..Settings::default() });
    let idle: Vec<_> = (0..4).map(|_| server.open()).collect();
    let mut waiting: Vec<_> = (0..40).map(|_| server.open()).collect();
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    waiting.iter_mut().for_each(|stream| stream.write_all(request).unwrap());
    drop(idle);
    for stream in waiting {
        assert_eq!(crate::test_server::received(stream).status, 200);
    }
}
