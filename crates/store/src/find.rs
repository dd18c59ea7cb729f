//! Looks for one thing in files that hold many: the lines that name it, and none of the others parsed.

use std::io::BufRead as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use crate::error::{During, Result};
use crate::frames;
use crate::home::{Home, files_in};

/// No line is longer.
const MAX_LINE_BYTES: usize = 1 << 30;

/// Shows the lines of a file that contain the words to `see`, until it has seen enough. A file that is not there has none.
pub fn lines(path: &Path, words: &str, mut see: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let finder = Finder::new(words);
    let mut reader = frames::open_any(path)?;
    let mut line = Vec::new();
    while frames::read_line(&mut *reader, &mut line, MAX_LINE_BYTES).during("read", path)? {
        if finder.find(&line).is_some() && see(&line).is_break() {
            break;
        }
    }
    Ok(())
}

/// The same for a file of the home, by the name that recipes give it.
pub fn lines_of(home: &Home, file: &str, words: &str, see: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
    lines(&home.root().join(file), words, see)
}

/// The same for the pages of a day that gave no document, as `clean` noted them.
pub fn dropped(home: &Home, day: &str, words: &str, see: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
    lines_of(home, &format!("docs/dropped/{day}.jsonl.zst"), words, see)
}

/// Whether a line of a file contains any of the words.
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
    let mut files = Vec::new();
    let mine = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".jsonl.zst") && name.strip_prefix(run).is_some_and(|rest| rest.starts_with('.'))
    };
    for folder in files_in(&home.pages())?.into_iter().filter(|path| path.is_dir()) {
        files.extend(files_in(&folder)?.into_iter().filter(mine));
    }
    Ok(files)
}

/// The number of tokens of a document in a file of text of the home; nothing if it is not there.
pub fn tokens_of(home: &Home, file: &str, id: &str) -> Result<Option<u64>> {
    tokens_in_text(&home.root().join(file), id)
}

/// How many tokens a document has in a file of text; nothing if it is not there.
pub fn tokens_in_text(path: &Path, id: &str) -> Result<Option<u64>> {
    if !path.exists() {
        return Ok(None);
    }
    let named = format!("id=\"{id}\"");
    let mut found: Option<u64> = None;
    for line in frames::open_any(path)?.lines() {
        let line = line.during("read", path)?;
        match &mut found {
            None if line.starts_with("<doc ") && line.contains(&named) => found = Some(0),
            None => {}
            Some(_) if line == "</doc>" => break,
            // Signs of the text itself are escaped, so that a line that begins so is a tag.
            Some(tokens) => *tokens += u64::from(!line.starts_with('<')),
        }
    }
    Ok(found)
}
