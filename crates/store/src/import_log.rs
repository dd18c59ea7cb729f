//! The log of imports: makes each step of an import atomic, and a repeated import free.
//!
//! Pages that come in wait in memory, by day. A *step* writes them to files that readers do not see yet, syncs these, adds
//! one line to `state/imports.jsonl` that names them and says how far each input was read, and gives them their names.
//! The line is the moment at which the step has happened: if the power fails before, nothing of it is kept and it is
//! done again; if it fails after, the next process that opens the home gives the files their names.
//!
//! Addresses of pages are remembered like those that were fetched, so that no feed brings them again. They travel with
//! the step in a small file of fingerprints; many such files are folded at once, because each fold writes a large one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidings_formats::warc::Position;
use tidings_model::Fingerprint;
use tidings_storage::file::{self, files_in};
use tidings_storage::{Appender, write_atomic};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Context, Error, Result};
use crate::home::Home;
use crate::{apply_journal, pages};

const NAME: &str = "imports.jsonl";
/// The part of the names of runs, and so of their files, that marks an import.
const VERB: &str = "-import.";
/// Pages that wait, packed: then a step is due. What is lost by a crash is at most the reading of as much.
const STEP_BYTES: usize = 48 << 20;
/// The extension of files of fingerprints that wait to be merged, and how many fingerprints may wait.
const FINGERPRINTS: &str = "imported";
const MAX_WAITING: usize = 1 << 20;
/// The sample of a large input, at its beginning, its middle and its end.
const SAMPLE_BYTES: u64 = 64 << 10;

/// An input, and how far it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its name, without the folder it lies in.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// A digest of samples of it: XXH3, 128 bits, in hexadecimal; of a saved page, its time.
    pub xxh3: String,
    /// Records that were read of it.
    pub records: u64,
    /// The byte from which to read on, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// Whether all of it was read.
    pub done: bool,
    /// Pages that came of it.
    pub pages: u64,
    /// Records that became no page, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, u64>,
}

impl Input {
    /// Looks at a file; `name` is what it is called in the ledger.
    pub fn of(path: &Path, name: &str) -> Result<Input> {
        let mut file = File::open(path).context("open", path)?;
        let bytes = file.metadata().context("look at", path)?.len();
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

    /// Looks at a saved page, of which there may be millions: its size and its time stand for it.
    pub fn of_saved(path: &Path, name: &str) -> Result<Input> {
        let meta = fs::metadata(path).context("look at", path)?;
        let time = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let time = time.unwrap_or_default().as_nanos();
        Ok(Input { name: name.to_owned(), bytes: meta.len(), xxh3: format!("{time:032x}"), ..Input::default() })
    }

    /// The position to continue at.
    pub fn place(&self) -> Position {
        Position { records: self.records, byte: self.byte }
    }

    pub(crate) fn key(&self) -> (String, u64, String) {
        (self.name.clone(), self.bytes, self.xxh3.clone())
    }
}

/// A line of the ledger.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Step {
    run: String,
    /// Files of pages that the step made.
    files: Vec<String>,
    inputs: Vec<Input>,
    /// The file of fingerprints of its pages, as long as it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprints: Option<String>,
}

/// Takes pages in, in steps.
pub struct PageImporter {
    home: Home,
    run: String,
    log: Option<Appender>,
    /// The number of sound bytes of the log.
    sound: u64,
    known: HashMap<(String, u64, String), Input>,
    waiting: BTreeMap<String, Vec<u8>>,
    waiting_bytes: usize,
    /// Fingerprints of pages since the last step, and how many earlier ones wait to be folded.
    pages: Vec<Fingerprint>,
    unfolded: usize,
    /// Inputs that moved on since the last step.
    moved: Vec<Input>,
    numbered: u32,
    step_bytes: usize,
}

