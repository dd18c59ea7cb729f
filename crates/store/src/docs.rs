//! Documents by language and day: one file each, one file of dropped pages, and a recipe.
//!
//! Files of a day are drafted in `docs/draft/`, synced, and then renamed; the old recipe is deleted before the first
//! rename, and the new one is written last. A day with a recipe is therefore complete and matches it; one without must
//! be rebuilt, even if some of its files exist. A day to which files were added starts with its former bytes: frames
//! end where a file of pages ends, so that the result is the same as in a complete rebuild.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidings_model::Document;
use tidings_storage::file;

use crate::error::{Context, Error, Result};
use crate::file_digest::FileDigest;
use crate::frames;
use crate::home::Home;
use crate::lost_pages::DamagedPart;
use crate::partition::{self, PartitionWriter};
use crate::revisions::Supersedes;
use crate::stale::{self, Stale};
use crate::yields;

pub use crate::day_draft::{DayDraft, DraftPosition, Withdrawn};
pub use crate::dropped::{DroppedPage, dropped_pages};

pub(crate) const FORMAT: &str = "docs";
pub(crate) const DROPPED_FORMAT: &str = "dropped";
pub(crate) const VERSION: u32 = 1;
pub(crate) const RECIPE: &str = "tidings recipe 1";
/// The folder of documents in a home.
pub(crate) const ROOT: &str = "docs";
pub(crate) const ENDING: &str = "jsonl.zst";
/// The partition of dropped pages; not a valid language code.
pub(crate) const DROPPED: &str = "dropped";

/// The maximum length of a line: the largest page in the worst JSON escaping, with marks.
const MAX_LINE_BYTES: usize = 1 << 30;

/// A day of raw pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// `YYYY-MM-DD`.
    pub name: String,
    /// Its files, in the order of reading.
    pub files: Vec<PathBuf>,
}

/// The inputs, settings and outputs of a day of documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The format of this file.
    pub format: String,
    /// The day.
    pub day: String,
    /// The program and its version, for information: only the version of the stage decides about rebuilding.
    pub program: String,
    /// The version of the stage.
    #[serde(default = "stale::first_version", skip_serializing_if = "stale::is_first_version")]
    pub version: u32,
    /// The extractor and its version.
    pub extractor: String,
    /// The settings that matter for the result.
    pub settings: serde_json::Value,
    /// The files of pages.
    pub inputs: Vec<FileDigest>,
    /// The parts of these files that could not be read and were skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedPart>,
    /// Pages read.
    pub pages: u64,
    /// Documents by the partition of their language.
    pub documents: BTreeMap<String, u64>,
    /// Pages left out, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// The keys of earlier documents that documents of this day revise, by the day that may have them; see
    /// [`revisions`](crate::revisions).
    #[serde(default, skip_serializing_if = "Supersedes::is_empty")]
    pub supersedes: Supersedes,
    /// Pages that may not be articles, for the decision about pages that are added to the day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Suspect>,
    /// The texts of suspects that are no articles, in order; the suspects of the days before count, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<String>,
    /// The files that hold them.
    pub outputs: Vec<FileDigest>,
}

/// A page that may not be an article: the hashes of its text and of its entry in the feed, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    /// The site and the text.
    pub text: String,
    /// The title in the feed.
    pub entry: String,
}

