//! The log of imports: makes each step of an import atomic and repeated imports free.
//!
//! Imported pages wait in memory, by day. A *step* writes them to unpublished files, syncs these, appends one line to
//! `state/imports.jsonl` with their names and the position in each input, and publishes them. The line commits the
//! step: after a crash before it, the step is repeated; after a crash behind it, the next process that opens the home
//! publishes the files.
//!
//! The URLs of imported pages are recorded like fetched ones, so that feeds do not add them again. Each step has a
//! small file of fingerprints; many such files are merged at once, because each merge rewrites a large one.
//!
//! Processes that import parts of the same inputs at the same time (*shards*) append to separate logs,
//! `state/imports.jsonl.shard-2-of-4`. They write no shared files: the next run that holds the home exclusively merges
//! the fingerprints and moves the lines of all shards to `state/imports.jsonl`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidings_formats::warc::Position;
use tidings_model::Fingerprint;
use tidings_storage::file::{self, files_in};
use tidings_storage::{Appender, Source, source, write_atomic};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Context, Error, Result};
use crate::frames::FrameEncoder;
use crate::home::Home;
use crate::{apply_journal, pages};

const NAME: &str = "imports.jsonl";
/// The compression level of pages unless the settings have another.
const DEFAULT_LEVEL: i32 = 3;
/// The prefix of the logs of shards.
const SHARD_LOG: &str = "imports.jsonl.shard-";
/// The verb in the names of import runs, and so in their files; the name of a shard may follow.
const VERBS: [&str; 2] = ["-import.", "-import-"];
/// The size of compressed pages after which a step is due, which bounds the work lost in a crash.
const STEP_BYTES: usize = 48 << 20;
/// The mean size of a day below which a step waits for more pages, up to [`MAX_STEPS`] times its size: texts of ten years
/// in no order would otherwise become ten thousands of tiny files.
const DAY_BYTES: usize = 64 << 10;
const MAX_STEPS: usize = 4;
/// Uncompressed pages that wait for others of their day, of one day and altogether.
const LOOSE_DAY_BYTES: usize = 1 << 20;
const LOOSE_BYTES: usize = 64 << 20;
/// The extension of files of fingerprints that wait to be merged, and the maximum number of waiting fingerprints.
const FINGERPRINTS: &str = "imported";
const MAX_WAITING: usize = 1 << 20;
/// The size of the samples at the start, middle and end of a large input.
const SAMPLE_BYTES: u64 = 64 << 10;

/// An input with the position up to which it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its file name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// A digest of samples of it: XXH3, 128 bits, in hexadecimal; for a saved page its modification time.
    pub xxh3: String,
    /// Records that were read of it.
    pub records: u64,
    /// The byte at which to resume, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// Whether it was read completely.
    pub done: bool,
    /// Pages imported from it.
    pub pages: u64,
    /// Skipped records, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, u64>,
}

impl Input {
    /// Samples a file; `name` is its name in the log.
    pub fn of(path: &Path, name: &str) -> Result<Input> {
        let mut file = Source::open(path)?;
        let bytes = file.size().context("inspect", path)?;
        let mut digest = Xxh3::new();
        let mut sample = Vec::new();
        let whole = bytes <= 3 * SAMPLE_BYTES;
        let places = if whole { vec![0] } else { vec![0, bytes / 2, bytes - SAMPLE_BYTES] };
        for at in places {
            sample.clear();
            file.seek(SeekFrom::Start(at)).context("read", path)?;
            let length = if whole { bytes } else { SAMPLE_BYTES };
            (&mut file).take(length).read_to_end(&mut sample).context("read", path)?;
            digest.update(&sample);
        }
        Ok(Input { name: name.to_owned(), bytes, xxh3: format!("{:032x}", digest.digest128()), ..Input::default() })
    }

    /// Describes a saved page by size and time, because there may be millions.
    pub fn of_saved(path: &Path, name: &str) -> Result<Input> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let stat = source::stat(path)?.ok_or_else(missing).context("inspect", path)?;
        let time = stat.modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let time = time.unwrap_or_default().as_nanos();
        Ok(Input { name: name.to_owned(), bytes: stat.bytes, xxh3: format!("{time:032x}"), ..Input::default() })
    }

    /// The position to continue at.
    pub fn place(&self) -> Position {
        Position { records: self.records, byte: self.byte }
    }

    pub(crate) fn key(&self) -> Key {
        (self.name.clone(), self.bytes, self.xxh3.clone())
    }

    /// Whether it was read further than another state of it.
    fn is_further_than(&self, other: &Input) -> bool {
        (self.done, self.records) > (other.done, other.records)
    }
}

