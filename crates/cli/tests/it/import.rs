//! `tidings import`: foreign data is imported completely, once, with its own dates, and hostile input does no harm.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use tidings_model::Document;

use crate::clean::corpus;
use crate::digest::{digest, tree};
use crate::support::{Corpus, copy_folder, unpacked};

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A record of an archive; `more` are additional header lines.
pub fn record(kind: &str, url: &str, date: &str, more: &str, block: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{kind}-{url}>\r\nWARC-Date: {date}\r\nWARC-Target-URI: {url}\r\n{more}Content-Length: {}\r\n\r\n",
        block.len()
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

pub fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n", headers.as_bytes(), b"\r\n", body].concat()
}

/// One of twenty sentences with little in common.
fn prose(number: u32) -> String {
    let sentences = [
        "The river rose again during the night and nobody in the lower town could sleep",
        "Two bridges had to be closed because the water carried whole trees against their pillars",
        "My grandmother kept her letters in a wooden box that smelled of lavender and smoke",
        "Every child was given a lantern so that the long way home would not be dark",
        "A merchant from the coast bought all the wool before the market had even opened",
        "Snow fell early that year and the shepherds came down from the hills in October",
        "She learned to read from old newspapers which her uncle brought back from the harbour",
        "Nothing was heard of the expedition until a whaler picked up three of its men",
        "The council argued for eleven hours about the price of bread and then adjourned",
        "His workshop stood behind the church where the light was good in the afternoon",
        "People remembered the summer mostly for the fires which burned along the railway line",
        "When the doctor finally arrived the fever had broken and the patient asked for soup",
        "Our teacher drew a map of the valley on the blackboard and asked us to find ourselves",
        "They sold the piano in order to pay for the passage of the youngest daughter",
        "An old sailor explained to anyone who would listen how the lighthouse had been built",
        "Behind the mill there was a garden in which apples grew that had no name",
        "Several farmers refused to pay and were taken to the county town in a cart",
        "It is said that the bell can be heard under the lake whenever the wind turns",
        "Workers from the quarry formed a choir that became known far beyond the border",
        "Some years later a photograph turned up that showed all of them on the steps",
    ];
    format!("{}.", sentences[number as usize % sentences.len()])
}

fn article(number: u32) -> String {
    let paragraphs: String = (0..6).map(|part| format!("<p>{}</p>", prose(number * 7 + part))).collect();
    format!(
        "<html><head><title>News {number}</title></head><body><article><h1>News {number}</h1>{paragraphs}</article></body></html>"
    )
}

