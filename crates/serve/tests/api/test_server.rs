//! A server over a small corpus, with a plain HTTP client.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;
use tempfile::TempDir;
use tidings_formats::vertical::Reader;
use tidings_index::{Snapshot, Writer};
use tidings_serve::{Server, Settings};
use tidings_store::Home;
use tidings_store::document_pairs::{self, DocumentPair, PairOrigin};
use tidings_store::frozen::{self, FrozenRecord};
use tidings_testing::{WATCHDOG, until};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// A home with an index, and a server over it.
pub struct TestServer {
    folder: TempDir,
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    runtime: Option<Runtime>,
}

/// A response as the client received it.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub head: String,
    pub bytes: Vec<u8>,
    /// The same as text.
    pub body: String,
    /// The body is complete.
    pub whole: bool,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    #[track_caller]
    pub fn is(self, status: u16) -> Got {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

/// A document of three sentences. `availability` may be empty.
pub fn document(day: &str, site: &str, availability: &str, sentence: &str) -> String {
    let mut text =
        format!("<doc id=\"{day}{site}\" url=\"http://{site}/{day}\" title=\"News\" date=\"{day}\" site=\"{site}\"");
    if !availability.is_empty() {
        let _ = write!(text, " availability=\"{availability}\"");
    }
    text.push_str(">\n<p>\n");
    for sentence in [sentence, "It was a quiet morning in the town .", "Nobody expected anything of it ."] {
        text.push_str("<s>\n<quote kind=\"direct\" speaker=\"Ann Lee\" verb=\"say\">\n<ne name=\"Ann Lee\" type=\"PER\" tokens=\"1\"/>\n");
        sentence.split(' ').for_each(|word| text.extend([word, "\t", &word.to_lowercase(), "\t", tag(word), "\n"]));
        text.push_str("</quote>\n</s>\n");
    }
    text.push_str("</p>\n</doc>\n");
    text
}

/// Parts of speech enough for a sketch.
fn tag(word: &str) -> &'static str {
    match word {
        "storm" | "sea" | "morning" | "town" | "weasels" => "NOUN",
        "came" | "expected" | "dance" => "VERB",
        "quiet" => "ADJ",
        _ => "X",
    }
}

/// Six months of three sites; the storm grows, and in June a word is new.
pub fn weather() -> String {
    let mut text = String::new();
    for month in 1..=6 {
        for day in 1..=12 {
            for site in ["a.example", "b.example", "c.example"] {
                let sentence = match (day <= 2 * month, month) {
                    (_, 6) => "The storm came from the heatdome sea .",
                    (true, _) => "The storm came from the sea .",
                    _ => "Nothing came from the sea .",
                };
                let availability = if site == "a.example" { "open" } else { "" };
                text.push_str(&document(&format!("2026-{month:02}-{:02}", day * 2), site, availability, sentence));
            }
        }
    }
    text
}

impl TestServer {
    /// A server over the weather.
    pub fn new() -> TestServer {
        TestServer::with(&weather(), Settings::default())
    }

    /// A server over some text, with some settings.
    pub fn with(text: &str, settings: Settings) -> TestServer {
        TestServer::over(text, settings, false)
    }

    /// The same with a corpus `de` of the same text, whose documents are known as translations.
    pub fn with_translations(text: &str, settings: Settings) -> TestServer {
        TestServer::over(text, settings, true)
    }

