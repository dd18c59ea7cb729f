//! The shelf of verdicts: what was published before, a file per day, and the memory that tells it.
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
use xxhash_rust::xxh3::xxh3_128;

use crate::disk::{self, Appender, Draft};
use crate::docs::{self, Ingredient};
use crate::error::{During, Error, Result};
use crate::frames::{self, FRAME_BYTES, Packer};
use crate::home::{Home, files_in};

const LEDGER: &str = "tidings seen 1";
pub(crate) const FORMAT: &str = "verdicts";
pub(crate) const VERSION: u32 = 1;
/// How hard verdicts are packed; no setting, because the same days must give the same bytes everywhere.
const LEVEL: i32 = 6;
/// No line is longer.
const MAX_LINE_BYTES: usize = 1 << 28;

/// By what all days were judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manner {
    /// The format of the ledger.
    pub format: String,
    /// The program and its version.
    pub program: String,
    /// The settings that matter for the result.
    pub settings: serde_json::Value,
}

impl Manner {
    /// The manner of a program with settings.
    pub fn new(program: &str, settings: serde_json::Value) -> Manner {
        Manner { format: LEDGER.to_owned(), program: program.to_owned(), settings }
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
    pub verdicts: Ingredient,
    /// The file of pieces that ended with this day.
    pub piece_file: Ingredient,
    /// The run of keys that ended with this day.
    pub key_file: Ingredient,
}

/// All days that were judged, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// By what.
    pub manner: Manner,
    /// The days.
    pub days: Vec<JudgedDay>,
    /// How much of the file is sound.
    bytes: u64,
}

impl Ledger {
    /// A ledger without days, in place of the one that is there.
    pub fn create(home: &Home, manner: Manner) -> Result<Ledger> {
        let mut ledger = Ledger { manner, days: Vec::new(), bytes: 0 };
        ledger.publish(home)?;
        Ok(ledger)
    }

    /// The ledger of a home; none if there is none, or an older one that we cannot read. A line that a crash has torn, and
    /// what follows a line that is none, do not count. A ledger of a newer version is an error.
    pub fn read(home: &Home) -> Result<Option<Ledger>> {
        let path = path(home);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).during("read", &path),
        };
        let mut lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let Some(first) = lines.next() else { return Ok(None) };
        docs::refuse_newer(&path, first, LEDGER)?;
        let manner: Option<Manner> = serde_json::from_slice(first).ok();
        let Some(manner) = manner.filter(|manner| manner.format == LEDGER) else { return Ok(None) };
        let mut ledger = Ledger { manner, days: Vec::new(), bytes: first.len() as u64 };
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
        disk::write_whole(&path(home), text.as_bytes())
    }
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("ledgers serialise") + "\n"
}

pub(crate) fn path(home: &Home) -> PathBuf {
    home.seen().join("ledger.jsonl")
}

