//! Files of a home, which may come from elsewhere or be damaged.

use std::fs;

use tidings_pipeline::config::Config;
use tidings_storage::{ObjectUrl, Pointer};
use tidings_store::apply_journal::apply_journal;
use tidings_store::docs::DocumentReader;
use tidings_store::journal::{Journal, JournalBatch, Record};
use tidings_store::pages::PageReader;
use tidings_store::removed::Removed;
use tidings_store::{FrameEncoder, candidates, feeds, hosts, open_any, plan, tokens, virtual_corpora, yields};

use crate::scratch;

/// Whether the first byte asks for a valid frame around the rest, so that the fuzzer reaches what is inside.
fn framed(bytes: &[u8]) -> (Vec<u8>, bool) {
    match bytes.split_first() {
        Some((first, rest)) if first % 2 == 0 => (FrameEncoder::new(1).encode(rest), true),
        Some((_, rest)) => (rest.to_vec(), false),
        None => (Vec::new(), false),
    }
}

/// Plans, plain and compressed; one of FeedFetcher has no header.
pub fn plan(bytes: &[u8]) {
    let path = scratch::file("plan.txt", bytes);
    let _ = plan::read_file(&path, |_| {});
    let path = scratch::file("plan.tsv.zst", &framed(bytes).0);
    let _ = plan::read_file(&path, |_| {});
}

/// A small file that stands for an object, and the address in it.
pub fn pointer(bytes: &[u8]) {
    if let Ok(Some(pointer)) = Pointer::at(&scratch::file("pages.jsonl.zst", bytes)) {
        let again = scratch::file("again.jsonl.zst", &pointer.encode());
        assert_eq!(Pointer::at(&again).expect("readable"), Some(pointer));
    }
    if let Some(Ok(url)) = std::str::from_utf8(bytes).ok().and_then(ObjectUrl::parse) {
        assert_eq!(ObjectUrl::parse(&url.to_string()), Some(Ok(url)));
    }
}

/// The journal of an interrupted run, applied to an empty plan; the plan can be read afterwards.
pub fn journal(bytes: &[u8]) {
    let home = scratch::fresh_home("");
    let mut journal = Journal::create(&home, "20261115T080000000Z-fetch").expect("the temporary folder can be written");
    let mut batch = JournalBatch::default();
    batch.push(&Record::Listed {
        feed: "https://gazette.example/feed".into(),
        seen: "2026-11-15T08:00:00.000Z".into(),
        published: "".into(),
        url: "https://gazette.example/1".into(),
        title: "Rain".into(),
        updated: "".into(),
        text: None,
    });
    journal.commit(batch).expect("the temporary folder can be written");
    drop(journal);
    let path = home.root().join("plan.journal.zst");
    let mut file = fs::read(&path).expect("it was just written");
    file.extend(framed(bytes).0);
    fs::write(&path, file).expect("the temporary folder can be written");
    if apply_journal(&home).is_ok() {
        plan::read(&home, |_| {}).expect("a plan that was written is read");
    }
}

/// Files of frames: pages, documents, texts.
pub fn frames(bytes: &[u8]) {
    let (file, _) = framed(bytes);
    let path = scratch::file("a.jsonl.zst", &file);
    if let Ok(mut pages) = PageReader::open(&path) {
        while let Ok(Some(line)) = pages.next_line() {
            let _ = line.page(&path);
        }
    }
    if let Ok(mut documents) = DocumentReader::open(&path) {
        while let Ok(Some(line)) = documents.next_line() {
            let _ = documents.parse::<tidings_model::Document>(&line);
        }
    }
    if let Ok(reader) = open_any(&path) {
        let _ = std::io::copy(&mut std::io::Read::take(reader, 1 << 20), &mut std::io::sink());
    }
}

/// Tables of state.
pub fn tables(bytes: &[u8]) {
    let home = scratch::fresh_home("");
    let root = home.root();
    fs::create_dir_all(root.join("state")).expect("the temporary folder can be written");
    for name in ["removed.tsv", "tokens.tsv", "corpora.tsv", "feeds.txt"] {
        fs::write(root.join(name), bytes).expect("the temporary folder can be written");
    }
    for name in ["feeds.tsv", "hosts.tsv", "candidates.tsv", "yield.tsv", "barren.tsv", "searched.tsv"] {
        fs::write(root.join("state").join(name), bytes).expect("the temporary folder can be written");
    }
    let _ = (feeds::list(&home), feeds::states(&home), tokens::read(&home), virtual_corpora::read(&home));
    let _ = hosts::read(&home, |_| {});
    let _ = candidates::read(&home, |_| {});
    let _ = yields::read(&home, |_| {});
    if let Ok(removed) = Removed::read(&home) {
        let _ = removed.covers("https://gazette.example/1");
    }
}

/// Settings: a file that is read has values in their ranges.
pub fn settings(bytes: &[u8]) {
    let path = scratch::file("tidings.toml", bytes);
    let _ = Config::load(&path, &|_| None);
}