/// The identity of an input: name, size and digest.
type Key = (String, u64, String);

/// A line of the ledger.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ImportStep {
    run: String,
    /// Files of pages written by the step.
    files: Vec<String>,
    inputs: Vec<Input>,
    /// The file of fingerprints of its pages, while it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprints: Option<String>,
}

/// Imports pages in steps.
pub struct PageImporter {
    home: Home,
    run: String,
    /// The log of this run: that of the home, or of a shard.
    path: PathBuf,
    is_shard: bool,
    log: Option<Appender>,
    /// The number of sound bytes of the log.
    sound: u64,
    known: HashMap<Key, Input>,
    waiting: BTreeMap<String, Vec<u8>>,
    waiting_bytes: usize,
    /// Lines of pages that are not compressed yet, by day: a frame of a single page is large.
    loose: BTreeMap<String, Vec<u8>>,
    loose_bytes: usize,
    encoder: FrameEncoder,
    /// Fingerprints of pages since the last step, and the number of earlier ones that wait to be merged.
    pages: Vec<Fingerprint>,
    unfolded: usize,
    /// Inputs that moved on since the last step.
    moved: Vec<Input>,
    numbered: u32,
    step_bytes: usize,
}

impl PageImporter {
    /// Opens the log for a run that has the home alone.
    pub fn open(home: &Home, run: &str) -> Result<PageImporter> {
        PageImporter::with_log(home, run, home.state(NAME), false)
    }

    /// Opens the log for a run of one shard, after recovering an interrupted process of the same shard.
    pub fn open_shard(home: &Home, run: &str, shard: &str) -> Result<PageImporter> {
        let path = home.state(&format!("{SHARD_LOG}{shard}"));
        publish_last_step(home, &path)?;
        PageImporter::with_log(home, run, path, true)
    }

    fn with_log(home: &Home, run: &str, path: PathBuf, is_shard: bool) -> Result<PageImporter> {
        let (mut known, mut sound): (HashMap<Key, Input>, u64) = Default::default();
        for log in logs(home)? {
            let (inputs, length) = states(&log)?;
            if log == path {
                sound = length;
            }
            for (key, input) in inputs {
                if known.get(&key).is_none_or(|other| input.is_further_than(other)) {
                    known.insert(key, input);
                }
            }
        }
        Ok(PageImporter {
            home: home.clone(),
            run: run.to_owned(),
            path,
            is_shard,
            log: None,
            sound,
            known,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            loose: BTreeMap::new(),
            loose_bytes: 0,
            encoder: FrameEncoder::new(DEFAULT_LEVEL),
            pages: Vec::new(),
            unfolded: 0,
            moved: Vec::new(),
            numbered: 0,
            step_bytes: STEP_BYTES,
        })
    }

    /// Sets the compression level of lines.
    pub fn with_compression(self, level: i32) -> PageImporter {
        PageImporter { encoder: FrameEncoder::new(level), ..self }
    }

    /// Sets the step size, for tests.
    pub fn with_steps_of(self, step_bytes: usize) -> PageImporter {
        PageImporter { step_bytes, ..self }
    }

    /// The last state of an input.
    pub fn known(&self, input: &Input) -> Option<&Input> {
        self.known.get(&input.key())
    }

    /// Adds lines of pages of a day; they are compressed together with others of the day.
    pub fn push_lines(&mut self, day: &str, lines: &[u8]) {
        let loose = self.loose.entry(day.to_owned()).or_default();
        loose.extend_from_slice(lines);
        self.loose_bytes += lines.len();
        if loose.len() >= LOOSE_DAY_BYTES {
            self.compress_day(day);
        }
        if self.loose_bytes >= LOOSE_BYTES {
            self.compress_all();
        }
    }

    fn compress_day(&mut self, day: &str) {
        if let Some(lines) = self.loose.remove(day) {
            self.loose_bytes -= lines.len();
            let frame = self.encoder.encode(&lines);
            self.add_frame(day, &frame);
        }
    }

    fn compress_all(&mut self) {
        while let Some(day) = self.loose.keys().next().cloned() {
            self.compress_day(&day);
        }
    }

    /// Adds a packed frame of pages of a day, after the lines that were added before.
    pub fn push(&mut self, day: &str, frame: &[u8]) {
        self.compress_day(day);
        self.add_frame(day, frame);
    }

    fn add_frame(&mut self, day: &str, frame: &[u8]) {
        self.waiting.entry(day.to_owned()).or_default().extend_from_slice(frame);
        self.waiting_bytes += frame.len();
    }

