//! Digest: one checksum of a corpus, equal on two machines that hold the same data.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Result, bail};
use serde::Serialize;
use tidings_index::Snapshot;
pub use tidings_store::digest::Stage as Layer;
use tidings_store::digest::{Digester, Tree, hex};
use tidings_store::text::{self, TextRecipe};
use tidings_store::{Error, Home};

use crate::Pipeline;
use crate::display::count;
use crate::outcome::Outcome;
use crate::reporter::ProgressScope;

/// Options of a digest.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Show the digest of every layer, language and day.
    pub tree: bool,
    /// Only this layer. Default: the text; all layers with `tree` or `verify`.
    pub layer: Option<Layer>,
    /// Only this language.
    pub language: Option<String>,
    /// Read every byte again and hold it against the recipes.
    pub verify: bool,
}

impl Options {
    /// The selected layers, in the order of the pipeline.
    fn layers(&self) -> Result<Vec<Layer>> {
        let mut layers: Vec<Layer> = match self.layer {
            Some(layer) => vec![layer],
            None if self.tree || self.verify => Layer::ALL.to_vec(),
            None => vec![Layer::Text],
        };
        if let Some(language) = &self.language {
            layers.retain(|layer| matches!(layer, Layer::Docs | Layer::Text));
            if layers.is_empty() {
                bail!("pages and verdicts are not stored by language; omit --lang {language}");
            }
        }
        Ok(layers)
    }
}

/// The digest of a corpus.
#[derive(Debug, Clone, Serialize)]
pub struct DigestOutcome {
    /// Always true.
    pub done: bool,
    /// The digest of the last of the layers.
    pub digest: String,
    /// The name of that layer.
    pub stage: &'static str,
    /// Its items.
    pub items: u64,
    /// Its days.
    pub days: usize,
    /// Languages whose index is out of date.
    pub index_behind: Vec<String>,
    /// All layers.
    pub stages: Vec<LayerDigest>,
    /// The text that `Display` shows.
    #[serde(skip)]
    text: String,
}

/// The digest of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerDigest {
    /// Its name.
    pub stage: &'static str,
    /// Its items.
    pub items: u64,
    /// Its digest.
    pub digest: String,
    /// Its languages.
    #[serde(rename = "shelves")]
    pub languages: Vec<LanguageDigest>,
    /// Its days, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<Vec<DayDigest>>,
}

/// The digest of one language of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LanguageDigest {
    /// The language; empty if the layer is not divided by language.
    #[serde(rename = "shelf")]
    pub language: String,
    /// Its items.
    pub items: u64,
    /// Its digest.
    pub digest: String,
}

/// The digest of a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DayDigest {
    /// The language; empty if the layer is not divided by language.
    #[serde(rename = "shelf")]
    pub language: String,
    /// The day.
    pub day: String,
    /// Its items.
    pub items: u64,
    /// Its digest.
    pub digest: String,
}

impl Outcome for DigestOutcome {}

impl fmt::Display for DigestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Computes the digest of a corpus.
pub fn run(pipeline: &Pipeline, options: &Options) -> Result<DigestOutcome> {
    let home = pipeline.home();
    let trees = trees(pipeline, options)?;
    let corpus = trees.last().expect("at least one layer");
    let days: BTreeSet<&String> = corpus.days.iter().map(|day| &day.day).collect();
    let index_behind = index_behind(home, options.language.as_deref())?;
    if !index_behind.is_empty() {
        let behind = index_behind.join(", ");
        log::warn!("the index is out of date ({behind}); run `tidings compile` to update it");
    }
    let text = match options.tree {
        true => trees.iter().map(drawn).collect(),
        false => summary(corpus, days.len() as u64),
    };
    Ok(DigestOutcome {
        done: true,
        digest: hex(&corpus.root()),
        stage: corpus.stage.name(),
        items: corpus.items(),
        days: days.len(),
        index_behind,
        stages: trees.iter().map(|tree| LayerDigest::of(tree, options.tree)).collect(),
        text,
    })
}

