//! The shelves of documents: a file per language and day, one of what was left out, and a recipe.
//!
//! A day is rebuilt as a whole. Its files are drafted in `docs/draft/`, synced, and then put in
//! their places; the recipe comes last, and before the first file moves the old recipe goes. So a
//! day with a recipe is whole and is what the recipe says; one without is to be made again,
//! whatever lies there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_model::Document;
use xxhash_rust::xxh3::Xxh3;

use crate::disk::{self, Appender};
use crate::error::{During, Error, Result};
use crate::frames::{self, FRAME_BYTES, Packer};
use crate::home::{Home, files_in};

const FORMAT: &str = "docs";
const DROPPED_FORMAT: &str = "dropped";
const VERSION: u32 = 1;
const RECIPE: &str = "tidings recipe 1";

/// How hard documents are packed. It is no setting, because the same pages must give the same
/// bytes everywhere.
const LEVEL: i32 = 6;

/// Text that waits to be packed, of all languages together. A page may claim any language, so the
/// number of languages is no bound.
const WAITING_BYTES: usize = 64 << 20;

/// No line is longer: the largest page, escaped as badly as JSON can, with marks.
const MAX_LINE_BYTES: usize = 1 << 30;

/// A day on the shelf of raw pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// `YYYY-MM-DD`.
    pub name: String,
    /// Its files, in the order in which they are read.
    pub files: Vec<PathBuf>,
}

/// A file that went into a day, or came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ingredient {
    /// Its path in the home.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// The digest of its bytes: XXH3, 128 bits, in hexadecimal.
    pub xxh3: String,
    /// How many lines it holds, where we wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

/// What a day was made of, and what came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The format of this file.
    pub format: String,
    /// The day.
    pub day: String,
    /// The program and its version.
    pub program: String,
    /// The extractor and its version.
    pub extractor: String,
    /// The settings that matter for the result.
    pub settings: serde_json::Value,
    /// The files of pages.
    pub inputs: Vec<Ingredient>,
    /// Pages read.
    pub pages: u64,
    /// Documents by the shelf of their language.
    pub documents: BTreeMap<String, u64>,
    /// Pages left out, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// The files that hold them.
    pub outputs: Vec<Ingredient>,
}

impl Recipe {
    /// The recipe of a day that is yet to be made.
    pub fn new(day: &str, program: &str, extractor: &str, settings: serde_json::Value) -> Recipe {
        Recipe {
            format: RECIPE.to_owned(),
            day: day.to_owned(),
            program: program.to_owned(),
            extractor: extractor.to_owned(),
            settings,
            inputs: Vec::new(),
            pages: 0,
            documents: BTreeMap::new(),
            dropped: BTreeMap::new(),
            outputs: Vec::new(),
        }
    }

    /// The recipe of a day; none if the day is yet to be made, or was made by a version whose
    /// recipes we cannot read.
    pub fn read(home: &Home, day: &str) -> Result<Option<Recipe>> {
        let path = recipe_path(home, day);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).during("read", &path),
        };
        Ok(serde_json::from_slice(&text).ok().filter(|recipe: &Recipe| recipe.format == RECIPE && recipe.day == day))
    }

    /// Why a day made by this recipe must be made again; nothing if it need not. Files of pages
    /// never change, so that their names and sizes tell.
    pub fn stale(&self, wanted: &Recipe, home: &Home, day: &Day) -> Result<Option<&'static str>> {
        if (&self.program, &self.extractor) != (&wanted.program, &wanted.extractor) {
            return Ok(Some("the program is another"));
        }
        if self.settings != wanted.settings {
            return Ok(Some("the settings are others"));
        }
        let mut known = self.inputs.iter().map(|input| (input.file.clone(), input.bytes));
        for path in &day.files {
            if known.next() != Some((home.shown(path), size(path)?)) {
                return Ok(Some("pages were added"));
            }
        }
        if known.next().is_some() {
            return Ok(Some("pages were removed"));
        }
        for output in &self.outputs {
            if fs::metadata(home.root().join(&output.file)).map_or(0, |meta| meta.len()) != output.bytes {
                return Ok(Some("files are missing"));
            }
        }
        Ok(None)
    }
}

fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).during("look at", path)?.len())
}

fn recipe_path(home: &Home, day: &str) -> PathBuf {
    home.docs().join("recipes").join(format!("{day}.json"))
}

fn file_path(home: &Home, shelf: &str, day: &str) -> PathBuf {
    home.docs().join(shelf).join(format!("{day}.jsonl.zst"))
}

/// The days of the shelf of pages, oldest first.
pub fn days(home: &Home) -> Result<Vec<Day>> {
    let mut days: Vec<Day> = Vec::new();
    for path in crate::pages::files(home)? {
        let folder = disk::parent(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        match days.last_mut() {
            Some(day) if day.name == folder => day.files.push(path),
            _ => days.push(Day { name: folder, files: vec![path] }),
        }
    }
    // A folder with another name was not made by a harvest; its name could be anything.
    days.retain(|day| day.name.len() == 10 && day.name.parse::<jiff::civil::Date>().is_ok());
    Ok(days)
}

/// A file's name, size and digest.
pub fn ingredient(home: &Home, path: &Path) -> Result<Ingredient> {
    let mut file = File::open(path).during("open", path)?;
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; 1 << 18];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer).during("read", path)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
    Ok(Ingredient { file: home.shown(path), bytes, xxh3: format!("{:032x}", hash.digest128()), lines: None })
}

/// The documents of a day while they are being made. What is not published leaves no trace.
pub struct DayDraft {
    home: Home,
    recipe: Recipe,
    packer: Packer,
    shelves: BTreeMap<String, Shelf>,
    waiting: usize,
}

/// The name of the shelf of pages that gave no document; no language has such a code.
pub(crate) const DROPPED: &str = "dropped";

/// A file that is opened when there is something to write: a page may claim any language, and open
/// files are few.
struct Shelf {
    path: PathBuf,
    bytes: u64,
    text: Vec<u8>,
    lines: u64,
    digest: Xxh3,
}

impl DayDraft {
    /// Begins a day; whatever an earlier attempt left is thrown away.
    pub fn create(home: &Home, recipe: Recipe) -> Result<DayDraft> {
        sweep(home)?;
        let shelves = BTreeMap::new();
        let mut draft = DayDraft { home: home.clone(), recipe, packer: Packer::new(LEVEL), shelves, waiting: 0 };
        // That nothing was left out is worth a file too.
        draft.shelf(DROPPED)?;
        Ok(draft)
    }

    /// Adds the line of a document, with its line end, to the shelf of its language.
    pub fn push(&mut self, language: &str, line: &[u8]) -> Result<()> {
        self.recipe.pages += 1;
        *self.recipe.documents.entry(language.to_owned()).or_default() += 1;
        self.line(language, line)
    }

    /// Adds the line of a page that gave no document, with its line end.
    pub fn drop_page(&mut self, reason: &str, line: &[u8]) -> Result<()> {
        self.recipe.pages += 1;
        *self.recipe.dropped.entry(reason.to_owned()).or_default() += 1;
        self.line(DROPPED, line)
    }

    fn line(&mut self, shelf: &str, line: &[u8]) -> Result<()> {
        let shelf = self.shelf(shelf)?;
        shelf.lines += 1;
        shelf.text.extend_from_slice(line);
        let is_full = shelf.text.len() >= FRAME_BYTES;
        let name = is_full.then(|| shelf.name());
        self.waiting += line.len();
        match name {
            Some(name) => self.pack(&name),
            None if self.waiting >= WAITING_BYTES => {
                let largest = self.shelves.iter().max_by_key(|(_, shelf)| shelf.text.len());
                let name = largest.expect("something waits").0.clone();
                self.pack(&name)
            }
            None => Ok(()),
        }
    }

