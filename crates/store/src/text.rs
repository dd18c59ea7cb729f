//! Annotated text by language and day: `text/LANG/DAY.vert.zst`, and a recipe for each day.
//!
//! A day of text is made from a day of documents and their verdicts. Documents are derived and may be rebuilt with the
//! same size, so digests are compared to decide whether a day is up to date; they are in the recipes of the earlier
//! stages, so that no file needs to be read.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead;

use serde::{Deserialize, Serialize};
use tidings_formats::vertical;
use tidings_model::{LayerRecord, TextLayers};

use crate::docs;
use crate::error::{Error, Result};
use crate::exclusion::Exclusion;
use crate::file_digest::FileDigest;
use crate::frames;
use crate::home::Home;
use crate::partition::{self, PartitionWriter};
use crate::stale::{self, Stale};
use crate::text_growth::{self, FormerText, GROUP_DOCUMENTS, GrownDocument, GrowthDraft, TextGrowth};

pub(crate) const FORMAT: &str = "text";
pub(crate) const VERSION: u32 = 1;
const RECIPE: &str = "tidings text recipe 2";
/// The folder of annotated text in a home.
pub(crate) const ROOT: &str = "text";
const ENDING: &str = "vert.zst";

/// The inputs, settings and outputs of a day of text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TextRecipe {
    /// The format of this file.
    pub format: String,
    /// The day.
    pub day: String,
    /// The program and its version, for information: only the version of the stage decides about rebuilding.
    pub program: String,
    /// The version of the stage.
    #[serde(default = "stale::first_version", skip_serializing_if = "stale::is_first_version")]
    pub version: u32,
    /// The annotator and its version.
    pub annotator: String,
    /// The settings that matter for the result.
    pub settings: serde_json::Value,
    /// The annotator of lemmas and tags, by the language of paragraphs, foreign ones included.
    pub layers: BTreeMap<String, String>,
    /// The annotators of further layers in the order in which they ran, by the language of documents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub further_layers: BTreeMap<String, Vec<LayerRecord>>,
    /// The further layers of the text, imported ones included, by the language of documents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub text_layers: BTreeMap<String, TextLayers>,
    /// The files of documents and verdicts.
    pub inputs: Vec<FileDigest>,
    /// Documents read.
    pub documents: u64,
    /// Documents written, by language.
    pub kept: BTreeMap<String, u64>,
    /// Documents left out, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Tokens written, by language.
    pub tokens: BTreeMap<String, u64>,
    /// The files that hold them.
    pub outputs: Vec<FileDigest>,
}

impl TextRecipe {
    /// A recipe without results.
    pub fn new(day: &str, program: &str, annotator: &str, settings: serde_json::Value) -> TextRecipe {
        TextRecipe {
            format: RECIPE.to_owned(),
            day: day.to_owned(),
            program: program.to_owned(),
            version: stale::FIRST_VERSION,
            annotator: annotator.to_owned(),
            settings,
            ..TextRecipe::default()
        }
    }

    /// The recipe of a day; `None` if the day is not built, or its recipe is of an older unreadable version.
    pub fn read(home: &Home, day: &str) -> Result<Option<TextRecipe>> {
        let recipe: Option<TextRecipe> = docs::read_recipe(home, ROOT, day, RECIPE)?;
        Ok(recipe.filter(|recipe| recipe.format == RECIPE && recipe.day == day))
    }

    /// Returns the reason why a day with this recipe must be rebuilt; `None` if it need not. `current` returns the
    /// current annotators of a language: only the languages of the day matter.
    pub fn stale<A: Into<LanguageAnnotators>>(
        &self,
        wanted: &TextRecipe,
        current: impl Fn(&str) -> A,
        home: &Home,
    ) -> Option<Stale> {
        if (self.version, &self.annotator) != (wanted.version, &wanted.annotator) {
            return Some(Stale::Version);
        }
        if self.settings != wanted.settings {
            return Some(Stale::Settings);
        }
        if self.inputs != wanted.inputs {
            return Some(Stale::Inputs);
        }
        let current = |language: &str| current(language).into();
        if !self.has_taggers(current) || !self.has_layers(current) {
            return Some(Stale::Annotator);
        }
        if self.outputs.iter().all(|output| output.is_present(home)) { None } else { Some(Stale::Missing) }
    }
}

impl TextRecipe {
    /// Whether lemmas and tags were made by the current annotators.
    fn has_taggers(&self, current: impl Fn(&str) -> LanguageAnnotators) -> bool {
        self.layers.iter().all(|(language, known)| *known == current(language).tagger)
    }

