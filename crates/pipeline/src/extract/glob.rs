//! Patterns of paths, for shells that do not know them and for arguments in quotes: `*`, `?`,
//! `[a-z]`, and `**` for any number of folders.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Folders inside folders that `**` goes into, at most.
const MAX_DEPTH: usize = 32;

/// Whether an argument is a pattern rather than a name.
pub fn is_pattern(argument: &str) -> bool {
    argument.contains(['*', '?', '['])
}

/// The folder in which the search begins.
pub fn start(pattern: &str) -> PathBuf {
    let fixed: Vec<&str> = pattern.split('/').take_while(|part| !is_pattern(part)).collect();
    if fixed == [""] { PathBuf::from("/") } else { PathBuf::from(fixed.join("/")) }
}

/// The files that match, in the order of their names.
pub fn expand(pattern: &str) -> io::Result<Vec<PathBuf>> {
    let (start, rest) = match pattern.strip_prefix('/') {
        Some(rest) => (PathBuf::from("/"), rest),
        None => (PathBuf::new(), pattern),
    };
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    let mut found = Vec::new();
    walk(&start, &parts, MAX_DEPTH, &mut found)?;
    found.sort();
    found.dedup();
    Ok(found)
}

fn walk(folder: &Path, parts: &[&str], depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let Some((part, rest)) = parts.split_first() else { return Ok(()) };
    if !is_pattern(part) {
        return step(folder.join(part), rest, depth, found);
    }
    if *part == "**" {
        walk(folder, rest, depth, found)?;
    }
    for name in names(folder)? {
        let path = folder.join(&name);
        if *part == "**" {
            // A link may lead round in a circle.
            if depth > 0 && path.is_dir() && !path.is_symlink() {
                walk(&path, parts, depth - 1, found)?;
            } else if rest.is_empty() && path.is_file() {
                found.push(path);
            }
        } else if matches(part, &name.to_string_lossy()) {
            step(path, rest, depth, found)?;
        }
    }
    Ok(())
}

fn step(path: PathBuf, rest: &[&str], depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    match rest.is_empty() {
        true if path.is_file() => found.push(path),
        false if path.is_dir() => walk(&path, rest, depth, found)?,
        _ => {}
    }
    Ok(())
}

/// The names in a folder but for hidden ones, which a pattern does not mean.
fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a name matches a part of a pattern. It takes time by the product of their lengths at
/// most: after a mismatch only the last star is tried anew.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, seen));
            at += 1;
        } else if let Some(next) = one(&pattern, at, name[seen]) {
            (at, seen) = (next, seen + 1);
        } else if let Some((place, from)) = star {
            star = Some((place, from + 1));
            (at, seen) = (place + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

/// Matches one character; gives where the pattern goes on.
fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '[' => {
            // A bracket that is never closed stands for itself.
            let Some(close) = (at + 2..pattern.len()).find(|place| pattern[*place] == ']') else {
                return (c == '[').then_some(at + 1);
            };
            let inside = &pattern[at + 1..close];
            let (negated, set) = match inside.first() {
                Some('!' | '^') => (true, &inside[1..]),
                _ => (false, inside),
            };
            let mut is_in = set.contains(&c) && !(c == '-' && set.len() > 2);
            is_in |= set.windows(3).any(|range| range[1] == '-' && (range[0]..=range[2]).contains(&c));
            (is_in != negated).then_some(close + 1)
        }
        own => (*own == c).then_some(at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name) in [
            ("*", "a"),
            ("*.html", "a.html"),
            ("a*c*e", "abcde"),
            ("?b", "äb"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "dx"),
            ("a[", "a["),
            ("**", "x"),
            ("*a*a*a", "aaaa"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*.html", "a.htm"), ("?", ""), ("[a-c]x", "dx"), ("a", "ab"), ("[!a]", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        let long = "a".repeat(5000);
        assert!(!matches(&"*a".repeat(100), &(long + "b")));
    }

    #[test]
    fn files_are_found_in_order_and_in_folders() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("x/y")).unwrap();
        for name in ["b.html", "a.html", "c.txt", "x/d.html", "x/y/e.html", ".hidden.html"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = |pattern: &str| -> Vec<String> {
            let found = expand(&format!("{}/{pattern}", folder.path().display())).unwrap();
            found.iter().map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(found("*.html"), ["a.html", "b.html"]);
        assert_eq!(found("*/*.html"), ["x/d.html"]);
        assert_eq!(found("**/*.html"), ["a.html", "b.html", "x/d.html", "x/y/e.html"]);
        assert_eq!(found("[c-z]*"), ["c.txt"]);
        assert!(found("z*").is_empty());
        assert_eq!(
            [start("a/b/*/c"), start("/x/*"), start("/*"), start("*")],
            ["a/b", "/x", "/", ""].map(PathBuf::from)
        );
    }
}
