//! The state of deduplication: a file of verdicts per day, and the fingerprints of all earlier days.
//!
//! Days are judged in their order, each against all before it, so that a day depends on its documents and on
//! every day before. The ledger grows by a line for each day: a day is judged when its line is there and whole.
//! Everything else is named after the days it holds and written before the line, and what the ledger no longer
//! names is removed after it. So a crash at any instant leaves the old ledger with all of its files, or the
//! new one.

use std::collections::BTreeSet;
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
/// The zstd level of verdicts; no setting, because the same days must give the same bytes everywhere.
const LEVEL: i32 = 6;
/// No line is longer.
const MAX_LINE_BYTES: usize = 1 << 28;

/// By what all days were judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DedupParams {
    /// The format of the ledger.
    pub format: String,
    /// The program and its version, for information: only the version of the stage tells what to judge again.
    pub program: String,
    /// The version of the stage that made it.
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

    /// Returns why days judged by these parameters must be judged again by others; nothing if they need not.
    pub fn stale(&self, wanted: &DedupParams) -> Option<Stale> {
        match self {
            _ if self.version != wanted.version => Some(Stale::Version),
            _ if self.settings != wanted.settings => Some(Stale::Settings),
            _ => None,
        }
    }
}

/// A day that was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedDay {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// The digest of the recipe of its documents, which names and digests their files.
    pub docs: String,
    /// Documents.
    pub documents: u64,
    /// Documents of which nothing is new.
    pub duplicates: u64,
    /// Paragraphs and how many of them are duplicates.
    pub paragraphs: u64,
    /// Duplicate paragraphs.
    pub duplicate_paragraphs: u64,
    /// Words.
    pub words: u64,
    /// Words of duplicates.
    pub duplicate_words: u64,
    /// The number of the first piece of text that was remembered, and of the one behind the last.
    pub pieces: Range<u32>,
    /// The file of verdicts.
    pub verdicts: FileDigest,
    /// The file of pieces that ended with this day.
    pub piece_file: FileDigest,
    /// The run of keys that ended with this day.
    pub key_file: FileDigest,
}

/// All days that were judged, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedDays {
    /// By what.
    pub manner: DedupParams,
    /// The days.
    pub days: Vec<JudgedDay>,
    /// The number of sound bytes of the file.
    bytes: u64,
}

impl JudgedDays {
    /// A ledger without days, in place of the one that is there.
    pub fn create(home: &Home, manner: DedupParams) -> Result<JudgedDays> {
        let mut ledger = JudgedDays { manner, days: Vec::new(), bytes: 0 };
        ledger.publish(home)?;
        Ok(ledger)
    }

    /// The ledger of a home; none if there is none, or an older one that we cannot read. A line that a crash has torn, and
    /// what follows a line that is none, do not count. A ledger of a newer version is an error.
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
        let manner: Option<DedupParams> = serde_json::from_slice(first).ok();
        let Some(manner) = manner.filter(|manner| manner.format == LEDGER) else { return Ok(None) };
        let mut ledger = JudgedDays { manner, days: Vec::new(), bytes: first.len() as u64 };
        for line in lines {
            let Ok(day) = serde_json::from_slice(line) else { break };
            ledger.days.push(day);
            ledger.bytes += line.len() as u64;
        }
        Ok(Some(ledger))
    }

    /// Takes all days but the first ones out.
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
        let mut text = line(&self.manner);
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

/// The folder in which a day is drafted.
pub fn draft_folder(home: &Home) -> Result<PathBuf> {
    let folder = home.seen().join("draft");
    file::make_folder(&folder)?;
    Ok(folder)
}

/// A file of the memory: of keys or pieces, from one day to another.
pub fn memory_path(home: &Home, kind: &str, first: &str, last: &str) -> PathBuf {
    home.seen().join(kind).join(format!("{first}.{last}.{kind}"))
}

/// The verdicts of a day.
pub fn verdicts_path(home: &Home, day: &str) -> PathBuf {
    home.seen().join("verdicts").join(format!("{day}.jsonl.zst"))
}

/// Makes a drafted file durable under its name; gives its size and digest.
pub fn place(home: &Home, draft: &Path, target: &Path) -> Result<FileDigest> {
    file::make_folder(file::parent(target))?;
    file::sync_file(draft)?;
    file::rename(draft, target)?;
    FileDigest::of(home, &home.key(target))
}

/// The folders of the state: drafts, fingerprints, verdicts.
pub const FOLDERS: [&str; 4] = ["draft", "keys", "pieces", "verdicts"];

/// Removes the files of folders that are not among the named ones.
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

/// Removes everything that duplicates were told by and the verdicts; the documents stay.
pub fn clear(home: &Home) -> Result<()> {
    file::remove(&path(home))?;
    tidy(home, &FOLDERS, &BTreeSet::new())
}

/// Lets the next run judge from this day on again.
pub fn forget(home: &Home, day: &str) -> Result<()> {
    Ok(file::remove(&verdicts_path(home, day))?)
}

/// A day of documents that may be judged.
#[derive(Debug, Clone)]
pub struct DocsDay {
    /// `YYYY-MM-DD`.
    pub name: String,
    /// The digest of its recipe.
    pub digest: String,
}

impl DocsDay {
    /// Its files of documents, with their languages, in the order of these.
    pub fn files(&self, home: &Home) -> Result<Vec<(String, PathBuf)>> {
        let Some(recipe) = docs::Recipe::read(home, &self.name)? else { return Ok(Vec::new()) };
        let file =
            |output: &FileDigest| (docs::partition_of(&output.file).to_owned(), home.storage().path(&output.file));
        Ok(recipe.document_files().map(file).collect())
    }
}

/// The days of documents that are whole, oldest first.
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

