//! Input files given by users: folders are walked, `-` is standard input.

use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};

use tidings_formats::{compressed, saved_page};
use tidings_storage::file::files_in;

use crate::error::{Context, Result};

/// Folders inside folders, at most.
const MAX_DEPTH: usize = 32;

/// The saved pages in a folder and its subfolders by name, or the file itself.
pub fn html_files(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = files_under(path)?;
    files.retain(|file| file == path || saved_page::is_saved_page(file));
    Ok(files)
}

/// All files in a folder and its subfolders by name, without hidden ones, or the file itself.
pub fn files_under(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(path, MAX_DEPTH, &mut files)?;
    Ok(files)
}

fn walk(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for inner in files_in(path)?.into_iter().filter(|_| depth > 0) {
        let is_hidden = inner.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        // A link may lead round in a circle, or out of the folder.
        if !is_hidden && !inner.is_symlink() {
            walk(&inner, depth - 1, files)?;
        }
    }
    Ok(())
}

/// Calls `see` with every line of a file, compressed or not; `-` is standard input.
pub fn lines(path: &Path, mut see: impl FnMut(&str)) -> Result<()> {
    let mut reader: Box<dyn BufRead> =
        if path == Path::new("-") { Box::new(io::stdin().lock()) } else { compressed::open(path)? };
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader).take(1 << 24).read_until(b'\n', &mut line).context("read", path)?;
        if read == 0 {
            return Ok(());
        }
        see(&String::from_utf8_lossy(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn folders_are_walked_in_the_order_of_names_without_hidden_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.html", "a/c.html", "a/.hidden.html", "a/d.png"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let names = |files: Vec<PathBuf>| -> Vec<String> {
            let inside = |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().to_string_lossy().into_owned();
            files.iter().map(inside).collect()
        };
        assert_eq!(names(files_under(folder.path()).unwrap()), ["a/c.html", "a/d.png", "b.html"]);
        assert_eq!(names(html_files(folder.path()).unwrap()), ["a/c.html", "b.html"]);
        assert_eq!(html_files(&folder.path().join("a/d.png")).unwrap().len(), 1, "a file given explicitly is used");
    }

    #[test]
    fn lines_are_read_with_their_ends_and_invalid_utf_8_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("links");
        fs::write(&path, b"a\n\xff\nb").unwrap();
        let mut seen = Vec::new();
        lines(&path, |line| seen.push(line.to_owned())).unwrap();
        assert_eq!(seen, ["a\n", "\u{fffd}\n", "b"]);
    }
}