impl Recipe {
    /// A recipe without results.
    pub fn new(day: &str, program: &str, extractor: &str, settings: serde_json::Value) -> Recipe {
        Recipe {
            format: RECIPE.to_owned(),
            day: day.to_owned(),
            program: program.to_owned(),
            version: stale::FIRST_VERSION,
            extractor: extractor.to_owned(),
            settings,
            inputs: Vec::new(),
            damaged: Vec::new(),
            pages: 0,
            documents: BTreeMap::new(),
            dropped: BTreeMap::new(),
            supersedes: Supersedes::new(),
            suspects: Vec::new(),
            walls: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// The recipe of a day; `None` if the day is not built, or its recipe is of an older unreadable version.
    pub fn read(home: &Home, day: &str) -> Result<Option<Recipe>> {
        let recipe: Option<Recipe> = read_recipe(home, ROOT, day, RECIPE)?;
        Ok(recipe.filter(|recipe| recipe.format == RECIPE && recipe.day == day))
    }

    /// The files of documents among the outputs, without those of dropped pages and counts.
    pub fn document_files(&self) -> impl Iterator<Item = &FileDigest> {
        let is_other =
            |output: &FileDigest| ["docs/dropped/", "docs/yield/"].iter().any(|p| output.file.starts_with(p));
        self.outputs.iter().filter(move |output| !is_other(output))
    }

    /// Returns the reason why a day with this recipe must be rebuilt; `None` if it need not. Files of pages never
    /// change, so their names and sizes are compared.
    pub fn stale(&self, wanted: &Recipe, home: &Home, day: &Day) -> Result<Option<Stale>> {
        if (self.version, &self.extractor) != (wanted.version, &wanted.extractor) {
            return Ok(Some(Stale::Version));
        }
        if self.settings != wanted.settings {
            return Ok(Some(Stale::Settings));
        }
        let read = self.read_of(home, day)?;
        if read < self.inputs.len().min(day.files.len()) || day.files.len() > self.inputs.len() {
            return Ok(Some(Stale::PagesAdded));
        }
        if read < self.inputs.len() {
            return Ok(Some(Stale::PagesRemoved));
        }
        if self.is_restored(home)? {
            return Ok(Some(Stale::PagesRestored));
        }
        Ok(self.is_missing(home).then_some(Stale::Missing))
    }

    /// Whether only files were added to a day with this recipe, so that its output can be kept.
    pub(crate) fn continues(&self, wanted: &Recipe, home: &Home, day: &Day) -> Result<bool> {
        let is_alike =
            (self.version, &self.extractor, &self.settings) == (wanted.version, &wanted.extractor, &wanted.settings);
        let is_whole = self.read_of(home, day)? == self.inputs.len() && !self.is_missing(home);
        Ok(is_alike && is_whole && !self.is_restored(home)?)
    }

    /// Whether a day still has the files of pages in this recipe.
    pub fn has_read(&self, home: &Home, day: &Day) -> Result<bool> {
        Ok(day.files.len() == self.inputs.len() && self.read_of(home, day)? == self.inputs.len())
    }

    /// The counts of the pages that an earlier recipe of the same day did not include.
    pub fn beyond(&self, earlier: &Recipe) -> Recipe {
        let mut rest = self.clone();
        rest.pages -= earlier.pages;
        for (counts, known) in [(&mut rest.documents, &earlier.documents), (&mut rest.dropped, &earlier.dropped)] {
            counts.iter_mut().for_each(|(name, number)| *number -= known.get(name).copied().unwrap_or_default());
            counts.retain(|_, number| *number > 0);
        }
        rest
    }

    /// Counts the files of a day that this recipe began with.
    fn read_of(&self, home: &Home, day: &Day) -> Result<usize> {
        let mut read = 0;
        for (input, path) in self.inputs.iter().zip(&day.files) {
            let bytes = home.file_bytes(&home.key(path))?;
            if input.file != home.key(path) || Some(input.bytes) != bytes {
                break;
            }
            read += 1;
        }
        Ok(read)
    }

    fn is_missing(&self, home: &Home) -> bool {
        !self.outputs.iter().all(|output| output.is_present(home))
    }
}

/// Reads a recipe of a format such as `tidings recipe 1`; `None` if there is none, or an older or damaged one. A recipe
/// of a newer version is an error, because a rebuild could lose information.
pub(crate) fn read_recipe<R: serde::de::DeserializeOwned>(
    home: &Home,
    root: &str,
    day: &str,
    format: &str,
) -> Result<Option<R>> {
    let key = recipe_key(root, day);
    let Some(text) = home.storage().read(&key)? else { return Ok(None) };
    refuse_newer(&home.storage().path(&key), &text, format)?;
    Ok(serde_json::from_slice(&text).ok())
}

/// Rejects a JSON object whose `format` has a known name and a higher version.
pub(crate) fn refuse_newer(path: &Path, json: &[u8], known: &str) -> Result<()> {
    #[derive(Deserialize)]
    struct Versioned {
        format: String,
    }
    let versioned: Option<Versioned> = serde_json::from_slice(json).ok();
    let version = |format: &str| -> Option<(String, u32)> {
        let (name, version) = format.strip_prefix("tidings ")?.rsplit_once(' ')?;
        Some((name.to_owned(), version.parse().ok()?))
    };
    match (versioned.and_then(|versioned| version(&versioned.format)), version(known)) {
        (Some((name, found)), Some((known_name, known))) if name == known_name && found > known => {
            Err(Error::Newer { path: path.to_owned(), found: format!("{name} {found}"), known })
        }
        _ => Ok(()),
    }
}

/// Writes a recipe, which publishes the day.
pub(crate) fn write_recipe(home: &Home, root: &str, day: &str, recipe: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(recipe).expect("recipes serialise");
    text.push(b'\n');
    home.check_claims()?;
    Ok(home.storage().put_atomic(&recipe_key(root, day), &text)?)
}

/// Deletes a recipe, so that the day must be rebuilt.
pub(crate) fn remove_recipe(home: &Home, root: &str, day: &str) -> Result<()> {
    home.check_claims()?;
    Ok(home.storage().remove(&recipe_key(root, day))?)
}

/// The days that have documents, oldest first.
pub fn document_days(home: &Home) -> Result<Vec<String>> {
    recipes_in(home, ROOT)
}

/// The number of documents of some days, from their recipes.
pub fn number_of_documents<'d>(home: &Home, days: impl IntoIterator<Item = &'d str>) -> Result<u64> {
    let number = |day: &str| -> Result<u64> {
        Ok(Recipe::read(home, day)?.map_or(0, |recipe| recipe.documents.values().sum::<u64>()))
    };
    days.into_iter().map(number).sum()
}

/// The days that have a recipe under a root, oldest first.
pub(crate) fn recipes_in(home: &Home, root: &str) -> Result<Vec<String>> {
    let folder = format!("{root}/recipes");
    let day = |key: &String| Some(key.strip_prefix(&folder)?.strip_prefix('/')?.strip_suffix(".json")?.to_owned());
    Ok(home.storage().list(&folder)?.iter().filter_map(day).collect())
}

/// The key of the recipe of a day under a root.
pub(crate) fn recipe_key(root: &str, day: &str) -> String {
    format!("{root}/recipes/{day}.json")
}

/// The days that have pages, oldest first.
pub fn page_days(home: &Home) -> Result<Vec<Day>> {
    page_days_since(home, "")
}

/// The same from a day on.
pub fn page_days_since(home: &Home, first: &str) -> Result<Vec<Day>> {
    let mut days: Vec<Day> = Vec::new();
    for path in crate::pages::files_since(home, first)? {
        let folder = file::parent(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        match days.last_mut() {
            Some(day) if day.name == folder => day.files.push(path),
            _ => days.push(Day { name: folder, files: vec![path] }),
        }
    }
    // A folder with another name was not made by a crawl.
    days.retain(|day| day.name.len() == 10 && day.name.parse::<jiff::civil::Date>().is_ok());
    Ok(days)
}

/// The partition of a file: its language, or `dropped`.
pub(crate) fn partition_of(file: &str) -> &str {
    file.rsplit('/').nth(1).unwrap_or_default()
}

/// The key of the file of dropped pages of a day.
pub(crate) fn dropped_key(day: &str) -> String {
    partition::key(ROOT, DROPPED, day, ENDING)
}

/// Removes the drafts that a crash left.
pub(crate) fn remove_temp(home: &Home) -> Result<()> {
    partition::remove_temp(home, ROOT, &["recipes", "yield"])
}

/// Marks a day to be made again. Its files stay until then.
pub fn forget(home: &Home, day: &str) -> Result<()> {
    remove_recipe(home, ROOT, day)
}

/// Deletes a day: its recipe first, then its files. Its pages stay.
pub fn remove_day(home: &Home, day: &str) -> Result<()> {
    remove_recipe(home, ROOT, day)?;
    home.storage().remove(&yields::day_key(day))?;
    PartitionWriter::new(home, ROOT, ENDING).publish(day)
}

/// Deletes all documents and recipes. The pages stay.
pub fn clear(home: &Home) -> Result<()> {
    partition::clear(home, ROOT)
}

/// Reads the documents of a file of `docs/LANG/`.
pub struct DocumentReader {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    lines: u64,
}

impl DocumentReader {
    /// Opens a file of documents of a home.
    pub fn open_in(home: &Home, file: &str) -> Result<DocumentReader> {
        Ok(DocumentReader::new(home.open_file(file)?, &home.storage().path(file)))
    }

    /// Opens a file of documents outside of any home.
    pub fn open(path: &Path) -> Result<DocumentReader> {
        Ok(DocumentReader::new(frames::open_any(path)?, path))
    }

    fn new(reader: Box<dyn BufRead + Send>, path: &Path) -> DocumentReader {
        DocumentReader { path: path.to_owned(), reader, line: Vec::new(), lines: 0 }
    }

    /// The next line unparsed, for parsing in another thread.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        self.lines += 1;
        let more = frames::read_line(&mut *self.reader, &mut self.line, MAX_LINE_BYTES).context("read", &self.path)?;
        Ok(more.then(|| std::mem::take(&mut self.line)))
    }

    /// The next document as a type with the fields that the caller needs: skipping a field is several times as fast as
    /// reading it.
    pub fn next_as<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        self.lines += 1;
        match frames::read_line(&mut *self.reader, &mut self.line, MAX_LINE_BYTES).context("read", &self.path)? {
            true => self.parse(&self.line).map(Some),
            false => Ok(None),
        }
    }

