//! Links and pictures of the documentation: every file that a page names exists, and so does every heading.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap()
}

/// The Markdown files of the repository.
fn pages() -> Vec<PathBuf> {
    let list = Command::new("git").args(["ls-files", "-z", "*.md"]).current_dir(repository()).output();
    let listed: Vec<PathBuf> = match list {
        Ok(list) if list.status.success() => {
            let names = String::from_utf8(list.stdout).unwrap();
            names.split_terminator('\0').map(|name| repository().join(name)).collect()
        }
        // An archive of the sources has no list; its documentation is in a few folders.
        _ => ["", "docs", "docs/how-to", "docs/notes", "packaging"]
            .iter()
            .flat_map(|folder| markdown_in(folder))
            .collect(),
    };
    listed.into_iter().filter(|page| page.exists()).collect()
}

fn markdown_in(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The text without blocks and spans of code.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            prose += &format!("{line}\n");
        }
    }
    prose.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The targets of links and pictures: `[text](target)`.
fn targets(page: &str) -> Vec<String> {
    let prose = prose(page);
    let mut targets = Vec::new();
    for (at, _) in prose.match_indices("](") {
        let rest = &prose[at + 2..];
        if let Some(end) = rest.find(')') {
            targets.push(rest[..end].trim_matches(['<', '>']).to_owned());
        }
    }
    targets
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let anchor: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let numbered = |number: usize| if number == 0 { anchor.clone() } else { format!("{anchor}-{number}") };
        let free = (0..).map(numbered).find(|name| !anchors.contains(name)).unwrap();
        anchors.insert(free);
    }
    anchors
}

#[test]
fn links_and_pictures_of_the_documentation_exist() {
    let pages = pages();
    assert!(pages.len() > 30, "{}", pages.len());
    let mut faults = Vec::new();
    let mut links = 0;
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for target in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let is_known = match anchor {
                "" => true,
                anchor => fs::read_to_string(&path).is_ok_and(|text| anchors(&text).contains(anchor)),
            };
            if !path.exists() || !is_known {
                faults.push(format!("{}: {target}", page.strip_prefix(repository()).unwrap().display()));
            }
        }
    }
    assert!(links > 100, "{links}");
    assert!(faults.is_empty(), "links without a target:\n{}", faults.join("\n"));
}

#[test]
fn anchors_are_those_of_headings() {
    let found = anchors("# A `word`, and more\n```sh\n# no heading\n```\n## Twice\n## Twice\n#tag\n");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a-word-and-more", "twice", "twice-1"]);
}

/// The sources of all tests of the repository, joined.
fn sources(folder: &Path, joined: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && entry.file_name().is_none_or(|name| name != "target") {
            sources(&entry, joined);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            *joined += &fs::read_to_string(&entry).unwrap();
        }
    }
}

#[test]
fn the_tests_that_the_documentation_names_exist() {
    let page = fs::read_to_string(repository().join("docs/notes/reliability.md")).unwrap();
    let mut code = String::new();
    ["crates", "bench", "fuzz"].iter().for_each(|folder| sources(&repository().join(folder), &mut code));
    let names: Vec<&str> = page.split('`').skip(1).step_by(2).filter(|name| is_test_name(name)).collect();
    assert!(names.len() > 60, "{}", names.len());
    let missing: Vec<&&str> = names.iter().filter(|name| !code.contains(&format!("fn {name}()"))).collect();
    assert!(missing.is_empty(), "tests that are named and do not exist: {missing:?}");
}

/// Whether a span of code is the name of a test, which is a sentence.
fn is_test_name(span: &str) -> bool {
    span.matches('_').count() > 1 && span.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
