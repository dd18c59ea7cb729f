//! The shelves of documents: a file per language and day, one of what was left out, and a recipe.
//!
//! Files of a day are drafted in `docs/draft/`, synced, and then put in their places; the recipe comes last, and before the
//! first file moves the old recipe goes. So a day with a recipe is whole and is what the recipe says; one
//! without is to be made again, whatever lies there. A day that has only grown begins with what it was, byte for byte:
//! frames end where a file of pages ends, so that it comes out as if it had been made at once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_model::Document;
use xxhash_rust::xxh3::Xxh3;

use crate::disk;
use crate::error::{During, Error, Result};
use crate::frames;
use crate::home::{Home, files_in};
use crate::shelves::{self, Shelves};
use crate::stale::Stale;
use crate::yields::{self, Yield};

pub use crate::dropped::{DroppedPage, dropped_pages};

const FORMAT: &str = "docs";
const DROPPED_FORMAT: &str = "dropped";
const VERSION: u32 = 1;
const RECIPE: &str = "tidings recipe 1";
const ENDING: &str = "jsonl.zst";

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
        let recipe: Option<Recipe> = read_recipe(&recipe_path(home, day))?;
        Ok(recipe.filter(|recipe| recipe.format == RECIPE && recipe.day == day))
    }

    /// The files of documents among the outputs: not those of what was left out or counted.
    pub fn shelves(&self) -> impl Iterator<Item = &Ingredient> {
        let is_shelf =
            |output: &&Ingredient| !["docs/dropped/", "docs/yield/"].iter().any(|p| output.file.starts_with(p));
        self.outputs.iter().filter(is_shelf)
    }

    /// Why a day made by this recipe must be made again; nothing if it need not. Files of pages
    /// never change, so that their names and sizes tell.
    pub fn stale(&self, wanted: &Recipe, home: &Home, day: &Day) -> Result<Option<Stale>> {
        if (&self.program, &self.extractor) != (&wanted.program, &wanted.extractor) {
            return Ok(Some(Stale::Program));
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
        Ok(self.is_missing(home).then_some(Stale::Missing))
    }

    /// Whether a day made by this recipe has only grown since, so that what was made can be kept.
    fn continues(&self, wanted: &Recipe, home: &Home, day: &Day) -> Result<bool> {
        let is_alike =
            (&self.program, &self.extractor, &self.settings) == (&wanted.program, &wanted.extractor, &wanted.settings);
        Ok(is_alike && self.read_of(home, day)? == self.inputs.len() && !self.is_missing(home))
    }

    /// Whether a day still consists of the files of pages that this recipe read.
    pub fn has_read(&self, home: &Home, day: &Day) -> Result<bool> {
        Ok(day.files.len() == self.inputs.len() && self.read_of(home, day)? == self.inputs.len())
    }

    /// What came of the pages that an earlier recipe of the same day had not read.
    pub fn beyond(&self, earlier: &Recipe) -> Recipe {
        let mut rest = self.clone();
        rest.pages -= earlier.pages;
        for (counts, known) in [(&mut rest.documents, &earlier.documents), (&mut rest.dropped, &earlier.dropped)] {
            counts.iter_mut().for_each(|(name, number)| *number -= known.get(name).copied().unwrap_or_default());
            counts.retain(|_, number| *number > 0);
        }
        rest
    }

    /// How many of a day's files this recipe began with.
    fn read_of(&self, home: &Home, day: &Day) -> Result<usize> {
        let mut read = 0;
        for (input, path) in self.inputs.iter().zip(&day.files) {
            if (&input.file, input.bytes) != (&home.shown(path), size(path)?) {
                break;
            }
            read += 1;
        }
        Ok(read)
    }

    fn is_missing(&self, home: &Home) -> bool {
        let bytes = |output: &Ingredient| fs::metadata(home.root().join(&output.file)).map_or(0, |meta| meta.len());
        self.outputs.iter().any(|output| bytes(output) != output.bytes)
    }
}

/// Reads a recipe; none if there is none, or if it is written in a way that we cannot read.
pub(crate) fn read_recipe<R: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<R>> {
    match fs::read(path) {
        Ok(text) => Ok(serde_json::from_slice(&text).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).during("read", path),
    }
}