    /// Parses the line that was read last.
    pub fn parse<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T> {
        serde_json::from_slice(line).map_err(|error| Error::Line {
            path: self.path.clone(),
            line: self.lines,
            fault: format!("is not a document ({error})"),
        })
    }
}

impl Iterator for DocumentReader {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Result<Document>> {
        self.next_as().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yields::Yield;
    use std::fs;

    fn home(folder: &Path) -> Home {
        Home::create(folder, "", "").unwrap();
        Home::at(folder).unwrap()
    }

    fn draft(home: &Home) -> DayDraft {
        DayDraft::create(home, Recipe::new("2026-03-01", "p", "e", serde_json::Value::Null)).unwrap()
    }

    #[test]
    fn only_a_newer_version_of_the_same_format_is_rejected() {
        let refused = |json: &str| refuse_newer(Path::new("day.json"), json.as_bytes(), "tidings text recipe 2");
        for passed in
            [r#"{"format":"tidings text recipe 2"}"#, r#"{"format":"tidings text recipe 1"}"#, "{}", "no JSON"]
        {
            assert!(refused(passed).is_ok(), "{passed}");
        }
        assert!(refused(r#"{"format":"tidings recipe 9"}"#).is_ok());
        let told = refused(r#"{"format":"tidings text recipe 3","more":[]}"#).unwrap_err().to_string();
        assert!(told.contains("day.json") && told.contains("format text recipe 3, "), "{told}");
        assert!(told.contains("reads up to 2); install"), "{told}");
    }

    #[test]
    fn a_day_is_published_with_its_recipe_and_old_files_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let mut first = draft(&home);
        first.push("de", b"{\"id\":\"1\"}\n").unwrap();
        first.push("en", b"{\"id\":\"2\"}\n").unwrap();
        first.drop_page("no-text", b"{}\n").unwrap();
        let recipe = first.publish(3).unwrap();
        assert_eq!(Recipe::read(&home, "2026-03-01").unwrap().unwrap(), recipe);
        assert_eq!((recipe.pages, recipe.outputs.len()), (3, 4));
        for output in &recipe.outputs {
            let found = FileDigest::of(&home, &output.file).unwrap();
            assert_eq!((found.bytes, &found.xxh3), (output.bytes, &output.xxh3));
        }
        let english = folder.path().join("docs/en/2026-03-01.jsonl.zst");
        let read: Vec<Document> = DocumentReader::open(&english).unwrap().map(|document| document.unwrap()).collect();
        assert_eq!(read.iter().map(|document| document.id.as_str()).collect::<Vec<_>>(), ["2"]);

        let mut second = draft(&home);
        second.push("de", b"{\"id\":\"1\"}\n").unwrap();
        second.publish(1).unwrap();
        assert!(!english.exists());
        assert_eq!(Recipe::read(&home, "2026-03-01").unwrap().unwrap().documents, [("de".to_owned(), 1)].into());
    }

    #[test]
    fn a_day_that_grows_equals_one_built_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let pages = [folder.path().join("a"), folder.path().join("b")];
        pages.iter().for_each(|path| fs::write(path, "pages").unwrap());
        let recipe = || Recipe::new("2026-03-01", "p", "e", serde_json::Value::Null);
        let make = |files: usize| {
            let day = Day { name: "2026-03-01".to_owned(), files: pages[..files].to_vec() };
            let mut draft = DayDraft::begin(&home, recipe(), &day).unwrap();
            let kept = draft.kept().map_or(0, |kept| kept.inputs.len());
            for number in kept..files {
                draft.end_file().unwrap();
                draft.count("feed", "host", Yield { pages: 3, ..Yield::default() });
                draft.push("de", format!("{{\"id\":\"{number}\"}}\n").as_bytes()).unwrap();
                draft.push(["en", "fr"][number], b"{\"id\":\"2\"}\n").unwrap();
                draft.drop_page("no-text", b"{}\n").unwrap();
            }
            (kept, draft.publish(files as u64 * 3).unwrap())
        };
        let at_once = make(2).1;
        remove_day(&home, "2026-03-01").unwrap();
        let first = make(1).1;
        let (kept, grown) = make(2);
        assert_eq!((kept, &grown), (1, &at_once));
        assert_eq!(grown.beyond(&first).documents, [("de".to_owned(), 1), ("fr".to_owned(), 1)].into());
        // Output that does not match its recipe is not kept.
        remove_day(&home, "2026-03-01").unwrap();
        make(1);
        let german = folder.path().join("docs/de/2026-03-01.jsonl.zst");
        let mut bytes = fs::read(&german).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&german, bytes).unwrap();
        assert_eq!(make(2), (0, at_once));
    }

    #[test]
    fn a_missing_page_is_an_error_and_nothing_is_published() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let mut day = draft(&home);
        day.push("de", b"{}\n").unwrap();
        assert!(day.publish(2).unwrap_err().to_string().contains("2 pages were read"));
        assert!(Recipe::read(&home, "2026-03-01").unwrap().is_none());
        assert!(!folder.path().join("docs/de").exists());
        assert!(file::files_in(&home.docs().join("draft")).unwrap().is_empty());
    }