/// An archive with two pages and six other records.
fn archive() -> Vec<Vec<u8>> {
    let chunked = |text: &str| format!("{:x}\r\n{text}\r\n0\r\n\r\n", text.len());
    let page = "https://gazette.example/a";
    let first = answer(
        "Transfer-Encoding: chunked\r\nX-Robots-Tag: noai\r\nTDM-Reservation: 1\r\nServer: x\r\n",
        chunked(&article(1)).as_bytes(),
    );
    let digest = {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        let mut text = String::new();
        for five in Sha1::digest(&first).chunks(5) {
            let number = five.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
            (0..8).rev().for_each(|digit| text.push(alphabet[(number >> (digit * 5)) as usize & 31] as char));
        }
        format!("WARC-Block-Digest: sha1:{text}\r\n")
    };
    let zipped = answer("Content-Encoding: gzip\r\n", &gzip(article(2).as_bytes()));
    let notes = b"feed: https://gazette.example/feed\r\ntitle: Noted\r\n";
    let refers = format!("WARC-Refers-To: <urn:uuid:response-{page}>\r\n");
    vec![
        record("warcinfo", "", "2026-02-01T00:00:00Z", "", b"software: x"),
        record("request", page, "2026-02-01T10:00:00Z", "", b"GET /a HTTP/1.1\r\n\r\n"),
        record("response", page, "2026-02-01T10:00:00Z", &digest, &first),
        record("metadata", page, "2026-02-01T10:00:00Z", &refers, notes),
        record("response", "https://gazette.example/b", "2026-02-02T11:00:00Z", "", &zipped),
        record("response", "https://gazette.example/c", "2026-02-02T11:00:00Z", &digest, &zipped),
        record("revisit", "https://gazette.example/a", "2026-02-03T11:00:00Z", "", b""),
        record(
            "response",
            "https://gazette.example/d",
            "2026-02-02T11:00:00Z",
            "",
            b"HTTP/1.1 404 Not Found\r\n\r\n<html>",
        ),
    ]
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> PathBuf {
    fs::write(path, bytes).unwrap();
    path.to_owned()
}

fn days(corpus: &Corpus) -> Vec<String> {
    let mut days: Vec<String> = corpus
        .files("pages", ".jsonl.zst")
        .iter()
        .map(|path| path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    days.dedup();
    days
}

fn documents(corpus: &Corpus) -> Vec<Document> {
    let files = corpus.files("docs", ".jsonl.zst");
    let kept = files.iter().filter(|path| !path.to_string_lossy().contains("dropped"));
    kept.flat_map(|path| unpacked(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>())
        .collect()
}

fn left_out(report: &Value) -> BTreeMap<String, u64> {
    serde_json::from_value(report["left_out"].clone()).unwrap()
}

#[test]
fn an_archive_is_imported_with_dates_rights_and_reasons_for_skipped_records() {
    let corpus = corpus();
    let records = archive();
    let files = [
        ("a.warc", records.concat()),
        ("b.warc.gz", records.iter().flat_map(|record| gzip(record)).collect()),
        ("c.warc.gz", gzip(&records.concat())),
        ("d.warc.zst", records.iter().flat_map(|record| zstd::encode_all(&record[..], 3).unwrap()).collect()),
    ];
    let fresh = corpus.beside("fresh");
    copy_folder(&corpus.home(), &fresh);
    for (name, bytes) in files {
        corpus.restore(&fresh);
        let path = write(&corpus.beside(name), bytes);
        corpus.run(&format!("import {} --dry-run", path.display())).ok().says("2 pages would be imported");
        assert!(days(&corpus).is_empty());
        let report = corpus.run(&format!("import {} --json", path.display())).ok().json();
        assert_eq!((&report["pages"], &report["files"]), (&json!(2), &json!(1)), "{name}");
        let expected =
            [("bad-digest", 1), ("metadata", 1), ("request", 1), ("revisit", 1), ("status", 1), ("warcinfo", 1)];
        assert_eq!(left_out(&report), expected.map(|(why, number)| (why.to_owned(), number)).into(), "{name}");
        assert_eq!(days(&corpus), ["2026-02-01", "2026-02-02"]);
        let pages = corpus.pages();
        let page = &pages["https://gazette.example/a"];
        assert_eq!((page.downloaded.as_str(), page.status), ("2026-02-01T10:00:00.000Z", 200));
        assert_eq!((page.feed.as_str(), page.title.as_str()), ("https://gazette.example/feed", "Noted"));
        assert_eq!(page.body, article(1).into_bytes());
        assert_eq!(page.rights.headers["x-robots-tag"], "noai");
        assert_eq!(page.rights.headers["tdm-reservation"], "1");
        assert_eq!(page.headers["server"], "x");
        assert_eq!(pages["https://gazette.example/b"].body, article(2).into_bytes());

        // Again is free, also under another name of the folder.
        corpus.run(&format!("import {}", path.display())).ok().says("0 pages imported").says("1 file imported before");
        corpus.is_tidy();
    }
    corpus.run("clean").ok().says("2 documents");
}

#[test]
fn an_archive_in_a_zip_file_is_imported_with_a_selection_of_sites() {
    let corpus = corpus();
    let records: Vec<u8> = archive().iter().flat_map(|record| gzip(record)).collect();
    let path = write(&corpus.beside("a.wacz"), zipped("archive/data.warc.gz", &records));
    corpus
        .run(&format!("import {} --site other.example", path.display()))
        .ok()
        .says("0 pages imported")
        .says("other-site");
    corpus.run(&format!("import {} --again --site gazette.example", path.display())).ok().says("2 pages imported");
}

/// A ZIP file with one stored file.
fn zipped(name: &str, bytes: &[u8]) -> Vec<u8> {
    let sizes = [(bytes.len() as u32).to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
    let length = (name.len() as u16).to_le_bytes();
    let mut file = [b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0", &sizes[..], &length, b"\0\0"].concat();
    file.extend([name.as_bytes(), bytes].concat());
    let at = file.len() as u32;
    let mut central = [b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0", &sizes[..], &length].concat();
    central.resize(46, 0);
    central.extend(name.as_bytes());
    let end =
        [b"PK\x05\x06\0\0\0\0\x01\0\x01\0", &(central.len() as u32).to_le_bytes()[..], &at.to_le_bytes(), b"\0\0"];
    [file, central, end.concat()].concat()
}

#[test]
fn files_of_feedfetcher_are_imported_unchanged() {
    let corpus = corpus();
    let line = |url: &str, downloaded: &str| {
        json!({ "url": url, "feed": "http://e.org/feed", "title": "T", "published": null, "seen": "2025-01-02T03:04:05+00:00",
            "downloaded": downloaded, "body_base64": base64(article(3).as_bytes()), "content_type": ["text/html"] })
        .to_string()
    };
    let lines = format!(
        "{}\nnonsense\n{}\n",
        line("http://e.org/1", "2025-01-02T04:00:00+00:00"),
        line("http://e.org/2", "2025-01-03T04:00:00+00:00")
    );
    let pages = write(&corpus.beside("2025.jsonl.zst"), zstd::encode_all(lines.as_bytes(), 3).unwrap());
    let plan = "0\tok\t1\t2025-01-02T03:04:05+00:00\t\thttp://e.org/feed\thttp://e.org/1\tT\n\
        4\t404\t3\t2025-01-02T03:04:05+00:00\t\thttp://e.org/feed\thttp://e.org/9\tGone\n";
    let plan = write(&corpus.beside("plan.tsv"), plan);
    let both = format!("import {} {}", pages.display(), plan.display());
    corpus.run(&both).ok().says("2 pages imported, 1 skipped (1 not-a-page)").says("2 entries read, 2 added");
    assert_eq!(days(&corpus), ["2025-01-02", "2025-01-03"]);
    assert_eq!(corpus.pages()["http://e.org/1"].downloaded, "2025-01-02T04:00:00.000Z");
    let entries = corpus.plan();
    let gone = entries.iter().find(|entry| entry.url == "http://e.org/9").unwrap();
    assert_eq!((gone.age, gone.status.as_str(), gone.retries), (4, "404", 3));
    corpus.run(&both).ok().says("0 added to the plan");
    assert_eq!(corpus.plan(), entries);
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |number, at| number << 8 | u32::from(*three.get(at).unwrap_or(&0)));
        for digit in 0..4 {
            let is_there = digit <= three.len();
            text.push(if is_there { ALPHABET[(number >> (18 - digit * 6)) as usize & 63] as char } else { '=' });
        }
    }
    text
}

#[test]
fn a_folder_of_saved_pages_is_imported_with_their_metadata() {
    let corpus = corpus();
    let folder = corpus.beside("saved");
    fs::create_dir_all(folder.join("mirror.example/news")).unwrap();
    let canonical = article(4).replace("<title>", "<link rel=canonical href=https://own.example/x><title>");
    write(&folder.join("x.html"), canonical);
    write(&folder.join("mirror.example/news/y.html"), article(5));
    write(&folder.join("z.html"), article(6));
    write(&folder.join("notes.txt"), "no page");
    write(&folder.join("empty.html"), " ");
    let import = format!("import {} --date 2026-02-05", folder.display());
    corpus.run(&import).ok().says("3 pages imported, 2 skipped (1 empty, 1 unknown-file)");
    let mut urls: Vec<String> = corpus.pages().into_keys().collect();
    urls.sort();
    assert_eq!(urls, ["http://mirror.example/news/y.html", "https://own.example/x", "import:saved/z.html"]);
    assert_eq!(days(&corpus), ["2026-02-05"]);
    corpus.run(&import).ok().says("4 files imported before");
    // A folder that grows adds the new pages.
    write(&folder.join("new.html"), article(7));
    corpus.run(&import).ok().says("1 page imported");
    corpus.run("clean").ok().says("4 documents");
}

#[test]
fn all_known_files_of_a_folder_are_imported_and_the_rest_is_listed() {
    let corpus = corpus();
    let folder = corpus.beside("mixed");
    fs::create_dir_all(folder.join("deep/mirror.example")).unwrap();
    write(&folder.join("a.warc"), archive().concat());
    write(&folder.join("deep/b.jsonl"), json!({ "id": "b", "text": text(3) }).to_string());
    write(&folder.join("page.html"), article(4));
    write(&folder.join("deep/mirror.example/story.htm"), article(5));
    write(&folder.join("deep/mirror.example/api.json"), json!({ "text": "data of a site" }).to_string());
    write(&folder.join("deep/feeds.opml"), "<opml><body><outline xmlUrl='https://a.example/feed'/></body></opml>");
    write(&folder.join("notes.txt"), "no page");
    write(&folder.join(".hidden"), "hidden");
    write(&folder.join("a.warc.cdxj"), "an index");
    write(&folder.join("deep/b.jsonl.manifest.json"), "{}");
    let import = format!("import {} --date 2026-02-05", folder.display());
    let report = corpus.run(&format!("{import} --json")).ok().json();
    assert_eq!((&report["pages"], &report["files"]), (&json!(5), &json!(4)), "{report}");
    assert_eq!(left_out(&report)["unknown-file"], 3);
    let named = report["files_unknown"].to_string();
    assert!(["notes.txt", "api.json", "feeds.opml"].iter().all(|name| named.contains(name)), "{named}");
    assert!(corpus.pages().contains_key("import:mixed/page.html"));
    assert!(!fs::read_to_string(corpus.home().join("feeds.txt")).unwrap().contains("a.example"));
    corpus
        .run(&import)
        .ok()
        .says("0 pages imported")
        .says("4 files imported before")
        .says("notes.txt; give the format with --from");
}

#[test]
fn removed_pages_are_not_imported_in_any_format() {
    let corpus = corpus();
    let archived = write(&corpus.beside("a.warc"), archive().concat());
    let lines = [
        json!({ "id": "t1", "text": text(1) }),
        json!({ "id": "t2", "text": text(2), "url": "https://private.example/t2" }),
        json!({ "id": "t3", "text": text(3) }),
    ];
    let lines = lines.map(|line| line.to_string());
    let texts = write(&corpus.beside("t.jsonl"), lines[..2].join("\n"));
    let tokens = |url: &str| format!("<doc url=\"{url}\">\n<p>\n<s>\nRain\n</s>\n</p>\n</doc>\n");
    let vertical = tokens("https://private.example/v") + &tokens("https://gazette.example/v");
    let vertical = write(&corpus.beside("v.vert"), vertical);
    let conllu = "# newdoc\n# url = https://www.private.example/c\n1\tRain\train\tNOUN\t_\t_\t_\t_\t_\t_\n\n";
    let conllu = write(&corpus.beside("c.conllu"), conllu);
    let saved = corpus.beside("saved");
    fs::create_dir_all(saved.join("private.example")).unwrap();
    write(&saved.join("private.example/s.html"), article(9));
    let page = json!({ "url": "https://other.example/p", "final_url": "https://private.example/p", "body": "<p>x",
        "downloaded": "2025-01-02T04:00:00Z", "seen": "2025-01-02T04:00:00Z" });
    let pages = write(&corpus.beside("p.jsonl"), page.to_string());
    let row = |url: &str| format!("0\tnew\t0\t2025-01-02T03:04:05Z\t\thttp://e.org/feed\t{url}\tA title\n");
    let plan = write(&corpus.beside("plan.tsv"), row("https://private.example/9") + &row("https://e.example/9"));

    // The name of a text without a URL can be removed too.
    corpus.run(&format!("import {} --no-gate", texts.display())).ok().says("2 pages imported");
    corpus.run("remove import:t.jsonl#t1 --reason asked").ok().says("1 page and 0 documents removed");
    corpus.run("remove https://gazette.example/a --reason asked").ok();
    corpus.run("remove private.example --reason asked").ok().says("1 page");
    let all = [&archived, &texts, &vertical, &conllu, &saved, &pages, &plan].map(|path| path.display().to_string());
    write(&texts, lines.join("\n"));
    let report = corpus.run(&format!("import {} --json", all.join(" "))).ok().json();
    assert_eq!(left_out(&report)["removed"], 7, "{report}");
    let mut urls: Vec<String> = corpus.pages().into_keys().collect();
    urls.sort();
    assert_eq!(urls, ["https://gazette.example/b", "https://gazette.example/v", "import:t.jsonl#t3"]);
    let plan = corpus.plan();
    let entry = plan.iter().find(|entry| entry.url == "https://private.example/9").unwrap();
    assert_eq!((entry.status.as_str(), entry.title.as_str()), ("removed", ""));
    assert_eq!(corpus.statuses()["https://e.example/9"], "new");
}

#[test]
fn imported_pages_are_not_fetched_before_or_after_a_feed_lists_them() {
    let spec = tidings_simweb::Spec { sites: 2, items_per_feed: 3, ..tidings_simweb::Spec::default() };
    let corpus = Corpus::new(spec);
    let fresh = corpus.beside("fresh");
    copy_folder(&corpus.home(), &fresh);
    corpus.run("update --all").ok();
    let listed = corpus.beside("listed");
    copy_folder(&corpus.home(), &listed);
    corpus.run("fetch").ok().says("6 pages fetched");
    let files = corpus.files("pages", ".jsonl.zst");
    let packed = write(&corpus.beside("pages.jsonl.zst"), fs::read(&files[0]).unwrap());
    assert_eq!(files.len(), 1);
    let urls: Vec<String> = corpus.plan().into_iter().map(|entry| entry.url).collect();
    let plan: String = urls.iter().map(|url| format!("0\tnew\t0\t2025-01-02T03:04:05Z\t\tf\t{url}\tT\n")).collect();
    let plan = write(&corpus.beside("plan.tsv"), plan);
    let import = format!("import {}", packed.display());
    let asks_for_nothing = |at: &str| {
        corpus.run("update --all").ok().says("0 added to the plan");
        corpus.run(&format!("import {}", plan.display())).ok().says("6 entries read, 0 added to the plan");
        corpus.web.clear_log();
        corpus.run("fetch").ok().says("nothing to fetch");
        assert!(corpus.web.requests().is_empty(), "{at}");
        assert_eq!((corpus.plan().len(), corpus.pages().len()), (0, 6), "{at}");
        corpus.is_tidy();
    };
    for (when, before) in [("after", &fresh), ("before", &listed)] {
        corpus.restore(before);
        corpus.run(&import).ok().says("6 pages imported");
        asks_for_nothing(when);
        let story = format!("why {}", urls[0]);
        corpus.run(&story).ok().says("or imported; it will not be fetched again");
    }
    // A text does not count as its page.
    corpus.restore(&fresh);
    let line = json!({ "text": text(4), "url": urls[0] });
    let summary = write(&corpus.beside("summary.jsonl"), line.to_string());
    corpus.run(&format!("import {}", summary.display())).ok().says("1 page imported");
    corpus.run("update --all").ok().says("6 added to the plan");

    // After a power failure the page is either stored and known, or it will be fetched.
    corpus.cut_at_every_move(&import, &listed, |at| {
        corpus.run("update --all").ok();
        let (pages, plan) = (corpus.pages().len(), corpus.plan().len());
        assert!(matches!((pages, plan), (0, 6) | (6, 0)), "move {at}: {pages} pages, {plan} entries");
        corpus.run(&import).ok();
        asks_for_nothing(&format!("move {at}"));
    });
}

#[test]
fn an_opml_file_is_added_to_the_feed_list() {
    let corpus = corpus();
    let list = "<opml version=\"2.0\"><body><outline text=\"Weather\"><outline text=\"A\" xmlUrl=\"https://a.example/feed\"/></outline></body></opml>";
    let path = write(&corpus.beside("list.opml"), list);
    corpus.run(&format!("import {}", path.display())).ok().says("1 added to feeds.txt");
    let feeds = fs::read_to_string(corpus.home().join("feeds.txt")).unwrap();
    assert!(feeds.contains("https://a.example/feed\ttopic=Weather"), "{feeds}");
    corpus.run(&format!("import {}", path.display())).ok().says("0 added to feeds.txt, 1 already there");
}

/// A text of English sentences that the gate lets pass.
fn text(number: u32) -> String {
    (0..6).map(|part| prose(number * 7 + part)).collect::<Vec<_>>().join("\n")
}

#[test]
fn texts_become_documents_and_can_be_rebuilt() {
    let corpus = corpus();
    let line = json!({ "id": "t1", "text": text(1), "source": "letters", "created": "1998-05-04",
        "added": "2026-02-07T08:00:00Z", "metadata": { "genre": "letter", "title": "A letter", "language": "en" } });
    let short = json!({ "id": "t2", "text": "Too short." });
    let path = write(&corpus.beside("letters.jsonl"), format!("{line}\n{short}\n[]\n"));
    corpus
        .run(&format!("import {} --date 2026-02-08", path.display()))
        .ok()
        .says("2 pages imported, 1 skipped (1 not-json), 1 text without a date under the day of the import");
    assert_eq!(days(&corpus), ["2026-02-07", "2026-02-08"]);
    corpus.run("clean").ok().says("1 document").says("too-short");
    let first = documents(&corpus);
    assert_eq!((first[0].url.as_str(), first[0].about.title.as_str()), ("import:letters.jsonl#t1", "A letter"));
    assert_eq!(first[0].dated.as_ref().unwrap().day, "1998-05-04");
    assert_eq!(first[0].text(), text(1));
    corpus.run("dedup").ok();
    corpus.run("annotate").ok().says("1 document annotated");
    let vertical = unpacked(&corpus.home().join("text/en/2026-02-07.vert.zst"));
    assert!(vertical.contains(" genre=\"letter\"") && vertical.contains(" date=\"1998-05-04\""), "{vertical}");
    for folder in ["docs", "text", "seen"] {
        fs::remove_dir_all(corpus.home().join(folder)).unwrap();
    }
    corpus.run("clean").ok();
    assert_eq!(documents(&corpus), first);

    // Exported JSON lines and files of docs/ are imported as the same document.
    let own = write(&corpus.beside("own.jsonl"), serde_json::to_string(&first[0]).unwrap());
    let other = corpus.beside("other");
    corpus.run(&format!("init {}", other.display())).ok();
    corpus.run(&format!("import {} --home {}", own.display(), other.display())).ok();
    corpus.run(&format!("clean --home {}", other.display())).ok();
    let there = unpacked(&other.join("docs/en/2026-02-07.jsonl.zst"));
    assert_eq!(serde_json::from_str::<Document>(&there).unwrap(), first[0]);
}

#[test]
fn the_quality_gate_can_be_disabled() {
    let corpus = corpus();
    let path = write(&corpus.beside("short.jsonl"), "{\"id\":1,\"text\":\"Too short.\"}\n");
    corpus.run(&format!("import {} --no-gate --language en --date 2026-02-08", path.display())).ok();
    corpus.run("clean").ok().says("1 document");
}

#[test]
fn imported_tokens_keep_their_lemmas() {
    let corpus = corpus();
    let mut vertical =
        String::from("<doc id=\"v1\" url=\"https://v.example/1\" date=\"2020-01-02\" genre=\"novel\">\n<p>\n");
    let mut conllu = String::from("# newdoc id = c1\n");
    for number in 0..8 {
        vertical.push_str("<s>\n");
        for (at, word) in prose(number).split(' ').enumerate() {
            let (word, stop) = word.strip_suffix('.').map_or((word, false), |word| (word, true));
            vertical.push_str(&format!("{word}\tT{at}\tL-{word}\n"));
            let glue = if stop { "SpaceAfter=No" } else { "_" };
            conllu.push_str(&format!("{}\t{word}\tL-{word}\tT{at}\t_\t_\t_\t_\t_\t{glue}\n", at + 1));
            if stop {
                vertical.push_str("<g/>\n.\tSENT\t.\n");
                conllu.push_str(&format!("{}\t.\t.\tSENT\t_\t_\t_\t_\t_\t_\n", at + 2));
            }
        }
        vertical.push_str("</s>\n");
        conllu.push('\n');
    }
    vertical.push_str("</p>\n</doc>\n");
    let paths = [write(&corpus.beside("a.vert"), vertical), write(&corpus.beside("b.conllu"), conllu)];
    corpus
        .run(&format!("import {} --columns word,tag,lemma --date 2026-02-08 --language en", paths[0].display()))
        .ok()
        .says("1 page imported");
    corpus.run(&format!("import {} --date 2026-02-09 --language en", paths[1].display())).ok().says("1 page imported");
    corpus.run("clean").ok().says("2 documents");
    fs::write(corpus.home().join("tidings.toml"), "[annotate]\nduplicates = \"keep\"\n").unwrap();
    corpus.run("annotate").ok().says("2 documents annotated");
    let first = prose(0);
    let word = first.split(' ').next().unwrap();
    // The day of the document, and that of the import of a document without a date.
    for day in ["2020-01-02", "2026-02-09"] {
        let text = unpacked(&corpus.home().join(format!("text/en/{day}.vert.zst")));
        assert!(text.contains(&format!("\n{word}\tL-{word}\tT0\n")), "{text}");
        assert!(text.contains("<g/>\n.\t.\tSENT\n"), "{text}");
        assert_eq!(text.matches("<s>").count(), 8);
    }
    let text = unpacked(&corpus.home().join("text/en/2020-01-02.vert.zst"));
    assert!(text.contains(" genre=\"novel\"") && text.contains(" date=\"2020-01-02\""), "{text}");
}

#[test]
fn wet_text_is_imported_as_documents_or_as_lines_by_language() {
    let corpus = corpus();
    let german = "Der Fluss ist in der Nacht über die Ufer getreten, und die Feuerwehr hat zwei Straßen im Süden der Stadt gesperrt.";
    let long: String = (0..6).map(|part| format!("{} {}\n", prose(part), prose(part + 6))).collect();
    let wet: Vec<u8> = [format!("Home\nContact\n{long}"), format!("{german}\n{german}\nMenu\n{long}")]
        .iter()
        .enumerate()
        .flat_map(|(number, text)| {
            gzip(&record(
                "conversion",
                &format!("https://w.example/{number}"),
                "2026-02-04T00:00:00Z",
                "",
                text.as_bytes(),
            ))
        })
        .collect();
    let path = write(&corpus.beside("a.warc.wet.gz"), wet);
    corpus.run(&format!("import {}", path.display())).ok().says("2 pages imported");
    corpus.run("clean").ok();
    let document = &documents(&corpus)[0];
    assert_eq!(
        document.left_out.iter().map(|out| out.reason.as_str()).collect::<Vec<_>>(),
        ["short-line", "short-line"]
    );

    // A folder may contain other files without lines.
    let mixed = corpus.beside("mixed");
    fs::create_dir_all(&mixed).unwrap();
    write(&mixed.join("a.warc.wet.gz"), fs::read(&path).unwrap());
    write(&mixed.join("README"), "about these files");
    let other = corpus.beside("other-lines");
    corpus.run(&format!("import {} --lines {}", mixed.display(), other.display())).ok().says("7 lines in 2 languages");
    let vertical = write(&mixed.join("v.vert"), "<doc id=\"1\">\n");
    corpus.run(&format!("import {} --lines {}", vertical.display(), other.display())).exits(1);

    let folder = corpus.beside("lines");
    for threads in [1, 3] {
        let ran =
            corpus.run(&format!("import {} --lines {} --again --threads {threads}", path.display(), folder.display()));
        ran.ok().says("7 lines in 2 languages (6 en, 1 de); 7 duplicates, 3 too short");
        assert_eq!(unpacked(&folder.join("de.txt.zst")), format!("{german}\n"));
        assert_eq!(unpacked(&folder.join("en.txt.zst")), long);
    }
}

#[test]
fn an_import_of_lines_resumes_after_a_power_failure() {
    let corpus = corpus();
    let line = |number: u32| format!("{} {}\n", prose(number), prose(number + 6));
    let wet = |name: &str, lines: std::ops::Range<u32>| {
        let text: String = lines.map(line).collect();
        let packed = gzip(&record("conversion", "https://w.example/", "2026-02-04T00:00:00Z", "", text.as_bytes()));
        write(&corpus.beside(name), packed)
    };
    // The second file starts with the end of the first.
    let (one, two) = (wet("1.warc.wet.gz", 0..3), wet("2.warc.wet.gz", 2..5));
    let folder = corpus.beside("lines");
    let import = format!("import {} {} --lines {} --step-kib 0", one.display(), two.display(), folder.display());
    let all: String = (0..5).map(line).collect();
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    let mut half_done = 0;
    corpus.cut_at_every_move(&import, &prepared, |at| {
        let ran = corpus.run(&import).ok();
        half_done += usize::from(ran.stdout.contains("1 file imported before"));
        assert_eq!(unpacked(&folder.join("en.txt.zst")), all, "move {at}");
        corpus.run(&import).ok().says("0 lines in 0 languages; 0 duplicates");
        corpus.run(&import).ok().says("2 files imported before");
        assert_eq!(unpacked(&folder.join("en.txt.zst")), all, "move {at}");
        fs::remove_dir_all(&folder).unwrap();
    });
    assert!(half_done > 0, "no power failure between the files");

    let three = wet("3.warc.wet.gz", 4..6);
    let import = format!("import {} {} --lines {} --remove", one.display(), three.display(), folder.display());
    corpus.run(&import).ok().says("1 line in 1 language (1 en); 1 duplicates");
    assert!(!one.exists() && !three.exists() && two.exists());
    assert_eq!(unpacked(&folder.join("en.txt.zst")), format!("{all}{}", line(5)));
}

#[test]
fn a_power_failure_at_any_operation_of_an_import_loses_and_repeats_nothing() {
    let corpus = corpus();
    let records: Vec<u8> = archive().iter().flat_map(|record| gzip(record)).collect();
    let path = write(&corpus.beside("a.warc.gz"), records);
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    let import = format!("import {}", path.display());
    corpus.cut_at_every_move(&import, &prepared, |at| {
        // The next command recovers the home.
        corpus.run("update").ok();
        corpus.is_tidy();
        let kept = corpus.pages().len();
        assert!(kept == 0 || kept == 2, "move {at}: a step is atomic");
        corpus.run(&import).ok();
        assert_eq!(corpus.pages().len(), 2, "move {at}");
        assert_eq!(days(&corpus), ["2026-02-01", "2026-02-02"], "move {at}");
        corpus.is_tidy();
        corpus.run(&import).ok().says("1 file imported before");
    });
}

#[test]
fn an_interrupted_import_resumes() {
    let corpus = corpus();
    // More than one batch, so that there are two steps.
    let records: Vec<u8> = (0..600)
        .flat_map(|number| {
            let url = format!("https://many.example/{number}");
            gzip(&record("response", &url, "2026-02-01T10:00:00Z", "", &answer("", format!("<p>{number}").as_bytes())))
        })
        .collect();
    let path = write(&corpus.beside("many.warc.gz"), records);
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    let import = format!("import {} --step-kib 0", path.display());
    let mut halves = 0;
    corpus.cut_at_every_move(&import, &prepared, |at| {
        let ran = corpus.run(&import).ok();
        if ran.stderr.contains("resuming after record 512") {
            halves += 1;
            assert!(ran.stdout.contains("88 pages imported"), "move {at}: {}", ran.stdout);
        }
        assert_eq!(corpus.pages().len(), 600, "move {at}");
        corpus.is_tidy();
    });
    assert!(halves > 2, "some failures are between the steps");
}

/// A folder with inputs of many kinds: archives of two days, texts, saved pages, a feed list and a plan.
fn many_inputs(folder: &Path) -> PathBuf {
    let saved = folder.join("saved");
    fs::create_dir_all(&saved).unwrap();
    for number in 0..8 {
        let records: Vec<u8> = (0..3)
            .flat_map(|part| {
                let url = format!("https://many.example/{number}/{part}");
                let date = format!("2026-02-0{}T10:00:00Z", 1 + part % 2);
                gzip(&record("response", &url, &date, "", &answer("", article(number * 3 + part).as_bytes())))
            })
            .collect();
        write(&folder.join(format!("part-{number}.warc.gz")), records);
        let link = format!("<link rel=\"canonical\" href=\"https://saved.example/{number}\">");
        write(&saved.join(format!("{number}.html")), article(40 + number).replace("<head>", &format!("<head>{link}")));
    }
    let lines: String =
        (0..4).map(|number| json!({ "text": text(number), "created": "2026-02-01" }).to_string() + "\n").collect();
    write(&folder.join("texts.jsonl"), lines);
    write(&folder.join("feeds.opml"), "<opml><body><outline xmlUrl=\"https://feeds.example/rss\"/></body></opml>");
    write(&folder.join("plan.tsv"), "0\tnew\t0\t2025-01-02T03:04:05Z\t\tf\thttps://many.example/0/0\tT\n");
    folder.to_owned()
}

#[test]
fn concurrent_shards_import_the_same_as_one_import() {
    let whole = corpus();
    let inputs = many_inputs(&whole.beside("inputs"));
    let import = format!("--json import {} --date 2026-02-02", inputs.display());
    let imported = whole.run(&import).ok().json();
    assert_eq!(imported["pages"], 8 * 3 + 4 + 8, "{imported}");
    whole.run("run --from clean").ok();

    let divided = corpus();
    let shard = |index: u32| format!("{import} --shard {index}/3");
    let running: Vec<_> = (1..=3).map(|index| divided.start(&shard(index))).collect();
    let reports: Vec<Value> = running.into_iter().map(|running| running.wait().ok().json()).collect();
    let sum = |field: &str| reports.iter().map(|report| report[field].as_u64().unwrap()).sum::<u64>();
    for field in ["pages", "files", "entries"] {
        assert_eq!(sum(field), imported[field].as_u64().unwrap(), "{field}: {reports:?}");
    }
    assert!(reports.iter().all(|report| report["pages"].as_u64() > Some(0)), "{reports:?}");
    assert_eq!(divided.files("state", "-of-3").len(), 3, "each shard has its own log");
    assert!(!divided.home().join("state/fetched.u64").exists(), "shards write no shared files");

    // A repeated shard has nothing to do, and neither has a whole import, which merges the logs.
    let again = divided.run(&shard(2)).ok().json();
    assert_eq!((&again["pages"], &again["files_known"]), (&0.into(), &reports[1]["files"]));
    let again = divided.run(&import).ok().json();
    assert_eq!(again["pages"], 0, "{again}");
    assert_eq!(divided.files("state", "-of-3").len(), 0);
    divided.is_tidy();
    divided.run("run --from clean").ok();
    assert_eq!(digest(&divided), digest(&whole));
    assert_eq!(tree(&divided), tree(&whole));
    let fetched = |corpus: &Corpus| fs::read(corpus.home().join("state/fetched.u64")).unwrap();
    assert_eq!(fetched(&divided), fetched(&whole));
    let feeds = fs::read_to_string(divided.home().join("feeds.txt")).unwrap();
    assert_eq!(feeds.matches("https://feeds.example/rss").count(), 1, "{feeds}");
    assert_eq!((divided.plan().len(), whole.plan().len()), (0, 0), "imported pages leave the plan");
}

#[test]
fn a_shard_killed_at_any_operation_is_resumed_by_the_same_shard() {
    let corpus = corpus();
    let inputs = many_inputs(&corpus.beside("inputs"));
    let shard = |index: u32| format!("import {} --step-kib 0 --shard {index}/2", inputs.display());
    let prepared = corpus.beside("prepared");
    copy_folder(&corpus.home(), &prepared);
    corpus.cut_at_every_move(&shard(2), &prepared, |at| {
        corpus.run(&shard(2)).ok();
        corpus.run(&shard(1)).ok();
        assert_eq!(corpus.pages().len(), 8 * 3 + 4 + 8, "move {at}");
        // The next run that holds the home exclusively merges the logs and cleans up.
        corpus.run("prune").ok();
        corpus.is_tidy();
        assert_eq!(corpus.pages().len(), 8 * 3 + 4 + 8, "move {at}");
    });
}

#[test]
fn hostile_archives_are_skipped() {
    let corpus = corpus();
    let good = archive();
    let bomb = answer("Content-Encoding: gzip\r\n", &gzip(&vec![b' '; 64 << 20]));
    let bomb = record("response", "https://bomb.example/", "2026-02-01T10:00:00Z", "", &bomb);
    let liar = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://l.example/\r\nContent-Length: 99999999999999\r\n\r\nshort".to_vec();
    let huge_head = [b"WARC/1.0\r\nx: ", &vec![b'y'; 1 << 20][..], b"\r\n\r\n"].concat();
    let mut broken = gzip(&good[4]);
    let middle = broken.len() / 2;
    broken[middle] ^= 0x55;
    let members = [gzip(&bomb), gzip(&huge_head), broken, gzip(&good[2]), gzip(&liar)].concat();
    let path = write(&corpus.beside("hostile.warc.gz"), members);
    let report = corpus.run(&format!("import {} --json", path.display())).exits(3).json();
    assert_eq!(report["pages"], 1, "{report}");
    assert_eq!(left_out(&report)["too-large"], 1);
    assert!(left_out(&report)["damaged"] >= 3, "{report}");
    for (name, bytes) in
        [("no.wacz", &b"PK\x03\x04 nothing"[..]), ("no.vert", b"<doc x=y>\n"), ("no.jsonl", b"{\"text\":")]
    {
        let path = write(&corpus.beside(name), bytes);
        let ran = corpus.run(&format!("import {}", path.display()));
        assert!(matches!(ran.code, Some(0 | 3)), "{name}: {}{}", ran.stdout, ran.stderr);
    }
    corpus.run(&format!("import {}", corpus.beside("missing").display())).exits(1).says("missing not found");
    let unknown = write(&corpus.beside("unknown"), "hello");
    corpus.run(&format!("import {}", unknown.display())).exits(1).says("use --from");
}

#[test]
fn files_of_warcio_are_imported() {
    let script = r#"
import sys
from io import BytesIO
from warcio.warcwriter import WARCWriter
from warcio.statusandheaders import StatusAndHeaders
with open(sys.argv[1], "wb") as out:
    writer = WARCWriter(out, gzip=True)
    out_body = open(sys.argv[2], "rb").read()
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
    record = writer.create_warc_record("https://w.example/a", "response", payload=BytesIO(out_body), http_headers=head,
        warc_headers_dict={"WARC-Date": "2026-02-06T01:02:03Z"})
    writer.write_record(record)
    writer.write_record(writer.create_revisit_record("https://w.example/a", record.rec_headers.get_header("WARC-Payload-Digest"),
        "https://w.example/a", "2026-02-06T01:02:03Z"))
"#;
    let python = std::env::var("TIDINGS_TOOLS").unwrap_or_else(|_| "python3".to_owned());
    let has_warcio = Command::new(&python).args(["-c", "import warcio"]).output().is_ok_and(|ran| ran.status.success());
    if !has_warcio {
        tidings_testing::skip(&format!("{python} has no warcio"));
        return;
    }
    let corpus = corpus();
    let body = write(&corpus.beside("body"), article(8));
    let path = corpus.beside("w.warc.gz");
    let ran = Command::new(&python).args(["-c", script]).args([&path, &body]).status().unwrap();
    assert!(ran.success());
    corpus.run(&format!("import {}", path.display())).ok().says("1 page imported, 1 skipped (1 revisit)");
    assert_eq!(corpus.pages()["https://w.example/a"].body, article(8).into_bytes());
}