fn trees(pipeline: &Pipeline, options: &Options) -> Result<Vec<Tree>> {
    let home = pipeline.home();
    let layers = options.layers()?;
    // The digests are cached, unless another process holds the lock: then a later digest caches them.
    let lock = match home.lock() {
        Ok(lock) => Some(lock),
        Err(Error::Locked { .. }) => None,
        Err(error) => {
            log::debug!("cannot cache the digests: {error}");
            None
        }
    };
    let mut digester = Digester::open(home, options.verify)?;
    let mut trees = Vec::new();
    for layer in layers {
        let mut progress = ProgressScope::begin(pipeline.reporter(), "days", 0);
        let tree = digester.stage(layer, options.language.as_deref(), |done, total, name| {
            progress.set_total(total);
            progress.show(done, name);
        })?;
        trees.push(tree);
    }
    if lock.is_some() {
        digester.remember()?;
    }
    Ok(trees)
}

impl LayerDigest {
    fn of(tree: &Tree, with_days: bool) -> LayerDigest {
        let languages = tree.partitions().into_iter();
        let days = tree.days.iter().map(|day| DayDigest {
            language: day.partition.clone(),
            day: day.day.clone(),
            items: day.items,
            digest: hex(&day.sum),
        });
        LayerDigest {
            stage: tree.stage.name(),
            items: tree.items(),
            digest: hex(&tree.root()),
            languages: languages
                .map(|(language, items, sum)| LanguageDigest { language, items, digest: hex(&sum) })
                .collect(),
            days: with_days.then(|| days.collect()),
        }
    }
}

/// The line of one layer.
fn summary(tree: &Tree, days: u64) -> String {
    let languages = tree.partitions().len() as u64;
    let things = match tree.stage {
        Layer::Pages => count(tree.items(), "page"),
        Layer::Docs => format!("{} of pages", count(tree.items(), "outcome")),
        Layer::Seen => count(tree.items(), "verdict"),
        Layer::Text => format!("{} in {}", count(tree.items(), "document"), count(languages, "language")),
    };
    format!("{}  {things}, {}\n", hex(&tree.root()), count(days, "day"))
}

/// One line for the layer, each language and each day.
fn drawn(tree: &Tree) -> String {
    let stage = tree.stage.name();
    let mut lines = vec![format!("{stage}\t*\t*\t{}\t{}\n", tree.items(), hex(&tree.root()))];
    for (language, items, sum) in tree.partitions() {
        let named = if language.is_empty() { "-" } else { &language };
        if !language.is_empty() {
            lines.push(format!("{stage}\t{named}\t*\t{items}\t{}\n", hex(&sum)));
        }
        let days = tree.days.iter().filter(|day| day.partition == language);
        lines.extend(days.map(|day| format!("{stage}\t{named}\t{}\t{}\t{}\n", day.day, day.items, hex(&day.sum))));
    }
    lines.concat()
}

