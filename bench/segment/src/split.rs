//! What to learn from and what to test on, never the same.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::treebank::{self, Treebank};

/// The treebanks of a language.
#[derive(Debug, Default)]
pub struct LanguageTreebanks {
    /// Files for training.
    pub train: Vec<Treebank>,
    /// Files for development.
    pub dev: Vec<Treebank>,
}

/// Transcribed speech without punctuation: it teaches nothing about written text, and models that
/// have read it are worse at their other treebanks.
const SPOKEN: &[&str] = &["fr_rhapsodie"];

/// The list of all languages, or of some.
pub fn read(shared: &Path, only: &[String]) -> Result<BTreeMap<String, LanguageTreebanks>> {
    let mut list: BTreeMap<String, LanguageTreebanks> = BTreeMap::new();
    for (folder, is_train) in [("ud-train", true), ("text-dev/ud", false)] {
        for file in treebank::files(&shared.join(folder))? {
            let treebank = Treebank::read(&file)?;
            if SPOKEN.contains(&treebank.name.as_str()) {
                continue;
            }
            if !only.is_empty() && !only.iter().any(|code| code == treebank.language()) {
                continue;
            }
            let treebanks = list.entry(treebank.language().to_owned()).or_default();
            if is_train { treebanks.train.push(treebank) } else { treebanks.dev.push(treebank) }
        }
    }
    Ok(list)
}

impl LanguageTreebanks {
    /// What to learn from and what to check on: the development file if there is one for training,
    /// else the last fifth of it.
    pub fn check(&self) -> (Vec<Treebank>, Vec<Treebank>) {
        let mut train = self.train.clone();
        let mut tests = Vec::new();
        for treebank in &self.dev {
            if self.train.iter().any(|trained| trained.name == treebank.name) {
                tests.push(treebank.clone());
            } else {
                let (first, rest) = treebank.split_for_test();
                train.push(first);
                tests.push(rest);
            }
        }
        (train, tests)
    }

    /// Its treebanks by name, with all files of each.
    pub fn by_name(&self) -> BTreeMap<&str, Vec<&Treebank>> {
        let mut names: BTreeMap<&str, Vec<&Treebank>> = BTreeMap::new();
        for treebank in self.train.iter().chain(&self.dev) {
            names.entry(&treebank.name).or_default().push(treebank);
        }
        names
    }
}
