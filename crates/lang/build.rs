//! Lists the folders of `languages/`, so that adding a language needs no edit of Rust code.
//!
//! Writes `OUT_DIR/folders.rs`: one `Folder` per language that embeds its files with `include_str!`, and the stop lists of
//! jusText that the folders name. The lists come from the crate `justext`; as a build dependency its HTML parser
//! does not become part of the program.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Files of a folder beside `language.tsv`, each with its field of `Folder`.
const OPTIONAL: [(&str, &str); 9] = [
    ("calendar", "calendar.tsv"),
    ("stop_words", "stop-words.txt"),
    ("rules", "rules.tsv"),
    ("gate", "gate.tsv"),
    ("confusable", "confusable.tsv"),
    ("quotations", "quotations.tsv"),
    ("names", "names.tsv"),
    ("terms", "terms.tsv"),
    ("variants", "variants.tsv"),
];

fn main() {
    // The link makes the folders part of the package; cargo does not look for changes behind links.
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is")).join("languages");
    let root = root.canonicalize().unwrap_or_else(|error| panic!("cannot read {}: {error}", root.display()));
    let mut stop_lists = BTreeSet::new();
    let mut code = String::from("static FOLDERS: &[Folder] = &[\n");
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let include = |file: &str| format!("include_str!({:?})", folder.join(file));
        let _ = write!(code, "    Folder {{ code: {name:?}, language: {}", include("language.tsv"));
        for (field, file) in OPTIONAL {
            let value = if folder.join(file).exists() { format!("Some({})", include(file)) } else { "None".to_owned() };
            let _ = write!(code, ", {field}: {value}");
        }
        code.push_str(" },\n");
        let language = folder.join("language.tsv");
        let language = fs::read_to_string(&language).unwrap_or_else(|error| panic!("{}: {error}", language.display()));
        let list = language.lines().find_map(|line| line.strip_prefix("stop-words\t")).map(str::trim);
        stop_lists.extend(list.filter(|name| *name != "off").map(str::to_owned));
    }
    code.push_str("];\n\nstatic STOP_LISTS: &[(&str, &str)] = &[\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    for name in stop_lists {
        let words = justext::get_stoplist(&name).unwrap_or_else(|error| panic!("{name} of languages/: {error}"));
        let mut words: Vec<String> = words.into_iter().map(|word| word.to_lowercase()).collect();
        words.sort();
        words.dedup();
        let list = out.join(format!("{name}.txt"));
        fs::write(&list, words.join("\n")).expect("OUT_DIR is writable");
        let _ = writeln!(code, "    ({name:?}, include_str!({list:?})),");
    }
    code.push_str("];\n");
    fs::write(out.join("folders.rs"), code).expect("OUT_DIR is writable");
}

/// The entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