    #[test]
    fn a_day_is_stale_for_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        home.storage().put_atomic("pages/2026-03-01/a.0.jsonl.zst", b"pages").unwrap();
        let day = || page_days(&home).unwrap().remove(0);
        let recipe = |extractor: &str, settings: u64| Recipe::new("2026-03-01", "p", extractor, settings.into());
        let mut draft = DayDraft::begin(&home, recipe("p", 1), &day()).unwrap();
        draft.push("de", b"{}\n").unwrap();
        let made = draft.publish(1).unwrap();
        let stale = |wanted: &Recipe| made.stale(wanted, &home, &day()).unwrap();
        assert_eq!(stale(&recipe("p", 1)), None);
        assert_eq!(stale(&recipe("q", 1)), Some(Stale::Version));
        assert_eq!(stale(&recipe("p", 2)), Some(Stale::Settings));
        home.storage().put_atomic("pages/2026-03-01/b.0.jsonl.zst", b"more").unwrap();
        assert_eq!(stale(&recipe("p", 1)), Some(Stale::PagesAdded));
        home.storage().remove("pages/2026-03-01/b.0.jsonl.zst").unwrap();
        home.storage().remove("docs/de/2026-03-01.jsonl.zst").unwrap();
        assert_eq!(stale(&recipe("p", 1)), Some(Stale::Missing));
        let none = Day { name: "2026-03-01".to_owned(), files: Vec::new() };
        assert_eq!(made.stale(&recipe("p", 1), &home, &none).unwrap(), Some(Stale::PagesRemoved));
    }

