//! Models of lemmas and tags on the command line.

use serde_json::Value;

use crate::support::program;

#[test]
fn models_list_their_treebanks_and_licences() {
    let out = program().args(["models", "--json"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let models: Vec<Value> = serde_json::from_slice(&out.stdout).unwrap();
    for model in &models {
        assert_ne!(model["licence"], "", "{model}");
        assert!(model["attribution"].as_str().unwrap().contains("UD_"), "{model}");
        assert!(model["bytes"].as_u64().unwrap() <= 600_000, "{model}");
    }
    let out = program().args(["models"]).output().unwrap();
    let last = String::from_utf8(out.stdout).unwrap();
    assert!(last.trim_end().ends_with("in %"), "{last}");
}

#[test]
fn a_language_without_a_model_and_an_invalid_file_are_errors() {
    let out = program().args(["models", "--lang", "tlh"]).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stdout).contains("no model for tlh"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.bin");
    std::fs::write(&file, "tidings-tags 1\n\x01").unwrap();
    let out = program().arg("models").arg(&file).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("is truncated"), "{out:?}");
}
