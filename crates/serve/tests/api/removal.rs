//! Takedowns while the server runs: what is removed is in no answer from the tombstone on.

use tidings_index::{Settings as IndexSettings, Writer};
use tidings_serve::Settings;
use tidings_store::removed::{Removed, Tombstone, TombstoneKind};

use crate::test_server::{TestServer, document};

const SECRET: &str = "The vault number is xylophone marmalade .";

fn text() -> String {
    let mut text = document("2026-01-01", "secret.example", "open", SECRET);
    (2..20)
        .for_each(|day| text += &document(&format!("2026-01-{day:02}"), "a.example", "open", "The xylophone plays ."));
    text
}

/// Writes a tombstone of a host, as `tidings remove` does before anything else.
fn begin(server: &TestServer) -> Removed {
    let mut removed = Removed::read(&server.home()).unwrap();
    let (kind, what) = (TombstoneKind::Host, "secret.example".to_owned());
    removed.begin(Tombstone { kind, what, ..Tombstone::default() });
    removed.write(&server.home()).unwrap();
    removed
}

/// Deletes the documents from the index and finishes the tombstone.
fn finish(server: &TestServer, mut removed: Removed) {
    let mut writer = Writer::open(&server.home().index_of("en"), IndexSettings::default()).unwrap();
    writer.delete_where(|url| removed.covers(url).is_some()).unwrap();
    writer.expunge().unwrap();
    removed.finish("2026-05-05T00:00:00Z");
    removed.write(&server.home()).unwrap();
}

#[test]
fn a_removed_text_is_in_no_answer_from_the_tombstone_on() {
    let server = TestServer::with(&text(), Settings::default());
    server.add(&document("2026-02-01", "a.example", "open", "Later news ."));
    server.until_generation(2);
    let paths = [
        "query?q=xylophone&size=100&order=oldest",
        "query?q=xylophone&size=100&order=oldest&format=jsonl",
        "words?limit=10000",
        "documents?size=100",
        "colloc?q=vault&min=1",
    ];
    let get = |path: &str| server.get(&format!("/api/v1/en/{path}"));
    let tag = get(paths[0]).header("etag").unwrap().to_owned();
    let before = paths.map(|path| get(path).is(200).body);
    assert!(before[0].contains("marmalade") && before[2].contains("marmalade") && before[3].contains("secret.example"));
    let removed = begin(&server);
    for path in paths {
        let body = get(path).is(200).body;
        assert!(!body.contains("marmalade") && !body.contains("secret.example"), "{path}: {body}");
    }
    // A client that has the former answer is sent the new one.
    let again = server.ask("GET", &format!("/api/v1/en/{}", paths[0]), &format!("If-None-Match: {tag}\r\n"));
    assert!(!again.is(200).body.contains("marmalade"));
    let gone = get("query?q=xylophone&cursor=1-0").is(410);
    assert!(gone.body.contains("request the first page again") && !gone.body.contains("marmalade"), "{gone:?}");
    finish(&server, removed);
    server.until_generation(4);
    get("query?q=xylophone&cursor=2-0").is(410);
    assert_eq!(get("count?q=xylophone").is(200).json()["hits"], 18);
}

#[test]
fn a_stream_that_began_before_a_removal_is_aborted() {
    let many: String =
        (0..2000).map(|number| document("2026-01-01", &format!("s{number}.example"), "open", SECRET)).collect();
    let server = TestServer::with(&many, Settings::default());
    let request = "GET /api/v1/en/query?q=[]&format=jsonl&context=100&order=oldest HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let request = request.replace("[]", "%5B%5D");
    let mut stream = server.open();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    // The answer has begun, and waits for its reader.
    let mut first = [0; 4096];
    std::io::Read::read_exact(&mut stream, &mut first).unwrap();
    begin(&server);
    let mut rest = Vec::new();
    let _ = std::io::Read::read_to_end(&mut stream, &mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "the stream ended as if it were complete");
}