impl PageImporter {
    /// Opens the ledger for a run.
    pub fn open(home: &Home, run: &str) -> Result<PageImporter> {
        let mut known = HashMap::new();
        let sound = read(&home.state(NAME), |step: Step| {
            step.inputs.into_iter().for_each(|input| drop(known.insert(input.key(), input)));
        })?;
        Ok(PageImporter {
            home: home.clone(),
            run: run.to_owned(),
            log: None,
            sound,
            known,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            pages: Vec::new(),
            unfolded: 0,
            moved: Vec::new(),
            numbered: 0,
            step_bytes: STEP_BYTES,
        })
    }

    /// The same with smaller steps, for tests that want many.
    pub fn with_steps_of(self, step_bytes: usize) -> PageImporter {
        PageImporter { step_bytes, ..self }
    }

    /// The last state of an input.
    pub fn known(&self, input: &Input) -> Option<&Input> {
        self.known.get(&input.key())
    }

    /// Adds a packed frame of pages of a day.
    pub fn push(&mut self, day: &str, frame: &[u8]) {
        self.waiting.entry(day.to_owned()).or_default().extend_from_slice(frame);
        self.waiting_bytes += frame.len();
    }

    /// Remembers the addresses of pages that were pushed.
    pub fn remember(&mut self, pages: &[Fingerprint]) {
        self.pages.extend_from_slice(pages);
    }

    /// Says how far an input was read, with all that was pushed so far; ends a step if one is due.
    pub fn reached(&mut self, input: &Input) -> Result<()> {
        match self.moved.last_mut() {
            Some(last) if last.key() == input.key() => last.clone_from(input),
            _ => self.moved.push(input.clone()),
        }
        if self.waiting_bytes >= self.step_bytes { self.step() } else { Ok(()) }
    }

    /// Makes all that was pushed durable, and gives it to readers.
    pub fn step(&mut self) -> Result<()> {
        if self.moved.is_empty() {
            return Ok(());
        }
        let mut files = Vec::new();
        for (day, frames) in std::mem::take(&mut self.waiting) {
            files.push(pages::write_part(&self.home, &day, &format!("{}.{}", self.run, self.numbered), &frames)?);
        }
        let fingerprints = self.write_fingerprints()?;
        self.numbered += 1;
        self.waiting_bytes = 0;
        let names = files.iter().map(|path| self.home.shown(path)).collect();
        let inputs = std::mem::take(&mut self.moved);
        let step = Step { run: self.run.clone(), files: names, inputs, fingerprints };
        let mut line = serde_json::to_vec(&step).expect("steps serialise");
        line.push(b'\n');
        let log = match &mut self.log {
            Some(log) => log,
            log => log.insert(Appender::reopen(&self.home.state(NAME), self.sound)?),
        };
        log.append(&line)?;
        log.sync()?;
        step.inputs.into_iter().for_each(|input| drop(self.known.insert(input.key(), input)));
        files.iter().try_for_each(|path| pages::publish_part(&self.home, path))?;
        if self.unfolded >= MAX_WAITING { self.fold() } else { Ok(()) }
    }

    /// Writes the fingerprints of a step to a file of their own; gives its name.
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

    /// Lets the plan know of all pages that came in.
    pub fn fold(&mut self) -> Result<()> {
        self.unfolded = 0;
        fold_fingerprints(&self.home, &self.run)
    }
}

/// Adds fingerprints that wait to those of what was fetched. A file that no step vouches for speaks of pages that did
/// not come in.
fn fold_fingerprints(home: &Home, run: &str) -> Result<()> {
    let mut waiting = files_in(&home.state(""))?;
    waiting.retain(|path| path.extension().is_some_and(|ending| ending == FINGERPRINTS));
    if waiting.is_empty() {
        return Ok(());
    }
    let mut vouched = HashSet::new();
    read(&home.state(NAME), |step: Step| vouched.extend(step.fingerprints))?;
    let mut pages = Vec::new();
    for path in waiting.iter().filter(|path| vouched.contains(&home.shown(path))) {
        let bytes = fs::read(path).context("read", path)?;
        pages.extend(bytes.as_chunks().0.iter().map(|eight| Fingerprint(u64::from_be_bytes(*eight))));
    }
    apply_journal::settle(home, run, pages)?;
    Ok(waiting.iter().try_for_each(|path| file::remove(path))?)
}