    fn shelf(&mut self, name: &str) -> Result<&mut Shelf> {
        if !self.shelves.contains_key(name) {
            let format = if name == DROPPED { DROPPED_FORMAT } else { FORMAT };
            let path = folder(&self.home).join(format!("{name}.tmp"));
            drop(Appender::create(&path)?);
            let mut shelf = Shelf { path, bytes: 0, text: Vec::new(), lines: 0, digest: Xxh3::new() };
            shelf.append(&frames::label(format, VERSION, ""))?;
            self.shelves.insert(name.to_owned(), shelf);
        }
        Ok(self.shelves.get_mut(name).expect("inserted above"))
    }

    fn pack(&mut self, name: &str) -> Result<()> {
        let shelf = self.shelves.get_mut(name).expect("shelves are made before they are filled");
        if !shelf.text.is_empty() {
            self.waiting -= shelf.text.len();
            let frame = self.packer.pack(&shelf.text);
            shelf.text.clear();
            shelf.text.shrink_to(FRAME_BYTES);
            shelf.append(&frame)?;
        }
        Ok(())
    }

    /// Puts everything in its place and gives the recipe that vouches for it. Every page of the
    /// `read` ones must have become a document or a line with its reason.
    pub fn publish(mut self, read: u64) -> Result<Recipe> {
        let names: Vec<String> = self.shelves.keys().cloned().collect();
        names.iter().try_for_each(|name| self.pack(name))?;
        let DayDraft { home, recipe, shelves, .. } = &mut self;
        let documents: u64 = recipe.documents.values().sum();
        let dropped: u64 = recipe.dropped.values().sum();
        let lines: u64 = shelves.values().map(|shelf| shelf.lines).sum();
        if recipe.pages != read || documents + dropped != read || lines != read {
            let fault = format!("{read} pages were read, but {documents} documents and {dropped} others came of them");
            return Err(Error::Uneven { day: recipe.day.clone(), fault });
        }
        for (name, shelf) in shelves.iter_mut() {
            Appender::reopen(&shelf.path, shelf.bytes)?.sync()?;
            recipe.outputs.push(Ingredient {
                file: home.shown(&file_path(home, name, &recipe.day)),
                bytes: shelf.bytes,
                xxh3: format!("{:032x}", shelf.digest.digest128()),
                lines: Some(shelf.lines),
            });
        }
        // From here on the day is what it will be, or nothing.
        disk::remove(&recipe_path(home, &recipe.day))?;
        for (name, shelf) in shelves.iter() {
            let target = file_path(home, name, &recipe.day);
            disk::make_folder(disk::parent(&target))?;
            disk::rename(&shelf.path, &target)?;
        }
        for folder in files_in(&home.docs())?.into_iter().filter(|path| path.is_dir()) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let leftover = file_path(home, &name, &recipe.day);
            if !shelves.contains_key(&name) && leftover.exists() {
                disk::remove(&leftover)?;
            }
        }
        let mut text = serde_json::to_vec_pretty(recipe).expect("recipes serialise");
        text.push(b'\n');
        disk::write_whole(&recipe_path(home, &recipe.day), &text)?;
        Ok(recipe.clone())
    }
}

/// Nobody needs half a day, and the disk may be full.
impl Drop for DayDraft {
    fn drop(&mut self) {
        for shelf in self.shelves.values() {
            // What was published is not there any more; what a crash leaves is swept by the next run.
            let _ = fs::remove_file(&shelf.path);
        }
    }
}

