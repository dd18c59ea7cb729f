//! Tests of imports.

use super::*;
use crate::test_home;

fn inputs() -> Inputs {
    let input = |path: String, format| InputPath { path: path.into(), format };
    let mut known: Vec<InputPath> =
        (0..40).map(|number| input(format!("part-{number}.warc"), ImportFormat::Warc)).collect();
    known.push(input("feeds.opml".to_owned(), ImportFormat::Opml));
    known.push(input("plan.tsv".to_owned(), ImportFormat::Plan));
    Inputs { known, unknown: vec!["notes.bin".into()] }
}

#[test]
fn shards_divide_the_inputs_and_the_first_changes_the_plan() {
    let shards: Vec<Inputs> = (1..=3)
        .map(|index| {
            let mut part = inputs();
            divide(&mut part, Shard::new(index, 3).unwrap());
            part
        })
        .collect();
    let mut all: Vec<InputPath> = shards.iter().flat_map(|part| part.known.clone()).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    let mut whole = inputs();
    whole.known.sort_by(|a, b| a.path.cmp(&b.path));
    assert_eq!(all, whole.known);
    assert!(shards.iter().all(|part| part.known.len() > 4), "no shard is nearly empty");
    let changes_plan = |part: &Inputs| part.known.iter().any(|input| input.format == ImportFormat::Plan);
    assert!(changes_plan(&shards[0]) && !changes_plan(&shards[1]) && !changes_plan(&shards[2]));
    assert_eq!([0, 1, 2].map(|at: usize| shards[at].unknown.len()), [1, 0, 0]);
}

#[test]
fn without_shards_inputs_stay_in_the_order_of_the_caller() {
    let mut part = inputs();
    divide(&mut part, Shard::WHOLE);
    assert_eq!(part, inputs());
}

#[test]
fn errors_of_the_home_are_distinguished_from_those_of_an_input() {
    let error = |path: &str| {
        anyhow::Error::from(tidings_store::Error::Line { path: path.into(), line: 1, fault: "is odd".to_owned() })
    };
    assert!(is_about_input(&error("in/a.warc"), Path::new("in/a.warc")));
    assert!(!is_about_input(&error("home/plan.tsv"), Path::new("in/a.warc")));
    assert!(is_about_input(&anyhow::anyhow!("cannot continue reading"), Path::new("in/a.warc")));
}

#[test]
fn a_cancelled_import_ends_before_the_next_input_and_later_resumes() {
    let (folder, pipeline) = test_home::empty();
    let file = put(folder.path(), "a.warc", &warc(&["http://a.example/1"]));
    let cancelled = pipeline.clone().with_cancel(crate::cancel::CancelToken::new());
    cancelled.cancel_token().cancel(crate::cancel::StopReason::Cancelled("SIGINT".to_owned()));
    let error = run(&cancelled, &Options::new(vec![file.clone()])).unwrap_err();
    assert!(error.is::<Cancelled>() && !is_about_input(&error, &file), "{error:#}");
    assert_eq!(run(&pipeline, &Options::new(vec![file])).unwrap().pages, 1);
}

const TEXT: &str = "The river rose again during the night, and the fire brigade had to close two of the roads.";

fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn warc(urls: &[&str]) -> Vec<u8> {
    let record = |url: &&str| {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{TEXT} {url}</p>");
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    urls.iter().map(record).collect::<String>().into_bytes()
}

fn page_days(pipeline: &Pipeline) -> Vec<String> {
    tidings_store::docs::page_days(pipeline.home()).unwrap().into_iter().map(|day| day.name).collect()
}

#[test]
fn a_repeated_import_does_nothing_unless_requested() {
    let (folder, pipeline) = test_home::empty();
    let input = put(folder.path(), "a.jsonl", format!("{{\"text\":\"{TEXT}\"}}\n").as_bytes());
    let options = Options::new(vec![input]);
    let outcome = run(&pipeline, &options).unwrap();
    assert_eq!((outcome.pages, outcome.files, outcome.files_known), (1, 1, 0));
    let before = test_home::files_of(&pipeline.home().root().join("pages"));
    let outcome = run(&pipeline, &options).unwrap();
    assert_eq!((outcome.pages, outcome.files, outcome.files_known, outcome.done), (0, 0, 1, true));
    assert_eq!(test_home::files_of(&pipeline.home().root().join("pages")), before);
    assert_eq!(run(&pipeline, &Options { again: true, ..options }).unwrap().pages, 1);
}

#[test]
fn a_dry_run_counts_and_stores_nothing() {
    let (folder, pipeline) = test_home::empty();
    let input = put(folder.path(), "a.warc", &warc(&["https://e.org/1", "https://e.org/2"]));
    let options = Options { dry_run: true, ..Options::new(vec![input]) };
    let outcome = run(&pipeline, &options).unwrap();
    assert_eq!((outcome.pages, outcome.dry_run), (2, true));
    assert_eq!(page_days(&pipeline), Vec::<String>::new());
    assert_eq!(run(&pipeline, &Options { dry_run: false, ..options }).unwrap().pages, 2);
    assert_eq!(page_days(&pipeline), ["2024-05-06"], "the day of the record, not of the import");
}

/// A vertical file of documents with and without a date, in no order.
fn vertical(documents: usize) -> String {
    let document = |number: usize| {
        let date = match number % 5 {
            4 => String::new(),
            _ => format!(" date=\"201{}-0{}-17\"", number * 7 % 10, number % 9 + 1),
        };
        let words = TEXT.split(' ').map(|word| format!("{word}\t{}\tX\n", word.to_lowercase()));
        format!("<doc id=\"d{number}\"{date}>\n<s>\n{}</s>\n</doc>\n", words.collect::<String>())
    };
    (0..documents).map(document).collect()
}

#[test]
fn annotated_texts_are_stored_under_the_days_of_their_dates() {
    let (folder, pipeline) = test_home::empty();
    let input = put(folder.path(), "a.vert", vertical(50).as_bytes());
    let downloaded = Some("2026-03-01T00:00:00Z".parse().unwrap());
    let outcome = run(&pipeline, &Options { downloaded, ..Options::new(vec![input]) }).unwrap();
    assert_eq!((outcome.pages, outcome.undated), (50, 10));
    let days = page_days(&pipeline);
    assert!(days.len() > 20 && days[0].starts_with("201"), "{days:?}");
    assert_eq!(days.last().map(String::as_str), Some("2026-03-01"), "texts without a date");
    let future = put(folder.path(), "b.jsonl", b"{\"text\":\"Rain.\",\"created\":\"2031-01-01\"}\n");
    run(&pipeline, &Options { downloaded, ..Options::new(vec![future]) }).unwrap();
    assert_eq!(page_days(&pipeline), days, "a date after the import is not believed");
}

#[test]
fn an_import_over_many_days_resumes_without_loss() {
    let digest = |pipeline: &Pipeline| {
        let pages = crate::digest::Options { layer: Some(crate::digest::Layer::Pages), ..Default::default() };
        crate::digest::run(pipeline, &pages).unwrap().digest
    };
    let text = vertical(1500);
    let downloaded = Some("2026-03-01T00:00:00Z".parse().unwrap());
    let whole = test_home::empty();
    let options = |folder: &Path| Options {
        downloaded,
        step_bytes: Some(1),
        ..Options::new(vec![put(folder, "a.vert", text.as_bytes())])
    };
    assert_eq!(run(&whole.1, &options(whole.0.path())).unwrap().pages, 1500);
    // A killed process leaves the steps that its log names.
    let (folder, pipeline) = test_home::empty();
    let log = pipeline.home().root().join("state/imports.jsonl");
    run(&pipeline, &options(folder.path())).unwrap();
    let steps = std::fs::read_to_string(&log).unwrap();
    assert!(steps.lines().count() > 2, "there are several steps");
    let first = steps.lines().next().unwrap().to_owned() + "\n";
    let named: serde_json::Value = serde_json::from_str(&first).unwrap();
    let named: Vec<&str> = named["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    let root = pipeline.home().root();
    for (name, _) in test_home::files_of(&root.join("pages")) {
        let shown = format!("pages/{}", name.display());
        if !named.iter().any(|file| *file == format!("{shown}.part")) {
            std::fs::remove_file(root.join(shown)).unwrap();
        }
    }
    std::fs::write(&log, first).unwrap();
    let outcome = run(&pipeline, &options(folder.path())).unwrap();
    assert!(outcome.pages > 0 && outcome.pages < 1500, "{outcome:?}");
    assert_eq!(digest(&pipeline), digest(&whole.1));
}

#[test]
fn a_truncated_archive_yields_its_complete_records() {
    let (folder, pipeline) = test_home::empty();
    let mut bytes = warc(&["https://e.org/1", "https://e.org/2"]);
    bytes.truncate(bytes.len() - 40);
    let outcome = run(&pipeline, &Options::new(vec![put(folder.path(), "a.warc", &bytes)])).unwrap();
    assert_eq!(outcome.pages, 1);
    assert!(outcome.left_out.contains_key("damaged") || !outcome.files_failed.is_empty(), "{outcome:?}");
}

#[test]
fn an_unreadable_input_does_not_stop_the_others() {
    let (folder, pipeline) = test_home::empty();
    let bad = put(folder.path(), "a.jsonl.gz", b"\x1f\x8b\x08\x00 this is no gzip");
    let good = put(folder.path(), "b.jsonl", format!("{{\"text\":\"{TEXT}\"}}\n").as_bytes());
    let options = Options { format: Some(ImportFormat::Jsonl), ..Options::new(vec![bad.clone(), good]) };
    let outcome = run(&pipeline, &options).unwrap();
    assert_eq!((outcome.pages, outcome.done, outcome.files_failed), (1, false, vec![bad.display().to_string()]));
}

#[test]
fn lines_without_text_are_skipped_by_reason() {
    let (folder, pipeline) = test_home::empty();
    let mut lines = format!("{{\"text\":\"{TEXT}\"}}\n[1]\n{{\"id\":1}}\n{{\"text\":\"\"}}\n").into_bytes();
    lines.extend(b"{\"text\":\"\xff\xfe\"}\n");
    let outcome = run(&pipeline, &Options::new(vec![put(folder.path(), "a.jsonl", &lines)])).unwrap();
    assert_eq!((outcome.pages, outcome.left_out.values().sum::<u64>()), (1, 4));
    assert_eq!((outcome.left_out["not-json"], outcome.left_out["no-text"]), (2, 2));
}

#[test]
fn only_the_selected_sites_are_imported() {
    let (folder, pipeline) = test_home::empty();
    let input = put(folder.path(), "a.warc", &warc(&["https://e.org/1", "https://WWW.E.org/2", "https://f.org/3"]));
    let outcome = run(&pipeline, &Options { sites: vec!["E.org".into()], ..Options::new(vec![input]) }).unwrap();
    assert_eq!((outcome.pages, outcome.left_out.get("other-site")), (2, Some(&1)));
}

#[test]
fn removed_pages_are_not_imported() {
    let (folder, pipeline) = test_home::empty();
    let what = crate::takedown::Options {
        what: Some("e.org".into()),
        reason: Some("asked to".into()),
        ..crate::takedown::Options::default()
    };
    crate::takedown::run(&pipeline, &what).unwrap();
    let input = put(folder.path(), "a.warc", &warc(&["https://www.e.org/1", "https://f.org/2"]));
    let outcome = run(&pipeline, &Options::new(vec![input])).unwrap();
    assert_eq!((outcome.pages, outcome.left_out.values().sum::<u64>()), (1, 1));
}

#[test]
fn a_file_is_deleted_only_after_it_was_read_to_its_end() {
    let (folder, pipeline) = test_home::empty();
    let good = put(folder.path(), "a.warc", &warc(&["https://e.org/1"]));
    let bad = put(folder.path(), "b.jsonl.gz", b"\x1f\x8b\x08\x00 this is no gzip");
    let options = |path: &PathBuf, format| Options { remove: true, format, ..Options::new(vec![path.clone()]) };
    run(&pipeline, &options(&good, None)).unwrap();
    run(&pipeline, &options(&bad, Some(ImportFormat::Jsonl))).unwrap();
    assert_eq!((good.exists(), bad.exists()), (false, true));
}

#[test]
fn the_commit_interval_does_not_change_the_pages() {
    let urls: Vec<String> = (0..30).map(|number| format!("https://e.org/{number}")).collect();
    let bytes = warc(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    let digest = |step_bytes| {
        let (folder, pipeline) = test_home::empty();
        let options = Options { step_bytes, ..Options::new(vec![put(folder.path(), "a.warc", &bytes)]) };
        assert_eq!(run(&pipeline, &options).unwrap().pages, 30);
        let pages = crate::digest::Options { layer: Some(crate::digest::Layer::Pages), ..Default::default() };
        crate::digest::run(&pipeline, &pages).unwrap().digest
    };
    assert_eq!(digest(Some(1)), digest(None));
}