/// Shows every step to `see`; gives the length of what counts. A line without its end does not.
pub(crate) fn read<S: DeserializeOwned>(path: &Path, mut see: impl FnMut(S)) -> Result<u64> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error).context("open", path),
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
            fault: format!("is no step of an import ({error}); mend or delete the line"),
        })?;
        see(step);
        sound += read as u64;
    }
}

/// Gives the files of a step that has happened their names, if a crash kept it from doing so. Files of a step that has
/// not happened are left to `apply_journal`, which removes what nothing vouches for.
pub(crate) fn recover(home: &Home) -> Result<()> {
    let mut left: Vec<PathBuf> = Vec::new();
    for folder in files_in(&home.pages())?.iter().filter(|path| path.is_dir()) {
        let is_ours = |path: &PathBuf| path.to_string_lossy().contains(VERB) && pages::is_part(path);
        left.extend(files_in(folder)?.into_iter().filter(is_ours));
    }
    let mut last = String::from("import");
    if !left.is_empty() {
        let mut vouched = Vec::new();
        read(&home.state(NAME), |step: Step| (vouched, last) = (step.files, step.run))?;
        left.retain(|path| vouched.contains(&home.shown(path)));
        left.iter().try_for_each(|path| pages::publish_part(home, path))?;
    }
    fold_fingerprints(home, &last)
}