    /// Remembers the addresses of pages that were pushed.
    pub fn remember(&mut self, pages: &[Fingerprint]) {
        self.pages.extend_from_slice(pages);
    }

    /// Records the position in an input after all pages pushed so far; commits a step if due.
    pub fn reached(&mut self, input: &Input) -> Result<()> {
        self.reached_all(std::slice::from_ref(input))
    }

    /// The same for several inputs whose pages were pushed together: all in one step.
    pub fn reached_all(&mut self, inputs: &[Input]) -> Result<()> {
        for input in inputs {
            match self.moved.last_mut() {
                Some(last) if last.key() == input.key() => last.clone_from(input),
                _ => self.moved.push(input.clone()),
            }
        }
        if self.is_due() { self.step() } else { Ok(()) }
    }

    /// Whether enough pages wait for a step.
    fn is_due(&self) -> bool {
        // Text shrinks to a fourth or less.
        let bytes = self.waiting_bytes + self.loose_bytes / 4;
        let days = self.waiting.len().max(self.loose.len());
        bytes >= self.step_bytes && (bytes >= days * DAY_BYTES || bytes >= MAX_STEPS * self.step_bytes)
    }

    /// Makes all pushed pages durable and publishes them.
    pub fn step(&mut self) -> Result<()> {
        if self.moved.is_empty() {
            return Ok(());
        }
        self.compress_all();
        let mut files = Vec::new();
        for (day, frames) in std::mem::take(&mut self.waiting) {
            files.push(pages::write_part(&self.home, &day, &format!("{}.{}", self.run, self.numbered), &frames)?);
        }
        let fingerprints = self.write_fingerprints()?;
        self.numbered += 1;
        self.waiting_bytes = 0;
        let names = files.iter().map(|path| self.home.shown(path)).collect();
        let inputs = std::mem::take(&mut self.moved);
        let step = ImportStep { run: self.run.clone(), files: names, inputs, fingerprints };
        let mut line = Vec::new();
        append_line(&step, &mut line);
        let log = match &mut self.log {
            Some(log) => log,
            log => log.insert(Appender::reopen(&self.path, self.sound)?),
        };
        log.append(&line)?;
        log.sync()?;
        step.inputs.into_iter().for_each(|input| drop(self.known.insert(input.key(), input)));
        files.iter().try_for_each(|path| pages::publish_part(&self.home, path))?;
        if self.unfolded >= MAX_WAITING { self.fold() } else { Ok(()) }
    }

    /// Writes the fingerprints of a step to a file; returns its name.
    fn write_fingerprints(&mut self) -> Result<Option<String>> {
        if self.pages.is_empty() {
            return Ok(None);
        }
        let path = self.home.state(&format!("{}.{}.{FINGERPRINTS}", self.run, self.numbered));
        let pages = std::mem::take(&mut self.pages);
        let bytes: Vec<u8> = pages.iter().flat_map(|page| page.0.to_be_bytes()).collect();
        write_atomic(&path, &bytes)?;
        self.unfolded += pages.len();
        Ok(Some(self.home.shown(&path)))
    }

    /// Merges the fingerprints into the plan. Shards share the plan, so the next run that holds the home exclusively
    /// does it for them.
    pub fn fold(&mut self) -> Result<()> {
        self.unfolded = 0;
        if self.is_shard {
            return Ok(());
        }
        fold_fingerprints(&self.home, &self.run)
    }
}

/// Adds waiting fingerprints to those of fetched pages. A file that no step lists belongs to pages that were not
/// imported.
fn fold_fingerprints(home: &Home, run: &str) -> Result<()> {
    let mut waiting = files_in(&home.state(""))?;
    waiting.retain(|path| path.extension().is_some_and(|ending| ending == FINGERPRINTS));
    if waiting.is_empty() {
        return Ok(());
    }
    let mut vouched = HashSet::new();
    for log in logs(home)? {
        read(&log, |step: ImportStep| vouched.extend(step.fingerprints))?;
    }
    let mut pages = Vec::new();
    for path in waiting.iter().filter(|path| vouched.contains(&home.shown(path))) {
        let bytes = fs::read(path).context("read", path)?;
        pages.extend(bytes.as_chunks().0.iter().map(|eight| Fingerprint(u64::from_be_bytes(*eight))));
    }
    apply_journal::settle(home, run, pages)?;
    Ok(waiting.iter().try_for_each(|path| file::remove(path))?)
}

