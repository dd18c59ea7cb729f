//! `tidings extract`: files, folders, patterns, URLs, streams, all formats.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_simweb::Spec;

use crate::piped::{self, Finished};
use crate::support::{Corpus, addresses, program};

/// A page so plain that every extractor finds the same text.
fn page(word: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=en><head><title>On {word}</title></head><body><article><h1>On {word}</h1>\
         <p>It was said in the town that the {word} would come back before the winter, and everybody waited for it.</p>\
         <p>On the third day the <b>{word}</b> came, and people carried their chairs into the street to see it pass.</p>\
         </article></body></html>"
    )
}

struct TestFolder {
    folder: TempDir,
}

impl TestFolder {
    fn new(files: &[(&str, String)]) -> TestFolder {
        let folder = TestFolder { folder: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            let path = folder.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn run(&self, args: &str, input: &[u8]) -> Finished {
        let mut command = program();
        command.args(args.split_whitespace()).current_dir(self.folder.path());
        piped::run(command, input)
    }

    #[track_caller]
    fn ok(&self, args: &str) -> String {
        let said = self.run(args, b"");
        assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
        said.stdout
    }
}

/// A minimal XML reader that rejects what is not well-formed.
fn is_well_formed(xml: &str) {
    let mut open = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find('<') {
        let (text, tail) = rest.split_at(at);
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)), "&{entity}");
        }
        let end = tail.find('>').expect("a tag ends");
        let tag = &tail[1..end];
        rest = &tail[end + 1..];
        match tag {
            _ if tag.starts_with(['?', '!']) || tag.ends_with('/') => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(&tag[1..]), "in {xml}"),
            _ => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!xml.chars().any(|c| c.is_control() && !"\n\t".contains(c)));
}

#[test]
fn a_file_is_printed_as_text_and_in_every_format() {
    let folder = TestFolder::new(&[("a.html", page("river"))]);
    let text = folder.ok("extract a.html");
    assert!(text.contains("would come back before the winter") && !text.contains('<'), "{text}");
    let markdown = folder.ok("extract a.html --format md --links");
    assert!(markdown.contains("**river**"), "{markdown}");
    let json: Value = serde_json::from_str(&folder.ok("extract a.html --format json --url http://e.org/a")).unwrap();
    assert_eq!((&json["url"], &json["site"]), (&json!("http://e.org/a"), &json!("e.org")));
    assert_eq!(json["id"].as_str().unwrap().len(), 32);
    assert!(json["text"].as_str().unwrap().contains("third day"));
    assert_eq!(serde_json::from_str::<Value>(&folder.ok("extract a.html --json")).unwrap()["text"], json["text"]);
    for format in ["xml", "tei"] {
        let xml = folder.ok(&format!("extract a.html --format {format}"));
        is_well_formed(&xml);
        assert!(xml.starts_with("<?xml") && xml.contains("third day"), "{xml}");
    }
    let csv = folder.ok("extract a.html --format csv");
    assert!(csv.starts_with("id,url,title,authors,date,language,site") && csv.ends_with("\r\n"), "{csv}");
    let html = folder.ok("extract a.html --format html");
    assert!(html.contains("<article") && html.contains("<strong>river</strong>"), "{html}");
}

#[test]
fn standard_input_is_read_with_its_given_url() {
    let folder = TestFolder::new(&[]);
    let said = folder.run("extract - --format json --url http://e.org/b", page("mill").as_bytes());
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(serde_json::from_str::<Value>(&said.stdout).unwrap()["url"], "http://e.org/b");
    let broken = folder.run("extract -", b"");
    assert_eq!(broken.code, 1);
    assert!(broken.stderr.contains("standard input"), "{}", broken.stderr);
}

