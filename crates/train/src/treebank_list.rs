//! Treebanks by language, and transfer between related languages.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use tidings_annotate::tagger::TreebankInfo;

use crate::treebank::{self, Sentence, Treebank};

/// Treebanks of a language.
#[derive(Debug, Default)]
pub struct LanguageTreebanks {
    /// Training files.
    pub train: Vec<Treebank>,
    /// Development files.
    pub dev: Vec<Treebank>,
}

/// Treebanks by language code.
pub type TreebankList = BTreeMap<String, LanguageTreebanks>;

/// Languages that profit from treebanks of related languages, and the weight of those. With weight
/// zero, they only contribute ambiguity classes.
const RELATED: &[(&str, &[&str], f32)] = &[
    ("hr", &["sr"], 0.3),
    ("sr", &["hr"], 0.3),
    ("nb", &["nn", "da"], 0.3),
    ("nn", &["nb", "da"], 0.3),
    ("da", &["nb", "nn"], 0.0),
    ("sv", &["nb", "da"], 0.0),
    ("cs", &["sk"], 0.1),
    ("sk", &["cs"], 0.3),
    ("ru", &["uk", "be"], 0.0),
    ("uk", &["ru", "be"], 0.1),
    ("be", &["ru", "uk"], 0.1),
    ("gd", &["ga"], 0.3),
    ("gl", &["pt", "es"], 0.0),
    ("es", &["pt", "gl"], 0.0),
];

/// Treebanks with a licence other than CC BY-SA 4.0.
const OTHER_LICENCES: &[(&str, &str)] =
    &[("fr_sequoia", "LGPL-LR"), ("gl_treegal", "LGPL-LR"), ("ga_idt", "CC BY-SA 3.0")];

/// Treebanks that annotate only some words with features, which would teach the model to omit them:
/// three of four nouns have none in the first, nearly all in the second.
const INCOMPLETE_FEATS: &[&str] = &["pt_gsd", "fr_rhapsodie"];

/// Reads the treebanks of all or some languages from `ud-train/` and `text-dev/ud/` in a folder.
pub fn read(shared: &Path, only: &[&str]) -> Result<TreebankList> {
    let mut list = TreebankList::new();
    for (folder, is_train) in [("ud-train", true), ("text-dev/ud", false)] {
        for file in treebank::files(&shared.join(folder))? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if !only.is_empty() && !only.contains(&name.split('_').next().unwrap_or_default()) {
                continue;
            }
            let mut treebank = Treebank::read(&file)?;
            if INCOMPLETE_FEATS.contains(&treebank.name.as_str()) {
                treebank = treebank.without_feats();
            }
            let treebanks = list.entry(treebank.language().to_owned()).or_default();
            if is_train { treebanks.train.push(treebank) } else { treebanks.dev.push(treebank) }
        }
    }
    Ok(list)
}

/// Sentences of related languages, and their weight.
pub fn related<'s>(list: &'s TreebankList, code: &str) -> (Vec<&'s Sentence>, f32) {
    let Some((_, codes, weight)) = RELATED.iter().find(|row| row.0 == code) else { return (Vec::new(), 0.0) };
    let list = codes.iter().filter_map(|code| list.get(*code));
    (list.flat_map(|treebanks| treebanks.all()).flat_map(Treebank::sentences).collect(), *weight)
}

/// Descriptions of the treebanks of a language.
pub fn sources(treebanks: &LanguageTreebanks, licence: Option<&str>) -> Vec<TreebankInfo> {
    let mut sources: Vec<TreebankInfo> = Vec::new();
    for treebank in treebanks.all() {
        let tokens = treebank.tokens() as u32;
        let other = OTHER_LICENCES.iter().find(|row| row.0 == treebank.name).map(|row| row.1);
        let licence = licence.or(other).unwrap_or("CC BY-SA 4.0").to_owned();
        match sources.iter_mut().find(|source| source.name == treebank.title) {
            Some(source) => source.tokens += tokens,
            None => sources.push(TreebankInfo { name: treebank.title.clone(), licence, tokens }),
        }
    }
    sources
}

/// Split into training and test data.
#[derive(Debug)]
pub struct Trial {
    /// Name of the evaluated treebank.
    pub name: String,
    /// Training sentences.
    pub train: Vec<Sentence>,
    /// Test sentences.
    pub test: Vec<Sentence>,
    /// The treebank has a training file.
    pub is_trained: bool,
    /// The test data is the development file, not a fold.
    pub is_dev: bool,
}

impl LanguageTreebanks {
    /// All files.
    pub fn all(&self) -> impl Iterator<Item = &Treebank> {
        self.train.iter().chain(&self.dev)
    }

    /// Splits for every treebank: the development file if there is also a training file, otherwise
    /// cross-validation. The other treebanks of the language are always training data. `only_first`
    /// returns one fold only.
    pub fn trials(&self, folds: usize, only_first: bool) -> Vec<Trial> {
        let mut trials = Vec::new();
        let has_train = |name: &str| self.train.iter().any(|one| one.name == name);
        let has_dev = |name: &str| self.dev.iter().any(|one| one.name == name);
        for treebank in self.all() {
            let name = treebank.name.as_str();
            if has_train(name) && has_dev(name) {
                if std::ptr::eq(treebank, self.dev.iter().find(|one| one.name == name).unwrap_or(treebank)) {
                    let train = self.all().filter(|one| !std::ptr::eq(*one, treebank)).flat_map(Treebank::sentences);
                    let test = treebank.sentences().cloned().collect();
                    trials.push(Trial {
                        name: name.to_owned(),
                        train: train.cloned().collect(),
                        test,
                        is_trained: true,
                        is_dev: true,
                    });
                }
                continue;
            }
            for fold in (0..folds).rev().take(if only_first { 1 } else { folds }) {
                let (test, mut train) = treebank.fold(fold, folds);
                let others = self.all().filter(|one| one.name != name).flat_map(Treebank::sentences);
                train.extend(others.cloned());
                trials.push(Trial { name: name.to_owned(), train, test, is_trained: has_train(name), is_dev: false });
            }
        }
        trials
    }
}
