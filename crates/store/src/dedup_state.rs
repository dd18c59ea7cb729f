//! The state of deduplication: a file of verdicts per day, and the fingerprints of all earlier days.
//!
//! Days are judged in order, each against all earlier days, so that a verdict depends on all of them. The ledger has a
//! line per day: a day is judged when its line is complete. All other files are named after their days and written
//! before the line; files that the ledger no longer lists are deleted after it changes. A crash at any time therefore
//! leaves either the old or the new ledger with all of its files.
//!
//! A document that was published before one of an earlier day, and has its text, is the original: the day of the newcomer
//! has *amendments*, verdicts that replace those of the earlier day. They go with the day that made them, so that going
//! back by days restores what was there before.

mod growth;
mod spool;
mod verdicts;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_storage::file::{self, files_in};
use tidings_storage::{Appender, write_atomic};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::docs;
use crate::error::{Context, Result};
use crate::file_digest::FileDigest;
use crate::home::Home;
use crate::stale::{self, Stale};

pub use growth::{GrowthLog, JudgedDocument};
pub use spool::Spool;
pub use verdicts::{Copy, DuplicateUnit, VerdictDraft, VerdictLine, VerdictReader};

const LEDGER: &str = "tidings seen 1";
pub(crate) const FORMAT: &str = "verdicts";
pub(crate) const VERSION: u32 = 1;

/// The parameters with which all days were judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DedupParams {
    /// The format of the ledger.
    pub format: String,
    /// The program and its version, for information: only the version of the stage decides about rebuilding.
    pub program: String,
    /// The version of the stage.
    #[serde(default = "stale::first_version", skip_serializing_if = "stale::is_first_version")]
    pub version: u32,
    /// The settings that matter for the result.
    pub settings: serde_json::Value,
}

impl DedupParams {
    /// The parameters of a version of the stage with settings.
    pub fn new(program: &str, version: u32, settings: serde_json::Value) -> DedupParams {
        DedupParams { format: LEDGER.to_owned(), program: program.to_owned(), version, settings }
    }

    /// Returns the reason why days judged with these parameters must be judged again with others; `None` if they need
    /// not.
    pub fn stale(&self, wanted: &DedupParams) -> Option<Stale> {
        match self {
            _ if self.version != wanted.version => Some(Stale::Version),
            _ if self.settings != wanted.settings => Some(Stale::Settings),
            _ => None,
        }
    }
}

/// A judged day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedDay {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// The digest of the recipe of its documents, which contains the digests of their files.
    pub docs: String,
    /// Documents.
    pub documents: u64,
    /// Documents without new text.
    pub duplicates: u64,
    /// Paragraphs and duplicate paragraphs.
    pub paragraphs: u64,
    /// Duplicate paragraphs.
    pub duplicate_paragraphs: u64,
    /// Words.
    pub words: u64,
    /// Words of duplicates.
    pub duplicate_words: u64,
    /// The number of the first stored fingerprint block, and the number after the last.
    pub pieces: Range<u32>,
    /// The file of verdicts.
    pub verdicts: FileDigest,
    /// The file of pieces that ended with this day.
    pub piece_file: FileDigest,
    /// The run of keys that ended with this day.
    pub key_file: FileDigest,
    /// The files of amendments that this day made of verdicts of earlier days.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amendments: Vec<FileDigest>,
}

/// All judged days in order.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedDays {
    /// Their parameters.
    pub params: DedupParams,
    /// The days.
    pub days: Vec<JudgedDay>,
    /// The ends of the sound lines of the file: that of the parameters, and one for each day.
    ends: Vec<u64>,
}

impl JudgedDays {
    /// Replaces the ledger by an empty one.
    pub fn create(home: &Home, params: DedupParams) -> Result<JudgedDays> {
        let mut ledger = JudgedDays { params, days: Vec::new(), ends: Vec::new() };
        ledger.publish(home)?;
        Ok(ledger)
    }