    #[test]
    fn folders_without_a_date_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        for name in ["2026-03-01", "2026-13-01", "mine", "2026-3-1"] {
            home.storage().put_atomic(&format!("pages/{name}/a.0.jsonl.zst"), b"").unwrap();
        }
        let names: Vec<String> = page_days(&home).unwrap().into_iter().map(|day| day.name).collect();
        assert_eq!(names, ["2026-03-01"]);
        assert!(page_days_since(&home, "2026-03-02").unwrap().is_empty());
    }

    #[test]
    fn unreadable_recipes_count_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        for day in ["2026-03-02", "2026-03-01"] {
            let mut draft = DayDraft::create(&home, Recipe::new(day, "p", "e", serde_json::Value::Null)).unwrap();
            draft.push("de", b"{}\n").unwrap();
            draft.publish(1).unwrap();
        }
        home.storage().put_atomic("docs/recipes/notes.txt", b"").unwrap();
        assert_eq!(document_days(&home).unwrap(), ["2026-03-01", "2026-03-02"]);
        home.storage().put_atomic("docs/recipes/2026-03-01.json", b"{\"format\":\"tidings recipe 0\"}").unwrap();
        assert_eq!(Recipe::read(&home, "2026-03-01").unwrap(), None);
        let files: Vec<String> = Recipe::read(&home, "2026-03-02")
            .unwrap()
            .unwrap()
            .document_files()
            .map(|file| file.file.clone())
            .collect();
        assert_eq!(files, ["docs/de/2026-03-02.jsonl.zst"]);
        assert_eq!((partition_of(&files[0]), dropped_key("1")), ("de", "docs/dropped/1.jsonl.zst".to_owned()));
        clear(&home).unwrap();
        assert!(document_days(&home).unwrap().is_empty());
    }

    #[test]
    fn an_invalid_document_is_an_error_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        home.storage().put_atomic("docs/de/1.jsonl.zst", b"{\"id\":\"a\"}\n[]\n").unwrap();
        let read: Vec<Result<Document>> = DocumentReader::open_in(&home, "docs/de/1.jsonl.zst").unwrap().collect();
        assert_eq!(read[0].as_ref().unwrap().id, "a");
        let error = read[1].as_ref().unwrap_err().to_string();
        assert!(error.contains("line 2: is not a document"), "{error}");
        let mut reader = DocumentReader::open_in(&home, "docs/de/1.jsonl.zst").unwrap();
        assert_eq!(reader.next_line().unwrap().unwrap(), b"{\"id\":\"a\"}");
    }
}