/// Languages whose index is out of date.
fn index_behind(home: &Home, lang: Option<&str>) -> Result<Vec<String>> {
    let mut wanted: BTreeSet<(String, String, String)> = BTreeSet::new();
    for day in text::days(home)? {
        let Some(recipe) = TextRecipe::read(home, &day)? else { continue };
        for output in recipe.outputs {
            let code = output.file.split('/').nth(1).unwrap_or_default().to_owned();
            wanted.insert((code, output.file, output.xxh3));
        }
    }
    let mut held = BTreeSet::new();
    for code in home.indexed()? {
        // A damaged index is out of date too.
        let Ok(snapshot) = Snapshot::open(&home.index_of(&code)) else { continue };
        held.extend(snapshot.inputs().iter().map(|input| (code.clone(), input.file.clone(), input.xxh3.clone())));
    }
    let differing: BTreeSet<String> = wanted.symmetric_difference(&held).map(|(code, ..)| code.clone()).collect();
    Ok(differing.into_iter().filter(|code| lang.is_none_or(|lang| lang == code)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home;

    #[test]
    fn the_default_layer_is_text_and_only_some_layers_have_languages() {
        assert_eq!(Options::default().layers().unwrap(), [Layer::Text]);
        let tree = Options { tree: true, ..Options::default() };
        assert_eq!(tree.layers().unwrap(), Layer::ALL);
        let german = Options { language: Some("de".into()), ..tree };
        assert_eq!(german.layers().unwrap(), [Layer::Docs, Layer::Text]);
        let pages = Options { layer: Some(Layer::Pages), ..german };
        assert!(pages.layers().unwrap_err().to_string().contains("omit --lang de"));
    }

    fn digest(pipeline: &Pipeline, layer: Layer) -> String {
        run(pipeline, &Options { layer: Some(layer), ..Options::default() }).unwrap().digest
    }

    #[test]
    fn the_digest_does_not_depend_on_how_pages_are_split_into_files() {
        let (_folder, whole) = test_home::empty();
        let (_other_folder, cut) = test_home::empty();
        let pages = test_home::articles();
        test_home::put_pages(whole.home().root(), test_home::FIRST_DAY, "a.0", &pages);
        for (number, page) in pages.iter().enumerate() {
            let name = format!("{number}.0");
            test_home::put_pages(cut.home().root(), test_home::FIRST_DAY, &name, std::slice::from_ref(page));
        }
        test_home::run_derived(&whole);
        test_home::run_derived(&cut);
        for layer in Layer::ALL {
            assert_eq!(digest(&whole, layer), digest(&cut, layer), "{}", layer.name());
        }
    }

    #[test]
    fn an_additional_page_changes_the_digest_of_its_day_only() {
        let (_folder, pipeline) = test_home::built();
        let days = |pipeline: &Pipeline| {
            let options = Options { tree: true, layer: Some(Layer::Pages), ..Options::default() };
            run(pipeline, &options).unwrap().stages.remove(0).days.unwrap()
        };
        let before = days(&pipeline);
        test_home::put_pages(pipeline.home().root(), test_home::SECOND_DAY, "b.0", &test_home::articles()[..1]);
        let after = days(&pipeline);
        assert_eq!(before[0], after[0]);
        assert_ne!(before[1].digest, after[1].digest);
        assert_eq!((before[1].items, after[1].items), (1, 2));
    }

    #[test]
    fn a_language_has_its_own_digest() {
        let (_folder, pipeline) = test_home::built();
        let of = |language: &str| {
            run(&pipeline, &Options { language: Some(language.into()), ..Options::default() }).unwrap()
        };
        assert_eq!((of("de").items, of("en").items), (1, 3));
        let all = run(&pipeline, &Options::default()).unwrap();
        assert!(all.to_string().ends_with("  4 documents in 2 languages, 2 days\n"), "{all}");
        assert!(all.index_behind.is_empty());
    }

    #[test]
    fn an_index_of_other_files_is_out_of_date() {
        let (_folder, pipeline) = test_home::built();
        std::fs::remove_dir_all(pipeline.home().index_of("de")).unwrap();
        assert_eq!(run(&pipeline, &Options::default()).unwrap().index_behind, ["de"]);
        let english = Options { language: Some("en".into()), ..Options::default() };
        assert!(run(&pipeline, &english).unwrap().index_behind.is_empty());
    }

    #[test]
    fn verification_finds_a_changed_byte() {
        let (_folder, pipeline) = test_home::built();
        let verify = Options { verify: true, ..Options::default() };
        run(&pipeline, &verify).unwrap();
        let file = pipeline.home().root().join("text/de/2026-03-01.vert.zst");
        let mut bytes = std::fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert!(run(&pipeline, &verify).is_err());
    }
}
