//! `tidings serve`: the real program and a plain client on loopback.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::Value;
use tidings_testing::{WATCHDOG, until};

use crate::ask::weather;
use crate::support::{Corpus, Running};

/// A running server.
pub struct Server {
    running: Running,
    /// Its host and port.
    pub address: String,
}

impl Server {
    pub fn start(corpus: &Corpus, args: &str) -> Server {
        Server::listening(corpus, corpus.start(&format!("serve --port 0 {args}")))
    }

    /// A server that a corpus has launched, as soon as it listens.
    pub fn listening(corpus: &Corpus, mut running: Running) -> Server {
        let mut said = String::new();
        running.until(|| {
            said = running_output(corpus);
            said.contains("listening at")
        });
        let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("it listens");
        Server { address: address.to_owned(), running }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        self.running.signal(signal);
    }

    /// The status, the head and the body of an answer.
    pub fn get(&self, path: &str, token: Option<&str>) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(WATCHDOG)).unwrap();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{token}Connection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    pub fn json(&self, path: &str, token: Option<&str>) -> Value {
        let (status, _, body) = self.get(path, token);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

/// The output of the last run so far.
fn running_output(corpus: &Corpus) -> String {
    let outputs = fs::read_dir(corpus.beside("")).unwrap().map(|entry| entry.unwrap().path());
    let number = |path: &std::path::Path| {
        path.file_name()?.to_str()?.strip_prefix("run-")?.strip_suffix(".out")?.parse::<u32>().ok()
    };
    let last = outputs.filter(|path| number(path).is_some()).max_by_key(|path| number(path));
    fs::read_to_string(last.expect("something ran")).unwrap()
}

#[test]
fn the_corpus_is_served_until_a_signal() {
    let corpus = weather();
    let server = Server::start(&corpus, "");
    let found = server.json("/api/v1/en/query?q=storm&size=2&order=oldest", None);
    // The command line gives the same result.
    let same = corpus.run("--json query storm --size 2 --oldest").ok().json();
    assert_eq!((&found["lines"], &found["about"], &found["hits"]), (&same["lines"], &same["about"], &same["hits"]));
    let timeline = server.json("/api/v1/en/timeline?q=storm", None);
    assert_eq!(timeline["points"], corpus.run("--json timeline storm").ok().json()["points"]);
    assert_eq!(server.get("/api/v1/en/query?q=%5Bx", None).0, 400);
    assert!(server.get("/", None).2.contains("<title>Tidings</title>"));

    // A word compiled while the server runs can be queried a second later.
    crate::clean::put(
        &corpus,
        "2026-07-02",
        "b.0",
        &[crate::ask::article(9999, "a.example", "2026-07-01", "A waterspout came.")],
    );
    for stage in ["clean", "annotate", "compile"] {
        corpus.run(stage).ok();
    }
    until("the new word is found", || server.json("/api/v1/en/count?q=waterspout", None)["hits"] == 1);

    server.running.signal(Signal::TERM);
    let ran = server.running.wait().ok().says("stopped by SIGTERM");
    let access = ran.stderr.lines().find(|line| line.contains("/api/v1/en/query")).expect("requests are logged");
    let access: Value = serde_json::from_str(access).unwrap();
    assert_eq!((access["status"].as_u64(), access["method"].as_str()), (Some(200), Some("GET")));
    assert!(!ran.stderr.contains("storm"), "queries are not logged");
}

#[test]
fn a_public_server_shows_text_to_those_with_a_token() {
    let corpus = weather();
    corpus.run("token add --name over --expires 2020-01-01").ok();
    let secret =
        corpus.run("--json token add --name reader --expires 90d").ok().json()["token"].as_str().unwrap().to_owned();
    corpus.run("token add --name reader").exits(1).says("token reader already exists");
    corpus.run("token list").ok().says("reader").says("(expired)");
    assert!(!fs::read_to_string(corpus.home().join("tokens.tsv")).unwrap().contains(&secret));

    let server = Server::start(&corpus, "--public");
    let path = "/api/v1/en/query?q=storm&size=5";
    let anybody = server.json(path, None);
    // Hidden documents are counted in whole groups; 2 of the 126 hits are in documents without one.
    assert_eq!((anybody["hits"].as_u64(), anybody["withheld"].as_u64()), (Some(124), Some(124)));
    assert!(anybody["lines"].as_array().unwrap().is_empty());
    let reader = server.json(path, Some(&secret));
    assert_eq!((reader["hits"].as_u64(), reader["lines"].as_array().map(Vec::len)), (Some(124), Some(5)));
    assert_eq!(server.json(path, Some(&secret))["withheld"], 0);
    corpus.run("token revoke reader").ok();
    until("the token is revoked", || server.get(path, Some(&secret)).0 == 401);
    server.running.signal(Signal::INT);
    let ran = server.running.wait().ok();
    assert!(!ran.stderr.contains(&secret) && ran.stderr.contains("\"token\":\"reader\""), "{}", ran.stderr);
    corpus.run("token revoke reader").exits(1).says("no token named reader");
}

#[test]
fn a_server_that_cannot_listen_is_an_error() {
    let corpus = crate::clean::corpus();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    corpus.run(&format!("serve --port {port}")).exits(1).says("cannot listen at").says("--port");
}
