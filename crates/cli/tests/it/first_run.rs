//! The first run, which the owner of an empty home starts from the page: from addresses of newspapers to a concordance.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use tidings_simweb::{Hiding, Spec};
use tidings_testing::{WATCHDOG, until};

use crate::browser::Browser;
use crate::serve::Server;
use crate::support::Corpus;

const PATH: &str = "/api/v1/first-run";

/// A home without feeds, and newspapers that declare theirs.
fn empty_home() -> Corpus {
    let hiding = vec![Hiding::Declared];
    let languages = vec!["en".to_owned()];
    let corpus = Corpus::new(Spec { sites: 2, items_per_feed: 6, hiding, languages, ..Spec::default() });
    fs::write(corpus.home().join("feeds.txt"), "# none yet\n").unwrap();
    corpus
}

/// The front pages or articles of the newspapers, as a user would copy them.
fn addresses(corpus: &Corpus) -> Vec<String> {
    corpus.web.sites().map(|site| site.listed().next().unwrap().url).collect()
}

/// Sends a change as the page does; the status and the answer.
fn send(server: &Server, method: &str, body: &Value) -> (u16, Value) {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    let body = body.to_string();
    let request = format!(
        "{method} {PATH} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        server.address,
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

#[test]
fn addresses_become_feeds_articles_and_an_index() {
    let corpus = empty_home();
    let server = Server::start(&corpus, "");
    let progress = || server.json(PATH, None);
    assert_eq!((&progress()["step"], &progress()["feeds"]), (&json!("idle"), &json!(0)));
    let (status, refused) = send(&server, "POST", &json!({ "sites": [" "] }));
    assert_eq!((status, refused["error"].as_str().unwrap().contains("at least one newspaper")), (409, true));
    assert_eq!(send(&server, "POST", &json!({ "pages": [] })).0, 400);

    let contact = "mailto:me@example.org";
    assert_eq!(send(&server, "POST", &json!({ "contact": contact, "sites": addresses(&corpus) })).0, 200);
    until("the first run has ended", || progress()["step"] == "done" || progress()["step"] == "failed");
    let ended = progress();
    assert_eq!((&ended["step"], &ended["error"]), (&json!("done"), &Value::Null), "{ended}");
    assert_eq!((&ended["feeds"], &ended["has_contact"]), (&json!(2), &json!(true)));
    assert!(fs::read_to_string(corpus.home().join("tidings.toml")).unwrap().contains(contact));
    until("the server has the new index", || {
        let corpora = server.json("/api/v1/corpora", None);
        corpora["corpora"].as_array().unwrap().iter().any(|row| row["documents"].as_u64() > Some(5))
    });
    // A saved file names the state of the corpus that it comes from.
    let digest = || server.json("/api/v1/corpora", None)["corpora"][0]["digest"].as_str().map(str::to_owned);
    until("the checksum is known", || digest().is_some());
    let name = format!("filename=\"tidings-words-en-{}.csv\"", &digest().unwrap()[..12]);
    let (_, head, _) = server.get("/api/v1/en/words?format=csv", None);
    assert!(head.contains(&name), "{head}");
    corpus.is_tidy();
    // The same home by the command line: everything is there already.
    corpus.run("run").ok();
}

#[test]
fn others_cannot_start_a_run() {
    let corpus = empty_home();
    let server = Server::start(&corpus, "--public");
    assert_eq!(server.get(PATH, None).0, 403);
    assert_eq!(send(&server, "POST", &json!({ "sites": addresses(&corpus) })).0, 403);
    let admin = corpus.run("--json token add --name admin --scope admin").ok().json()["token"].clone();
    until("the server knows the token", || server.get("/api/v1/server", admin.as_str()).0 == 200);
    assert_eq!(server.get(PATH, admin.as_str()).0, 403, "only on the same machine");
}

#[test]
fn a_reader_pastes_newspapers_into_the_page_and_reads_their_articles() {
    let Some(mut browser) = Browser::start() else { return };
    let corpus = empty_home();
    let server = Server::start(&corpus, "");
    let own = format!("http://{}/", server.address);
    browser.open(&own);
    assert!(browser.text("main").contains("Start a corpus"));
    browser.eval(&format!(
        "document.querySelector('#first-sites').value = {}; document.querySelector('#first-contact').value = \
         'me@example.org'; document.querySelector('.first-start').requestSubmit()",
        json!(addresses(&corpus).join("\n"))
    ));
    // The page shows the corpus as soon as there is one.
    browser.until("document.querySelectorAll('.cards .card').length >= 3");
    browser.open(&format!("{own}?view=documents"));
    browser.until("document.querySelectorAll('#results tbody tr').length > 3");
    // The form is still there for more newspapers.
    browser.open(&format!("{own}?view=collection"));
    browser.until("!!document.querySelector('.first-start')");
    let complaints = browser.complaints(&own, &[]);
    assert!(complaints.is_empty(), "{complaints:#?}");
}