    /// Whether further layers were made by the current annotators.
    fn has_layers(&self, current: impl Fn(&str) -> LanguageAnnotators) -> bool {
        let none = Vec::new();
        let known = |language: &String| self.further_layers.get(language).unwrap_or(&none);
        self.kept.keys().all(|language| *known(language) == current(language).layers)
    }

    /// Whether the day has the same sentences, tokens, lemmas and tags as it would have now, and its files are sound:
    /// then only further layers have to be made.
    pub fn has_current_tokens<A: Into<LanguageAnnotators>>(
        &self,
        wanted: &TextRecipe,
        current: impl Fn(&str) -> A,
        home: &Home,
    ) -> bool {
        (self.version, &self.annotator) == (wanted.version, &wanted.annotator)
            && (&self.settings, &self.inputs) == (&wanted.settings, &wanted.inputs)
            && self.has_taggers(|language| current(language).into())
            && self.outputs.iter().all(|output| output.is_sound(home))
    }
}

/// The annotators of a language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LanguageAnnotators {
    /// The annotator of lemmas and tags.
    pub tagger: String,
    /// The annotators of further layers.
    pub layers: Vec<LayerRecord>,
}

impl From<String> for LanguageAnnotators {
    fn from(tagger: String) -> LanguageAnnotators {
        LanguageAnnotators { tagger, layers: Vec::new() }
    }
}

/// The days with text, oldest first.
pub fn days(home: &Home) -> Result<Vec<String>> {
    docs::recipes_in(home, ROOT)
}

/// The annotators of each language, with the number of tokens that they annotated.
pub type Layers = BTreeMap<String, BTreeMap<String, u64>>;

/// The annotators of lemmas and tags, by language.
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

/// The further layers of all text, by language.
pub fn text_layers(home: &Home) -> Result<BTreeMap<String, TextLayers>> {
    let mut layers: BTreeMap<String, TextLayers> = BTreeMap::new();
    for day in days(home)? {
        let Some(recipe) = TextRecipe::read(home, &day)? else { continue };
        for (language, of_day) in recipe.text_layers {
            layers.entry(language).or_default().merge(of_day);
        }
    }
    Ok(layers)
}

/// Marks a day to be made again. Its files stay until then.
pub fn forget(home: &Home, day: &str) -> Result<()> {
    docs::remove_recipe(home, ROOT, day)
}

/// Deletes a day: its recipe first, then its files.
pub fn remove_day(home: &Home, day: &str) -> Result<()> {
    docs::remove_recipe(home, ROOT, day)?;
    text_growth::remove(home, day)?;
    PartitionWriter::new(home, ROOT, ENDING).publish(day)
}

/// Deletes all days.
pub fn clear(home: &Home) -> Result<()> {
    partition::clear(home, ROOT)
}

/// The text of a day in progress. Without publication it leaves no trace.
pub struct TextDraft {
    home: Home,
    recipe: TextRecipe,
    partitions: PartitionWriter,
    /// The former text of the day, from which documents are taken.
    former: HashMap<String, FormerText>,
    logs: BTreeMap<String, GrowthDraft>,
    /// The last documents of a language, which are not a whole group yet.
    group: Vec<GroupedDocument>,
    /// Their language.
    language: String,
    is_logged: bool,
}

/// A document of a group: new, or one of the former text by its position.
enum GroupedDocument {
    New(GrownDocument, String),
    Former(usize),
}

/// The text that was made of a document.
#[derive(Debug, Clone, Default)]
pub struct MadeText {
    /// The document.
    pub id: String,
    /// The digest of everything that its text was made of.
    pub key: u128,
    /// Its text in the vertical format; empty if it was left out.
    pub text: String,
    /// The reason, if it was left out.
    pub exclusion: Option<Exclusion>,
    /// The number of its tokens.
    pub tokens: u64,
    /// Its further layers.
    pub layers: TextLayers,
}

impl TextDraft {
    /// Begins a day.
    pub fn create(home: &Home, recipe: TextRecipe) -> Result<TextDraft> {
        Ok(TextDraft {
            home: home.clone(),
            recipe,
            partitions: PartitionWriter::new(home, ROOT, ENDING),
            former: HashMap::new(),
            logs: BTreeMap::new(),
            group: Vec::new(),
            language: String::new(),
            is_logged: false,
        })
    }

