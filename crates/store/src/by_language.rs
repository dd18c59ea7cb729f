//! A folder with a file of lines per language, written in atomic steps, with a record of its inputs.
//!
//! Lines are appended to `LANG.txt.zst` as frames. A *step* syncs these files and then appends one line to
//! `lines.jsonl` with the length of each file and the inputs that were read completely. That line commits the step:
//! bytes beyond the recorded lengths are truncated when the folder is opened next, and are read again from the inputs.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_storage::Appender;
use tidings_storage::file::{self, files_in};

use crate::error::{Context, Error, Result};
use crate::frames;
use crate::import_log::{self, Input};

const LEDGER: &str = "lines.jsonl";
const ENDING: &str = ".txt.zst";
/// The maximum length of a line.
const MAX_LINE_BYTES: usize = 64 << 20;

/// A line of the ledger.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CommittedStep {
    /// The length of the file of each language.
    files: BTreeMap<String, u64>,
    inputs: Vec<Input>,
}

/// The folder in progress; a lock excludes other processes.
pub struct ByLanguage {
    folder: PathBuf,
    ledger: Appender,
    /// Held while the folder is open.
    _lock: File,
    files: BTreeMap<String, Appender>,
    /// Languages that were appended to since the last step.
    touched: HashSet<String>,
    known: HashSet<(String, u64, String)>,
}

impl ByLanguage {
    /// Opens a folder; creates it if missing. Uncommitted data is deleted; with `replace`, all data is deleted.
    pub fn open(folder: &Path, replace: bool) -> Result<ByLanguage> {
        file::make_folder(folder)?;
        let path = folder.join(LEDGER);
        let found: Vec<PathBuf> =
            files_in(folder)?.into_iter().filter(|path| path.to_string_lossy().ends_with(ENDING)).collect();
        if !found.is_empty() && !path.exists() {
            let fault = "contains files by language without a lines.jsonl; give another folder";
            return Err(Error::Output { path: folder.to_owned(), fault });
        }
        let mut last = CommittedStep::default();
        let mut known = HashSet::new();
        let lock = lock(folder, &path)?;
        let mut sound = 0;
        if !replace {
            sound = import_log::read(&path, |step: CommittedStep| {
                known.extend(step.inputs.iter().map(Input::key));
                last = step;
            })?;
        }
        // Before any file is truncated or deleted, so that no step refers to it any more.
        let mut ledger = Appender::reopen(&path, sound)?;
        ledger.sync()?;
        let mut files = BTreeMap::new();
        for path in found {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let language = name.trim_end_matches(ENDING);
            match last.files.remove(language) {
                Some(length) if fs::metadata(&path).context("inspect", &path)?.len() >= length => {
                    files.insert(language.to_owned(), Appender::reopen(&path, length)?);
                }
                Some(_) => return Err(damaged(&path)),
                None => file::remove(&path)?,
            }
        }
        if let Some(language) = last.files.keys().next() {
            return Err(damaged(&folder.join(format!("{language}{ENDING}"))));
        }
        Ok(ByLanguage { folder: folder.to_owned(), ledger, _lock: lock, files, touched: HashSet::new(), known })
    }

    /// Whether an input was read completely before.
    pub fn knows(&self, input: &Input) -> bool {
        self.known.contains(&input.key())
    }

    /// Calls `see` with every line.
    pub fn lines(&self, mut see: impl FnMut(&[u8])) -> Result<()> {
        let mut line = Vec::new();
        for file in self.files.values() {
            let mut reader = frames::open_any(file.path())?;
            while frames::read_line(&mut *reader, &mut line, MAX_LINE_BYTES).context("read", file.path())? {
                see(&line);
            }
        }
        Ok(())
    }

    /// Appends a packed frame of lines of a language.
    pub fn append(&mut self, language: &str, frame: &[u8]) -> Result<()> {
        if !self.files.contains_key(language) {
            let file = Appender::create(&self.folder.join(format!("{language}{ENDING}")))?;
            self.files.insert(language.to_owned(), file);
        }
        if !self.touched.contains(language) {
            self.touched.insert(language.to_owned());
        }
        Ok(self.files.get_mut(language).expect("inserted above").append(frame)?)
    }

    /// Makes all appended lines durable and records their inputs.
    pub fn step(&mut self, inputs: Vec<Input>) -> Result<()> {
        for language in self.touched.drain() {
            self.files.get_mut(&language).expect("the file was appended to").sync()?;
        }
        let files = self.files.iter().map(|(language, file)| (language.clone(), file.len())).collect();
        let step = CommittedStep { files, inputs };
        let mut line = serde_json::to_vec(&step).expect("steps serialise");
        line.push(b'\n');
        self.ledger.append(&line)?;
        self.ledger.sync()?;
        self.known.extend(step.inputs.iter().map(Input::key));
        Ok(())
    }
}

