//! Substring scans over files of lines, to find matching lines without parsing the others.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use crate::docs;
use crate::error::{Context, Result};
use crate::frames;
use crate::home::Home;

/// The maximum length of a line.
const MAX_LINE_BYTES: usize = 1 << 30;

/// Calls `see` with the lines of a file that contain a string, until it breaks. A missing file has none.
pub fn lines(path: &Path, words: &str, see: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    matching(&mut *frames::open_any(path)?, path, words, see)
}

/// The same for a file of the home, by its key.
pub fn lines_of(home: &Home, file: &str, words: &str, see: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
    match home.file_bytes(file)? {
        Some(_) => matching(&mut *home.open_file(file)?, &home.storage().path(file), words, see),
        None => Ok(()),
    }
}

/// The same for the dropped pages of a day.
pub fn dropped(home: &Home, day: &str, words: &str, see: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
    lines_of(home, &docs::dropped_key(day), words, see)
}

/// Calls `see` with the lines of a reader that contain a string, until it breaks.
pub(crate) fn matching(
    reader: &mut dyn BufRead,
    path: &Path,
    words: &str,
    mut see: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<()> {
    let finder = Finder::new(words);
    let mut line = Vec::new();
    while frames::read_line(reader, &mut line, MAX_LINE_BYTES).context("read", path)? {
        if finder.find(&line).is_some() && see(&line).is_break() {
            break;
        }
    }
    Ok(())
}

/// Whether a line of a file contains any of the strings.
pub fn has_any(path: &Path, words: &[String]) -> Result<bool> {
    let finders: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
    let mut found = false;
    lines(path, "", |line| {
        found = finders.iter().any(|finder| finder.find(line).is_some());
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found)
}

/// The published files of pages of a run.
pub fn pages_of_run(home: &Home, run: &str) -> Result<Vec<PathBuf>> {
    let is_of_run = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(run).is_some_and(|rest| rest.starts_with('.'))
    };
    Ok(crate::pages::files(home)?.into_iter().filter(is_of_run).collect())
}

/// Counts the tokens of a document in a text file; `None` if it is missing.
pub fn tokens_in_text(path: &Path, id: &str) -> Result<Option<u64>> {
    if !path.exists() {
        return Ok(None);
    }
    count_tokens(frames::open_any(path)?, path, id)
}

/// The same for a file of the home, by its key.
pub fn tokens_of(home: &Home, file: &str, id: &str) -> Result<Option<u64>> {
    match home.file_bytes(file)? {
        Some(_) => count_tokens(home.open_file(file)?, &home.storage().path(file), id),
        None => Ok(None),
    }
}

fn count_tokens(text: impl BufRead, path: &Path, id: &str) -> Result<Option<u64>> {
    let named = format!("id=\"{id}\"");
    let mut found: Option<u64> = None;
    for line in text.lines() {
        let line = line.context("read", path)?;
        match &mut found {
            None if line.starts_with("<doc ") && line.contains(&named) => found = Some(0),
            None => {}
            Some(_) if line == "</doc>" => break,
            // Markup in the text is escaped, so a line with this prefix is a tag.
            Some(tokens) => *tokens += u64::from(!line.starts_with('<')),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;

    fn collected(home: &Home, file: &str, words: &str, most: usize) -> Vec<String> {
        let mut found = Vec::new();
        lines_of(home, file, words, |line| {
            found.push(String::from_utf8_lossy(line).into_owned());
            if found.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        found
    }

    #[test]
    fn matching_lines_are_passed_until_the_caller_breaks() {
        let (_folder, home) = home();
        home.storage().put_atomic("docs/de/1", b"rain\nsun\nrain again\nrain").unwrap();
        assert_eq!(collected(&home, "docs/de/1", "rain", 9), ["rain", "rain again", "rain"]);
        assert_eq!(collected(&home, "docs/de/1", "rain", 1), ["rain"]);
        assert_eq!(collected(&home, "docs/de/1", "", 9).len(), 4);
        assert!(collected(&home, "docs/de/2", "rain", 9).is_empty(), "a missing file has no lines");
    }

    #[test]
    fn any_of_several_words_is_enough() {
        let (_folder, home) = home();
        home.storage().put_atomic("a", b"rain\nsun\n").unwrap();
        let has = |words: &[&str]| {
            has_any(&home.storage().path("a"), &words.iter().map(|word| word.to_string()).collect::<Vec<_>>()).unwrap()
        };
        assert!(has(&["snow", "sun"]) && !has(&["snow"]) && !has(&[]));
    }

    #[test]
    fn tokens_of_one_document_are_counted() {
        let (_folder, home) = home();
        let text = "<doc id=\"1\">\na\n</doc>\n<doc id=\"2\">\n<s>\na\n<g/>\n&lt;b\n</s>\n</doc>\n";
        home.storage().put_atomic("text/de/1", text.as_bytes()).unwrap();
        assert_eq!(tokens_of(&home, "text/de/1", "2").unwrap(), Some(2));
        assert_eq!(tokens_of(&home, "text/de/1", "3").unwrap(), None);
        assert_eq!(tokens_of(&home, "text/de/2", "2").unwrap(), None);
        assert_eq!(tokens_in_text(&home.storage().path("text/de/1"), "1").unwrap(), Some(1));
    }

    #[test]
    fn files_of_a_run_are_found_by_the_prefix_of_their_names() {
        let (_folder, home) = home();
        for file in ["1/run.0.jsonl.zst", "1/run2.0.jsonl.zst", "2/run.1.jsonl.zst", "2/run.2.jsonl.zst.part"] {
            home.storage().put_atomic(&format!("pages/2026-03-0{file}"), b"").unwrap();
        }
        let names: Vec<String> = pages_of_run(&home, "run").unwrap().iter().map(|path| home.shown(path)).collect();
        assert_eq!(names, ["pages/2026-03-01/run.0.jsonl.zst", "pages/2026-03-02/run.1.jsonl.zst"]);
    }
}
