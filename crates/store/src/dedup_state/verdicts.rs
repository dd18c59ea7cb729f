//! Verdicts as they are stored: a file for each day, and amendments of earlier days.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_storage::AtomicFile;

use super::{FORMAT, VERSION, amendments_path, verdict_files, verdicts_path};
use crate::error::{Context, Error, Result};
use crate::file_digest::FileDigest;
use crate::frames::{self, FRAME_BYTES, FrameEncoder};
use crate::home::Home;

/// The zstd level of verdicts. Not a setting, because the same days must give the same bytes everywhere.
const LEVEL: i32 = 6;
/// The maximum length of a line.
const MAX_LINE_BYTES: usize = 1 << 28;

/// The verdicts of a day while they are written.
pub struct VerdictDraft {
    target: PathBuf,
    draft: AtomicFile,
    encoder: FrameEncoder,
    text: Vec<u8>,
    lines: u64,
}

impl VerdictDraft {
    /// Begins the file of a day.
    pub fn create(home: &Home, day: &str) -> Result<VerdictDraft> {
        VerdictDraft::at(verdicts_path(home, day))
    }

    /// Begins the file of amendments that a day makes of the verdicts of an earlier one.
    pub fn amend(home: &Home, amended: &str, by: &str) -> Result<VerdictDraft> {
        VerdictDraft::at(amendments_path(home, amended, by))
    }

    fn at(target: PathBuf) -> Result<VerdictDraft> {
        let mut draft = AtomicFile::create(&target)?;
        draft.write(&frames::header(FORMAT, VERSION, ""))?;
        Ok(VerdictDraft { target, draft, encoder: FrameEncoder::new(LEVEL), text: Vec::new(), lines: 0 })
    }

    /// Adds a line, with its line end.
    pub fn push(&mut self, line: &[u8]) -> Result<()> {
        self.lines += 1;
        self.text.extend_from_slice(line);
        if self.text.len() >= FRAME_BYTES { self.pack() } else { Ok(()) }
    }

    fn pack(&mut self) -> Result<()> {
        if !self.text.is_empty() {
            self.draft.write(&self.encoder.encode(&self.text))?;
            self.text.clear();
        }
        Ok(())
    }

    /// Puts the file in its place.
    pub fn publish(mut self, home: &Home) -> Result<FileDigest> {
        self.pack()?;
        self.draft.publish()?;
        Ok(FileDigest { lines: Some(self.lines), ..FileDigest::of(home, &home.key(&self.target))? })
    }
}

/// The verdict on a document, a line of `seen/verdicts/`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VerdictLine {
    /// The document.
    pub id: String,
    /// The partition of its language.
    pub lang: String,
    /// Its publisher.
    pub site: String,
    /// The day it is dated, or was seen.
    pub date: String,
    /// Its words, and the duplicate ones.
    pub words: u64,
    /// Words of duplicates.
    pub duplicate_words: u64,
    /// The document most of it was seen in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<String>,
    /// The number of its paragraphs.
    pub paragraphs: u64,
    /// Those that are duplicates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<DuplicateUnit>,
    /// Copies that were seen on the same day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Copy>,
}

/// A duplicate paragraph or sentence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DuplicateUnit {
    /// The paragraph, counted from 0.
    pub paragraph: u64,
    /// The first and the last byte of the sentence, if it is not the whole paragraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(u64, u64)>,
    /// `page`, `text`, `document`, `exact`, `near` or `between`.
    pub why: String,
    /// The share of duplicate words.
    pub share: f64,
    /// The document of the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

/// A copy of a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// The copy.
    pub id: String,
    /// Its publisher.
    pub site: String,
    /// The date of the original.
    pub date: String,
    /// The share of it that is a copy.
    pub share: f64,
}

/// Reads the verdicts of a day: by language, and within a language in the order of the documents.
pub struct VerdictReader {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    lines: u64,
    /// Revised verdicts, by document.
    amended: HashMap<String, VerdictLine>,
}

impl VerdictReader {
    /// Opens the verdicts of a day, as amended by later days.
    pub fn open(home: &Home, day: &str) -> Result<VerdictReader> {
        let mut amended = HashMap::new();
        let files = verdict_files(home, day)?;
        for file in &files[1..] {
            for verdict in VerdictReader::of_file(home, file)? {
                let verdict = verdict?;
                amended.insert(verdict.id.clone(), verdict);
            }
        }
        Ok(VerdictReader { amended, ..VerdictReader::of_file(home, &files[0])? })
    }

    /// Opens a single file.
    pub fn of_file(home: &Home, path: &Path) -> Result<VerdictReader> {
        let reader = home.open_file(&home.key(path))?;
        Ok(VerdictReader { path: path.to_owned(), reader, line: Vec::new(), lines: 0, amended: HashMap::new() })
    }
}

impl Iterator for VerdictReader {
    type Item = Result<VerdictLine>;

    fn next(&mut self) -> Option<Result<VerdictLine>> {
        let first: Result<VerdictLine> = self.next_line()?;
        Some(first.map(|verdict| self.amended.remove(&verdict.id).unwrap_or(verdict)))
    }
}

impl VerdictReader {
    fn next_line(&mut self) -> Option<Result<VerdictLine>> {
        self.lines += 1;
        match frames::read_line(&mut *self.reader, &mut self.line, MAX_LINE_BYTES).context("read", &self.path) {
            Ok(true) => Some(serde_json::from_slice(&self.line).map_err(|error| Error::Line {
                path: self.path.clone(),
                line: self.lines,
                fault: format!("is not a verdict ({error})"),
            })),
            Ok(false) => None,
            Err(error) => Some(Err(error.into())),
        }
    }
}
