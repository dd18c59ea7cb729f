//! The shelves of annotated text: `text/LANG/DAY.vert.zst`, and a recipe for each day.
//!
//! A day of text is made of a day of documents and the verdicts about them. Documents are derived and
//! may be made again with the same size, so that digests tell whether a day is up to date; they stand
//! in the recipes of the stages before, and no file need be read to compare them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::disk;
use crate::docs::{self, Ingredient};
use crate::error::{Error, Result};
use crate::frames;
use crate::home::Home;
use crate::shelves::{self, Shelves};
use crate::stale::Stale;

const FORMAT: &str = "text";
const VERSION: u32 = 1;
const RECIPE: &str = "tidings text recipe 2";
const ENDING: &str = "vert.zst";

/// What a day of text was made of, and what came out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TextRecipe {
    /// The format of this file.
    pub format: String,
    /// The day.
    pub day: String,
    /// The program and its version.
    pub program: String,
    /// The annotator and its version.
    pub annotator: String,
    /// The settings that matter for the result.
    pub settings: serde_json::Value,
    /// Who gave lemmas and tags, by the language of paragraphs, foreign ones included.
    pub layers: BTreeMap<String, String>,
    /// The files of documents and verdicts.
    pub inputs: Vec<Ingredient>,
    /// Documents read.
    pub documents: u64,
    /// Documents written, by language.
    pub kept: BTreeMap<String, u64>,
    /// Documents left out, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Tokens written, by language.
    pub tokens: BTreeMap<String, u64>,
    /// The files that hold them.
    pub outputs: Vec<Ingredient>,
}

impl TextRecipe {
    /// The recipe of a day that is yet to be made.
    pub fn new(day: &str, program: &str, annotator: &str, settings: serde_json::Value) -> TextRecipe {
        TextRecipe {
            format: RECIPE.to_owned(),
            day: day.to_owned(),
            program: program.to_owned(),
            annotator: annotator.to_owned(),
            settings,
            ..TextRecipe::default()
        }
    }

    /// The recipe of a day; none if the day is yet to be made, or was made by a version whose
    /// recipes we cannot read.
    pub fn read(home: &Home, day: &str) -> Result<Option<TextRecipe>> {
        let recipe: Option<TextRecipe> = docs::read_recipe(&recipe_path(home, day))?;
        Ok(recipe.filter(|recipe| recipe.format == RECIPE && recipe.day == day))
    }

    /// Why a day made by this recipe must be made again; nothing if it need not. `layer` tells who would give lemmas and
    /// tags to a language now: only the languages that the day has matter.
    pub fn stale(&self, wanted: &TextRecipe, layer: impl Fn(&str) -> String, home: &Home) -> Option<Stale> {
        if (&self.program, &self.annotator) != (&wanted.program, &wanted.annotator) {
            return Some(Stale::Program);
        }
        if self.settings != wanted.settings {
            return Some(Stale::Settings);
        }
        if self.inputs != wanted.inputs {
            return Some(Stale::Inputs);
        }
        if self.layers.iter().any(|(language, known)| *known != layer(language)) {
            return Some(Stale::Annotator);
        }
        let is_there = |output: &Ingredient| {
            fs::metadata(home.root().join(&output.file)).is_ok_and(|meta| meta.len() == output.bytes)
        };
        if self.outputs.iter().all(is_there) { None } else { Some(Stale::Missing) }
    }
}

pub(crate) fn recipe_path(home: &Home, day: &str) -> PathBuf {
    home.text().join("recipes").join(format!("{day}.json"))
}

/// The days that there is text of, oldest first.
pub fn days(home: &Home) -> Result<Vec<String>> {
    docs::recipes_in(&home.text())
}

/// For each language who gave its text lemmas and tags, with the tokens of the days that they have seen.
pub type Layers = BTreeMap<String, BTreeMap<String, u64>>;

/// Who gave the text of each language its lemmas and tags.
pub fn layers(home: &Home) -> Result<Layers> {
    let mut layers = Layers::new();
    for day in days(home)? {
        let Some(recipe) = TextRecipe::read(home, &day)? else { continue };
        for (language, tokens) in recipe.tokens {
            if let Some(layer) = recipe.layers.get(&language) {
                *layers.entry(language).or_default().entry(layer.clone()).or_default() += tokens;
            }
        }
    }
    Ok(layers)
}

/// Takes a day away: its recipe first, then its files.
pub fn remove_day(home: &Home, day: &str) -> Result<()> {
    disk::remove(&recipe_path(home, day))?;
    Shelves::new(&home.text(), ENDING).place(day)
}