    fn over(text: &str, settings: Settings, has_translations: bool) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "http://a.example/feed\n").unwrap();
        add(folder.path(), text);
        if has_translations {
            add_translations(folder.path(), text);
        }
        let home = Home::at(folder.path()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::bind(home, Settings { port: 0, ..settings })).unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel::<()>();
        runtime.spawn(server.run(async { drop(stopped.await) }));
        TestServer { folder, address, stop: Some(stop), runtime: Some(runtime) }
    }

    pub fn home(&self) -> Home {
        Home::at(self.folder.path()).unwrap()
    }

    /// Adds documents to the index, as `compile` does while the server runs.
    pub fn add(&self, text: &str) {
        add(self.folder.path(), text);
    }

    /// Freezes the present state of the index under a name, as `tidings corpus freeze` does.
    pub fn freeze(&self, name: &str) {
        let home = self.home();
        let folder = frozen::begin(&home, "en", name).unwrap();
        let snapshot = tidings_index::freeze(&home.index_of("en"), &folder).unwrap();
        let record = FrozenRecord {
            name: name.to_owned(),
            frozen: "2026-07-01T12:00:00Z".to_owned(),
            generation: snapshot.generation(),
            documents: snapshot.documents(),
            tokens: snapshot.tokens(),
            ..FrozenRecord::default()
        };
        frozen::write(&home, "en", &record).unwrap();
    }

    /// Asks for a path.
    pub fn get(&self, path: &str) -> Got {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    }

    /// Asks for a path with another method or with other headers, each ending in a line end.
    pub fn ask(&self, method: &str, path: &str, headers: &str) -> Got {
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n"))
    }

    /// Asks for a path with a token.
    pub fn get_as(&self, path: &str, token: &str) -> Got {
        let token = format!("Authorization: Bearer {token}");
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{token}\r\nConnection: close\r\n\r\n"))
    }

    /// Waits until a generation is open: the server looks at the home once a second.
    pub fn until_generation(&self, generation: u64) {
        until("the new generation is open", || {
            self.get("/api/v1/corpora").json()["corpora"][0]["generation"] == generation
        });
    }

    /// Sends bytes and reads all that comes back.
    pub fn send(&self, request: &str) -> Got {
        let mut stream = self.open();
        // A server that has heard enough may hang up before we are done.
        let _ = stream.write_all(request.as_bytes());
        received(stream)
    }

    pub fn open(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(WATCHDOG)).unwrap();
        stream
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn add(root: &std::path::Path, text: &str) {
    add_to(root, "en", text);
}

/// Adds text as a corpus `de` under other ids, and pairs of the documents of both.
fn add_translations(root: &std::path::Path, text: &str) {
    add_to(root, "de", &text.replace("<doc id=\"", "<doc id=\"de "));
    let home = Home::at(root).unwrap();
    let ids = |code: &str| {
        let snapshot = Snapshot::open(&home.index_of(code)).unwrap();
        let mut ids = BTreeMap::new();
        for live in snapshot.segments() {
            for (document, id) in (0..).zip(live.segment().ids().all()) {
                ids.insert(live.segment().address_and_title(document).unwrap().0, *id);
            }
        }
        ids
    };
    let (en, de) = (ids("en"), ids("de"));
    let pair = |(address, id): (&String, &u128)| DocumentPair::new(*id, de[address]).unwrap();
    let pairs = en.iter().map(pair).map(|pair| (pair, PairOrigin::Given)).collect();
    document_pairs::write(&home, &pairs).unwrap();
}

fn add_to(root: &std::path::Path, code: &str, text: &str) {
    let folder = root.join("index").join(code);
    std::fs::create_dir_all(&folder).unwrap();
    let mut writer = Writer::open(&folder, tidings_index::Settings::default()).unwrap();
    writer.read(&mut Reader::new(text.as_bytes(), "day.vert".as_ref())).unwrap();
    writer.commit(Vec::new()).unwrap();
}

/// Reads an answer to its end and puts its chunks together.
pub fn received(mut stream: TcpStream) -> Got {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let mut body = bytes[end..].to_vec();
    let mut whole = true;
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        let (mut rest, mut joined) = (&body[..], Vec::new());
        whole = loop {
            let Some(line) = rest.windows(2).position(|two| two == b"\r\n") else { break false };
            let size = usize::from_str_radix(&String::from_utf8_lossy(&rest[..line]), 16).unwrap();
            let Some(chunk) = rest.get(line + 2..line + 2 + size) else { break false };
            if size == 0 {
                break true;
            }
            joined.extend(chunk);
            rest = &rest[line + 4 + size..];
        };
        body = joined;
    }
    Got { status, head, body: String::from_utf8_lossy(&body).into_owned(), bytes: body, whole }
}
