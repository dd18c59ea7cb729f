//! Saved searches and their webhooks.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use crate::ask::weather;
use crate::support::Corpus;

/// A server that answers requests with these statuses, one after the other; returns its URL and the bodies it received.
fn hook(statuses: &'static [u16]) -> (String, JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind((Ipv4Addr::new(127, 1, 0, 250), 0)).unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let answer = |status: &u16| {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let head = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            reader.into_inner().write_all(head.as_bytes()).unwrap();
            serde_json::from_slice(&body).unwrap()
        };
        statuses.iter().map(answer).collect()
    });
    (url, server)
}

/// Saves a search at a time before the documents were downloaded.
fn save(corpus: &Corpus, args: &str) {
    corpus.run_at("2026-06-30T00:00:00Z".parse().unwrap(), &format!("searches add {args}")).ok().says("saved ");
}

#[test]
fn a_run_notifies_the_webhook_of_new_hits_once() {
    let corpus = weather();
    corpus.run("searches list").ok().says("no saved searches");
    let (url, server) = hook(&[404, 200]);
    save(&corpus, &format!("storms storm --lang en --filter site=a.example --webhook {url}"));
    save(&corpus, "rain rain --lang en");

    corpus.run("run --stages compile").exits(3).says("the webhook of the saved search storms was not notified");
    corpus.run("searches list").ok().says("HTTP status 404");
    let status = corpus.run("--json status").json();
    assert_eq!(status["failing_webhooks"][0]["search"], "storms");

    let told = corpus.run("--json run --stages compile").ok().json();
    assert_eq!(told["webhooks"][0]["done"], true);
    let listed = corpus.run("--json searches list").ok().json();
    assert_eq!((&listed[0]["failure"], &listed[1]["webhook"]), (&"".into(), &"".into()));
    assert_ne!(listed[0]["notified"], "");

    // Nothing is new: a third request would not be answered.
    let told = corpus.run("--json run --stages compile").ok().json();
    assert!(told["webhooks"].is_null(), "{told}");

    let bodies = server.join().unwrap();
    assert_eq!(bodies[0], bodies[1], "the same hits again, because the first request was refused");
    let body = &bodies[1];
    assert_eq!((&body["search"], &body["query"], body["hits"].as_u64()), (&"storms".into(), &"storm".into(), Some(42)));
    assert_eq!(body["items"].as_array().unwrap().len(), 10);
    assert!(body["items"][0]["lines"][0].as_str().unwrap().contains("storm"), "{body}");
    assert_eq!(body["items"][0]["site"], "a.example");
}

#[test]
fn addresses_that_are_not_public_are_refused_and_wrong_searches_are_wrong_usage() {
    let corpus = weather();
    save(&corpus, "storms storm --lang en --webhook http://127.0.0.1:9/");
    corpus.run("run --stages compile").exits(3).says("storms was not notified");
    corpus.run("searches add storms [lemma= --lang en").exits(2).says("invalid query");
    corpus.run("searches add storms storm --lang en --webhook mailto:me").exits(2).says("not a valid http");
    corpus.run("searches remove rain").exits(2).says("there are storms");
    corpus.run("searches remove storms").ok().says("removed storms");
    corpus.run("run --stages compile").ok();
}
