//! Parses every feed in `fixtures/feeds` and compares it with the `.expected.json` beside it.
//!
//! An expectation lists the members that matter: each must have the expected value, others may have any. To add a
//! case, add two files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/feeds");
    let mut found = Vec::new();
    for folder in fs::read_dir(&root).expect("fixtures are in the repository") {
        let folder = folder.expect("the folder is readable").path();
        found.extend(fs::read_dir(folder).expect("the folder can be read").map(|file| file.expect("a file").path()));
    }
    found.retain(|path| !path.to_string_lossy().ends_with(".expected.json"));
    found.sort();
    found
}

/// The first difference between an expectation and the parsed feed.
fn difference(expected: &Value, got: &Value, place: &str) -> Option<String> {
    match (expected, got) {
        (Value::Object(expected), Value::Object(_)) => {
            expected.iter().find_map(|(key, value)| difference(value, &got[key], &format!("{place}.{key}")))
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            let pairs = expected.iter().zip(got).enumerate();
            pairs.into_iter().find_map(|(at, (e, g))| difference(e, g, &format!("{place}[{at}]")))
        }
        (expected, got) if expected == got => None,
        (expected, got) => Some(format!("{place}: expected {expected}, got {got}")),
    }
}

#[test]
fn every_fixture_parses_as_expected() {
    let mut wrong = Vec::new();
    let fixtures = fixtures();
    assert!(fixtures.len() > 10);
    for path in fixtures {
        let body = fs::read(&path).expect("the fixture is readable");
        let expected = fs::read(path.with_extension("expected.json")).expect("every fixture has an expectation");
        let expected: Value = serde_json::from_slice(&expected).expect("the expectation is JSON");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        match tidings_feeds::read(&body, None, "https://feeds.example/feed") {
            Ok(feed) => {
                let got = serde_json::to_value(&feed).expect("a feed serializes to JSON");
                wrong.extend(difference(&expected, &got, &name));
            }
            Err(reason) => wrong.push(format!("{name}: {reason}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
