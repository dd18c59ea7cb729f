//! `models/registry.tsv` says what the files of `models/` are. `TIDINGS_BLESS=1 cargo test -p tidings-annotate --test
//! registry` writes the rows of packs again; boundary models do not state their treebanks, so their rows keep them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tidings_annotate::Models;
use tidings_annotate::embedded::{REGISTRY, rows};
use xxhash_rust::xxh3::xxh3_64;

/// Languages of the smaller set, the largest in news.
const CORE: [&str; 14] = ["ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "tr", "uk", "zh"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models")
}

/// The files of `models/` with an extension, by language.
fn files(extension: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    entries.filter_map(|name| name.strip_suffix(extension)?.strip_suffix('.').map(str::to_owned)).collect()
}

fn row(kind: &str, language: &str, extension: &str, licence: &str, treebanks: &str) -> String {
    let file = format!("{language}.{extension}");
    let bytes = std::fs::read(folder().join(&file)).unwrap();
    let set = if CORE.contains(&language) { "core" } else { "all" };
    let digest = format!("{:016x}", xxh3_64(&bytes));
    [kind, language, &file, set, &bytes.len().to_string(), &digest, licence, treebanks].join("\t")
}

#[test]
fn the_registry_says_what_the_files_are() {
    let mut lines = vec![REGISTRY.lines().next().unwrap_or_default().to_owned()];
    for language in files("tags") {
        let pack =
            Models::from_bytes(std::fs::read(folder().join(format!("{language}.tags"))).unwrap().into()).unwrap();
        let info = pack.languages().next().unwrap();
        assert_eq!((info.language.as_str(), pack.languages().count()), (language.as_str(), 1));
        let treebanks: Vec<&str> = info.treebanks.iter().map(|one| one.name.as_str()).collect();
        lines.push(row("tags", &language, "tags", &info.licence(), &treebanks.join(", ")));
    }
    for language in files("tsm") {
        let old = rows(REGISTRY).find(|row| row.kind == "boundaries" && row.language == language);
        let old = old.unwrap_or_else(|| panic!("add a row with licence and treebanks for {language}.tsm"));
        lines.push(row("boundaries", &language, "tsm", old.licence, old.treebanks));
    }
    let expected = lines.join("\n") + "\n";
    if std::env::var_os("TIDINGS_BLESS").is_some() {
        std::fs::write(folder().join("registry.tsv"), &expected).unwrap();
    } else {
        assert!(REGISTRY == expected, "models/registry.tsv is out of date; run with TIDINGS_BLESS=1 and commit it");
    }
}

#[test]
fn no_model_has_a_licence_that_forbids_its_use() {
    for row in rows(REGISTRY) {
        let known = ["CC BY 4.0", "CC BY-SA 3.0", "CC BY-SA 4.0", "LGPL-LR"];
        assert!(row.licence.split(", ").all(|licence| known.contains(&licence)), "{row:?}");
        assert!(row.bytes <= 1_000_000, "{row:?}");
    }
}