/// Removes an input that was read to its end; it is not missed if it is not there.
pub fn remove_input(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).context("remove", path),
        _ => Ok(file::sync_folder(file::parent(path))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::FrameEncoder;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        (folder, home)
    }

    #[test]
    fn a_step_makes_a_file_for_every_day_and_remembers_how_far_it_came() {
        let (folder, home) = home();
        let path = folder.path().join("input.warc");
        fs::write(&path, "some bytes").unwrap();
        let mut input = Input::of(&path, "input.warc").unwrap();
        let mut intake = PageImporter::open(&home, "20260301T000000000Z-import").unwrap();
        assert_eq!(intake.known(&input), None);
        let frame = FrameEncoder::new(3).encode(b"{}\n");
        for day in ["2026-03-01", "2026-02-28", "2026-03-01"] {
            intake.push(day, &frame);
        }
        (input.records, input.byte) = (3, Some(7));
        intake.reached(&input).unwrap();
        assert_eq!(pages::files(&home).unwrap().len(), 0);
        intake.step().unwrap();
        let files: Vec<String> = pages::files(&home).unwrap().iter().map(|path| home.shown(path)).collect();
        let run = "20260301T000000000Z-import.0.jsonl.zst";
        assert_eq!(files, [format!("pages/2026-02-28/{run}"), format!("pages/2026-03-01/{run}")]);
        let again = PageImporter::open(&home, "20260302T000000000Z-import").unwrap();
        assert_eq!(again.known(&Input::of(&path, "input.warc").unwrap()), Some(&input));
        fs::write(&path, "other bytes").unwrap();
        assert_eq!(again.known(&Input::of(&path, "input.warc").unwrap()), None);
    }

    #[test]
    fn a_torn_line_does_not_count_and_is_written_over() {
        let (folder, home) = home();
        let path = folder.path().join("a");
        fs::write(&path, "a").unwrap();
        let input = Input::of(&path, "a").unwrap();
        let mut intake = PageImporter::open(&home, "1-import").unwrap();
        intake.reached(&input).unwrap();
        intake.step().unwrap();
        let ledger = home.state(NAME);
        let whole = fs::read(&ledger).unwrap();
        fs::write(&ledger, [&whole[..], b"{\"run\":\"2-imp"].concat()).unwrap();
        let mut intake = PageImporter::open(&home, "3-import").unwrap();
        assert!(intake.known(&input).is_some());
        intake.reached(&Input { done: true, ..input.clone() }).unwrap();
        intake.step().unwrap();
        assert!(PageImporter::open(&home, "4-import").unwrap().known(&input).unwrap().done);
        assert_eq!(fs::read_to_string(&ledger).unwrap().lines().count(), 2);
    }

    fn importer(home: &Home, run: &str) -> PageImporter {
        PageImporter::open(home, run).unwrap()
    }

    fn input(name: &str) -> Input {
        Input { name: name.to_owned(), bytes: 1, ..Input::default() }
    }

    #[test]
    fn files_of_a_step_that_happened_get_their_names_after_a_crash_and_others_do_not() {
        let (_folder, home) = home();
        let frame = FrameEncoder::new(3).encode(b"{}\n");
        let mut import = importer(&home, "1-import");
        import.push("2026-03-01", &frame);
        import.reached(&input("a")).unwrap();
        import.step().unwrap();
        let published = pages::files(&home).unwrap().remove(0);
        // The crash came between the line and the rename, and while the next step was being written.
        let part = published.with_file_name("1-import.0.jsonl.zst.part");
        fs::rename(&published, &part).unwrap();
        let unknown = pages::write_part(&home, "2026-03-01", "1-import.1", &frame).unwrap();
        recover(&home).unwrap();
        assert!(published.exists() && !part.exists());
        assert!(unknown.exists() && pages::files(&home).unwrap().len() == 1);
    }

    #[test]
    fn pages_that_came_in_are_not_fetched_again() {
        let (_folder, home) = home();
        crate::testing::fill_plan(&home, "f", &["http://e.org/1", "http://e.org/2"]);
        let mut import = importer(&home, "1-import");
        import.remember(&[Fingerprint::of("http://e.org/1")]);
        import.reached(&input("a")).unwrap();
        import.step().unwrap();
        import.fold().unwrap();
        assert_eq!(crate::testing::rows(&home).len(), 1);
        assert!(apply_journal::was_pruned(&home, "http://e.org/1").unwrap());
        assert!(!apply_journal::was_pruned(&home, "http://e.org/2").unwrap());
    }

    #[test]
    fn fingerprints_that_no_step_vouches_for_are_forgotten() {
        let (_folder, home) = home();
        let path = home.state(&format!("1-import.0.{FINGERPRINTS}"));
        write_atomic(&path, &Fingerprint::of("http://e.org/1").0.to_be_bytes()).unwrap();
        recover(&home).unwrap();
        assert!(!path.exists() && !apply_journal::was_pruned(&home, "http://e.org/1").unwrap());
    }

    #[test]
    fn a_step_is_due_when_enough_waits() {
        let (_folder, home) = home();
        let mut import = importer(&home, "1-import").with_steps_of(10);
        let reach = |import: &mut PageImporter, bytes: usize| {
            import.push("2026-03-01", &vec![0; bytes]);
            import.reached(&input("a")).unwrap();
            pages::files(&home).unwrap().len()
        };
        assert_eq!([reach(&mut import, 9), reach(&mut import, 1), reach(&mut import, 5)], [0, 1, 1]);
        import.step().unwrap();
        import.step().unwrap();
        assert_eq!(pages::files(&home).unwrap().len(), 2, "a step without progress writes nothing");
    }

    #[test]
    fn a_damaged_line_is_named() {
        let (_folder, home) = home();
        write_atomic(&home.state(NAME), b"nonsense\n").unwrap();
        let error = PageImporter::open(&home, "1-import").err().expect("damaged").to_string();
        assert!(error.contains("imports.jsonl, line 1: is no step of an import"), "{error}");
    }

    #[test]
    fn large_inputs_are_told_apart_by_samples() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        let mut bytes = vec![7u8; 5 * SAMPLE_BYTES as usize];
        fs::write(&path, &bytes).unwrap();
        let first = Input::of(&path, "large").unwrap();
        *bytes.last_mut().unwrap() = 8;
        fs::write(&path, &bytes).unwrap();
        let second = Input::of(&path, "large").unwrap();
        assert_eq!(first.bytes, second.bytes);
        assert_ne!(first.xxh3, second.xxh3);
        assert_eq!(Input { records: 3, byte: Some(9), ..first }.place(), Position { records: 3, byte: Some(9) });
        assert_eq!(Input::of_saved(&path, "large").unwrap().bytes, second.bytes);
        remove_input(&path).unwrap();
        remove_input(&path).unwrap();
    }
}