/// The days that there are documents of, oldest first.
pub fn made(home: &Home) -> Result<Vec<String>> {
    recipes_in(&home.docs())
}

/// The days that have a recipe under a root, oldest first.
pub(crate) fn recipes_in(root: &Path) -> Result<Vec<String>> {
    let files = files_in(&root.join("recipes"))?;
    let names = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    Ok(names.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect())
}

fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).during("look at", path)?.len())
}

pub(crate) fn recipe_path(home: &Home, day: &str) -> PathBuf {
    home.docs().join("recipes").join(format!("{day}.json"))
}

/// The days of the shelf of pages, oldest first.
pub fn days(home: &Home) -> Result<Vec<Day>> {
    days_since(home, "")
}

/// The same from a day on.
pub fn days_since(home: &Home, first: &str) -> Result<Vec<Day>> {
    let mut days: Vec<Day> = Vec::new();
    for path in crate::pages::files_since(home, first)? {
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
    kept: Option<Recipe>,
    shelves: Shelves,
    yields: yields::Tally,
}

/// The name of the shelf of pages that gave no document; no language has such a code.
const DROPPED: &str = "dropped";

impl DayDraft {
    /// Begins a day; whatever an earlier attempt left is thrown away. What was made of its first files and is still
    /// good is kept.
    pub fn begin(home: &Home, recipe: Recipe, day: &Day) -> Result<DayDraft> {
        if let Some(earlier) = Recipe::read(home, &recipe.day)?
            && earlier.continues(&recipe, home, day)?
        {
            let mut draft = DayDraft::empty(home, recipe.clone())?;
            if draft.keep(earlier)? {
                return draft.with_inputs(day);
            }
        }
        DayDraft::create(home, recipe)?.with_inputs(day)
    }

    /// Begins a day anew, of pages that are in no file.
    pub fn create(home: &Home, recipe: Recipe) -> Result<DayDraft> {
        let mut draft = DayDraft::empty(home, recipe)?;
        // That nothing was left out is worth a file too.
        draft.shelves.open(DROPPED, &frames::label(DROPPED_FORMAT, VERSION, ""))?;
        Ok(draft)
    }

    fn empty(home: &Home, recipe: Recipe) -> Result<DayDraft> {
        sweep(home)?;
        let shelves = Shelves::new(&home.docs(), ENDING);
        let (home, yields) = (home.clone(), yields::Tally::default());
        Ok(DayDraft { home, recipe, kept: None, shelves, yields })
    }

    /// Takes over what an earlier recipe made; says whether all of it is as that recipe says.
    fn keep(&mut self, earlier: Recipe) -> Result<bool> {
        let yields_path = yields::day_path(&self.home, &earlier.day);
        for output in &earlier.outputs {
            let path = self.home.root().join(&output.file);
            if path == yields_path {
                if ingredient(&self.home, &path)?.xxh3 != output.xxh3 {
                    return Ok(false);
                }
                let DayDraft { home, yields, .. } = self;
                yields::of_day(home, &earlier.day, |row| yields.add(&row.feed, &row.host, row.sum))?;
                continue;
            }
            let shelf = disk::parent(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !self.shelves.keep(&shelf, &path, output)? {
                return Ok(false);
            }
        }
        self.recipe.pages = earlier.pages;
        self.recipe.documents.clone_from(&earlier.documents);
        self.recipe.dropped.clone_from(&earlier.dropped);
        self.kept = Some(earlier);
        Ok(true)
    }

    fn with_inputs(mut self, day: &Day) -> Result<DayDraft> {
        if let Some(earlier) = &self.kept {
            // Files of pages never change: what they were they are.
            self.recipe.inputs.clone_from(&earlier.inputs);
        }
        for path in &day.files[self.recipe.inputs.len()..] {
            self.recipe.inputs.push(ingredient(&self.home, path)?);
        }
        Ok(self)
    }

    /// The recipe of what was kept, if something was.
    pub fn kept(&self) -> Option<&Recipe> {
        self.kept.as_ref()
    }

    /// Says that a file of pages ends here.
    pub fn end_file(&mut self) -> Result<()> {
        self.shelves.settle()
    }

    /// Adds the line of a document, with its line end, to the shelf of its language.
    pub fn push(&mut self, language: &str, line: &[u8]) -> Result<()> {
        self.recipe.pages += 1;
        *self.recipe.documents.entry(language.to_owned()).or_default() += 1;
        self.shelves.open(language, &frames::label(FORMAT, VERSION, ""))?;
        self.shelves.push(language, line, 1)
    }

    /// Adds the line of a page that gave no document, with its line end.
    pub fn drop_page(&mut self, reason: &str, line: &[u8]) -> Result<()> {
        self.recipe.pages += 1;
        *self.recipe.dropped.entry(reason.to_owned()).or_default() += 1;
        self.shelves.push(DROPPED, line, 1)
    }

    /// Counts what came of a page that a feed listed and a host gave.
    pub fn count(&mut self, feed: &str, host: &str, part: Yield) {
        self.yields.add(feed, host, part);
    }

    /// Puts everything in its place and gives the recipe that vouches for it. Every page of the
    /// `read` ones must have become a document or a line with its reason.
    pub fn publish(mut self, read: u64) -> Result<Recipe> {
        let DayDraft { home, recipe, shelves, yields, .. } = &mut self;
        recipe.outputs = shelves.seal(home, &recipe.day)?;
        let documents: u64 = recipe.documents.values().sum();
        let dropped: u64 = recipe.dropped.values().sum();
        let lines: u64 = recipe.outputs.iter().filter_map(|output| output.lines).sum();
        if recipe.pages != read || documents + dropped != read || lines != read {
            let fault = format!("{read} pages were read, but {documents} documents and {dropped} others came of them");
            return Err(Error::Uneven { day: recipe.day.clone(), fault });
        }
        let table = yields.table();
        let yields_path = yields::day_path(home, &recipe.day);
        recipe.outputs.push(Ingredient {
            file: home.shown(&yields_path),
            bytes: table.len() as u64,
            xxh3: format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&table)),
            lines: Some(yields.lines()),
        });
        // From here on the day is what it will be, or nothing.
        disk::remove(&recipe_path(home, &recipe.day))?;
        disk::write_whole(&yields_path, &table)?;
        shelves.place(&recipe.day)?;
        let mut text = serde_json::to_vec_pretty(recipe).expect("recipes serialise");
        text.push(b'\n');
        disk::write_whole(&recipe_path(home, &recipe.day), &text)?;
        Ok(recipe.clone())
    }
}

