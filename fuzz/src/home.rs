//! Files of a home, which may come from elsewhere or be damaged.

use std::fs;

use tidings_pipeline::config::Config;
use tidings_storage::{ObjectUrl, Pointer};
use tidings_store::apply_journal::apply_journal;
use tidings_store::docs::DocumentReader;
use tidings_store::feed_texts::FeedTexts;
use tidings_store::journal::{Journal, JournalBatch, Record};
use tidings_store::pages::PageReader;
use tidings_store::removed::Removed;
use tidings_store::revisits::Revisits;
use tidings_store::{
    FrameEncoder, Home, archive, candidates, clock_jump, failures, feeds, fresh, hidden, hosts, machines, neologisms,
    open_any, plan, rules, saved_searches, scrub, tokens, virtual_corpora, yields,
};

use crate::scratch;

/// Whether the first byte asks for a valid frame around the rest, so that the fuzzer reaches what is inside.
pub(crate) fn framed(bytes: &[u8]) -> (Vec<u8>, bool) {
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

/// Tables of the root of a home.
const TABLES: &[&str] = &[
    "removed.tsv",
    "tokens.tsv",
    "corpora.tsv",
    "feeds.txt",
    "hidden.tsv",
    "searches.tsv",
    "neologisms.tsv",
    "neologism-lists.tsv",
];
/// Tables of its state.
const STATE: &[&str] = &[
    "feeds.tsv",
    "hosts.tsv",
    "candidates.tsv",
    "yield.tsv",
    "barren.tsv",
    "searched.tsv",
    "webhooks.tsv",
    "failures.tsv",
    "revisits.tsv",
    "fresh.tsv",
    "settled.tsv",
    "damage.tsv",
    "scrub.tsv",
    "machines.tsv",
    "digests.tsv",
    "clock-jump.tsv",
    "rules.tsv",
    "rules.jsonl.zst",
    "feed-texts.jsonl.zst",
    "fetched.u64",
    "archive/gazette.example.tsv",
];

/// A home whose tables are these bytes.
fn home_of_tables(bytes: &[u8]) -> Home {
    let home = scratch::fresh_home("");
    let root = home.root();
    fs::create_dir_all(root.join("state/archive")).expect("the temporary folder can be written");
    let in_state = STATE.iter().map(|name| root.join("state").join(name));
    for path in TABLES.iter().map(|name| root.join(name)).chain(in_state) {
        fs::write(path, bytes).expect("the temporary folder can be written");
    }
    home
}

/// Tables of users and of state.
pub fn tables(bytes: &[u8]) {
    const URL: &str = "https://gazette.example/1";
    let home = home_of_tables(bytes);
    let now = jiff::Timestamp::constant(1_800_000_000, 0);
    let _ = (feeds::list(&home), feeds::states(&home), tokens::read(&home), virtual_corpora::read(&home));
    let _ = (hidden::read(&home), fresh::read(&home), fresh::read_settled(&home), machines::read(&home));
    let _ = (saved_searches::read_webhooks(&home), scrub::damaged_files(&home), scrub::ScrubPosition::read(&home));
    let _ = hosts::read(&home, |_| {});
    let _ = candidates::read(&home, |_| {});
    let _ = yields::read(&home, |_| {});
    let _ = rules::read(&home, |_| true, |_| {});
    let _ = (archive::orders(&home), archive::read(&home, "gazette.example"), archive::found(&home, "gazette.example"));
    let _ = FeedTexts::open(&home).and_then(|texts| texts.of(URL));
    let _ = clock_jump::ClockJump::pending(&home, now);
    for failure in failures::all(&home).into_iter().flatten() {
        let _ = (failure.is_ahead_of(now), failure.history());
    }
    if let Ok(revisits) = Revisits::load(&home, 3, now) {
        let _ = revisits.of(URL).map(|page| (page.validators(), page.due(3, now)));
    }
    if let Ok(removed) = Removed::read(&home) {
        let _ = removed.covers(URL);
    }
}

/// Saved searches and decisions about new words, which users share: what is read and written again is the same.
pub fn decisions(bytes: &[u8]) {
    let home = home_of_tables(bytes);
    if let Ok(searches) = saved_searches::read(&home) {
        saved_searches::write(&home, searches.clone()).expect("the temporary folder can be written");
        assert_eq!(saved_searches::read(&home).expect("it was just written"), searches);
    }
    if let Ok(lists) = neologisms::read_lists(&home) {
        let words = lists.iter().map(|word| word.word.clone());
        let _ = neologisms::list_words(&mut lists.clone(), ("en", "names"), words);
    }
    let Ok(decisions) = neologisms::read(&home) else { return };
    neologisms::write(&home, decisions.clone()).expect("the temporary folder can be written");
    assert_eq!(neologisms::read(&home).expect("it was just written"), decisions);
    for decision in decisions.iter().take(16) {
        let _ = neologisms::decide(&mut decisions.clone(), decision.clone());
    }
    let _ = neologisms::latest(decisions, "en");
}

/// Settings: a file that is read has values in their ranges.
pub fn settings(bytes: &[u8]) {
    let path = scratch::file("tidings.toml", bytes);
    let _ = Config::load(&path, &|_| None);
}
