//! The documentation as a searchable book, made by mdBook.
//!
//! Pages keep their paths, so that links between them and pictures hold. The table of contents is made of the folders and
//! of the first heading of each page.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command::{read, run, write};

/// Chapters: a title, and pages or a folder of pages.
const PARTS: [(&str, &[&str]); 5] = [
    ("Begin", &["README.md", "docs/TUTORIAL.md"]),
    ("How to", &["docs/how-to", "packaging/README.md"]),
    (
        "Reference",
        &[
            "docs/COMMANDS.md",
            "docs/SETTINGS.md",
            "docs/API.md",
            "docs/METHODS.md",
            "docs/MODELS.md",
            "docs/FORMATS.md",
        ],
    ),
    ("The project", &["docs/RELEASES.md", "CHANGELOG.md", "BENCHMARKS.md", "docs/PUBLISHERS.md", "SECURITY.md"]),
    ("Inside", &["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/notes"]),
];

const SETTINGS: &str = r#"[book]
title = "Tidings"
language = "en"
src = "src"

[output.html]
smart-punctuation = false
"#;

/// Builds the book with the program `mdbook` into a new folder.
pub fn build(mdbook: &Path, out: &Path) -> Result<()> {
    let out = std::path::absolute(out)?;
    if out.exists() {
        bail!("{} exists; remove it first", out.display());
    }
    let sources = out.join("src");
    let mut summary = String::from("# Summary\n");
    for (part, entries) in PARTS {
        let _ = write!(summary, "\n# {part}\n\n");
        for page in pages(entries)? {
            let text = String::from_utf8(read(&crate::root().join(&page))?)?;
            let _ = writeln!(summary, "- [{}]({})", title(&text), page.display());
            write(&sources.join(&page), text)?;
        }
    }
    write(&sources.join("SUMMARY.md"), summary)?;
    let pictures = Path::new("docs/pictures");
    for entry in fs::read_dir(crate::root().join(pictures)).context("cannot read docs/pictures")? {
        let entry = entry?;
        write(&sources.join(pictures).join(entry.file_name()), read(&entry.path())?)?;
    }
    write(&out.join("book.toml"), SETTINGS)?;
    run(Command::new(mdbook).arg("build").arg(&out))?;
    let index = out.join("book/index.html");
    if !index.is_file() {
        bail!("mdbook made no {}", index.display());
    }
    println!("{}", index.display());
    Ok(())
}

/// The pages of a part; those of a folder are sorted by name.
fn pages(entries: &[&str]) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for entry in entries {
        let path = crate::root().join(entry);
        if path.is_file() {
            pages.push(PathBuf::from(entry));
            continue;
        }
        let names = fs::read_dir(&path).with_context(|| format!("cannot read {entry}"))?;
        let names = names.map(|name| Ok(name?.file_name())).collect::<Result<Vec<_>>>()?;
        let mut found: Vec<PathBuf> = names.into_iter().map(|name| Path::new(entry).join(name)).collect();
        found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        found.sort();
        pages.extend(found);
    }
    Ok(pages)
}

/// The first heading of a page.
fn title(page: &str) -> &str {
    page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("Untitled").trim()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_page_of_the_documentation_is_in_the_book() {
        let listed: BTreeSet<PathBuf> = PARTS.iter().flat_map(|(_, entries)| pages(entries).unwrap()).collect();
        for folder in ["docs", "docs/how-to", "docs/notes"] {
            for page in pages(&[folder]).unwrap() {
                assert!(listed.contains(&page), "{} is in no part of the book", page.display());
            }
        }
        for page in listed {
            let text = fs::read_to_string(crate::root().join(&page)).unwrap();
            assert_ne!(title(&text), "Untitled", "{}", page.display());
        }
    }
}
