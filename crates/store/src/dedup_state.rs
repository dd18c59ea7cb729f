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

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{BufRead, BufWriter, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_storage::file::{self, files_in};
use tidings_storage::{Appender, AtomicFile, write_atomic};
use xxhash_rust::xxh3::xxh3_128;

use crate::docs;
use crate::error::{Context, Error, Result};
use crate::file_digest::FileDigest;
use crate::frames::{self, FRAME_BYTES, FrameEncoder};
use crate::home::Home;
use crate::stale::{self, Stale};

const LEDGER: &str = "tidings seen 1";
pub(crate) const FORMAT: &str = "verdicts";
pub(crate) const VERSION: u32 = 1;
/// The zstd level of verdicts. Not a setting, because the same days must give the same bytes everywhere.
const LEVEL: i32 = 6;
/// The maximum length of a line.
const MAX_LINE_BYTES: usize = 1 << 28;

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
    /// The number of sound bytes of the file.
    bytes: u64,
}

impl JudgedDays {
    /// Replaces the ledger by an empty one.
    pub fn create(home: &Home, params: DedupParams) -> Result<JudgedDays> {
        let mut ledger = JudgedDays { params, days: Vec::new(), bytes: 0 };
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
        let mut ledger = JudgedDays { params, days: Vec::new(), bytes: first.len() as u64 };
        for line in lines {
            let Ok(day) = serde_json::from_slice(line) else { break };
            ledger.days.push(day);
            ledger.bytes += line.len() as u64;
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

    /// Truncates the ledger to its first days.
    pub fn cut(&mut self, home: &Home, days: usize) -> Result<()> {
        self.days.truncate(days);
        self.publish(home)
    }

    /// Adds a day.
    pub fn push(&mut self, home: &Home, day: JudgedDay) -> Result<()> {
        let line = line(&day);
        let mut file = Appender::reopen(&path(home), self.bytes)?;
        file.append(line.as_bytes())?;
        file.sync()?;
        self.bytes = file.len();
        self.days.push(day);
        Ok(())
    }

    fn publish(&mut self, home: &Home) -> Result<()> {
        let mut text = line(&self.params);
        self.days.iter().for_each(|day| text.push_str(&line(day)));
        self.bytes = text.len() as u64;
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

/// The folders of the state: drafts, fingerprints, verdicts.
pub const FOLDERS: [&str; 5] = ["draft", "keys", "pieces", "verdicts", "amendments"];

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

/// The complete days of documents, oldest first.
pub fn docs_days(home: &Home) -> Result<Vec<DocsDay>> {
    let is_day = |name: &String| name.parse::<jiff::civil::Date>().is_ok();
    let days = docs::document_days(home)?.into_iter().filter(is_day);
    days.map(|name| Ok(DocsDay { digest: docs_digest(home, &name)?, name })).collect()
}

/// The digest of the recipe of a day of documents; one of a newer version is an error.
pub fn docs_digest(home: &Home, day: &str) -> Result<String> {
    let key = docs::recipe_key(docs::ROOT, day);
    let recipe = home.storage().read_range(&key, 0..u64::MAX)?;
    docs::refuse_newer(&home.storage().path(&key), &recipe, docs::RECIPE)?;
    Ok(format!("{:032x}", xxh3_128(&recipe)))
}

/// Temporary records on disk, deleted at the end of a run.
pub struct Spool {
    path: PathBuf,
    file: BufWriter<File>,
    len: u64,
}

impl Spool {
    /// Creates a spool. Its file is unlinked at once, so that it is deleted with the process.
    pub fn create(home: &Home, name: &str) -> Result<Spool> {
        Spool::within(&draft_folder(home)?, name)
    }

    /// Creates a spool in a folder of the caller.
    pub fn within(folder: &Path, name: &str) -> Result<Spool> {
        let path = folder.join(format!("{name}.tmp"));
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path);
        let file = file.context("create", &path)?;
        fs::remove_file(&path).context("unlink", &path)?;
        Ok(Spool { path, file: BufWriter::with_capacity(1 << 18, file), len: 0 })
    }

    /// Appends a record; returns its byte range.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        self.file.write_all(bytes).context("write", &self.path)?;
        let start = self.len;
        self.len += bytes.len() as u64;
        Ok(start..self.len)
    }

    /// Reads a record.
    pub fn read(&mut self, place: &Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        self.file.flush().context("write", &self.path)?;
        bytes.resize((place.end - place.start) as usize, 0);
        Ok(self.file.get_ref().read_exact_at(bytes, place.start).context("read", &self.path)?)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::home;
    use proptest::prelude::*;

    fn params() -> DedupParams {
        DedupParams::new("tidings 1", 1, serde_json::json!({ "share": 0.5 }))
    }

    fn digest(file: &str) -> FileDigest {
        FileDigest { file: file.to_owned(), bytes: 0, xxh3: String::new(), lines: None }
    }

    fn judged(day: &str) -> JudgedDay {
        JudgedDay {
            day: day.to_owned(),
            docs: "d".to_owned(),
            documents: 3,
            duplicates: 1,
            paragraphs: 9,
            duplicate_paragraphs: 2,
            words: 100,
            duplicate_words: 20,
            pieces: 0..4,
            verdicts: digest("seen/verdicts/a"),
            piece_file: digest("seen/pieces/a"),
            key_file: digest("seen/keys/a"),
            amendments: Vec::new(),
        }
    }

    fn days(home: &Home) -> Vec<String> {
        JudgedDays::read(home).unwrap().map_or(Vec::new(), |list| list.days.into_iter().map(|day| day.day).collect())
    }

    #[test]
    fn days_are_appended_and_truncated_from_the_end() {
        let (_folder, home) = home();
        assert_eq!(JudgedDays::read(&home).unwrap(), None);
        let mut list = JudgedDays::create(&home, params()).unwrap();
        for day in ["1", "2", "3"] {
            list.push(&home, judged(day)).unwrap();
        }
        assert_eq!(JudgedDays::read(&home).unwrap().unwrap(), list);
        list.cut(&home, 1).unwrap();
        assert_eq!(days(&home), ["1"]);
        list.push(&home, judged("4")).unwrap();
        assert_eq!(days(&home), ["1", "4"]);
        clear(&home).unwrap();
        assert_eq!(JudgedDays::read(&home).unwrap(), None);
    }

    #[test]
    fn an_incomplete_line_is_ignored_and_overwritten() {
        let (_folder, home) = home();
        let mut list = JudgedDays::create(&home, params()).unwrap();
        list.push(&home, judged("1")).unwrap();
        let sound = fs::read(path(&home)).unwrap().len();
        list.push(&home, judged("2")).unwrap();
        let whole = fs::read(path(&home)).unwrap();
        for len in sound..whole.len() {
            fs::write(path(&home), &whole[..len]).unwrap();
            assert_eq!(days(&home), ["1"], "cut at byte {len}");
        }
        let mut list = JudgedDays::read(&home).unwrap().unwrap();
        list.push(&home, judged("3")).unwrap();
        assert_eq!(days(&home), ["1", "3"]);
    }

    #[test]
    fn a_ledger_of_another_format_is_ignored() {
        let (_folder, home) = home();
        for text in ["", "{}\n", "{\"format\":\"tidings seen 0\",\"program\":\"\",\"settings\":null}\n", "nonsense\n"] {
            home.storage().put_atomic(KEY, text.as_bytes()).unwrap();
            assert_eq!(JudgedDays::read(&home).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn files_that_are_not_listed_are_deleted() {
        let (_folder, home) = home();
        for key in ["seen/keys/a", "seen/keys/b", "seen/pieces/c"] {
            home.storage().put_atomic(key, b"").unwrap();
        }
        tidy(&home, &["keys"], &BTreeSet::from([digest("seen/keys/a").path(&home)])).unwrap();
        assert_eq!(home.storage().list("seen/keys").unwrap(), ["seen/keys/a"]);
        assert_eq!(home.storage().list("seen/pieces").unwrap(), ["seen/pieces/c"]);
    }

    #[test]
    fn a_drafted_file_is_published_with_its_digest() {
        let (_folder, home) = home();
        let draft = draft_folder(&home).unwrap().join("keys.tmp");
        fs::write(&draft, b"keys").unwrap();
        let target = memory_path(&home, "keys", "1", "2");
        let placed = place(&home, &draft, &target).unwrap();
        assert_eq!((placed.file.as_str(), placed.bytes), ("seen/keys/1.2.keys", 4));
        assert!(placed.is_present(&home) && !draft.exists());
    }

    #[test]
    fn verdicts_are_read_in_order() {
        let (_folder, home) = home();
        let line = |id: &str| VerdictLine { id: id.to_owned(), words: 7, ..VerdictLine::default() };
        let mut draft = VerdictDraft::create(&home, "2026-03-01").unwrap();
        for id in ["b", "a"] {
            draft.push((serde_json::to_string(&line(id)).unwrap() + "\n").as_bytes()).unwrap();
        }
        assert!(VerdictReader::open(&home, "2026-03-01").is_err(), "unpublished verdicts cannot be read");
        let digest = draft.publish(&home).unwrap();
        assert_eq!((digest.file.as_str(), digest.lines), ("seen/verdicts/2026-03-01.jsonl.zst", Some(2)));
        let read: Vec<VerdictLine> =
            VerdictReader::open(&home, "2026-03-01").unwrap().map(|line| line.unwrap()).collect();
        assert_eq!(read, [line("b"), line("a")]);
        forget(&home, "2026-03-01").unwrap();
        assert!(!digest.is_present(&home));
    }

    #[test]
    fn a_listed_amendment_replaces_a_verdict_and_an_unlisted_one_does_not() {
        let (_folder, home) = home();
        let put = |mut draft: VerdictDraft, id: &str, words: u64| {
            let line = VerdictLine { id: id.to_owned(), words, ..VerdictLine::default() };
            draft.push((serde_json::to_string(&line).unwrap() + "\n").as_bytes()).unwrap();
            draft.publish(&home).unwrap()
        };
        put(VerdictDraft::create(&home, "2026-03-01").unwrap(), "a", 1);
        let words = || VerdictReader::open(&home, "2026-03-01").unwrap().next().unwrap().unwrap().words;
        let mut list = JudgedDays::create(&home, params()).unwrap();
        let by = |day: &str, words| put(VerdictDraft::amend(&home, "2026-03-01", day).unwrap(), "a", words);
        let first = by("2026-03-02", 2);
        assert_eq!(words(), 1);
        list.push(&home, JudgedDay { amendments: vec![first], ..judged("2026-03-02") }).unwrap();
        assert_eq!(words(), 2);
        list.push(&home, JudgedDay { amendments: vec![by("2026-03-03", 3)], ..judged("2026-03-03") }).unwrap();
        assert_eq!(words(), 3);
        list.cut(&home, 1).unwrap();
        assert_eq!(words(), 2, "going back by days restores the earlier amendment");
    }

    #[test]
    fn documents_of_complete_days_are_found_by_their_recipes() {
        let (_folder, home) = home();
        let recipe = docs::Recipe::new("2026-03-01", "p", "e", serde_json::Value::Null);
        let mut draft = docs::DayDraft::create(&home, recipe).unwrap();
        draft.push("de", b"{}\n").unwrap();
        draft.push("en", b"{}\n").unwrap();
        draft.publish(2).unwrap();
        let days = docs_days(&home).unwrap();
        let files = days[0].files(&home).unwrap();
        assert_eq!(files.iter().map(|file| file.0.as_str()).collect::<Vec<_>>(), ["de", "en"]);
        assert!(files.iter().all(|file| file.1.is_file()));
        assert_eq!(days[0].digest, docs_digest(&home, "2026-03-01").unwrap());
        assert!(docs_digest(&home, "2026-03-02").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn a_spool_returns_its_records(things in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..10)) {
            let (_folder, home) = home();
            let mut spool = Spool::create(&home, "spool").unwrap();
            let places: Vec<Range<u64>> = things.iter().map(|thing| spool.push(thing).unwrap()).collect();
            let mut bytes = Vec::new();
            for (place, thing) in places.iter().zip(&things).rev() {
                spool.read(place, &mut bytes).unwrap();
                prop_assert_eq!(&bytes, thing);
            }
            prop_assert!(files_in(&draft_folder(&home).unwrap()).unwrap().is_empty(), "its file has no name");
        }
    }
}
