//! Files that come from other machines: what shards of a crawl and machines of a harvest hand over, and backups. And the
//! state of a crawl, which is copied between machines.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tidings_crawl::queue::WaitingUrl;
use tidings_crawl::{CrawlState, CrawlSummary, Link, TablePart, exchange, inspect, shape, tables};
use tidings_model::LinkRegion;
use tidings_pipeline::harvest;
use tidings_store::FrameEncoder;
use tidings_store::backup::Backup;
use url::Url;

use crate::home::framed;
use crate::scratch;

/// A file of another shard of a crawl.
pub fn crawl(bytes: &[u8]) {
    let path = scratch::file("2-of-2.1-0.tsv.zst", &framed(bytes).0);
    let _ = exchange::read_file(&path);
}

/// A file of another machine of a harvest.
pub fn machine(bytes: &[u8]) {
    let path = scratch::file("a.run-0.jsonl.zst", &framed(bytes).0);
    let _ = harvest::check_exchange_file(&path);
}

/// The manifest of a backup with one file: what it restores is inside of the new home.
pub fn backup(bytes: &[u8]) {
    let folder = scratch::fresh_folder("backup");
    let write = |path: &str, bytes: &[u8]| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder"))
            .and_then(|()| fs::write(path, bytes))
            .expect("the temporary folder can be written");
    };
    write("from/MANIFEST.tsv", bytes);
    write("from/20261115-backup/feeds.txt", b"https://gazette.example/feed\n");
    let Ok(backup) = Backup::open(&folder.join("from")) else { return };
    let _ = backup.verify(|_, _, _| {});
    let _ = backup.restore(&folder.join("home"), |_, _, _| {});
    let names = fs::read_dir(&folder).expect("it was just made").flatten().map(|entry| entry.file_name());
    assert!(names.into_iter().all(|name| name == "from" || name == "home"), "a file was restored outside of the home");
}

fn link(url: &str) -> Link {
    let parsed = Url::parse(url).expect("a valid URL");
    let url = WaitingUrl {
        url: url.to_owned(),
        domain: shape::domain(&parsed).to_owned(),
        section: shape::section(&parsed),
        region: LinkRegion::List,
        source_yield: 0.5,
        day: None,
        depth: 1,
    };
    Link::new(url, "hub.example")
}

/// The files of a small crawl, with their names, in order.
fn state_files() -> &'static [(PathBuf, Vec<u8>)] {
    static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("the temporary folder can be written");
        make_state(folder.path()).expect("a small crawl is written");
        let mut files = Vec::new();
        collect(folder.path(), folder.path(), &mut files);
        files.sort();
        files
    })
}

fn make_state(folder: &Path) -> tidings_crawl::Result<()> {
    let mut state = CrawlState::open(folder)?;
    state.set_shard(1, 2);
    state.recover(&[])?;
    for number in 0..6 {
        state.offer(link(&format!("https://news{}.example/2026/{number}", number % 2)));
    }
    state.send(2, link("https://other.example/1"));
    state.hand_over("moved.example", 2);
    state.commit()?;
    state.sift(|_| true)?;
    let table = TablePart { table: tables::COUNT_TABLE, shard: 0, text: "{\"kept\":3}\n".into() };
    state.checkpoint(vec![table], Vec::new())?;
    state.offer(link("https://news0.example/2026/late"));
    state.commit()
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(root, &path, files),
            false => {
                let name = path.strip_prefix(root).expect("it is below").to_owned();
                files.push((name, fs::read(&path).expect("it was just written")));
            }
        }
    }
}

/// The state of a crawl with one file replaced; the first byte chooses it, the second whether its text is compressed.
pub fn crawl_state(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let files = state_files();
    let folder = scratch::fresh_folder("crawl");
    for (at, (name, bytes)) in files.iter().enumerate() {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the temporary folder can be written");
        let replaced = (at == *first as usize % files.len()).then(|| framed(rest).0);
        fs::write(path, replaced.as_ref().unwrap_or(bytes)).expect("the temporary folder can be written");
    }
    let _ = CrawlSummary::read("web", &folder);
    let _ = inspect::is_known(&folder, "https://news0.example/2026/0");
    let Ok(mut state) = CrawlState::open(&folder) else { return };
    let Ok(finished) = state.finished() else { return };
    if state.recover(&finished).is_err() || state.catch_up(|_| true).is_err() {
        return;
    }
    let found = link("https://news0.example/2026/9");
    let (domain, section) = (found.url.domain.clone(), found.url.section.clone());
    state.offer(found);
    if state.sift(|_| true).is_ok() {
        let _ = state.take(&domain, &section);
        let _ = state.checkpoint(Vec::new(), Vec::new());
    }
}

/// The seeds: each file of a small crawl, and a file for another shard.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let files = state_files().iter().enumerate();
    let mut seeds: Vec<(String, Vec<u8>)> = files
        .map(|(at, (name, bytes))| {
            let name = name.to_string_lossy().replace('/', "-");
            (format!("crawl_state/{name}"), [&[at as u8, 1], bytes.as_slice()].concat())
        })
        .collect();
    for (_, bytes) in state_files().iter().filter(|(name, _)| name.starts_with("outbox")) {
        seeds.push(("crawl_exchange/file".to_owned(), [&[1], bytes.as_slice()].concat()));
        let text = zstd_text(bytes);
        seeds.push(("crawl_exchange/text".to_owned(), [&[0], text.as_slice()].concat()));
    }
    let lines = b"{\"entry\":{\"feed\":\"https://a.example/feed\",\"seen\":\"2026-03-01T00:00:00.000Z\",\"published\":\"\",\
                  \"url\":\"https://a.example/1\",\"title\":\"Rain\",\"text\":\"It rained.\"}}\n\
                  {\"feed\":{\"line\":\"https://b.example/feed\\tkind=sitemap\",\"instead_of\":\"https://a.example/feed\"}}\n\
                  {\"domain\":\"b.example\"}\n";
    seeds.push(("machine_exchange/text".to_owned(), [&[0], &lines[..]].concat()));
    seeds.push(("machine_exchange/file".to_owned(), [&[1], FrameEncoder::new(1).encode(lines).as_slice()].concat()));
    seeds
}

fn zstd_text(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    if let Ok(mut reader) = tidings_formats::compressed::decompressed(std::io::Cursor::new(bytes.to_vec())) {
        let _ = std::io::copy(&mut reader, &mut text);
    }
    text
}