#[test]
fn folders_and_patterns_are_read_in_order_by_any_number_of_threads() {
    let words = ["ash", "birch", "cedar", "elm", "fir", "gorse", "holly", "ivy"];
    let files: Vec<(String, String)> =
        words.iter().enumerate().map(|(at, word)| (format!("in/{}/{word}.html", at % 3), page(word))).collect();
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let folder = TestFolder::new(&files);
    fs::write(folder.path("in/picture.png"), b"\x89PNG").unwrap();
    let alone = folder.ok("extract in --threads 1");
    assert_eq!(alone, folder.ok("extract in --threads 7"));
    let order: Vec<&str> = alone.lines().filter(|line| line.starts_with("==> ")).collect();
    assert_eq!(order.len(), 8);
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(folder.ok("extract in/**/*.html --threads 3"), alone);
    let json = folder.ok("extract in --format json");
    assert_eq!(json.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count(), 8);
    for format in ["xml", "tei"] {
        let xml = folder.ok(&format!("extract in --format {format}"));
        is_well_formed(&xml);
    }
    assert_eq!(folder.ok("extract in --format csv").matches("id,url,").count(), 1);
    assert_eq!(folder.ok("extract in/0/ash.html in/0/ash.html in/0").matches("==> ").count(), 3, "none is read twice");
}

#[test]
fn a_folder_of_outputs_has_a_file_for_each_page() {
    let folder =
        TestFolder::new(&[("in/a.html", page("ash")), ("in/sub/a.htm", page("elm")), ("in/sub/b", page("fir"))]);
    let said = folder.ok("extract in -o out --format md");
    assert!(said.starts_with("3 pages read: 3 documents, "), "{said}");
    assert!(folder.read("out/a.md").contains("**ash**"));
    assert!(folder.read("out/sub/a.md").contains("**elm**"));
    assert!(folder.read("out/sub/b.md").contains("**fir**"));
    let report: Value = serde_json::from_str(&folder.ok("extract in -o out --json --format tei")).unwrap();
    assert_eq!((&report["done"], &report["documents"]), (&json!(true), &json!(3)));
    is_well_formed(&folder.read("out/sub/a.tei.xml"));
    folder.ok("extract in/*/* in/*.html -o globbed");
    assert!(folder.read("globbed/sub/a.txt").contains("elm") && folder.read("globbed/a.txt").contains("ash"));
    fs::write(folder.path("flat"), "").unwrap();
    let said = folder.run("extract in -o flat", b"");
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("flat"), "{}", said.stderr);
}

#[test]
fn pages_without_text_are_reported_and_the_rest_is_read() {
    let folder =
        TestFolder::new(&[("a.html", page("ash")), ("b.html", String::new()), ("c.html", "%PDF-1.4 <".into())]);
    let said = folder.run("extract a.html b.html c.html", b"");
    assert_eq!(said.code, 3);
    assert!(said.stdout.contains("the ash would come back"));
    assert!(said.stderr.contains("b.html: ") && said.stderr.contains("c.html: not an HTML page (not-html)"));
    assert!(said.stderr.contains("3 pages read: 1 document, 2 dropped ("), "{}", said.stderr);
    assert_eq!(folder.run("extract c.html", b"").code, 1);
}

#[test]
fn invalid_arguments_are_rejected() {
    let folder = TestFolder::new(&[("a.html", page("ash")), ("b.html", page("elm"))]);
    fs::create_dir(folder.path("empty")).unwrap();
    for (args, code, words) in [
        ("extract", 2, "required"),
        ("extract a.html --format docx", 2, "docx"),
        ("extract a.html --preset sloppy", 2, "sloppy"),
        ("extract a.html --url nonsense", 2, "expected a URL"),
        ("extract a.html --threads 0", 2, "0"),
        ("extract a.html --jsonl", 2, "--jsonl"),
        ("extract a.html b.html --url http://e.org/", 2, "--url"),
        ("extract missing.html", 1, "missing.html not found"),
        ("extract x*.html", 1, "no file matches"),
        ("extract empty", 1, "no pages in empty"),
        ("extract ftp://e.org/a", 1, "ftp://e.org/a not found"),
        ("extract https://e.org/a", 1, "TIDINGS_FETCH_CONTACT"),
    ] {
        let said = folder.run(args, b"");
        assert_eq!(said.code, code, "{args}: {}{}", said.stdout, said.stderr);
        assert!(said.stderr.contains(words), "{args}: {}", said.stderr);
        assert_eq!(said.stdout, "", "{args}");
    }
}