    /// Reads the ledger of a home; `None` if there is none, or an older unreadable one. An incomplete line, and all
    /// lines after an invalid one, are ignored. A ledger of a newer version is an error.
    pub fn read(home: &Home) -> Result<Option<JudgedDays>> {
        let path = path(home);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => Err(error).context("read", &path)?,
        };
        let mut lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let Some(first) = lines.next() else { return Ok(None) };
        docs::refuse_newer(&path, first, LEDGER)?;
        let params: Option<DedupParams> = serde_json::from_slice(first).ok();
        let Some(params) = params.filter(|params| params.format == LEDGER) else { return Ok(None) };
        let mut end = first.len() as u64;
        let mut ledger = JudgedDays { params, days: Vec::new(), ends: vec![end] };
        for line in lines {
            let Ok(day) = serde_json::from_slice(line) else { break };
            ledger.days.push(day);
            end += line.len() as u64;
            ledger.ends.push(end);
        }
        Ok(Some(ledger))
    }

    /// The files of amendments of each day, oldest first: a later one replaces an earlier one.
    pub fn amendments(&self) -> HashMap<String, Vec<FileDigest>> {
        let mut amendments: HashMap<String, Vec<FileDigest>> = HashMap::new();
        for file in self.days.iter().flat_map(|day| &day.amendments) {
            amendments.entry(amended_day(&file.file).to_owned()).or_default().push(file.clone());
        }
        amendments
    }

    /// A digest of the judgement of the days before one: their documents, verdicts and amendments.
    pub fn digest_before(&self, first: &str) -> u128 {
        let mut hasher = Xxh3::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        for day in self.days.iter().filter(|day| *day.day < *first) {
            [&day.day, &day.docs, &day.verdicts.xxh3].into_iter().for_each(|text| add(text));
        }
        let amendments = self.days.iter().flat_map(|day| &day.amendments);
        for file in amendments.filter(|file| amended_day(&file.file) < first || amending_day(&file.file) < first) {
            [&file.file, &file.xxh3].into_iter().for_each(|text| add(text));
        }
        hasher.digest128()
    }

    /// Truncates the ledger to its first days.
    pub fn cut(&mut self, home: &Home, days: usize) -> Result<()> {
        self.days.truncate(days);
        self.publish(home)
    }

    /// Removes the last day, whatever the number of days before it.
    pub fn pop(&mut self, home: &Home) -> Result<()> {
        self.days.pop();
        self.append(home, self.days.len(), "")
    }

    /// Adds a day.
    pub fn push(&mut self, home: &Home, day: JudgedDay) -> Result<()> {
        self.days.push(day);
        self.write_from(home, self.days.len() - 1)
    }

    /// Adds a day after the fingerprint files of the one before were merged with earlier ones.
    pub fn push_merged(&mut self, home: &Home, merged: [FileDigest; 2], day: JudgedDay) -> Result<()> {
        if let Some(last) = self.days.last_mut() {
            [last.key_file, last.piece_file] = merged;
        }
        self.days.push(day);
        self.write_from(home, self.days.len().saturating_sub(2))
    }

    /// Writes the lines from a day on. A crash in between loses their days, which are judged again.
    fn write_from(&mut self, home: &Home, first: usize) -> Result<()> {
        let text: String = self.days[first..].iter().map(line).collect();
        self.append(home, first, &text)
    }

    /// Replaces the lines from a day on.
    fn append(&mut self, home: &Home, first: usize, text: &str) -> Result<()> {
        home.check_claims()?;
        self.ends.truncate(first + 1);
        let mut end = *self.ends.last().expect("the line of parameters has an end");
        let mut file = Appender::reopen(&path(home), end)?;
        file.append(text.as_bytes())?;
        file.sync()?;
        for line in text.split_inclusive('\n') {
            end += line.len() as u64;
            self.ends.push(end);
        }
        Ok(())
    }

    fn publish(&mut self, home: &Home) -> Result<()> {
        home.check_claims()?;
        let mut text = line(&self.params);
        self.ends = vec![text.len() as u64];
        for day in &self.days {
            text.push_str(&line(day));
            self.ends.push(text.len() as u64);
        }
        Ok(write_atomic(&path(home), text.as_bytes())?)
    }
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("ledgers serialise") + "\n"
}

/// The key of the list of judged days.
pub(crate) const KEY: &str = "seen/ledger.jsonl";

fn path(home: &Home) -> PathBuf {
    home.storage().path(KEY)
}

/// The folder of drafts.
pub fn draft_folder(home: &Home) -> Result<PathBuf> {
    let folder = home.seen().join("draft");
    file::make_folder(&folder)?;
    Ok(folder)
}

/// A fingerprint file: of keys or blocks, from one day to another.
pub fn memory_path(home: &Home, kind: &str, first: &str, last: &str) -> PathBuf {
    home.seen().join(kind).join(format!("{first}.{last}.{kind}"))
}

/// The first day of a fingerprint file.
pub fn first_day(file: &FileDigest) -> &str {
    file.file.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default()
}

/// The verdicts of a day.
pub fn verdicts_path(home: &Home, day: &str) -> PathBuf {
    home.seen().join("verdicts").join(format!("{day}.jsonl.zst"))
}

/// The amendments that a day made of the verdicts of an earlier one.
fn amendments_path(home: &Home, amended: &str, by: &str) -> PathBuf {
    home.seen().join("amendments").join(format!("{amended}.{by}.jsonl.zst"))
}