impl Shelf {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        Appender::reopen(&self.path, self.bytes)?.append(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

fn folder(home: &Home) -> PathBuf {
    home.docs().join("draft")
}

/// Removes the drafts that a crash left.
pub(crate) fn sweep(home: &Home) -> Result<()> {
    for path in files_in(&folder(home))?.into_iter().chain(files_in(&home.docs().join("recipes"))?) {
        if path.extension().is_some_and(|ending| ending == "tmp") {
            disk::remove(&path)?;
        }
    }
    Ok(())
}

/// Removes all documents and their recipes; the pages that they were made of stay.
pub fn clear(home: &Home) -> Result<()> {
    // The recipes go first: a day without one is no day.
    for file in files_in(&home.docs().join("recipes"))? {
        disk::remove(&file)?;
    }
    for folder in files_in(&home.docs())?.into_iter().filter(|path| path.is_dir()) {
        for file in files_in(&folder)? {
            disk::remove(&file)?;
        }
    }
    Ok(())
}

/// Reads the documents of a file of `docs/LANG/`.
pub struct DocumentReader {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    lines: u64,
}

impl DocumentReader {
    /// Opens a file of documents.
    pub fn open(path: &Path) -> Result<DocumentReader> {
        Ok(DocumentReader { path: path.to_owned(), reader: frames::open_any(path)?, line: Vec::new(), lines: 0 })
    }
}

impl Iterator for DocumentReader {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Result<Document>> {
        self.lines += 1;
        match frames::read_line(&mut *self.reader, &mut self.line, MAX_LINE_BYTES).during("read", &self.path) {
            Ok(true) => Some(serde_json::from_slice(&self.line).map_err(|error| Error::Line {
                path: self.path.clone(),
                line: self.lines,
                fault: format!("is not a document ({error})"),
            })),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(folder: &Path) -> Home {
        Home::create(folder, "", "").unwrap();
        Home::at(folder).unwrap()
    }

    fn draft(home: &Home) -> DayDraft {
        DayDraft::create(home, Recipe::new("2026-03-01", "p", "e", serde_json::Value::Null)).unwrap()
    }

    #[test]
    fn a_day_is_published_with_its_recipe_and_what_vanished_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let mut first = draft(&home);
        first.push("de", b"{\"id\":\"1\"}\n").unwrap();
        first.push("en", b"{\"id\":\"2\"}\n").unwrap();
        first.drop_page("no-text", b"{}\n").unwrap();
        let recipe = first.publish(3).unwrap();
        assert_eq!(Recipe::read(&home, "2026-03-01").unwrap().unwrap(), recipe);
        assert_eq!((recipe.pages, recipe.outputs.len()), (3, 3));
        for output in &recipe.outputs {
            let found = ingredient(&home, &home.root().join(&output.file)).unwrap();
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
    fn a_page_that_vanished_is_an_error_and_nothing_is_published() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let mut day = draft(&home);
        day.push("de", b"{}\n").unwrap();
        assert!(day.publish(2).unwrap_err().to_string().contains("2 pages were read"));
        assert!(Recipe::read(&home, "2026-03-01").unwrap().is_none());
        assert!(!folder.path().join("docs/de").exists());
        assert!(files_in(&super::folder(&home)).unwrap().is_empty());
    }

    #[test]
    fn more_languages_than_memory_are_packed_early_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let mut day = draft(&home);
        let line = |number: u32| format!("{{\"id\":\"{number}\",\"url\":\"{}\"}}\n", "x".repeat(1 << 20));
        for number in 0..80 {
            day.push(["aa", "bb", "cc"][number as usize % 3], line(number).as_bytes()).unwrap();
            assert!(day.waiting < WAITING_BYTES + (2 << 20));
        }
        let recipe = day.publish(80).unwrap();
        assert_eq!(recipe.documents.values().sum::<u64>(), 80);
        let reader = DocumentReader::open(&file_path(&home, "aa", "2026-03-01")).unwrap();
        let ids: Vec<u32> = reader.map(|document| document.unwrap().id.parse().unwrap()).collect();
        assert_eq!(ids, (0..80).step_by(3).collect::<Vec<u32>>());
    }
}