/// Removes the drafts that a crash left.
pub(crate) fn sweep(home: &Home) -> Result<()> {
    shelves::sweep(&home.docs(), &["recipes", "yield"])
}

/// Takes a day away: its recipe first, then its files. The pages that they were made of stay.
pub fn remove_day(home: &Home, day: &str) -> Result<()> {
    disk::remove(&recipe_path(home, day))?;
    disk::remove(&yields::day_path(home, day))?;
    Shelves::new(&home.docs(), ENDING).place(day)
}

/// Removes all documents and their recipes; the pages that they were made of stay.
pub fn clear(home: &Home) -> Result<()> {
    shelves::clear(&home.docs())
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

    /// The next line as it stands, for whoever reads it elsewhere.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        self.lines += 1;
        let more = frames::read_line(&mut *self.reader, &mut self.line, MAX_LINE_BYTES).during("read", &self.path)?;
        Ok(more.then(|| std::mem::take(&mut self.line)))
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
        assert_eq!((recipe.pages, recipe.outputs.len()), (3, 4));
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
    fn a_day_that_grows_comes_out_as_if_it_had_been_made_at_once() {
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
        // What is not what it was said to be is not built upon.
        remove_day(&home, "2026-03-01").unwrap();
        make(1);
        let german = folder.path().join("docs/de/2026-03-01.jsonl.zst");
        let mut bytes = fs::read(&german).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&german, bytes).unwrap();
        assert_eq!(make(2), (0, at_once));
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
        assert!(crate::home::files_in(&home.docs().join("draft")).unwrap().is_empty());
    }
}