    /// Begins a day that may grow or has grown: it keeps a log of its documents, and former text can be kept if it was
    /// made by the same version and annotators.
    pub fn grow<A: Into<LanguageAnnotators>>(
        home: &Home,
        recipe: TextRecipe,
        current: impl Fn(&str) -> A,
    ) -> Result<TextDraft> {
        let mut draft = TextDraft::create(home, recipe)?;
        draft.is_logged = true;
        if let Some(former) = TextRecipe::read(home, &draft.recipe.day)?
            && (former.version, &former.annotator) == (draft.recipe.version, &draft.recipe.annotator)
            && former.has_taggers(|language| current(language).into())
            && former.has_layers(|language| current(language).into())
        {
            draft.former = FormerText::of(home, &former)?;
            draft.recipe.layers = former.layers;
            draft.recipe.further_layers = former.further_layers;
            draft.recipe.text_layers = former.text_layers;
        }
        Ok(draft)
    }

    /// The keys of documents whose former text can be kept, by language.
    pub fn known(&self) -> KnownTexts {
        let keys = |former: &FormerText| former.keys().map(str::to_owned).collect();
        KnownTexts(self.former.iter().map(|(language, former)| (language.clone(), keys(former))).collect())
    }

    /// Adds a document to the partition of its language. Documents of a language must be added together, in the order
    /// of the file of documents.
    pub fn push(&mut self, language: &str, made: MadeText) -> Result<()> {
        self.enter(language)?;
        let MadeText { id, key, text, exclusion, tokens, layers } = made;
        if !layers.is_empty() {
            self.recipe.text_layers.entry(language.to_owned()).or_default().merge(layers);
        }
        let document = GrownDocument {
            id,
            key: format!("{key:032x}"),
            version: self.former.get(language).map_or(0, FormerText::next_version),
            bytes: text.len() as u64,
            lines: text.bytes().filter(|byte| *byte == b'\n').count() as u64,
            tokens,
            exclusion,
        };
        self.count(language, &document);
        self.group.push(GroupedDocument::New(document, text));
        self.end_full_group()
    }

    /// Adds a document whose text is kept; its key is one of [`TextDraft::known`].
    pub fn keep(&mut self, language: &str, key: u128) -> Result<()> {
        self.enter(language)?;
        let former = self.former.get(language);
        let found = former.and_then(|former| former.find(&format!("{key:032x}")).map(|at| (at, former.document(at))));
        let (at, document) = found.map(|(at, document)| (at, document.clone())).expect("the key is known");
        self.count(language, &document);
        self.group.push(GroupedDocument::Former(at));
        self.end_full_group()
    }

    /// Begins a day of which only further layers are made. It keeps a log of its documents if it may grow.
    pub fn with_new_layers(home: &Home, recipe: TextRecipe, may_grow: bool) -> Result<TextDraft> {
        Ok(TextDraft { is_logged: may_grow, ..TextDraft::create(home, recipe)? })
    }

    /// Records the annotators of further layers of a language.
    pub fn further_layers(&mut self, language: &str, layers: Vec<LayerRecord>) {
        if !layers.is_empty() {
            self.recipe.further_layers.insert(language.to_owned(), layers);
        }
    }

    /// Records the annotator of a language.
    pub fn layer(&mut self, language: &str, annotator: String) {
        self.recipe.layers.insert(language.to_owned(), annotator);
    }

    fn count(&mut self, language: &str, document: &GrownDocument) {
        self.recipe.documents += 1;
        match document.bytes {
            0 => {
                let exclusion = document.exclusion.unwrap_or_default();
                *self.recipe.dropped.entry(exclusion.word().to_owned()).or_default() += 1;
            }
            _ => {
                *self.recipe.kept.entry(language.to_owned()).or_default() += 1;
                *self.recipe.tokens.entry(language.to_owned()).or_default() += document.tokens;
            }
        }
    }

    /// Ends the last group of another language.
    fn enter(&mut self, language: &str) -> Result<()> {
        if self.language != language {
            self.end_group()?;
            language.clone_into(&mut self.language);
        }
        Ok(())
    }

    fn end_full_group(&mut self) -> Result<()> {
        if self.group.len() == GROUP_DOCUMENTS { self.end_group() } else { Ok(()) }
    }

