//! Foreign files that are read, files for other programs, and the output of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use sha1::{Digest, Sha1};
use tidings_simweb::{Fault, Spec};

use crate::support::{Corpus, addresses, server_says, settings};

fn spec(sites: usize, items_per_feed: usize) -> Spec {
    // Refused pages of full-text feeds have the text of the feed.
    Spec { sites, items_per_feed, full_text_percent: 0, ..Spec::default() }
}

/// A plan of FeedFetcher: all entries of the first site are finished, one article of the second is pending.
fn foreign_plan(corpus: &Corpus) -> String {
    let row = |age: u32, status: &str, retries: u32, feed: &str, url: &str| {
        format!(
            "{age}\t{status}\t{retries}\t2025-01-02T03:04:05+00:00\t2025-01-01T00:00:00+00:00\t{feed}\t{url}\tA title\n"
        )
    };
    let (first, second) = (corpus.web.site(0), corpus.web.site(1));
    let statuses = ["ok", "404 Not Found", "res"];
    let old = addresses(&first).into_iter().zip(statuses);
    let mut plan: String = old.map(|(url, status)| row(7, status, 5, &first.feed(), &url)).collect();
    plan.push_str(&row(0, "get", 1, &second.feed(), &addresses(&second)[0]));
    plan
}

#[test]
fn the_plan_of_feedfetcher_is_continued() {
    for name in ["plan.txt", "plan.txt.zst", "through-init"] {
        let corpus = Corpus::new(spec(2, 3));
        let text = foreign_plan(&corpus);
        let bytes = if name.ends_with("zst") { zstd::encode_all(text.as_bytes(), 3).unwrap() } else { text.into() };
        let foreign = corpus.beside("foreign");
        std::fs::write(&foreign, &bytes).unwrap();
        corpus.run(&format!("plan --count --file {}", foreign.display())).ok().says("404 Not Found");
        std::fs::remove_file(corpus.home().join("plan.tsv.zst")).unwrap();
        if name == "through-init" {
            let home = corpus.home().display().to_string();
            corpus.run(&format!("init {home} --plan {}", foreign.display())).ok();
        } else {
            std::fs::write(corpus.home().join(name), &bytes).unwrap();
        }
        assert_eq!(corpus.plan().len(), 4, "{name}");
        corpus.run("update --all").ok().says("2 added to the plan");
        // The third article of the first site was given up after five attempts, but its feed still lists it.
        corpus.run("fetch").ok().says("4 pages fetched");
        let plan = corpus.plan();
        assert_eq!(plan.len(), 6);
        let of = |site: usize| -> Vec<_> {
            let urls = addresses(&corpus.web.site(site));
            urls.iter().map(|url| plan.iter().find(|entry| entry.url == *url).unwrap().clone()).collect()
        };
        let words: Vec<_> = of(0).into_iter().map(|entry| (entry.age, entry.status, entry.retries)).collect();
        let expected = [(0, "ok", 5), (0, "404 Not Found", 5), (0, "ok", 6)];
        assert_eq!(words, expected.map(|(age, word, retries)| (age, word.to_owned(), retries)));
        assert!(of(1).iter().all(|entry| entry.status == "ok"));
        assert_eq!(of(1)[0].retries, 2);
        assert!(!corpus.home().join(name).exists(), "only one plan exists");
        assert!(!corpus.files("history", "").is_empty(), "and the old one is kept");
        corpus.asked_nothing_twice();
    }
}