/// Calls `see` with every step; returns the length of the valid part. A line without its end is ignored.
pub(crate) fn read<S: DeserializeOwned>(path: &Path, mut see: impl FnMut(S)) -> Result<u64> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => Err(error).context("open", path)?,
    };
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let (mut line, mut sound, mut number) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        number += 1;
        let read = reader.read_until(b'\n', &mut line).context("read", path)?;
        if line.last() != Some(&b'\n') {
            return Ok(sound);
        }
        let step = serde_json::from_slice(&line).map_err(|error| Error::Line {
            path: path.to_owned(),
            line: number,
            fault: format!("is not a step of an import ({error}); correct or delete the line"),
        })?;
        see(step);
        sound += read as u64;
    }
}

/// The logs of the home: that of whole runs, then those of shards by name.
fn logs(home: &Home) -> Result<Vec<PathBuf>> {
    Ok(std::iter::once(home.state(NAME)).chain(shard_logs(home)?).collect())
}

fn shard_logs(home: &Home) -> Result<Vec<PathBuf>> {
    let is_log = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SHARD_LOG));
    Ok(files_in(&home.state(""))?.into_iter().filter(is_log).collect())
}

/// The last state of each input of a log, and the length of the valid part.
fn states(log: &Path) -> Result<(HashMap<Key, Input>, u64)> {
    let mut inputs = HashMap::new();
    let sound = read(log, |step: ImportStep| {
        step.inputs.into_iter().for_each(|input| drop(inputs.insert(input.key(), input)));
    })?;
    Ok((inputs, sound))
}

/// Publishes the files of the last step of a log if a crash prevented it; returns the run of the step.
fn publish_last_step(home: &Home, log: &Path) -> Result<Option<String>> {
    let mut last = None;
    read(log, |step: ImportStep| last = Some(step))?;
    let Some(step) = last else { return Ok(None) };
    for path in step.files.iter().map(|file| home.root().join(file)).filter(|path| path.exists()) {
        pages::publish_part(home, &path)?;
    }
    Ok(Some(step.run))
}

/// Whether a file of pages is of an import, by its name.
pub(crate) fn is_import(name: &str) -> bool {
    VERBS.iter().any(|verb| name.contains(verb))
}

/// Completes the last step of every log, merges waiting fingerprints and the logs of shards. Files of uncommitted steps
/// are deleted with all others that no log lists. The caller holds the home exclusively.
pub(crate) fn recover(home: &Home, parts: &[PathBuf]) -> Result<()> {
    let is_ours = |path: &PathBuf| is_import(&path.file_name().unwrap_or_default().to_string_lossy());
    let mut run = String::from("import");
    if parts.iter().any(is_ours) {
        for log in logs(home)? {
            run = publish_last_step(home, &log)?.unwrap_or(run);
        }
    }
    fold_fingerprints(home, &run)?;
    merge_shards(home)
}

/// Moves the lines of shards to the log of the home. A crash in between leaves duplicate lines, which are harmless.
fn merge_shards(home: &Home) -> Result<()> {
    let shards = shard_logs(home)?;
    if shards.is_empty() {
        return Ok(());
    }
    let path = home.state(NAME);
    let sound = read(&path, |_: ImportStep| {})?;
    let mut log = Appender::reopen(&path, sound)?;
    let (mut last, mut furthest): (HashMap<Key, Input>, HashMap<Key, Input>) = Default::default();
    for shard in &shards {
        let mut lines = Vec::new();
        read(shard, |step: ImportStep| append_line(&step, &mut lines))?;
        log.append(&lines)?;
        for (key, input) in states(shard)?.0 {
            if furthest.get(&key).is_none_or(|other| input.is_further_than(other)) {
                furthest.insert(key.clone(), input.clone());
            }
            last.insert(key, input);
        }
    }
    // After another division, an input may have been continued by another shard; the furthest state must be last.
    let mut inputs: Vec<Input> =
        furthest.into_iter().filter(|(key, input)| last.get(key) != Some(input)).map(|(_, input)| input).collect();
    if !inputs.is_empty() {
        inputs.sort_by_key(Input::key);
        let mut line = Vec::new();
        append_line(&ImportStep { run: "merge".to_owned(), inputs, ..ImportStep::default() }, &mut line);
        log.append(&line)?;
    }
    log.sync()?;
    Ok(shards.iter().try_for_each(|path| file::remove(path))?)
}

fn append_line(step: &ImportStep, lines: &mut Vec<u8>) {
    serde_json::to_writer(&mut *lines, step).expect("steps serialise");
    lines.push(b'\n');
}

/// Deletes an input that was read completely; a missing file is no error.
pub fn remove_input(path: &Path) -> Result<()> {
    Ok(source::remove(path)?)
}

#[cfg(test)]
mod tests;