    /// Writes a group: the former frames if it is the same, or new ones.
    fn end_group(&mut self) -> Result<()> {
        let group = std::mem::take(&mut self.group);
        if group.is_empty() {
            return Ok(());
        }
        let TextDraft { home, partitions, former, logs, language, .. } = self;
        let log = logs.entry(language.clone()).or_default();
        let mut former = former.get_mut(language.as_str());
        let same = match &mut former {
            Some(former) => {
                let documents: Vec<Option<usize>> = group.iter().map(GroupedDocument::former).collect();
                former.group(home, log.groups.len(), &documents)?
            }
            None => None,
        };
        let before = partitions.end_frame(language)?;
        for document in group {
            let (document, text) = match document {
                GroupedDocument::New(document, text) => (document, Cow::Owned(text.into_bytes())),
                GroupedDocument::Former(at) => {
                    let former = former.as_mut().expect("kept documents are from the former text");
                    let document = former.document(at).clone();
                    let text = if same.is_some() { &[] } else { former.text(home, at)? };
                    (document, Cow::Borrowed(text))
                }
            };
            if document.bytes > 0 {
                partitions.open(language, &frames::header(FORMAT, VERSION, ""))?;
                let lines = if same.is_some() { 0 } else { document.lines };
                partitions.push(language, &text, lines)?;
            }
            log.documents.push(document);
        }
        if let Some(same) = same.filter(|same| !same.is_empty()) {
            let of_group = log.groups.len() * GROUP_DOCUMENTS;
            let lines = log.documents[of_group..].iter().map(|document| document.lines).sum();
            partitions.push_frames(language, &same, lines)?;
        }
        let header = frames::header(FORMAT, VERSION, "").len() as u64;
        log.groups.push(partitions.end_frame(language)?.saturating_sub(before.max(header)));
        Ok(())
    }

    /// Publishes all files and returns the recipe. Every one of the `read` documents must have become text or have been
    /// dropped.
    pub fn publish(mut self, read: u64) -> Result<TextRecipe> {
        self.end_group()?;
        let TextDraft { home, recipe, partitions, former, logs, is_logged, .. } = &mut self;
        let sum = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
        let (kept, dropped) = (sum(&recipe.kept), sum(&recipe.dropped));
        if kept + dropped != read {
            let fault = format!("{read} documents were read, but {kept} were written and {dropped} dropped");
            return Err(Error::Uneven { day: recipe.day.clone(), fault });
        }
        recipe.outputs = partitions.seal(&recipe.day)?;
        let log = |(language, draft): (String, GrowthDraft)| {
            let file = file_of(&language, &recipe.day);
            let output = recipe.outputs.iter().find(|output| output.file == file);
            let log = draft.finish(former.get(&language), output.map_or("", |output| &output.xxh3));
            (language, log)
        };
        let growth = TextGrowth::new(std::mem::take(logs).into_iter().map(log).collect());
        // From here on the day is either the new one or missing.
        docs::remove_recipe(home, ROOT, &recipe.day)?;
        match is_logged {
            true => growth.write(home, &recipe.day)?,
            false => text_growth::remove(home, &recipe.day)?,
        }
        partitions.publish(&recipe.day)?;
        docs::write_recipe(home, ROOT, &recipe.day, recipe)?;
        Ok(recipe.clone())
    }
}

impl GroupedDocument {
    fn former(&self) -> Option<usize> {
        match self {
            GroupedDocument::New(..) => None,
            GroupedDocument::Former(at) => Some(*at),
        }
    }
}

/// The documents whose former text can be kept.
#[derive(Debug, Clone, Default)]
pub struct KnownTexts(HashMap<String, HashSet<String>>);

impl KnownTexts {
    /// Whether the text of a document was made before from the same.
    pub fn has(&self, language: &str, key: u128) -> bool {
        self.0.get(language).is_some_and(|keys| keys.contains(&format!("{key:032x}")))
    }
}

/// Removes the drafts that a crash left.
pub(crate) fn remove_temp(home: &Home) -> Result<()> {
    partition::remove_temp(home, ROOT, &["recipes", text_growth::FOLDER])
}

/// Opens a file of text.
pub fn open(home: &Home, file: &str) -> Result<Box<dyn BufRead + Send>> {
    home.open_file(file)
}

/// Opens a file of text as a vertical file.
pub fn open_vertical(home: &Home, file: &str) -> Result<vertical::Reader<Box<dyn BufRead + Send>>> {
    Ok(vertical::Reader::new(open(home, file)?, &home.storage().path(file)))
}

/// The file of the text of a day in a language, as in recipes.
pub fn file_of(language: &str, day: &str) -> String {
    format!("text/{language}/{day}.{ENDING}")
}