#[test]
fn pages_of_feedfetcher_can_be_read() {
    let corpus = Corpus::new(spec(1, 1));
    let line = r#"{"url":"http://e.org/a","feed":"http://e.org/f","title":"T","published":null,"seen":"2025-01-02T03:04:05+00:00","downloaded":"2025-01-02T04:00:00+00:00","body_base64":"PGh0bWw+aGk8L2h0bWw+","content_type":["text/html"]}"#;
    let text = format!("{line}\n{}\n", line.replace("/a\"", "/b\""));
    for (name, bytes) in
        [("p.jsonl", text.clone().into_bytes()), ("p.jsonl.zst", zstd::encode_all(text.as_bytes(), 1).unwrap())]
    {
        let path = corpus.beside(name);
        std::fs::write(&path, bytes).unwrap();
        let ran = corpus.run(&format!("pages {}", path.display())).ok();
        assert_eq!(ran.stdout.lines().count(), 2);
        corpus.run(&format!("pages {} --body http://e.org/b", path.display())).ok().says("<html>hi</html>");
        assert_eq!(corpus.run(&format!("pages --json {}", path.display())).ok().json()["pages"], 2);
    }
    std::fs::write(corpus.beside("p.jsonl"), format!("{line}\nnonsense\n")).unwrap();
    corpus.run(&format!("pages {}", corpus.beside("p.jsonl").display())).exits(1).says("p.jsonl, line 2");
}

/// A record of a WARC file: its head and its block.
pub struct Record {
    pub head: BTreeMap<String, String>,
    pub block: Vec<u8>,
}