fn damaged(path: &Path) -> Error {
    Error::Damaged { path: path.to_owned(), at: "(it is shorter than recorded in lines.jsonl)".to_owned() }
}

fn lock(folder: &Path, path: &Path) -> Result<File> {
    let file = file::no_follow().create(true).append(true).open(path).context("open", path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(Error::Locked { root: folder.to_owned(), pid: None }),
        // Some file systems have no locks.
        Err(fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(fs::TryLockError::Error(error)) => Ok(Err(error).context("lock", path)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::FrameEncoder;

    fn input(name: &str) -> Input {
        Input { name: name.to_owned(), ..Input::default() }
    }

    fn lines(folder: &ByLanguage) -> Vec<String> {
        let mut lines = Vec::new();
        folder.lines(|line| lines.push(String::from_utf8(line.to_vec()).unwrap())).unwrap();
        lines
    }

    #[test]
    fn uncommitted_lines_are_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let mut encoder = FrameEncoder::new(1);
        let mut filled = ByLanguage::open(folder.path(), false).unwrap();
        filled.append("de", &encoder.encode(b"eins\nzwei\n")).unwrap();
        filled.step(vec![input("a")]).unwrap();
        filled.append("de", &encoder.encode(b"drei\n")).unwrap();
        filled.append("en", &encoder.encode(b"one\n")).unwrap();
        drop(filled);
        let filled = ByLanguage::open(folder.path(), false).unwrap();
        assert!(filled.knows(&input("a")) && !filled.knows(&input("b")));
        assert_eq!(lines(&filled), ["eins", "zwei"]);
        assert!(!folder.path().join("en.txt.zst").exists());
        assert!(matches!(ByLanguage::open(folder.path(), false), Err(Error::Locked { .. })));
        drop(filled);
        let replace = ByLanguage::open(folder.path(), true).unwrap();
        assert!(!replace.knows(&input("a")) && lines(&replace).is_empty());
    }

    #[test]
    fn foreign_files_are_not_touched_and_missing_ones_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("de.txt.zst");
        fs::write(&theirs, "theirs").unwrap();
        assert!(ByLanguage::open(folder.path(), true).is_err());
        assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
        fs::remove_file(&theirs).unwrap();
        let mut filled = ByLanguage::open(folder.path(), false).unwrap();
        filled.append("de", &FrameEncoder::new(1).encode(b"eins\n")).unwrap();
        filled.step(vec![input("a")]).unwrap();
        drop(filled);
        fs::remove_file(&theirs).unwrap();
        let error = ByLanguage::open(folder.path(), false).err().unwrap().to_string();
        assert!(error.contains("de.txt.zst is damaged"), "{error}");
    }

    #[test]
    fn lines_of_every_language_are_read_back_and_a_step_without_lines_records_its_input() {
        let folder = tempfile::tempdir().unwrap();
        let mut encoder = FrameEncoder::new(1);
        let mut filled = ByLanguage::open(folder.path(), false).unwrap();
        for (language, text) in [("en", "one\n"), ("de", "eins\n"), ("en", "two\n")] {
            filled.append(language, &encoder.encode(text.as_bytes())).unwrap();
        }
        filled.step(vec![input("a")]).unwrap();
        filled.step(vec![input("empty")]).unwrap();
        drop(filled);
        let filled = ByLanguage::open(folder.path(), false).unwrap();
        assert_eq!(lines(&filled), ["eins", "one", "two"]);
        assert!(filled.knows(&input("a")) && filled.knows(&input("empty")));
    }

    #[test]
    fn a_crash_at_any_byte_of_the_log_keeps_complete_steps() {
        let folder = tempfile::tempdir().unwrap();
        let mut encoder = FrameEncoder::new(1);
        let mut filled = ByLanguage::open(folder.path(), false).unwrap();
        for text in ["one\n", "two\n"] {
            filled.append("en", &encoder.encode(text.as_bytes())).unwrap();
            filled.step(vec![input(text)]).unwrap();
        }
        drop(filled);
        let (log, data) = (folder.path().join(LEDGER), folder.path().join("en.txt.zst"));
        let (whole, bytes) = (fs::read(&log).unwrap(), fs::read(&data).unwrap());
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for len in first..whole.len() {
            fs::write(&log, &whole[..len]).unwrap();
            fs::write(&data, &bytes).unwrap();
            let filled = ByLanguage::open(folder.path(), false).unwrap();
            assert_eq!(lines(&filled), ["one"], "cut at byte {len}");
            assert!(!filled.knows(&input("two\n")));
        }
    }
}
