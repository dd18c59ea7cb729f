//! Tests of the programs in `examples/`, over the pages of `fixtures/pages`.

#[path = "../../../examples/extract_page.rs"]
#[allow(dead_code)] // Their `main` reads arguments and calls `run`.
mod extract_page;
#[path = "../../../examples/folder_to_corpus.rs"]
#[allow(dead_code)]
mod folder_to_corpus;
#[path = "../../../examples/query_corpus.rs"]
#[allow(dead_code)]
mod query_corpus;

use std::path::{Path, PathBuf};

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/pages")
}

/// The text that an example prints.
fn printed(run: impl FnOnce(&mut dyn std::io::Write) -> anyhow::Result<()>) -> String {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_folder_of_pages_becomes_a_searchable_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let text = printed(|out| folder_to_corpus::run(&pages(), &home, "\"ferry\"", out));
    assert!(text.starts_with("import: 4 pages\n"), "{text}");
    assert!(text.contains("dedup: 0 copies\n") && text.contains("\nen: "), "{text}");

    let text = printed(|out| query_corpus::run(&home, "en", "\"ferry\"", out));
    assert!(text.contains("[ferry]") && text.contains("\n2024  "), "{text}");
    let error = query_corpus::run(&home, "xx", "\"ferry\"", &mut Vec::new()).unwrap_err();
    assert!(error.to_string().starts_with("no index for language xx"), "{error}");
}

#[test]
fn a_page_yields_title_date_language_and_text() {
    let text = printed(|out| extract_page::run(&pages().join("gazette.html"), out));
    assert!(text.starts_with("title     Ferry service to return in spring, council says\n"), "{text}");
    assert!(text.contains("date      2024-02-29 (by json-ld") && text.contains("language  en ("), "{text}");
    assert!(!text.contains("cookies"), "{text}");
}

#[test]
fn a_file_without_text_is_an_error_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.html");
    std::fs::write(&file, "<html></html>").unwrap();
    let error = extract_page::run(&file, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().ends_with("gives no document: no-text"), "{error}");
}