/// Reads a WARC file member by member and checks what readers rely on.
pub fn warc_records(path: &Path) -> Vec<Record> {
    let bytes = std::fs::read(path).unwrap();
    let mut rest = &bytes[..];
    let mut records = Vec::new();
    while !rest.is_empty() {
        let mut member = flate2::bufread::GzDecoder::new(rest);
        let mut text = Vec::new();
        member.read_to_end(&mut text).expect("each record is a gzip member");
        rest = member.into_inner();
        let end = text.windows(4).position(|four| four == b"\r\n\r\n").expect("a record has a head");
        let head = String::from_utf8(text[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        assert_eq!(lines.next(), Some("WARC/1.1"));
        let head: BTreeMap<String, String> = lines
            .map(|line| line.split_once(": ").expect("a named field"))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let block = text[end + 4..].strip_suffix(b"\r\n\r\n").expect("two line ends follow").to_vec();
        assert_eq!(head["Content-Length"], block.len().to_string());
        assert_eq!(head["WARC-Block-Digest"], digest(&block));
        records.push(Record { head, block });
    }
    records
}

fn digest(bytes: &[u8]) -> String {
    let mut text = String::from("sha1:");
    for five in Sha1::digest(bytes).chunks(5) {
        let number = five.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        for place in (0..8).rev() {
            text.push(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(number >> (5 * place) & 31) as usize] as char);
        }
    }
    text
}

#[test]
fn warc_files_are_valid() {
    let faults = [Fault::Chunked, Fault::Moved, Fault::WrongCharset, Fault::Brotli];
    let corpus = Corpus::new(faults.into_iter().fold(spec(7, 2), |spec, fault| spec.with_fault(fault, 1)));
    corpus.run("update --all").ok();
    corpus.run("fetch --warc").ok().says("14 pages fetched");
    let files = corpus.files("pages", ".warc.gz");
    assert_eq!(files.len(), 1);
    let records = warc_records(&files[0]);
    let kinds = |kind: &str| records.iter().filter(|record| record.head["WARC-Type"] == kind).count();
    assert_eq!(records[0].head["WARC-Type"], "warcinfo");
    assert_eq!((kinds("response"), kinds("request"), kinds("metadata"), records.len()), (14, 14, 14, 43));
    let pages = corpus.pages();
    let finals: BTreeSet<&str> = pages.values().map(|page| page.final_url.as_str()).collect();
    let mut ids = BTreeSet::new();
    for record in &records {
        assert!(ids.insert(record.head["WARC-Record-ID"].clone()), "every record has a name of its own");
        record.head["WARC-Date"].parse::<jiff::Timestamp>().expect("a date");
        if record.head["WARC-Type"] != "response" {
            continue;
        }
        assert!(finals.contains(record.head["WARC-Target-URI"].as_str()));
        let end = record.block.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let (head, payload) = record.block.split_at(end);
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200 "), "{head}");
        assert_eq!(record.head["WARC-Payload-Digest"], digest(payload));
        // The block must match the data without transfer encoding.
        assert!(!head.contains("transfer-encoding"), "the chunks are gone, so nothing may announce them: {head}");
        let told = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        assert!(told.is_none_or(|told| told == payload.len().to_string()), "{head}");
    }
    for refers in records.iter().filter_map(|record| record.head.get("WARC-Concurrent-To")) {
        assert!(ids.contains(refers), "a request names its response");
    }
    // An export has the exchanges as they were stored, with the requests.
    corpus.run("clean").ok();
    let target = corpus.beside("all.warc.gz");
    corpus.run(&format!("export --format warc {}", target.display())).ok();
    let exported = warc_records(&target);
    assert_eq!(exported[0].head["WARC-Type"], "warcinfo");
    assert_ne!(&exported[0].head["WARC-Date"][..4], "1970");
    let known: BTreeMap<&str, &[u8]> =
        records.iter().map(|record| (record.head["WARC-Record-ID"].as_str(), &record.block[..])).collect();
    assert!(exported.len() > 3 && exported.len() % 3 == 1, "{} records", exported.len());
    for record in &exported[1..] {
        assert_eq!(known.get(record.head["WARC-Record-ID"].as_str()), Some(&&record.block[..]));
    }
}

#[test]
fn errors_in_settings_are_explained() {
    let corpus = Corpus::new(spec(1, 1));
    let path = corpus.home().join("tidings.toml");
    std::fs::write(&path, "[fetch]\nconcurency = 5\n").unwrap();
    for verb in ["update", "fetch", "plan", "config"] {
        corpus
            .run(verb)
            .exits(1)
            .says("tidings.toml, line 2")
            .says("did you mean `concurrency` of the table `[fetch]`?");
    }
    std::fs::write(&path, "[fetch]\ndelay_s = -1.0\n").unwrap();
    corpus.run("update --all").exits(1).says("delay_s");
    std::fs::write(&path, settings(&[])).unwrap();
    let mut command = corpus.command("config");
    command.env("TIDINGS_FETCH_CONCURRENCY", "77").env("TIDINGS_FETCH_CONTACT", "mailto:a@b.example");
    let shown = corpus.launch(command).wait().ok();
    assert!(shown.stdout.contains("concurrency = 77") && shown.stdout.contains("mailto:a@b.example"));
    let mut command = corpus.command("update");
    command.env("TIDINGS_FETCH_USER_AGENT", "Gazette/1 (+http://e.org)");
    corpus.launch(command).wait().ok();
    assert_eq!(&*corpus.web.requests()[0].user_agent, "Gazette/1 (+http://e.org)");
}

#[test]
fn every_verb_supports_json_and_usage_errors_have_their_own_exit_code() {
    let corpus = Corpus::new(spec(2, 2));
    let home = corpus.home().display().to_string();
    assert_eq!(corpus.run(&format!("--json init {home}")).ok().json()["made"], serde_json::json!([]));
    let update = corpus.run("update --all --json").ok().json();
    assert_eq!((&update["done"], &update["new_entries"]), (&true.into(), &4.into()));
    assert_eq!(corpus.run("fetch --json --dry-run").ok().json()["pending"], 4);
    let fetch = corpus.run("--json fetch").ok().json();
    assert_eq!((&fetch["fetched"], &fetch["failed"], &fetch["left"]), (&4.into(), &0.into(), &0.into()));
    assert_eq!(corpus.run("plan --json").ok().json()["statuses"]["ok"], 4);
    assert_eq!(corpus.run("pages --json").ok().json()["pages"], 4);
    assert_eq!(corpus.run("prune --json").ok().json()["pruned"], 0);
    let audit = corpus.run("audit --json").ok().json();
    assert_eq!((&audit["too_early"], &audit["overlapping"], &audit["done"]), (&0.into(), &0.into(), &true.into()));
    assert_eq!(audit["requests"]["page"], 4);
    corpus.run("config --json").ok().json();
    let lost = corpus.run("--json --home /nowhere-at-all plan").exits(1);
    assert!(lost.json()["error"].as_str().unwrap().contains("/nowhere-at-all"));

    for wrong in [
        "",
        "fetsh",
        "fetch --speed 9",
        "update --delay -1",
        "fetch --time-limit soon",
        "init",
        "fetch -q -v",
        "update --concurrency 0",
    ] {
        let ran = corpus.run(wrong);
        assert_eq!(ran.code, Some(2), "`tidings {wrong}` said {}{}", ran.stdout, ran.stderr);
        assert!(!ran.stderr.is_empty());
    }
    assert!(corpus.run("completions bash").ok().stdout.contains("_tidings"));
    corpus.run("completions zsh").ok().says("#compdef tidings");
    corpus.run("man").ok().says(".TH tidings");
    let pages = corpus.beside("man");
    corpus.run(&format!("man --dir {}", pages.display())).ok();
    assert!(pages.join("tidings-fetch.1").is_file());
    corpus.run("--version").ok().says("tidings ");
    assert_eq!(corpus.run("plan -q").ok().stderr, "");
}

#[test]
fn an_audit_finds_politeness_violations() {
    let corpus = Corpus::new(spec(1, 1));
    corpus.run("audit").ok().says("no host was contacted twice");
    let request = |sent: u32, ended: u32| {
        format!(
            r#"{{"sent_ms":{sent},"ended_ms":{ended},"host":"e.org","kind":"page","url":"http://e.org/","status":"200","delay_ms":5000,"bytes":1}}"#
        )
    };
    let log = |name: &str, requests: &[(u32, u32)]| {
        let lines: Vec<String> = requests.iter().map(|(sent, ended)| request(*sent, *ended)).collect();
        let text = format!("{{\"began\":\"2026-03-01T{name}:00:00Z\"}}\n{}\n", lines.join("\n"));
        let runs = corpus.home().join("runs");
        std::fs::create_dir_all(&runs).unwrap();
        let name = format!("20260301T{name}0000000Z-fetch.jsonl.zst");
        std::fs::write(runs.join(name), zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    };
    log("10", &[(0, 100), (5100, 5200)]);
    corpus.run("audit").ok().says("5.000 s (e.org)");
    log("11", &[(0, 100), (3000, 3100)]);
    corpus.run("audit").exits(1).says("before the delay was over: 1");
    corpus.run("audit --last 1 --json").exits(1);
    log("12", &[(0, 9000), (8000, 8100)]);
    let found = corpus.run("audit --json").exits(1).json();
    assert_eq!((&found["too_early"], &found["overlapping"]), (&2.into(), &1.into()));
}

#[test]
fn the_plan_can_be_filtered_and_pages_printed() {
    let corpus = Corpus::new(spec(3, 2).with_fault(Fault::NotFound, 1));
    corpus.run("update --all").ok();
    corpus.run("fetch").ok();
    let count = |args: &str| corpus.run(args).ok().stdout.lines().count();
    let host = corpus.web.site(1).address();
    assert_eq!(count("plan --status 404"), 2);
    assert_eq!(count("plan --status 404 --status ok"), 6);
    assert_eq!(count(&format!("plan --host {host}")), 2);
    assert_eq!(count(&format!("plan --feed {}", corpus.web.site(0).feed())), 2);
    assert_eq!(count("plan -n 3"), 3);
    corpus.run("plan --count").ok().says("4\tok").says("2\t404");
    corpus.shell("\"$T\" plan | head -n 1").ok();
    assert_eq!(count("pages"), 4);
    let url = &addresses(&corpus.web.site(0))[0];
    let body = corpus.run(&format!("pages --body {url}")).ok().stdout;
    assert_eq!(body, String::from_utf8_lossy(&server_says(url).1));
    corpus.run("pages --body http://nowhere.example/").exits(1).says("no page");
}

#[test]
fn old_plans_are_deleted_according_to_the_settings() {
    let corpus = Corpus::new(spec(1, 2));
    let path = corpus.home().join("tidings.toml");
    std::fs::write(&path, settings(&[]) + "history = 4\n").unwrap();
    for _ in 0..4 {
        corpus.web.advance(Duration::from_secs(3600));
        corpus.run("update --all").ok();
    }
    assert_eq!(corpus.files("history", "").len(), 2, "half of them are the newest; there is no earlier day");
}
