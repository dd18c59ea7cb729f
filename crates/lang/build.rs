//! Lists the folders of `languages/`, so that adding a language needs no edit of Rust code.
//!
//! Writes `OUT_DIR/folders.rs`: one `Folder` per language that embeds its files with `include_str!`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Files of a folder beside `language.tsv`, each with its field of `Folder`.
const OPTIONAL: [(&str, &str); 7] = [
    ("calendar", "calendar.tsv"),
    ("stop_words", "stop-words.txt"),
    ("rules", "rules.tsv"),
    ("gate", "gate.tsv"),
    ("confusable", "confusable.tsv"),
    ("quotations", "quotations.tsv"),
    ("names", "names.tsv"),
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../languages");
    println!("cargo:rerun-if-changed={}", root.display());
    let entries = fs::read_dir(&root).unwrap_or_else(|error| panic!("cannot read {}: {error}", root.display()));
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();

    let mut code = String::from("static FOLDERS: &[Folder] = &[\n");
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let include = |file: &str| format!("include_str!({:?})", folder.join(file));
        let _ = write!(code, "    Folder {{ code: {name:?}, language: {}", include("language.tsv"));
        for (field, file) in OPTIONAL {
            let value = if folder.join(file).exists() { format!("Some({})", include(file)) } else { "None".to_owned() };
            let _ = write!(code, ", {field}: {value}");
        }
        code.push_str(" },\n");
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    fs::write(out.join("folders.rs"), code).expect("OUT_DIR is writable");
}