/// Things on disk that wait for their turn within a run; gone when it ends.
pub struct Spool {
    path: PathBuf,
    file: BufWriter<File>,
    len: u64,
}

impl Spool {
    /// An empty one. Its file is unlinked at once: it vanishes with the process.
    pub fn create(home: &Home, name: &str) -> Result<Spool> {
        Spool::within(&draft_folder(home)?, name)
    }

    /// An empty one in a folder that the caller chooses.
    pub fn within(folder: &Path, name: &str) -> Result<Spool> {
        let path = folder.join(format!("{name}.tmp"));
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path);
        let file = file.context("create", &path)?;
        fs::remove_file(&path).context("unlink", &path)?;
        Ok(Spool { path, file: BufWriter::with_capacity(1 << 18, file), len: 0 })
    }

    /// Adds a thing; gives where it lies.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        self.file.write_all(bytes).context("write", &self.path)?;
        let start = self.len;
        self.len += bytes.len() as u64;
        Ok(start..self.len)
    }

    /// Reads a thing.
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
        let target = verdicts_path(home, day);
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

/// The verdict on a document, as it lies in `seen/verdicts/`.
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
    /// Its words, and those that were seen before.
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

/// A paragraph, or a sentence of one, that was seen before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DuplicateUnit {
    /// The paragraph, counted from 0.
    pub paragraph: u64,
    /// The first and the last byte of the sentence, where it is not all of the paragraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<(u64, u64)>,
    /// `page`, `text`, `document`, `exact`, `near` or `between`.
    pub why: String,
    /// The share of its words that was seen.
    pub share: f64,
    /// Where.
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
    /// When.
    pub date: String,
    /// The share of it that is a copy.
    pub share: f64,
}

/// Reads the verdicts of a day: by language, and in each in the order of the documents.
pub struct VerdictReader {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    lines: u64,
}

impl VerdictReader {
    /// Opens the verdicts of a day.
    pub fn open(home: &Home, day: &str) -> Result<VerdictReader> {
        let path = verdicts_path(home, day);
        let reader = home.open_file(&home.key(&path))?;
        Ok(VerdictReader { path, reader, line: Vec::new(), lines: 0 })
    }
}

impl Iterator for VerdictReader {
    type Item = Result<VerdictLine>;

    fn next(&mut self) -> Option<Result<VerdictLine>> {
        self.lines += 1;
        match frames::read_line(&mut *self.reader, &mut self.line, MAX_LINE_BYTES).context("read", &self.path) {
            Ok(true) => Some(serde_json::from_slice(&self.line).map_err(|error| Error::Line {
                path: self.path.clone(),
                line: self.lines,
                fault: format!("is no verdict ({error})"),
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
        }
    }

    fn days(home: &Home) -> Vec<String> {
        JudgedDays::read(home).unwrap().map_or(Vec::new(), |list| list.days.into_iter().map(|day| day.day).collect())
    }

    #[test]
    fn days_are_added_one_by_one_and_cut_from_the_end() {
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
    fn a_torn_line_does_not_count_and_the_next_day_takes_its_place() {
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
    fn a_list_of_another_format_is_none() {
        let (_folder, home) = home();
        for text in ["", "{}\n", "{\"format\":\"tidings seen 0\",\"program\":\"\",\"settings\":null}\n", "nonsense\n"] {
            home.storage().put_atomic(KEY, text.as_bytes()).unwrap();
            assert_eq!(JudgedDays::read(&home).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn files_that_are_not_named_are_removed() {
        let (_folder, home) = home();
        for key in ["seen/keys/a", "seen/keys/b", "seen/pieces/c"] {
            home.storage().put_atomic(key, b"").unwrap();
        }
        tidy(&home, &["keys"], &BTreeSet::from([digest("seen/keys/a").path(&home)])).unwrap();
        assert_eq!(home.storage().list("seen/keys").unwrap(), ["seen/keys/a"]);
        assert_eq!(home.storage().list("seen/pieces").unwrap(), ["seen/pieces/c"]);
    }

    #[test]
    fn a_drafted_file_is_placed_with_its_digest() {
        let (_folder, home) = home();
        let draft = draft_folder(&home).unwrap().join("keys.tmp");
        fs::write(&draft, b"keys").unwrap();
        let target = memory_path(&home, "keys", "1", "2");
        let placed = place(&home, &draft, &target).unwrap();
        assert_eq!((placed.file.as_str(), placed.bytes), ("seen/keys/1.2.keys", 4));
        assert!(placed.is_present(&home) && !draft.exists());
    }

    #[test]
    fn verdicts_come_back_in_their_order() {
        let (_folder, home) = home();
        let line = |id: &str| VerdictLine { id: id.to_owned(), words: 7, ..VerdictLine::default() };
        let mut draft = VerdictDraft::create(&home, "2026-03-01").unwrap();
        for id in ["b", "a"] {
            draft.push((serde_json::to_string(&line(id)).unwrap() + "\n").as_bytes()).unwrap();
        }
        assert!(VerdictReader::open(&home, "2026-03-01").is_err(), "what is not published is not there");
        let digest = draft.publish(&home).unwrap();
        assert_eq!((digest.file.as_str(), digest.lines), ("seen/verdicts/2026-03-01.jsonl.zst", Some(2)));
        let read: Vec<VerdictLine> =
            VerdictReader::open(&home, "2026-03-01").unwrap().map(|line| line.unwrap()).collect();
        assert_eq!(read, [line("b"), line("a")]);
        forget(&home, "2026-03-01").unwrap();
        assert!(!digest.is_present(&home));
    }

    #[test]
    fn documents_of_whole_days_are_found_by_their_recipes() {
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
        fn a_spool_gives_back_what_it_took(things in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..10)) {
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