/// The day whose verdicts a file of amendments replaces.
pub fn amended_day(file: &str) -> &str {
    file.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default()
}

/// The day that made a file of amendments.
pub fn amending_day(file: &str) -> &str {
    file.rsplit('/').next().and_then(|name| name.split('.').nth(1)).unwrap_or_default()
}

/// The files with the verdicts of a day: the first ones, then amendments of them, oldest first.
pub fn verdict_files(home: &Home, day: &str) -> Result<Vec<PathBuf>> {
    let mut files = vec![verdicts_path(home, day)];
    let amended = files_in(&home.seen().join("amendments"))?;
    if amended.iter().any(|path| amended_day(&home.key(path)) == day) {
        // Files that the ledger does not list are those of an interrupted run.
        let mut listed = JudgedDays::read(home)?.map(|ledger| ledger.amendments()).unwrap_or_default();
        files.extend(listed.remove(day).unwrap_or_default().iter().map(|file| file.path(home)));
    }
    Ok(files)
}

/// Publishes a drafted file under its name; returns its size and digest.
pub fn place(home: &Home, draft: &Path, target: &Path) -> Result<FileDigest> {
    file::make_folder(file::parent(target))?;
    file::sync_file(draft)?;
    file::rename(draft, target)?;
    FileDigest::of(home, &home.key(target))
}

/// The folders of the state: drafts, fingerprints, verdicts, the log of the last day.
pub const FOLDERS: [&str; 6] = ["draft", "keys", "pieces", "verdicts", "amendments", "growth"];

/// Deletes the files of folders that are not in a list.
pub fn tidy(home: &Home, folders: &[&str], named: &BTreeSet<PathBuf>) -> Result<()> {
    for kind in folders {
        for file in files_in(&home.seen().join(kind))? {
            if !named.contains(&file) {
                file::remove(&file)?;
            }
        }
    }
    Ok(())
}

/// Removes drafts that a crash left.
pub(crate) fn remove_temp(home: &Home) -> Result<()> {
    file::remove_temp(&home.seen().join("draft"))?;
    Ok(file::remove_temp(&home.seen())?)
}

/// Deletes all fingerprints and verdicts; the documents stay.
pub fn clear(home: &Home) -> Result<()> {
    file::remove(&path(home))?;
    tidy(home, &FOLDERS, &BTreeSet::new())
}

/// Marks the days from this one on to be judged again.
pub fn forget(home: &Home, day: &str) -> Result<()> {
    Ok(file::remove(&verdicts_path(home, day))?)
}

/// A day of documents.
#[derive(Debug, Clone)]
pub struct DocsDay {
    /// `YYYY-MM-DD`.
    pub name: String,
    /// The digest of its recipe.
    pub digest: String,
}

impl DocsDay {
    /// Its files of documents with their languages, sorted by language.
    pub fn files(&self, home: &Home) -> Result<Vec<(String, PathBuf)>> {
        let Some(recipe) = docs::Recipe::read(home, &self.name)? else { return Ok(Vec::new()) };
        let file =
            |output: &FileDigest| (docs::partition_of(&output.file).to_owned(), home.storage().path(&output.file));
        Ok(recipe.document_files().map(file).collect())
    }
}

/// A complete day of documents.
pub fn docs_day(home: &Home, name: &str) -> Result<DocsDay> {
    Ok(DocsDay { digest: docs_digest(home, name)?, name: name.to_owned() })
}

/// The names of the complete days of documents, oldest first.
pub fn day_names(home: &Home) -> Result<Vec<String>> {
    let is_day = |name: &String| name.parse::<jiff::civil::Date>().is_ok();
    Ok(docs::document_days(home)?.into_iter().filter(is_day).collect())
}

/// The complete days of documents, oldest first.
pub fn docs_days(home: &Home) -> Result<Vec<DocsDay>> {
    day_names(home)?.iter().map(|name| docs_day(home, name)).collect()
}

/// The digest of the recipe of a day of documents; one of a newer version is an error.
pub fn docs_digest(home: &Home, day: &str) -> Result<String> {
    let key = docs::recipe_key(docs::ROOT, day);
    let recipe = home.storage().read_range(&key, 0..u64::MAX)?;
    // Several stages ask for every day: a recipe of this version need not be parsed.
    let start = &recipe[..recipe.len().min(docs::RECIPE.len() + 32)];
    if memchr::memmem::find(start, format!("\"{}\"", docs::RECIPE).as_bytes()).is_none() {
        docs::refuse_newer(&home.storage().path(&key), &recipe, docs::RECIPE)?;
    }
    Ok(format!("{:032x}", xxh3_128(&recipe)))
}

#[cfg(test)]
mod tests;