#[test]
fn an_endless_input_is_rejected() {
    let folder = TestFolder::new(&[]);
    let large = folder.path("large.html");
    fs::File::create(&large).unwrap().set_len(65 << 20).unwrap();
    for args in ["extract large.html", "extract /dev/zero"] {
        let said = folder.run(args, b"");
        assert_eq!(said.code, 1);
        assert!(said.stderr.contains("larger than 64 MiB"), "{}", said.stderr);
    }
}

#[test]
fn the_filter_processes_each_line_in_order() {
    let folder = TestFolder::new(&[]);
    let mut input = String::new();
    for number in 0..300 {
        let html = format!("{}{}", page("ash"), "<p>more</p>".repeat(number % 40));
        input += &json!({ "id": number, "url": format!("http://e.org/{number}"), "html": html }).to_string();
        input.push('\n');
    }
    let alone = folder.run("extract --jsonl --threads 1", input.as_bytes());
    assert_eq!(alone.code, 0, "{}", alone.stderr);
    assert_eq!(folder.run("extract --jsonl --threads 5", input.as_bytes()).stdout, alone.stdout);
    let answers: Vec<Value> = alone.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 300);
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!((&answer["id"], &answer["url"]), (&json!(number), &json!(format!("http://e.org/{number}"))));
        assert!(answer["text"].as_str().unwrap().contains("before the winter"));
        for key in ["title", "author", "language", "description", "sitename"] {
            assert!(answer[key].is_string(), "{key} in {answer}");
        }
        assert!(answer["authors"].is_array() && answer["categories"].is_array() && answer["tags"].is_array());
        assert!(answer.get("date").is_some());
    }
}

#[test]
fn the_filter_continues_after_invalid_lines_and_reports_them() {
    let folder = TestFolder::new(&[]);
    let good = json!({ "id": "z", "html": page("ash") });
    let input = format!("nonsense\n{{\"id\":1}}\n{{\"id\":2,\"html\":\"\"}}\n\u{0}\n{good}\n");
    let said = folder.run("extract --jsonl", input.as_bytes());
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("3 lines could not be read"), "{}", said.stderr);
    let answers: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 5);
    assert_eq!(answers[1], json!({ "id": 1, "error": "html is missing" }));
    assert_eq!((&answers[2]["text"], &answers[2]["reason"]), (&json!(""), &json!("no-text")));
    assert!(answers[0]["error"].is_string() && answers[3]["error"].is_string());
    assert_eq!(answers[4]["id"], "z");
    assert_eq!(folder.run("extract --jsonl", b"").code, 0);
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let corpus = Corpus::new(Spec { sites: 1, ..Spec::default() });
    let folder = corpus.beside("in");
    fs::create_dir(&folder).unwrap();
    (0..400).for_each(|number| fs::write(folder.join(format!("{number}.html")), page("ash").repeat(20)).unwrap());
    let ran = corpus.shell(&format!("\"$T\" extract {} | head -1", folder.display())).ok();
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""));
}

#[test]
fn web_pages_are_requested_politely() {
    let corpus = Corpus::new(Spec { sites: 2, items_per_feed: 3, ..Spec::default() });
    let urls: Vec<String> = (0..2).flat_map(|site| addresses(&corpus.web.site(site)).into_iter().take(2)).collect();
    let ran = corpus.run(&format!("extract --format json {}", urls.join(" "))).ok();
    let documents: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.iter().map(|document| document["url"].as_str().unwrap()).collect::<Vec<_>>(), urls);
    assert!(documents.iter().all(|document| !document["text"].as_str().unwrap().is_empty()));
    corpus.was_polite(std::time::Duration::from_millis(50));
    corpus.asked_nothing_twice();
    // A missing page is reported, and the rest is read.
    let missing = format!("{}-not-there", urls[0]);
    let ran = corpus.run(&format!("extract --format json {missing} {}", urls[2])).exits(3).says("404");
    assert_eq!(ran.stdout.lines().count(), 1);
    corpus.run(&format!("extract {missing}")).exits(1).says("404");
    assert!(!Path::new("docs").exists());
}
