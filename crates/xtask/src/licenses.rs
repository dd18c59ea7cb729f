//! The notices of all packages in the program: `crates/cli/data/notices.json`, which `tidings licenses` prints.
//!
//! Most licences ask that their text goes with every copy of the program. Equal texts are written once. Where a package
//! offers a choice, MIT is taken if it is one of the choices: its text is the shortest.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use crate::command::{read, write};
use crate::packages::{Graph, Package};

/// The packages that are given to users.
const PROGRAMS: [&str; 2] = ["tidings-cli", "tidings-python"];
const FILE: &str = "crates/cli/data/notices.json";
/// Notices of what is not a package of cargo: name, SPDX expression, file.
const DATA: [(&str, &str, &str); 2] = [
    ("data of language identification", "BSD-3-Clause AND Apache-2.0 AND BSD-2-Clause", "crates/lang/data/NOTICE"),
    ("packages of the web page", "ISC", "crates/serve/assets/notices.txt"),
];

#[derive(Serialize)]
struct Notices {
    packages: Vec<Row>,
    texts: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    license: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// Positions in `texts`.
    texts: Vec<usize>,
}

pub fn run(check: bool) -> Result<()> {
    let graph = Graph::read()?;
    let made = notices(&graph)?;
    let path = crate::root().join(FILE);
    if !check {
        return write(&path, made);
    }
    if fs::read(&path).ok().as_deref() != Some(made.as_bytes()) {
        bail!("{FILE} is out of date: run `cargo xtask licenses`, and commit it");
    }
    Ok(())
}

fn notices(graph: &Graph) -> Result<String> {
    let mut texts = Texts::default();
    let mut packages = Vec::new();
    for (name, license, file) in DATA {
        let text =
            String::from_utf8(read(&crate::root().join(file))?).with_context(|| format!("{file} is not UTF-8"))?;
        packages.push(Row {
            name: name.to_owned(),
            version: None,
            license: license.to_owned(),
            source: None,
            texts: vec![texts.add(&text)],
        });
    }
    for package in graph.inside(&PROGRAMS).into_iter().filter(|package| !package.is_own()) {
        let license = package.license.clone().with_context(|| format!("{} names no licence", package.name))?;
        let found = texts_of(package, &license)?;
        packages.push(Row {
            name: package.name.clone(),
            version: Some(package.version.clone()),
            source: package.repository.clone(),
            texts: found.iter().map(|text| texts.add(text)).collect(),
            license,
        });
    }
    let notices = Notices { packages, texts: texts.texts };
    Ok(serde_json::to_string_pretty(&notices).context("cannot write notices as JSON")? + "\n")
}

/// Texts in the order of their first use, each once.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    positions: BTreeMap<String, usize>,
}

impl Texts {
    fn add(&mut self, text: &str) -> usize {
        // Line ends and blanks at them differ between copies of one text.
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let text = lines.join("\n").trim_matches('\n').to_owned();
        *self.positions.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() - 1
        })
    }
}

/// The kind of a file with the text of a licence, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Mit,
    Apache,
    /// A licence whose name the file's does not tell.
    Other,
    /// Attributions, which always go with the program.
    Notice,
}

fn kind_of(name: &str) -> Option<FileKind> {
    let name = name.to_ascii_uppercase();
    let is_source = [".RS", ".TOML", ".PY", ".YML"].iter().any(|extension| name.ends_with(extension));
    match name.as_str() {
        _ if is_source => None,
        name if name.starts_with("NOTICE") => Some(FileKind::Notice),
        name if !["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "UNLICENSE"].iter().any(|word| name.contains(word)) => {
            None
        }
        name if name.contains("APACHE") => Some(FileKind::Apache),
        name if name.contains("MIT") => Some(FileKind::Mit),
        _ => Some(FileKind::Other),
    }
}

/// The texts that go with a package: its notices and those of its licences that are needed.
fn texts_of(package: &Package, license: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    collect(&package.folder(), &mut files)?;
    files.sort();
    let has_mit = files.iter().any(|(kind_name, _)| kind_of(kind_name) == Some(FileKind::Mit));
    // `A OR B AND C` is not chosen from: all of it is printed.
    let offers_mit = !license.contains("AND") && license.split([' ', '/', '(', ')']).any(|word| word == "MIT");
    let mut texts: Vec<String> = Vec::new();
    for (name, text) in files {
        let is_needed = match kind_of(&name) {
            Some(FileKind::Notice | FileKind::Mit) => true,
            Some(FileKind::Apache | FileKind::Other) => !(offers_mit && has_mit),
            None => false,
        };
        if is_needed && !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        texts.push(standard_text(package, license, offers_mit)?);
    }
    Ok(texts)
}

/// Texts of licences in the root of a package and in folders named after licences.
fn collect(folder: &Path, files: &mut Vec<(String, String)>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            if name.to_ascii_uppercase().starts_with("LICEN") {
                collect(&entry.path(), files)?;
            }
        } else if kind_of(&name).is_some() {
            files.push((name, String::from_utf8_lossy(&read(&entry.path())?).into_owned()));
        }
    }
    Ok(())
}

/// The text of a licence for packages that come without one.
fn standard_text(package: &Package, license: &str, offers_mit: bool) -> Result<String> {
    let own = |file: &str| -> Result<String> { Ok(String::from_utf8_lossy(&read(&crate::root().join(file))?).into()) };
    let holder = match package.authors.as_slice() {
        [] => format!("The authors of {}", package.name),
        authors => authors.join(", "),
    };
    match license {
        _ if offers_mit => Ok(own("LICENSE-MIT")?.replace("2026 The Tidings contributors", &holder)),
        "BSD-3-Clause" => Ok(include_str!("bsd-3-clause.txt").replace("HOLDER", &holder)),
        _ if license.contains("Apache-2.0") => own("LICENSE-APACHE"),
        _ => bail!("{} {} ({license}) comes without the text of its licence", package.name, package.version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_their_names() {
        for (name, kind) in [
            ("LICENSE-MIT", Some(FileKind::Mit)),
            ("license-apache-2.0.txt", Some(FileKind::Apache)),
            ("COPYING", Some(FileKind::Other)),
            ("LICENSE.md", Some(FileKind::Other)),
            ("NOTICE", Some(FileKind::Notice)),
            ("licence.rs", None),
            ("README.md", None),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
    }

    #[test]
    fn equal_texts_are_kept_once_whatever_their_line_ends() {
        let mut texts = Texts::default();
        assert_eq!((texts.add("a\nb"), texts.add("c"), texts.add("a  \r\nb\r\n")), (0, 1, 0));
        assert_eq!(texts.texts, ["a\nb", "c"]);
    }
}