/// The folder in which a day is drafted.
pub fn draft_folder(home: &Home) -> Result<PathBuf> {
    let folder = home.seen().join("draft");
    disk::make_folder(&folder)?;
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
pub fn place(home: &Home, draft: &Path, target: &Path) -> Result<Ingredient> {
    disk::make_folder(disk::parent(target))?;
    disk::sync_file(draft)?;
    disk::rename(draft, target)?;
    docs::ingredient(home, target)
}

/// The folders of the shelf: drafts, the memory, the verdicts.
pub const FOLDERS: [&str; 4] = ["draft", "keys", "pieces", "verdicts"];

/// Removes the files of folders that nobody named.
pub fn tidy(home: &Home, folders: &[&str], named: &BTreeSet<PathBuf>) -> Result<()> {
    for kind in folders {
        for file in files_in(&home.seen().join(kind))? {
            if !named.contains(&file) {
                disk::remove(&file)?;
            }
        }
    }
    Ok(())
}

/// Removes drafts that a crash left.
pub(crate) fn sweep(home: &Home) -> Result<()> {
    for file in files_in(&home.seen().join("draft"))?.into_iter().chain(files_in(&home.seen())?) {
        if file.extension().is_some_and(|ending| ending == "tmp") {
            disk::remove(&file)?;
        }
    }
    Ok(())
}

/// Removes everything that duplicates were told by and the verdicts; the documents stay.
pub fn clear(home: &Home) -> Result<()> {
    disk::remove(&path(home))?;
    tidy(home, &FOLDERS, &BTreeSet::new())
}

/// Lets the next run judge from this day on again.
pub fn forget(home: &Home, day: &str) -> Result<()> {
    disk::remove(&verdicts_path(home, day))
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
        let shelf = |path: &Path| disk::parent(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(recipe.shelves().map(|output| home.root().join(&output.file)).map(|path| (shelf(&path), path)).collect())
    }
}

/// The days of documents that are whole, oldest first.
pub fn docs_days(home: &Home) -> Result<Vec<DocsDay>> {
    let is_day = |name: &String| name.parse::<jiff::civil::Date>().is_ok();
    let days = docs::made(home)?.into_iter().filter(is_day);
    days.map(|name| Ok(DocsDay { digest: docs_digest(home, &name)?, name })).collect()
}

/// The digest of the recipe of a day of documents; one of a newer version is an error.
pub fn docs_digest(home: &Home, day: &str) -> Result<String> {
    let path = docs::recipe_path(home, day);
    let recipe = fs::read(&path).during("read", &path)?;
    docs::refuse_newer(&path, &recipe, docs::RECIPE)?;
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

    /// An empty one in a folder of somebody's choice.
    pub fn within(folder: &Path, name: &str) -> Result<Spool> {
        let path = folder.join(format!("{name}.tmp"));
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path);
        let file = file.during("create", &path)?;
        fs::remove_file(&path).during("unlink", &path)?;
        Ok(Spool { path, file: BufWriter::with_capacity(1 << 18, file), len: 0 })
    }

    /// Adds a thing; gives where it lies.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        self.file.write_all(bytes).during("write", &self.path)?;
        let start = self.len;
        self.len += bytes.len() as u64;
        Ok(start..self.len)
    }

    /// Reads a thing.
    pub fn read(&mut self, place: &Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        self.file.flush().during("write", &self.path)?;
        bytes.resize((place.end - place.start) as usize, 0);
        self.file.get_ref().read_exact_at(bytes, place.start).during("read", &self.path)
    }
}

/// The verdicts of a day while they are written.
pub struct VerdictDraft {
    target: PathBuf,
    draft: Draft,
    packer: Packer,
    text: Vec<u8>,
    lines: u64,
}

impl VerdictDraft {
    /// Begins the file of a day.
    pub fn create(home: &Home, day: &str) -> Result<VerdictDraft> {
        let target = verdicts_path(home, day);
        let mut draft = Draft::create(&target)?;
        draft.write(&frames::label(FORMAT, VERSION, ""))?;
        Ok(VerdictDraft { target, draft, packer: Packer::new(LEVEL), text: Vec::new(), lines: 0 })
    }

    /// Adds a line, with its line end.
    pub fn push(&mut self, line: &[u8]) -> Result<()> {
        self.lines += 1;
        self.text.extend_from_slice(line);
        if self.text.len() >= FRAME_BYTES { self.pack() } else { Ok(()) }
    }

    fn pack(&mut self) -> Result<()> {
        if !self.text.is_empty() {
            self.draft.write(&self.packer.pack(&self.text))?;
            self.text.clear();
        }
        Ok(())
    }

    /// Puts the file in its place.
    pub fn publish(mut self, home: &Home) -> Result<Ingredient> {
        self.pack()?;
        self.draft.publish()?;
        Ok(Ingredient { lines: Some(self.lines), ..docs::ingredient(home, &self.target)? })
    }
}

/// What was said of a document, as it lies in `seen/verdicts/`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VerdictLine {
    /// The document.
    pub id: String,
    /// The shelf of its language.
    pub lang: String,
    /// Who published it, and its day: what is known of a copy.
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
    /// How many paragraphs it has.
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
    /// Who published it.
    pub site: String,
    /// When.
    pub date: String,
    /// How much of it is a copy.
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
        let reader = frames::open_any(&path)?;
        Ok(VerdictReader { path, reader, line: Vec::new(), lines: 0 })
    }
}

impl Iterator for VerdictReader {
    type Item = Result<VerdictLine>;

    fn next(&mut self) -> Option<Result<VerdictLine>> {
        self.lines += 1;
        match frames::read_line(&mut *self.reader, &mut self.line, MAX_LINE_BYTES).during("read", &self.path) {
            Ok(true) => Some(serde_json::from_slice(&self.line).map_err(|error| Error::Line {
                path: self.path.clone(),
                line: self.lines,
                fault: format!("is no verdict ({error})"),
            })),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