/// Opens a text file; `None` if it is missing, because all of its documents are duplicates.
pub fn open_existing(home: &Home, file: &str) -> Result<Option<Box<dyn std::io::BufRead + Send>>> {
    if home.storage().path(file).is_file() { open(home, file).map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, tokens: u64) -> MadeText {
        MadeText { text: text.to_owned(), tokens, ..MadeText::default() }
    }

    #[test]
    fn a_day_of_text_is_published_with_its_recipe_and_can_be_deleted() {
        let folder = tempfile::tempdir().unwrap();
        Home::create(folder.path(), "", "").unwrap();
        let home = Home::at(folder.path()).unwrap();
        let mut draft =
            TextDraft::create(&home, TextRecipe::new("2026-03-01", "p", "a", serde_json::Value::Null)).unwrap();
        draft.push("de", made("<doc>\nRegen\n</doc>\n", 1)).unwrap();
        draft.push("de", MadeText::default()).unwrap();
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

    #[test]
    fn a_further_layer_that_changes_makes_a_day_stale_but_keeps_its_tokens() {
        let (_folder, home) = crate::testing::home();
        let record = |version: &str| LayerRecord {
            name: "names".into(),
            version: version.into(),
            spans: vec!["ne".into()],
            ..LayerRecord::default()
        };
        let current = |version: &'static str| {
            move |_: &str| LanguageAnnotators { tagger: "rules".into(), layers: vec![record(version)] }
        };
        let recipe = || TextRecipe::new("2026-03-01", "p", "a", serde_json::Value::Null);
        let mut draft = TextDraft::create(&home, recipe()).unwrap();
        draft.push("de", made("<doc>\nRegen\n</doc>\n", 1)).unwrap();
        draft.layer("de", "rules".to_owned());
        draft.layer("fr", "rules".to_owned());
        let without = draft.publish(1).unwrap();
        assert!(!serde_json::to_string(&without).unwrap().contains("further_layers"));
        assert_eq!(without.stale(&recipe(), |_| "rules".to_owned(), &home), None);
        assert_eq!(without.stale(&recipe(), current("1"), &home), Some(Stale::Annotator));
        assert!(without.has_current_tokens(&recipe(), current("1"), &home));

        let mut draft = TextDraft::with_new_layers(&home, recipe(), false).unwrap();
        draft.push("de", made("<doc>\nRegen\n</doc>\n", 1)).unwrap();
        draft.layer("de", "rules".to_owned());
        draft.further_layers("de", vec![record("1")]);
        let with = draft.publish(1).unwrap();
        assert_eq!(TextRecipe::read(&home, "2026-03-01").unwrap(), Some(with.clone()));
        assert_eq!(with.stale(&recipe(), current("1"), &home), None);
        assert_eq!(with.stale(&recipe(), current("2"), &home), Some(Stale::Annotator));
        assert!(!with.has_current_tokens(&recipe(), |_| "model".to_owned(), &home));
        std::fs::write(home.storage().path(&with.outputs[0].file), "damaged").unwrap();
        assert!(!with.has_current_tokens(&recipe(), current("2"), &home));
    }

    #[test]
    fn a_day_that_does_not_add_up_is_not_published() {
        let (_folder, home) = crate::testing::home();
        let recipe = TextRecipe::new("2026-03-01", "p", "a", serde_json::Value::Null);
        let mut draft = TextDraft::create(&home, recipe).unwrap();
        draft.push("de", made("<doc>\n</doc>\n", 0)).unwrap();
        let error = draft.publish(2).unwrap_err().to_string();
        assert!(error.contains("2 documents were read, but 1 were written and 0 dropped"), "{error}");
        assert!(days(&home).unwrap().is_empty());
    }

    #[test]
    fn text_is_stale_when_inputs_version_settings_or_files_change() {
        let (_folder, home) = crate::testing::home();
        let recipe = |annotator: &str, settings: u64| TextRecipe::new("2026-03-01", "p", annotator, settings.into());
        let mut draft = TextDraft::create(&home, recipe("p", 1)).unwrap();
        draft.push("de", made("<doc>\nRegen\n</doc>\n", 1)).unwrap();
        let made = draft.publish(1).unwrap();
        let stale = |wanted: &TextRecipe| made.stale(wanted, |_| String::new(), &home);
        assert_eq!(stale(&recipe("p", 1)), None);
        assert_eq!(stale(&recipe("q", 1)), Some(Stale::Version));
        assert_eq!(stale(&recipe("p", 2)), Some(Stale::Settings));
        let input = FileDigest { file: "docs/de/x".into(), bytes: 1, xxh3: String::new(), lines: None };
        assert_eq!(stale(&TextRecipe { inputs: vec![input], ..recipe("p", 1) }), Some(Stale::Inputs));
        let mut reader = open_vertical(&home, &made.outputs[0].file).unwrap();
        assert!(matches!(reader.next_event(), Ok(Some(vertical::Event::Document(_))) | Err(_)));
        clear(&home).unwrap();
        assert_eq!(stale(&recipe("p", 1)), Some(Stale::Missing));
    }
}
