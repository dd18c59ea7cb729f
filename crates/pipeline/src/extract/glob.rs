//! Path patterns, for shells that do not expand them and for quoted arguments: `*`, `?`, `[a-z]`, and `**` for any
//! number of folders.
//!
//! Names are matched by the `glob` crate. Folders are walked here, because the crate follows symbolic links below `**`,
//! and two links to a parent folder would make its walk endless.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use glob::Pattern;

/// The deepest nesting of folders that `**` searches.
const MAX_DEPTH: usize = 32;

/// Whether an argument is a pattern.
pub fn is_pattern(argument: &str) -> bool {
    argument.contains(['*', '?', '['])
}

/// The folder in which the search starts.
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
    let pattern = compile(part);
    for name in names(folder)? {
        let path = folder.join(&name);
        if *part == "**" {
            // A link may lead round in a circle.
            if depth > 0 && path.is_dir() && !path.is_symlink() {
                walk(&path, parts, depth - 1, found)?;
            } else if rest.is_empty() && path.is_file() {
                found.push(path);
            }
        } else if pattern.matches(&name.to_string_lossy()) {
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

/// The names in a folder, without hidden ones, which patterns do not match.
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

/// Compiles a path component of a pattern. As in a shell, `[^a]` is `[!a]`, and an unclosed bracket is literal.
fn compile(part: &str) -> Pattern {
    let mut part = part.to_owned();
    // The crate reserves `**` for whole components; the walk handles those.
    while part.contains("**") {
        part = part.replace("**", "*");
    }
    Pattern::new(&part.replace("[^", "[!"))
        .or_else(|_| Pattern::new(&part.replace('[', "[[]")))
        .expect("a pattern without open brackets and `**` is valid")
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
            ("a**d", "abcd"),
            ("*[", "b["),
            ("a[^", "a[^"),
            ("[^a-c]x", "dx"),
            ("[]a]", "]"),
        ] {
            assert!(compile(pattern).matches(name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("*.html", "a.htm"), ("?", ""), ("[a-c]x", "dx"), ("a", "ab"), ("[!a]", "a"), ("[^a]", "a")]
        {
            assert!(!compile(pattern).matches(name), "{pattern} {name}");
        }
        let long = "a".repeat(5000);
        assert!(!compile(&"*a".repeat(100)).matches(&(long + "b")));
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

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_followed_by_name_but_not_in_cycles() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("x")).unwrap();
        std::fs::write(root.join("x/a.html"), "").unwrap();
        std::os::unix::fs::symlink(root, root.join("x/up")).unwrap();
        std::os::unix::fs::symlink(root.join("x"), root.join("y")).unwrap();
        let found = |pattern: &str| expand(&format!("{}/{pattern}", root.display())).unwrap();
        assert_eq!(found("**/*.html"), [root.join("x/a.html")]);
        assert_eq!(found("*/a.html"), [root.join("x/a.html"), root.join("y/a.html")]);
    }
}
