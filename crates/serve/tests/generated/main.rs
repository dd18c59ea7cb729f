//! Files that are generated from the OpenAPI document, and a test that they are up to date.
//!
//! `TIDINGS_BLESS=1 cargo test -p tidings-serve --test generated` writes them again.

mod api_md;
mod schema;
mod typescript;

use std::path::{Path, PathBuf};

use serde_json::Value;

const BLESS: &str = "TIDINGS_BLESS=1 cargo test -p tidings-serve --test generated";
/// The lines around the generated part of a file that is written by hand otherwise.
const BEGIN: &str = "<!-- generated from the request and answer types; do not edit -->\n";
const END: &str = "<!-- end of the generated part -->\n";

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Compares a file with its expected content, or writes it.
fn check(path: &str, expected: &str) {
    let present = std::fs::read_to_string(file(path)).unwrap_or_default();
    if present == expected {
        return;
    }
    assert!(std::env::var_os("TIDINGS_BLESS").is_some(), "{path} is out of date; run {BLESS} and commit it");
    std::fs::create_dir_all(file(path).parent().unwrap()).unwrap();
    std::fs::write(file(path), expected).unwrap();
}

#[test]
fn the_openapi_document_is_up_to_date() {
    let text = serde_json::to_string_pretty(&tidings_serve::openapi()).unwrap();
    check("docs/openapi.json", &format!("{text}\n"));
}

#[test]
fn the_reference_of_the_api_is_up_to_date() {
    let present = std::fs::read_to_string(file("docs/API.md")).unwrap();
    let parts = present.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.expect("docs/API.md has the lines around its generated part");
    let reference = api_md::reference(&tidings_serve::openapi());
    check("docs/API.md", &format!("{before}{BEGIN}{reference}{END}{after}"));
}

#[test]
fn the_typescript_types_are_up_to_date() {
    check("ui/src/generated/api.ts", &typescript::types(&tidings_serve::openapi()));
}

#[test]
fn every_reference_of_the_openapi_document_resolves() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
                object.values().for_each(|value| references(value, found));
            }
            _ => {}
        }
    }
    let document = tidings_serve::openapi();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 100, "{}", found.len());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} is not in the document"));
        assert!(document.pointer(pointer).is_some_and(Value::is_object), "{reference} does not resolve");
    }
}

#[test]
fn every_operation_has_its_parameters_described_and_an_answer() {
    let document = tidings_serve::openapi();
    for (path, item) in document["paths"].as_object().unwrap() {
        let operation = &item["get"];
        assert!(operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{path}");
        for parameter in operation["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap();
            assert!(parameter["description"].as_str().is_some_and(|text| text.len() > 5), "{path}: {name}");
            let schema = schema::resolved(&document, &parameter["schema"]);
            assert!(schema["type"].is_string(), "{path}: {name} has the type {}", schema["type"]);
            assert_eq!(path.contains(&format!("{{{name}}}")), parameter["in"] == "path", "{path}: {name}");
        }
        let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let answer = schema::resolved(&document, answer);
        for name in schema::order(answer) {
            let property = schema::resolved(&document, &answer["properties"][name]);
            assert!(property.is_object(), "{path}: {name} of the answer is not described");
        }
        assert_eq!(schema::order(answer).count(), answer["properties"].as_object().unwrap().len(), "{path}");
    }
}
