//! Finds exports that contain removed documents, by the files listed in their manifests.
//!
//! Exports belong to the user; they are reported and never changed.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use tidings_store::scan;

/// Folders inside folders, at most.
const MAX_DEPTH: usize = 4;
/// Endings of files that cannot be read line by line.
const PACKED: [&str; 4] = ["parquet", "gz", "zip", "arrow"];

/// The affected exports.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Exports {
    /// Manifests of exports that hold it.
    pub hold: Vec<String>,
    /// Manifests of exports that may contain it: their files cannot be searched.
    pub may_hold: Vec<String>,
}

impl fmt::Display for Exports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hold.iter().try_for_each(|path| writeln!(f, "an export contains it: {path}"))?;
        self.may_hold.iter().try_for_each(|path| writeln!(f, "an export may contain it: {path}"))
    }
}

/// The part of an export's manifest that is read here.
#[derive(Deserialize)]
struct Manifest {
    /// The format field, which identifies a manifest.
    #[serde(rename = "export")]
    _format: String,
    files: Vec<ManifestFile>,
}

#[derive(Deserialize)]
struct ManifestFile {
    file: String,
}

/// Searches all exports with a manifest below a folder for URLs and ids of documents.
pub fn with(folder: &Path, urls: &BTreeSet<String>, ids: &BTreeSet<String>) -> Result<Exports> {
    let mut manifests = Vec::new();
    collect(folder, MAX_DEPTH, &mut manifests).with_context(|| format!("cannot search {}", folder.display()))?;
    manifests.sort();
    let mut exports = Exports::default();
    for manifest in manifests {
        let text = fs::read(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
        let Ok(Manifest { files, .. }) = serde_json::from_slice(&text) else { continue };
        let beside = manifest.parent().unwrap_or(Path::new("."));
        let files: Vec<PathBuf> = files.iter().map(|file| beside.join(&file.file)).collect();
        let shown = manifest.display().to_string();
        let is_searchable =
            |path: &PathBuf| !path.extension().is_some_and(|end| PACKED.iter().any(|packed| end == *packed));
        let mut holds = false;
        for path in files.iter().filter(|path| is_searchable(path)) {
            holds = holds || mentions(path, urls, ids)?;
        }
        if holds {
            exports.hold.push(shown);
        } else if !files.iter().all(is_searchable) {
            exports.may_hold.push(shown);
        }
    }
    Ok(exports)
}

fn collect(folder: &Path, depth: usize, manifests: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && depth > 0 {
            collect(&path, depth - 1, manifests)?;
        } else if path.to_string_lossy().ends_with(".manifest.json") {
            manifests.push(path);
        }
    }
    Ok(())
}

/// Whether a line of a file contains one of the URLs or ids.
fn mentions(path: &Path, urls: &BTreeSet<String>, ids: &BTreeSet<String>) -> Result<bool> {
    // Markup writes some characters of an address otherwise.
    let written = urls.iter().map(|url| url.replace('&', "&amp;"));
    let words: Vec<String> = urls.iter().cloned().chain(written).chain(ids.iter().cloned()).collect();
    Ok(scan::has_any(path, &words)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_that_contains_a_url_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        put("a.jsonl", "{\"url\":\"http://e.org/1\"}\n{\"url\":\"http://e.org/2\"}\n");
        put("b.jsonl", "{\"id\":\"0123\"}\n");
        put("c.jsonl", "{\"url\":\"http://e.org/3\"}\n");
        put("d.parquet", "PAR1");
        for file in ["a.jsonl", "b.jsonl", "c.jsonl", "d.parquet"] {
            let manifest = serde_json::json!({ "export": "tidings export 1", "files": [{ "file": file }] });
            put(&format!("{file}.manifest.json"), &manifest.to_string());
        }
        put("e.manifest.json", "{}");
        let urls = ["http://e.org/2".to_owned()].into();
        let exports = with(folder.path(), &urls, &["0123".to_owned()].into()).unwrap();
        let names =
            |found: &[String]| found.iter().map(|path| path.rsplit('/').next().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&exports.hold), ["a.jsonl.manifest.json", "b.jsonl.manifest.json"]);
        assert_eq!(names(&exports.may_hold), ["d.parquet.manifest.json"]);
    }
}