/// Takes all days away.
pub fn clear(home: &Home) -> Result<()> {
    shelves::clear(&home.text())
}

/// The text of a day while it is being made. What is not published leaves no trace.
pub struct TextDraft {
    home: Home,
    recipe: TextRecipe,
    shelves: Shelves,
}

impl TextDraft {
    /// Begins a day; whatever an earlier attempt left is thrown away.
    pub fn create(home: &Home, recipe: TextRecipe) -> Result<TextDraft> {
        sweep(home)?;
        Ok(TextDraft { home: home.clone(), recipe, shelves: Shelves::new(&home.text(), ENDING) })
    }

    /// Adds a document in the vertical format to the shelf of its language.
    pub fn push(&mut self, language: &str, text: &str, tokens: u64) -> Result<()> {
        self.recipe.documents += 1;
        *self.recipe.kept.entry(language.to_owned()).or_default() += 1;
        *self.recipe.tokens.entry(language.to_owned()).or_default() += tokens;
        self.shelves.open(language, &frames::label(FORMAT, VERSION, ""))?;
        self.shelves.push(language, text.as_bytes(), text.bytes().filter(|byte| *byte == b'\n').count() as u64)
    }

    /// Notes who gave lemmas and tags to a language.
    pub fn layer(&mut self, language: &str, annotator: String) {
        self.recipe.layers.insert(language.to_owned(), annotator);
    }

    /// Notes that a document was left out.
    pub fn leave_out(&mut self, reason: &str) {
        self.recipe.documents += 1;
        *self.recipe.dropped.entry(reason.to_owned()).or_default() += 1;
    }

    /// Puts everything in its place and gives the recipe that vouches for it. Every document of the
    /// `read` ones must have become text or have been left out.
    pub fn publish(mut self, read: u64) -> Result<TextRecipe> {
        let TextDraft { home, recipe, shelves } = &mut self;
        let sum = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
        let (kept, dropped) = (sum(&recipe.kept), sum(&recipe.dropped));
        if kept + dropped != read {
            let fault = format!("{read} documents were read, but {kept} were written and {dropped} left out");
            return Err(Error::Uneven { day: recipe.day.clone(), fault });
        }
        recipe.outputs = shelves.seal(home, &recipe.day)?;
        // From here on the day is what it will be, or nothing.
        disk::remove(&recipe_path(home, &recipe.day))?;
        shelves.place(&recipe.day)?;
        let mut text = serde_json::to_vec_pretty(recipe).expect("recipes serialise");
        text.push(b'\n');
        disk::write_whole(&recipe_path(home, &recipe.day), &text)?;
        Ok(recipe.clone())
    }
}

/// Removes the drafts that a crash left.
pub(crate) fn sweep(home: &Home) -> Result<()> {
    shelves::sweep(&home.text(), &["recipes"])
}

/// Opens a file of text.
pub fn open(home: &Home, file: &str) -> Result<Box<dyn std::io::BufRead + Send>> {
    let path = home.root().join(file);
    frames::open_any(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_text_appears_with_its_recipe_and_can_be_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let mut draft =
            TextDraft::create(&home, TextRecipe::new("2026-03-01", "p", "a", serde_json::Value::Null)).unwrap();
        draft.push("de", "<doc>\nRegen\n</doc>\n", 1).unwrap();
        draft.leave_out("duplicate");
        draft.layer("de", "rules".to_owned());
        let recipe = draft.publish(2).unwrap();
        assert_eq!(TextRecipe::read(&home, "2026-03-01").unwrap(), Some(recipe.clone()));
        let rules = |_: &str| "rules".to_owned();
        assert_eq!((recipe.stale(&recipe, rules, &home), recipe.outputs[0].lines), (None, Some(3)));
        let other = |language: &str| format!("model {language}");
        assert_eq!(recipe.stale(&recipe, other, &home), Some(Stale::Annotator));
        let known = BTreeMap::from([("rules".to_owned(), 1)]);
        assert_eq!(layers(&home).unwrap(), BTreeMap::from([("de".to_owned(), known)]));
        assert_eq!(days(&home).unwrap(), ["2026-03-01"]);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut open(&home, &recipe.outputs[0].file).unwrap(), &mut text).unwrap();
        assert_eq!(text, "<doc>\nRegen\n</doc>\n");
        remove_day(&home, "2026-03-01").unwrap();
        assert!(days(&home).unwrap().is_empty() && !home.root().join(&recipe.outputs[0].file).exists());
    }
}
